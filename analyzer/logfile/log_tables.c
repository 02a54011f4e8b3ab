/* SPDX-License-Identifier: MIT */
/*
 * The reader's tables (see log_tables.h) and the look-ups in them. A stack, code object or name may be recorded twice,
 * by racing threads or in a chunk that another thread took over: the first record counts.
 */
#include "log_tables.h"

#include "records.h"

#include <stdlib.h>
#include <string.h>

static uint32_t word_number(struct vt_log *log, uint64_t word) {
    uint32_t number = vt_map_add(&log->word_numbers, word, (uint32_t)log->word_count);
    if (number == log->word_count)
        *VT_ADD(log->words, log->word_count, log->word_room) = word;
    return number;
}

/* Appends frame words. Many stacks share few words, so most indices take one or two bytes. */
static void pack_words(struct vt_log *log, const uint8_t *words, uint32_t count) {
    enum { MOST = 5 }; /* bytes for each index */
    while (!log->frames || log->frame_bytes + (size_t)count * MOST > log->frame_room) {
        log->frame_room = log->frame_room ? log->frame_room * 2 : 4096;
        log->frames = vt_realloc(log->frames, log->frame_room, 1);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, words + (size_t)i * 8, sizeof word);
        uint32_t number = word_number(log, word);
        for (; number > 0x7f; number >>= 7)
            log->frames[log->frame_bytes++] = (uint8_t)(number | 0x80);
        log->frames[log->frame_bytes++] = (uint8_t)number;
    }
}

void vt_log_add_stack(struct vt_log *log, const uint8_t *record) {
    struct vt_rec_stack r;
    memcpy(&r, record, sizeof r);
    if (!r.number || vt_map_get(&log->stack_numbers, r.number) != VT_MAP_NONE)
        return;
    if (!log->unpacked)
        log->unpacked = vt_alloc(UINT16_MAX, sizeof *log->unpacked);
    VT_GROW(log->stacks, log->stack_count, log->stack_room);
    struct vt_log_stack *stack = &log->stacks[log->stack_count];
    *stack = (struct vt_log_stack){.frames = log->frame_bytes, .count = r.frames, .flags = r.flags};
    uint64_t last = 0;
    if (r.frames)
        memcpy(&last, record + sizeof r + ((size_t)r.frames - 1) * 8, sizeof last);
    if (vt_frame_is_caller(last)) {
        stack->caller = (uint32_t)last;
        stack->count--;
    }
    vt_map_put(&log->stack_numbers, r.number, (uint32_t)log->stack_count++);
    pack_words(log, record + sizeof r, stack->count);
}

void vt_log_add_module(struct vt_log *log, const uint8_t *record) {
    struct vt_rec_module r;
    struct vt_log_module m = {0};
    memcpy(&r, record, sizeof r);
    if (r.start >= r.end)
        return;
    uint32_t id_bytes = r.build_id_bytes < 64 ? r.build_id_bytes : 64;
    for (uint32_t i = 0; i < id_bytes; i++)
        snprintf(m.build_id + 2 * (size_t)i, 3, "%02x", record[sizeof r + i]);
    m.ticks = r.ticks;
    m.start = r.start;
    m.end = r.end;
    m.bias = r.bias;
    m.other = vt_word_kind(r.word) & VT_MODULE_OTHER;
    m.path = vt_strndup((const char *)record + sizeof r + r.build_id_bytes, r.path_bytes);
    *VT_ADD(log->modules, log->module_count, log->module_room) = m;
}

void vt_log_add_code(struct vt_log *log, const uint8_t *record) {
    struct vt_rec_code r;
    memcpy(&r, record, sizeof r);
    if (vt_map_add(&log->code_numbers, r.number, (uint32_t)log->code_count) != log->code_count)
        return;
    const char *text = (const char *)record + sizeof r;
    *VT_ADD(log->codes, log->code_count, log->code_room) = (struct vt_log_code){
        .name = vt_strndup(text, r.name_bytes),
        .file = vt_strndup(text + r.name_bytes, r.file_bytes),
        .first_line = r.first_line,
    };
}

