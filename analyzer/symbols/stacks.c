/* SPDX-License-Identifier: MIT */
/*
 * A log's stacks in the model's form (see stacks.h). The strings of a frame belong to the symbolizer, or are copies
 * of the log's, which is closed before the model is read.
 */
#include "stacks.h"

#include <stdlib.h>
#include <string.h>

/* 268 million frames. Further ones, in a malicious log, are replaced by the first. Unused parts need no memory. */
enum { POOL_PARTS = 1 << 18 };

struct vt_stacks {
    const struct vt_log *log;
    struct vt_symbols *symbols;
    const char *const *user_code;
    struct vt_stack **made[2]; /* by stack index, for driver and for runtime calls; NULL: not yet */
    size_t stack_count;
    struct vt_frame **pool; /* each frame once, in parts that never move */
    struct vt_map by_hash;  /* hash of a frame -> its number in the pool */
    uint32_t pool_count;
    struct vt_map judged;    /* number of a frame in the pool -> whether it is user code */
    struct vt_frame *frames; /* of the stack under construction */
    uint32_t *numbers;       /* the numbers of these */
    size_t frame_room, number_room;
    char **paths;              /* modules' paths, by index in the log */
    struct vt_log_code *codes; /* copies */
    char **lines;              /* likewise */
    size_t module_count, code_count, line_count;
    enum vt_symbols_state *states; /* of modules in the stacks made so far */
    bool *met;
    struct vt_stack empty;
};

struct vt_stacks *vt_stacks_open(const struct vt_log *log, struct vt_symbols *symbols,
                                 const char *const *user_code) {
    struct vt_stacks *s = vt_alloc(1, sizeof *s);
    s->log = log;
    s->symbols = symbols;
    s->user_code = user_code;
    s->stack_count = log->stack_count;
    s->made[0] = vt_alloc(log->stack_count, sizeof *s->made[0]);
    s->made[1] = vt_alloc(log->stack_count, sizeof *s->made[1]);
    s->module_count = log->module_count;
    s->code_count = log->code_count;
    s->pool = vt_alloc(POOL_PARTS, sizeof *s->pool);
    s->paths = vt_alloc(log->module_count, sizeof *s->paths);
    s->states = vt_alloc(log->module_count, sizeof *s->states);
    s->met = vt_alloc(log->module_count, sizeof *s->met);
    s->codes = vt_alloc(log->code_count, sizeof *s->codes);
    for (size_t i = 0; i < log->module_count; i++)
        s->paths[i] = vt_strdup(log->modules[i].path);
    for (size_t i = 0; i < log->code_count; i++) {
        s->codes[i].name = vt_strdup(log->codes[i].name);
        s->codes[i].file = vt_strdup(log->codes[i].file);
    }
    s->lines = vt_alloc(log->line_count, sizeof *s->lines);
    for (; s->line_count < log->line_count; s->line_count++)
        s->lines[s->line_count] = vt_strdup(log->lines[s->line_count]);
    return s;
}

void vt_stacks_close(struct vt_stacks *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->stack_count; i++) {
        free(s->made[0][i]);
        free(s->made[1][i]);
    }
    for (uint32_t i = 0; i < s->pool_count; i += VT_STACK_POOL_PART)
        free(s->pool[i / VT_STACK_POOL_PART]);
    free(s->pool);
    free(s->frames);
    free(s->numbers);
    vt_map_free(&s->by_hash);
    vt_map_free(&s->judged);
    for (size_t i = 0; i < s->code_count; i++) {
        free(s->codes[i].name);
        free(s->codes[i].file);
    }
    vt_free_texts(s->lines, s->line_count);
    free(s->made[0]);
    free(s->made[1]);
    vt_free_texts(s->paths, s->module_count);
    free(s->states);
    free(s->met);
    free(s->codes);
    free(s);
}

/* A stack under construction. */
struct making {
    size_t count;
    bool waiting; /* the following frames are a waiting thread's */
};

static bool same_frame(const struct vt_frame *a, const struct vt_frame *b) {
    return a->function == b->function && a->file == b->file && a->line == b->line &&
           a->module == b->module && a->offset == b->offset && a->python == b->python &&
           a->inlined == b->inlined && a->user_code == b->user_code &&
           a->interpreter == b->interpreter && a->waiting == b->waiting;
}