void vt_log_add_line(struct vt_log *log, const uint8_t *record) {
    struct vt_rec_line r;
    memcpy(&r, record, sizeof r);
    uint64_t key = (uint64_t)r.code << 32 | r.line;
    if (vt_map_add(&log->line_keys, key, (uint32_t)log->line_count) == log->line_count)
        *VT_ADD(log->lines, log->line_count, log->line_room) =
            vt_strndup((const char *)record + sizeof r, r.text_bytes);
}

void vt_log_add_thread(struct vt_log *log, const uint8_t *record) {
    struct vt_rec_thread r;
    memcpy(&r, record, sizeof r);
    struct vt_log_thread *thread = VT_ADD(log->threads, log->thread_count, log->thread_room);
    *thread = (struct vt_log_thread){.tid = r.tid};
    memcpy(thread->name, r.name, sizeof r.name);
}

void vt_log_add_device(struct vt_log *log, const uint8_t *record) {
    struct vt_rec_device r;
    memcpy(&r, record, sizeof r);
    if (r.ordinal >= VT_DEVICE_HOST)
        return;
    struct vt_log_device *device = NULL;
    for (size_t i = 0; i < log->device_count && !device; i++)
        if (log->devices[i].ordinal == r.ordinal)
            device = &log->devices[i];
    if (!device) {
        device = VT_ADD(log->devices, log->device_count, log->device_room);
        *device = (struct vt_log_device){.ordinal = r.ordinal};
    }
    if (r.flags & VT_DEVICE_HAS_UUID) {
        device->has_uuid = true;
        memcpy(device->uuid, r.uuid, sizeof device->uuid);
    }
    if (r.total_bytes)
        device->total_bytes = r.total_bytes;
    if (r.name[0])
        memcpy(device->name, r.name, sizeof r.name);
}

void vt_log_add_gpu(struct vt_log *log, const uint8_t *record) {
    struct vt_rec_gpu r;
    size_t at = log->gpu_count;
    memcpy(&r, record, sizeof r);
    while (at > 0 && log->gpus[at - 1].number >= r.number)
        at--;
    if (at < log->gpu_count && log->gpus[at].number == r.number)
        return;
    VT_GROW(log->gpus, log->gpu_count, log->gpu_room);
    memmove(&log->gpus[at + 1], &log->gpus[at], (log->gpu_count++ - at) * sizeof *log->gpus);
    struct vt_log_gpu *gpu = &log->gpus[at];
    *gpu = (struct vt_log_gpu){
        .number = r.number,
        .ordinal = r.ordinal < VT_DEVICE_HOST ? r.ordinal : VT_DEVICE_UNKNOWN,
        .has_uuid = r.flags & VT_GPU_HAS_UUID,
        .total_bytes = r.total_bytes,
    };
    memcpy(gpu->uuid, r.uuid, sizeof gpu->uuid);
    memcpy(gpu->name, r.name, sizeof r.name);
}

void vt_log_note(struct vt_log *log, char *text) {
    uint64_t key = vt_hash_bytes(0, text, strlen(text));
    uint32_t known = vt_map_get(&log->note_keys, key);
    if (known != VT_MAP_NONE && !strcmp(log->notes[known], text)) {
        free(text);
        return;
    }
    vt_map_put(&log->note_keys, key, (uint32_t)log->note_count);
    *VT_ADD(log->notes, log->note_count, log->note_room) = text;
}

void vt_log_add_note(struct vt_log *log, const uint8_t *record) {
    struct vt_rec_note r;
    memcpy(&r, record, sizeof r);
    vt_log_note(log, vt_strndup((const char *)record + sizeof r, r.text_bytes));
}

void vt_log_add_name(struct vt_log *log, const uint8_t *record) {
    struct vt_rec_name r;
    memcpy(&r, record, sizeof r);
    if (vt_map_add(&log->name_numbers, r.number, (uint32_t)log->name_count) == log->name_count)
        *VT_ADD(log->names, log->name_count, log->name_room) =
            vt_strndup((const char *)record + sizeof r, r.text_bytes);
}

/* Until vt_log_pair_phases, an end is a row of its own, with `written` VT_TICKS_MASK, and names are
 * still numbers, since a name may be recorded in a later chunk. */
void vt_log_add_phase(struct vt_log *log, const uint8_t *record, uint32_t tid) {
    struct vt_rec_phase r;
    memcpy(&r, record, sizeof r);
    unsigned what = vt_word_kind(r.word);
    bool end = what == VT_PHASE_POP || what == VT_PHASE_END, mark = what == VT_PHASE_MARK;
    if (what < VT_PHASE_PUSH || what > VT_PHASE_MARK || (!r.range && !mark))
        return;
    uint64_t when = vt_when_ticks(r.when);
    *VT_ADD(log->phase_rows, log->phase_row_count, log->phase_row_room) = (struct vt_log_phase){
        .range = mark ? 0 : r.range,
        .began = mark ? when : r.began & VT_TICKS_MASK,
        .written = end ? VT_TICKS_MASK : when,
        .ended = end || mark ? when : VT_TICKS_MASK,
        .name = r.name,
        .domain = r.domain,
        .tid = tid,
        .of_thread = what == VT_PHASE_PUSH,
    };
}

void vt_log_add_sample(struct vt_log *log, const uint8_t *record) {
    struct vt_rec_sample *sample = VT_ADD(log->samples, log->sample_count, log->sample_room);
    memcpy(sample, record, sizeof *sample);
    sample->when = vt_when_ticks(sample->when); /* without the device, to compare times */
}

static int compare_samples(const void *a, const void *b) {
    const struct vt_rec_sample *x = a, *y = b;
    return VT_ORDER({x->when, y->when});
}

void vt_log_sort_samples(struct vt_log *log) {
    vt_sort(log->samples, log->sample_count, sizeof *log->samples, compare_samples);
}

static int compare_phases(const void *a, const void *b) {
    const struct vt_log_phase *x = a, *y = b;
    return VT_ORDER({x->began, y->began}, {x->range, y->range});
}

/* Adds the phases that have begun, without their ends. */
static void begin_phases(struct vt_log *log) {
    size_t from = log->phase_count, kept = 0;
    for (size_t i = 0; i < log->phase_row_count; i++) {
        struct vt_log_phase phase = log->phase_rows[i];
        if (phase.written == VT_TICKS_MASK || phase.written > log->frontier) {
            log->phase_rows[kept++] = phase;
            continue;
        }
        phase.name = vt_map_get(&log->name_numbers, phase.name);
        phase.domain = vt_map_get(&log->name_numbers, phase.domain);
        *VT_ADD(log->phases, log->phase_count, log->phase_room) = phase;
    }
    log->phase_row_count = kept;
    if (from == log->phase_count)
        return;
    vt_sort(log->phases + from, log->phase_count - from, sizeof *log->phases, compare_phases);
    for (size_t i = from; i < log->phase_count; i++)
        if (log->phases[i].range)
            vt_map_put(&log->phase_ranges, log->phases[i].range, (uint32_t)i);
}

void vt_log_pair_phases(struct vt_log *log) {
    size_t kept = 0;
    begin_phases(log);
    for (size_t i = 0; i < log->phase_row_count; i++) {
        struct vt_log_phase row = log->phase_rows[i];
        bool is_end = row.written == VT_TICKS_MASK;
        if (!is_end || row.ended > log->frontier) {
            log->phase_rows[kept++] = row;
            continue;
        }
        uint32_t index = row.range ? vt_map_get(&log->phase_ranges, row.range) : VT_MAP_NONE;
        if (index != VT_MAP_NONE)
            log->phases[index].ended =
                row.ended > log->phases[index].began ? row.ended : log->phases[index].began;
    }
    log->phase_row_count = kept;
    if (!kept) {
        free(log->phase_rows);
        log->phase_rows = NULL;
        log->phase_row_room = 0;
    }
}