/* The number of a frame in the pool; adds it if new. */
static uint32_t frame_number(struct vt_stacks *s, const struct vt_frame *f) {
    uint64_t flags =
        f->python | f->inlined << 1 | f->user_code << 2 | f->interpreter << 3 | f->waiting << 4;
    uint64_t hash = vt_mix((uintptr_t)f->function + vt_mix((uintptr_t)f->file)) +
                    vt_mix((uintptr_t)f->module + vt_mix(f->offset)) + (f->line << 5 | flags);
    uint32_t known;
    while ((known = vt_map_get(&s->by_hash, hash = vt_mix(hash + 1))) != VT_MAP_NONE)
        if (same_frame(&s->pool[known / VT_STACK_POOL_PART][known % VT_STACK_POOL_PART], f))
            return known;
    if (s->pool_count == POOL_PARTS * VT_STACK_POOL_PART)
        return 0;
    uint32_t number = s->pool_count++, part = number / VT_STACK_POOL_PART;
    if (number % VT_STACK_POOL_PART == 0)
        s->pool[part] = vt_alloc(VT_STACK_POOL_PART, sizeof **s->pool);
    s->pool[part][number % VT_STACK_POOL_PART] = *f;
    vt_map_put(&s->by_hash, hash, number);
    return number;
}

static void add_frame(struct vt_stacks *s, struct making *m, struct vt_frame frame) {
    /* before it is classified, so that this happens only once */
    uint32_t number = frame_number(s, &frame);
    if (vt_map_get(&s->judged, number) == VT_MAP_NONE)
        vt_map_put(&s->judged, number, vt_user_code_frame(&frame, s->user_code));
    frame.user_code = vt_map_get(&s->judged, number);
    *VT_ADD(s->frames, m->count, s->frame_room) = frame;
}

static void add_python(struct vt_stacks *s, struct making *m, uint64_t word) {
    uint32_t code = vt_map_get(&s->log->code_numbers, word >> 32 & 0x3fffffff);
    struct vt_frame frame = {.python = true,
                             .offset = VT_UNKNOWN,
                             .line = (uint32_t)(word & 0xffffffff),
                             .waiting = m->waiting};
    uint32_t line = vt_map_get(&s->log->line_keys, word & ~VT_FRAME_PYTHON);
    frame.source = line != VT_MAP_NONE ? s->lines[line] : NULL;
    if (code != VT_MAP_NONE) {
        frame.function = s->codes[code].name[0] ? s->codes[code].name : NULL;
        frame.file = s->codes[code].file[0] ? s->codes[code].file : NULL;
    }
    add_frame(s, m, frame);
}

static void add_native(struct vt_stacks *s, struct making *m, uint64_t word, uint64_t ticks) {
    /* a return address may belong to the next line or function */
    uint64_t address = (word & ~VT_FRAME_INTERPRETER) - 1;
    const struct vt_log_module *module = vt_log_module_at(s->log, address, ticks);
    struct vt_frame frame = {
        .interpreter = word & VT_FRAME_INTERPRETER, .offset = address, .waiting = m->waiting};
    if (!module) {
        add_frame(s, m, frame);
        return;
    }
    if (vt_sites_is_tracer(module))
        return;
    size_t index = (size_t)(module - s->log->modules);
    frame.module = s->paths[index];
    frame.other = module->other;
    frame.offset = address - module->bias;
    const struct vt_symbol *symbols;
    uint32_t count =
        vt_symbols_at(s->symbols, module->path, module->build_id, frame.offset, &symbols);
    if (!s->met[index]) {
        s->met[index] = true;
        s->states[index] = vt_symbols_state(s->symbols, module->path, module->build_id);
    }
    for (uint32_t i = 0; i < count; i++) {
        frame.function = symbols[i].function;
        frame.file = symbols[i].file;
        frame.line = symbols[i].line;
        frame.inlined = i + 1 < count;
        add_frame(s, m, frame);
    }
    if (!count)
        add_frame(s, m, frame);
}

static void add_words(struct vt_stacks *s, struct making *m, const struct vt_log_stack *raw,
                      uint32_t from) {
    const uint64_t *words = vt_log_words(s->log, raw);
    for (uint32_t i = from; i < raw->count; i++) {
        if (words[i] & VT_FRAME_PYTHON)
            add_python(s, m, words[i]);
        else
            add_native(s, m, words[i], raw->ticks);
    }
}