void vt_log_keep_phases(struct vt_log *log, const uint8_t *keep) {
    size_t kept = 0;
    vt_map_free(&log->phase_ranges);
    for (size_t i = 0; i < log->phase_count; i++) {
        if (!(keep[i / 8] >> i % 8 & 1))
            continue;
        log->phases[kept] = log->phases[i];
        if (log->phases[kept].range)
            vt_map_put(&log->phase_ranges, log->phases[kept].range, (uint32_t)kept);
        kept++;
    }
    log->phase_count = kept;
}

/* records.def says which scans are conclusive. */
void vt_log_add_scan(struct vt_log *log, const uint8_t *record) {
    struct vt_rec_scan r;
    memcpy(&r, record, sizeof r);
    if (r.flags & (VT_SCAN_STOPPED | VT_SCAN_IN_DOUBT) ||
        (log->scan.word && vt_scan_ticks(r.at) < vt_scan_ticks(log->scan.at)))
        return;
    log->scan = r;
    if (!r.lost) /* nor are those that an earlier scan listed */
        log->lost_count = 0;
}

void vt_log_add_lost(struct vt_log *log, const uint8_t *record) {
    struct vt_rec_lost r;
    memcpy(&r, record, sizeof r);
    uint64_t ticks = vt_scan_ticks(r.at), other = vt_scan_ticks(log->scan.word ? log->scan.at : 0);
    other = log->lost_ticks > other ? log->lost_ticks : other;
    if (r.at && ticks < other)
        return;
    if (ticks > other && other)
        log->lost_count = 0; /* from an earlier scan */
    log->lost_ticks = ticks;
    for (uint32_t i = 0, at = sizeof r; i < r.count; i++, at += 8) {
        memcpy(VT_ADD(log->lost, log->lost_count, log->lost_room), record + at, 8);
    }
}

void vt_log_add_env(struct vt_log *log, const uint8_t *record) {
    struct vt_rec_env r;
    memcpy(&r, record, sizeof r);
    const char *text = (const char *)record + sizeof r;
    *VT_ADD(log->variables, log->variable_count, log->variable_room) = (struct vt_variable){
        vt_strndup(text, r.name_bytes), vt_strndup(text + r.name_bytes, r.value_bytes)};
}

/* Templates only serve the records that follow them: short_records.c. */
void vt_log_add_template(struct vt_log *log, const uint8_t *record) {
    (void)log, (void)record;
}
void vt_log_add_short_stack(struct vt_log *log, const uint8_t *record) {
    (void)log, (void)record;
}

void vt_log_add_record(struct vt_log *log, const uint8_t *record, uint32_t length) {
    static void (*const takers[256])(struct vt_log *, const uint8_t *) = {
#define VT_ENTRY(number, NAME, name, bytes, fields) [number] = vt_log_add_##name,
#include "vramtrace/records.def"
    };
    uint64_t word;
    memcpy(&word, record, sizeof word);
    if (takers[vt_word_type(word)] && vt_record_is_whole(record, length))
        takers[vt_word_type(word)](log, record);
}

const struct vt_log_stack *vt_log_stack(const struct vt_log *log, uint32_t number) {
    uint32_t index = vt_map_get(&log->stack_numbers, number);
    return index == VT_MAP_NONE ? NULL : &log->stacks[index];
}

const uint64_t *vt_log_words(const struct vt_log *log, const struct vt_log_stack *stack) {
    const uint8_t *from = log->frames + stack->frames;
    for (uint32_t i = 0; i < stack->count; i++) {
        uint32_t number = *from & 0x7f;
        for (unsigned bits = 7; *from++ & 0x80; bits += 7)
            number |= (uint32_t)(*from & 0x7f) << bits;
        log->unpacked[i] = log->words[number];
    }
    return log->unpacked;
}

/* The map without evicted values; every other value becomes its new index. */
static struct vt_map moved(struct vt_map *map, const uint32_t *now, size_t kept) {
    struct vt_map result = {0};
    vt_map_reserve(&result, kept);
    for (size_t i = 0; i < map->slots; i++)
        if (map->values[i] != VT_MAP_NONE && now[map->values[i]] != VT_NO_STACK)
            vt_map_put(&result, map->keys[i], now[map->values[i]]);
    vt_map_free(map);
    return result;
}

uint32_t *vt_log_keep_stacks(struct vt_log *log, const bool *stays) {
    struct vt_log old = *log;
    uint32_t *now = vt_alloc(old.stack_count, sizeof *now);
    log->words = NULL;
    log->frames = NULL;
    log->word_numbers = (struct vt_map){0};
    log->word_count = log->word_room = log->frame_bytes = log->frame_room = log->stack_count = 0;
    for (size_t i = 0; i < old.stack_count; i++) {
        struct vt_log_stack stack = old.stacks[i];
        now[i] = stays[i] ? (uint32_t)log->stack_count : VT_NO_STACK;
        if (!stays[i])
            continue;
        const uint64_t *words = vt_log_words(&old, &stack);
        stack.frames = log->frame_bytes;
        pack_words(log, (const uint8_t *)words, stack.count);
        log->stacks[log->stack_count++] = stack;
    }
    log->stack_numbers = moved(&log->stack_numbers, now, log->stack_count);
    vt_log_move_waiting(log, now);
    free(old.words);
    free(old.frames);
    vt_map_free(&old.word_numbers);
    return now;
}

static int compare_modules(const void *a, const void *b) {
    const struct vt_log_module *x = a, *y = b;
    return VT_ORDER({x->start, y->start}, {x->ticks, y->ticks});
}

void vt_log_sort_modules(struct vt_log *log) {
    if (log->module_count == log->modules_sorted)
        return;
    log->modules_sorted = log->module_count;
    vt_module_index_free(log->module_index);
    qsort(log->modules, log->module_count, sizeof *log->modules, compare_modules);
    log->module_index = vt_module_index_make(log->modules, log->module_count);
}

const struct vt_log_module *vt_log_module_at(const struct vt_log *log, uint64_t address,
                                             uint64_t ticks) {
    uint32_t i =
        log->module_index ? vt_module_index_at(log->module_index, address, ticks) : VT_MAP_NONE;
    return i == VT_MAP_NONE ? NULL : &log->modules[i];
}

void vt_log_drop_stacks(struct vt_log *log) {
    free(log->stacks);
    free(log->words);
    free(log->frames);
    free(log->lost);
    free(log->owned);
    vt_map_free(&log->word_numbers);
    vt_map_free(&log->stack_numbers);
    log->stacks = NULL;
    log->words = log->lost = NULL;
    log->frames = NULL;
    log->owned = NULL;
    log->stack_count = log->word_count = log->lost_count = log->owned_count = 0;
}

void vt_log_free_tables(struct vt_log *log) {
    vt_log_drop_stacks(log);
    for (size_t i = 0; i < log->module_count; i++)
        free(log->modules[i].path);
    for (size_t i = 0; i < log->code_count; i++) {
        free(log->codes[i].name);
        free(log->codes[i].file);
    }
    free(log->modules);
    vt_module_index_free(log->module_index);
    free(log->codes);
    for (size_t i = 0; i < log->variable_count; i++) {
        free(log->variables[i].name);
        free(log->variables[i].value);
    }
    free(log->variables);
    vt_free_texts(log->lines, log->line_count);
    vt_map_free(&log->line_keys);
    vt_free_texts(log->notes, log->note_count);
    vt_map_free(&log->note_keys);
    free(log->samples);
    vt_free_texts(log->names, log->name_count);
    free(log->phases);
    free(log->phase_rows);
    vt_map_free(&log->phase_ranges);
    vt_map_free(&log->name_numbers);
    free(log->threads);
    free(log->devices);
    free(log->gpus);
    free(log->unpacked);
    vt_map_free(&log->code_numbers);
    vt_log_free_owners(log);
}