/* Like vt_sites_skip for the runtime's own library. */
static void hide_static_runtime(struct vt_stacks *s, struct making *m) {
    uint32_t n = vt_user_code_static_runtime(s->frames, (uint32_t)m->count);
    if (n)
        memmove(s->frames, s->frames + n, (m->count -= n) * sizeof *s->frames);
}

/* A stack with its frames in the pool, in one piece with their numbers. */
static struct vt_stack *pooled(struct vt_stacks *s, struct vt_stack from) {
    for (uint32_t i = 0; i < from.count; i++) {
        VT_GROW(s->numbers, i, s->number_room);
        s->numbers[i] = frame_number(s, &from.frames[i]);
        from.wide |= s->numbers[i] > UINT16_MAX;
    }
    size_t each = from.wide ? sizeof(uint32_t) : sizeof(uint16_t);
    struct vt_stack *stack = vt_alloc(1, sizeof *stack + from.count * each);
    *stack = from;
    stack->pool = s->pool;
    stack->numbers = stack + 1;
    for (uint32_t i = 0; i < from.count; i++)
        if (from.wide)
            ((uint32_t *)(stack + 1))[i] = s->numbers[i];
        else
            ((uint16_t *)(stack + 1))[i] = (uint16_t)s->numbers[i];
    return stack;
}

const struct vt_stack *vt_stacks_get(struct vt_stacks *s, uint32_t index, bool runtime) {
    if (index == VT_NO_STACK)
        return &s->empty;
    struct vt_stack **made = &s->made[runtime][index];
    if (*made)
        return *made;
    const struct vt_log_stack *raw = &s->log->stacks[index];
    uint32_t from = vt_sites_skip(s->log, raw, runtime);
    unsigned flags = 0;
    struct making m = {0};
    for (unsigned callers = 0; raw && callers <= VT_LOG_CALLERS; callers++, from = 0) {
        m.waiting = callers > 0;
        add_words(s, &m, raw, from);
        flags |= raw->flags;
        raw = vt_log_stack(s->log, raw->caller);
    }
    hide_static_runtime(s, &m);
    struct vt_stack stack = {
        .frames = s->frames,
        .count = (uint32_t)m.count,
        .cut = flags & (VT_STACK_CUT | VT_STACK_PYTHON_CUT),
        .python_cut = flags & VT_STACK_PYTHON_CUT,
        .unplaced = flags & VT_STACK_UNORDERED,
    };
    vt_user_code_drop_script(s->frames, stack.count, s->user_code);
    while (stack.user_frame < stack.count && !s->frames[stack.user_frame].user_code)
        stack.user_frame++;
    stack.line = vt_stack_line(&stack, VT_LINE_CODE);
    return *made = pooled(s, stack);
}

static void add_modules(const struct vt_stacks *s, struct vt_process *process) {
    process->modules = vt_alloc(s->module_count, sizeof *process->modules);
    for (size_t i = 0; i < s->module_count; i++) {
        const struct vt_log_module *from = &s->log->modules[i];
        if (!s->met[i])
            continue;
        process->modules[process->module_count++] = (struct vt_module){
            .path = s->paths[i],
            .build_id = from->build_id[0] ? vt_strdup(from->build_id) : NULL,
            .start = from->start,
            .end = from->end,
            .bias = from->bias,
        };
    }
}

void vt_stacks_add_modules(const struct vt_stacks *s, struct vt_process *process) {
    VT_SCOPED_MAP said = {0};
    add_modules(s, process);
    for (size_t i = 0; i < s->module_count; i++) {
        bool changed = s->states[i] == VT_SYMBOLS_CHANGED;
        /* the vdso and generated code have no file */
        bool missing = s->states[i] == VT_SYMBOLS_MISSING && s->paths[i][0] == '/';
        if (!s->met[i] || !(changed || missing))
            continue;
        if (!vt_map_add_key(&said, vt_hash_bytes(s->states[i], s->paths[i], strlen(s->paths[i]))))
            continue;
        vt_model_note(process, "%s %s: its functions are shown as offsets.", s->paths[i],
                      changed ? "changed since the run (its build ID differs)"
                              : "is gone or cannot be read");
    }
}
