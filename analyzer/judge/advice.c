/* SPDX-License-Identifier: MIT */
/*
 * Advice: one line for a leak whose evidence shows a common mistake, with the frame that shows it.
 * The tables below list these mistakes. If nothing matches, or the source leaves doubt, there is no
 * advice, because readers take a guess for a finding. build.c calls.
 *
 * Source files are read only if they are not newer than the run. keepers.c finds the line that
 * keeps what another one made.
 */
#include "judge.h"
#include "carried.h"
#include "keepers.h"
#include "model/model.h"
#include "pysource.h"
#include "vramtrace/log_format.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum {
    SITES_ASKED = 4,
    FRAME_COLUMNS = 40 /* so that a line of advice takes two lines */
};

/* --- common mistakes --- */

/* Functions of CUDA libraries that create handles with memory of their own. */
static const char handle_makers[] = "^(cublasCreate(_v2)?|cublas(Lt|Xt)Create|cudnnCreate|"
                                    "cusparseCreate|cusolver(Dn|Sp|Rf|Mg)Create|"
                                    "curandCreateGenerator|cutensorCreate|cufft(Create|Plan(1d|2d|"
                                    "3d|Many)|(Xt)?MakePlan[A-Za-z0-9]*)|"
                                    "ncclCommInit[A-Za-z]*|ncclCommSplit)$";

/* Autograd's function that adds to a parameter's gradient. */
static const char gradient_maker[] = "(^|::)AccumulateGrad(::|$)";
static const char gradient_reset[] = "zero_grad|\\.grad=None|\\.grad\\.zero_|set_to_none";

/* Names of functions, or their classes, that fetch batches. */
static const char loader[] =
    "(^|[._:])((load|next|fetch|get|read|make|pin)_(next_)?batch(es)?|prefetch|_?pin_memory_loop)"
    "($|[^A-Za-z0-9_])|"
    "(^|[._:])([A-Za-z0-9_]*[a-z0-9])?Loader(Iter)?([._:]|$)|"
    "(^|[._:])([A-Za-z0-9_]+_)?loader([._:]|$)|"
    "(^|[._:])(Prefetcher|[A-Za-z0-9_]*[a-z0-9]Prefetcher)([._:]|$)";

/* Names of functions that evaluate a model. Not all that begin with "test", because a test runner
 * calls such functions too. */
static const char evaluation[] =
    "^_?((eval|evaluate|validate|validation|predict|infer|inference)(_[a-z0-9_]+)?|"
    "test(_(epoch|loop|step|model|one_epoch))?|val_(epoch|loop|step))$";
static const char without_graph[] =
    "no_grad|inference_mode|set_grad_enabled|requires_grad|enable_grad|decorate_context";
static const char trains[] =
    "\\.backward\\(|\\.zero_grad\\(|optim[a-z_]*\\.step\\(|autograd\\.grad\\(";
/* `with` and decorators that do not change gradients; any other may turn them off. */
static const char harmless_with[] =
    "^with "
    "?\\(?([a-z_]+\\.)*(autocast|amp|device|stream|open|profile|record_function|range|annotate|"
    "tqdm|phase|nullcontext)\\(";
static const char harmless_decorator[] = "^@([a-z_]+\\.)*(staticmethod|classmethod|compile|wraps|"
                                         "annotate|profile|lru_cache|cache|timer?)"
                                         "($|\\()";

/* Names of variables whose values a program collects as statistics. */
static const char statistic[] =
    "(^|[._])(loss|losses|error|err|cost|metric|metrics|acc|accuracy|score)[0-9]*(_|$)|[a-z]Loss$";

/* The function that frees what an API allocates. */
static const struct {
    const char *api, *free;
} frees[] = {
    {"cudaMallocAsync", "cudaFreeAsync"},
    {"cudaMallocFromPoolAsync", "cudaFreeAsync"},
    {"cudaMallocHost", "cudaFreeHost"},
    {"cudaHostAlloc", "cudaFreeHost"},
    {"cudaHostRegister", "cudaHostUnregister"},
    {"cudaMallocArray", "cudaFreeArray"},
    {"cudaMalloc3DArray", "cudaFreeArray"},
    {"cudaMallocMipmappedArray", "cudaFreeMipmappedArray"},
    {"cudaMalloc", "cudaFree"}, /* a prefix: also cudaMallocPitch and others */
    {"cuMemAllocHost", "cuMemFreeHost"},
    {"cuMemHostAlloc", "cuMemFreeHost"},
    {"cuMemHostRegister", "cuMemHostUnregister"},
    {"cuMemAllocAsync", "cuMemFreeAsync"},
    {"cuMemAllocFromPoolAsync", "cuMemFreeAsync"},
    {"cuMemAlloc", "cuMemFree"},
    {"cuMemCreate", "cuMemRelease"},
    {"cuArray", "cuArrayDestroy"},
    {"cuMipmappedArray", "cuMipmappedArrayDestroy"},
};

/* --- matching --- */

static bool matches(const char *text, const char *pattern) {
    regex_t regex;
    if (!text || regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB))
        return false;
    bool match = !regexec(&regex, text, 0, NULL, 0);
    regfree(&regex);
    return match;
}

/* Whether a statement from `from` up to `to`, exclusive, matches. */
static bool any_matches(const struct vt_pysource *s, uint32_t from, uint32_t to,
                        const char *pattern) {
    for (uint32_t i = from; i < to; i++)
        if (matches(s->statements[i].text, pattern))
            return true;
    return false;
}

static const struct vt_frame *find_frame(const struct vt_stack *stack, const char *pattern) {
    for (uint32_t i = 0; i < stack->count; i++)
        if (matches(stack->frames[i].function, pattern))
            return &stack->frames[i];
    return NULL;
}

/* --- gradients --- */

/* Whether this frame's function may have turned gradients off: by a statement before the call, or
 * by an unknown decorator or `with` around it. At module level only what encloses the call counts,
 * because much else comes before it. */
static bool may_be_off(const struct vt_pysource *s, uint32_t at) {
    uint32_t scope = vt_pysource_scope(s, at);
    uint32_t begin = scope == VT_NO_STATEMENT ? 0 : scope;
    for (uint32_t above = at; above != VT_NO_STATEMENT; above = vt_pysource_above(s, above))
        if ((vt_pysource_begins(s->statements[above].text, "with") ||
             vt_pysource_begins(s->statements[above].text, "async with")) &&
            !matches(s->statements[above].text, harmless_with))
            return true;
    for (; scope != VT_NO_STATEMENT && begin > 0 && s->statements[begin - 1].text[0] == '@';
         begin--)
        if (!matches(s->statements[begin - 1].text, harmless_decorator))
            return true;
    for (uint32_t i = begin; i <= at; i = scope == VT_NO_STATEMENT ? vt_pysource_next(s, i) : i + 1)
        if (matches(s->statements[i].text, without_graph))
            return true;
    return any_matches(s, 0, (uint32_t)s->count, "set_grad_enabled|requires_grad");
}

/* Whether gradients are certainly on in all functions on the stack. */
static bool gradients_on(struct vt_pyfiles *files, const struct vt_stack *stack) {
    bool seen = false;
    for (uint32_t i = 0; i < stack->count; i++) {
        const struct vt_frame *f = &stack->frames[i];
        const char *name = vt_pysource_name(f);
        if (matches(f->function, without_graph))
            return false;
        if (f->python && f->user_code && (name[0] != '<' || !strcmp(name, "<module>"))) {
            const struct vt_pysource *s = vt_pyfiles_get(files, f->file);
            uint32_t at = vt_pysource_frame(s, f), whole = vt_pysource_compiled(s, f);
            if (whole != VT_NO_STATEMENT)
                at = vt_pysource_end(s, whole) - 1;
            if (at == VT_NO_STATEMENT || may_be_off(s, at))
                return false;
            seen = true;
        }
        /* a third-party trainer's loop may turn them off; PyTorch's own code does not */
        if (seen && f->python && !f->user_code && f->file && strstr(f->file, "-packages/") &&
            !strstr(f->file, "-packages/torch/"))
            return false;
    }
    return seen && !stack->python_cut;
}

/* The frame of a function that evaluates and does not train; NULL: none. */
static const struct vt_frame *find_evaluation(struct vt_pyfiles *files,
                                              const struct vt_stack *stack) {
    for (uint32_t i = 0; i < stack->count; i++) {
        const struct vt_frame *f = &stack->frames[i];
        const struct vt_pysource *s =
            f->user_code && f->python ? vt_pyfiles_get(files, f->file) : NULL;
        uint32_t at = vt_pysource_frame(s, f);
        uint32_t scope = at == VT_NO_STATEMENT ? at : vt_pysource_scope(s, at);
        if (scope == VT_NO_STATEMENT)
            continue;
        if (any_matches(s, scope, vt_pysource_end(s, scope), trains))
            return NULL; /* an evaluation inside training is a search or tuning */
        if (matches(vt_pysource_name(f), evaluation))
            return f;
    }
    return NULL;
}

static char *say_evaluation(const struct vt_process *p, const struct vt_frame *frame) {
    char *frame_text = vt_frame_text(p, frame, FRAME_COLUMNS + 10);
    char *advice =
        vt_formatted("%s evaluates with gradients: wrap it in torch.no_grad()", frame_text);
    free(frame_text);
    return advice;
}

/* Gradients that accumulate and that the source on the stack never resets. Autograd has its own
 * threads, whose stacks may have no frame of user code; then the advice names none. */
static char *find_gradients(struct vt_pyfiles *files, const struct vt_stack *stack) {
    const struct vt_frame *maker = find_frame(stack, gradient_maker), *caller = NULL;
    struct vt_string advice = {0};
    bool user_code = false;
    for (uint32_t i = 0; maker && i < stack->count; i++) {
        const struct vt_frame *f = &stack->frames[i];
        if (!f->user_code || !f->python)
            continue;
        const struct vt_pysource *s = vt_pyfiles_get(files, f->file);
        uint32_t at = vt_pysource_frame(s, f);
        if (at == VT_NO_STATEMENT || any_matches(s, 0, (uint32_t)s->count, gradient_reset))
            return NULL;
        user_code = true;
        if (!caller && matches(s->statements[at].text, "\\.backward\\("))
            caller = f;
    }
    if (!maker || (user_code && !caller))
        return NULL;
    char *frame_text = caller ? vt_frame_text(files->process, caller, FRAME_COLUMNS) : NULL;
    vt_string_format(
        &advice, "gradients accumulate in %s: is optimizer.zero_grad() called before each step?",
        frame_text ? frame_text : "AccumulateGrad::apply");
    free(frame_text);
    return advice.text;
}

/* --- what is kept, handles, loaders, frees --- */

/* Whether a text takes at most two lines of a report. */
static bool fits(const char *text) {
    enum { COLUMNS = 64 };
    unsigned lines = 1, used = 0;
    while (*text) {
        size_t word = strcspn(text, " ");
        char *copy = vt_strndup(text, word);
        unsigned columns = vt_frame_text_columns(copy);
        free(copy);
        if (used && used + 1 + columns > COLUMNS) {
            lines++;
            used = 0;
        }
        used += columns + (used > 0);
        text += word + strspn(text + word, " ");
    }
    return lines <= 2;
}

/* `less`: how many optional parts to leave out. */
static char *word_kept(const struct vt_keeper *k, const char *frame_text, bool framework,
                       bool evaluating, int less) {
    struct vt_string advice = {0};
    bool named = k->name[0] && less < 3, number = k->added || matches(k->name, statistic);
    const char *verb = k->added ? "add" : "keep";
    vt_string_format(&advice, named ? "`%s`" : "%s", named ? k->name : "its result");
    vt_string_add(&advice, k->added ? " is added" : " is kept");
    if (less < 2)
        vt_string_format(&advice, " %s `%s`", k->added ? "to" : "in", k->container);
    vt_string_format(&advice, " at %s: ", frame_text);
    if (!framework)
        vt_string_add(&advice, number ? "keep its number" : "keep a host copy");
    else if (named && strlen(k->name) < 16)
        vt_string_format(&advice, "%s %s%s", verb, k->name, number ? ".item()" : ".detach().cpu()");
    else
        vt_string_format(&advice, "%s its %s", verb, number ? ".item()" : ".detach().cpu()");
    if (evaluating && less < 1)
        vt_string_add(&advice, "; use no_grad()");
    return advice.text;
}

static char *say_kept(const struct vt_process *p, const struct vt_keeper *k, bool framework,
                      bool evaluating) {
    struct vt_frame at = {.python = true, .file = k->file, .line = k->line};
    char *frame_text = vt_frame_text(p, &at, FRAME_COLUMNS), *advice = NULL;
    for (int less = 0; less < 4 && (!advice || !fits(advice)); less++) {
        free(advice);
        advice = word_kept(k, frame_text, framework, evaluating, less);
    }
    free(frame_text);
    return advice;
}

/* Whether what is kept is an object of the program's, not a tensor: its constructor made the memory,
 * and was called from the function that keeps it. */
static bool is_object(const struct vt_pysource *s, const struct vt_keeper *k,
                      const struct vt_stack *stack) {
    uint32_t kept = vt_pysource_at(s, k->line);
    bool constructed = false;
    for (uint32_t i = 0; i < stack->count && kept != VT_NO_STATEMENT && k->name[0]; i++) {
        const struct vt_frame *f = &stack->frames[i];
        if (!f->user_code || !f->python)
            continue;
        uint32_t at = vt_same_text(f->file, k->file) ? vt_pysource_frame(s, f) : VT_NO_STATEMENT;
        if (at != VT_NO_STATEMENT && vt_pysource_scope(s, at) == vt_pysource_scope(s, kept))
            return constructed;
        constructed |= !strcmp(vt_pysource_name(f), "__init__");
    }
    return false;
}

/* Whether what is kept is a number already: "score = trainer.fit()", where fit returns
 * loss.item(). */
static bool is_number(const struct vt_pysource *s, const struct vt_keeper *k) {
    size_t name = strlen(k->name);
    bool number = false;
    for (uint32_t i = 0; name && i < s->count && !number; i++) {
        const char *text = s->statements[i].text, *call = strchr(text, '('), *begin = call;
        if (strncmp(text, k->name, name) != 0 || text[name] != '=' || !call)
            continue;
        while (begin > text && vt_pysource_is_word(begin[-1]))
            begin--;
        char *def = vt_formatted("def %.*s(", (int)(call - begin), begin);
        for (uint32_t j = 0; j < s->count && !number; j++)
            number = !strncmp(s->statements[j].text, def, strlen(def)) &&
                     any_matches(s, j, vt_pysource_end(s, j),
                                 "^return.*(\\.item\\(\\)|\\.tolist\\(\\)|float\\()");
        free(def);
    }
    return number;
}

/* A graph that a variable keeps, longer each round. */
static char *find_carried(struct vt_pyfiles *files, const struct vt_stack *stack) {
    struct vt_carried carried;
    if (!vt_carried_find(files, stack, &carried))
        return NULL;
    struct vt_frame at = {.python = true, .file = carried.file, .line = carried.line};
    char *frame_text = vt_frame_text(files->process, &at, FRAME_COLUMNS);
    char *advice = vt_formatted("`%s` carries the graph of all rounds through %s: detach it",
                                carried.name, frame_text);
    free(frame_text);
    return advice;
}

/* Advice from the path of a block through the source. */
static char *find_kept(struct vt_pyfiles *files, const struct vt_leak *leak) {
    const struct vt_process *p = files->process;
    const struct vt_site *first = &p->sites[leak->sites[0]];
    bool framework = first->layer == VT_LAYER_FRAMEWORK;
    uint64_t allocs = 0;
    struct vt_keeper keeper;
    for (uint32_t i = 0; i < leak->site_count; i++)
        allocs += p->sites[leak->sites[i]].alloc_count;
    struct vt_keepers_facts facts = {
        /* blocks that were freed at exit were kept until then; the last one may be an exception */
        .none_freed = leak->held_count + allocs / 20 + 1 >= allocs,
        .repeats = leak->growth->outer_iterations > 0,
    };
    for (uint32_t i = 0; i < leak->site_count && i < SITES_ASKED; i++) {
        const struct vt_stack *stack = p->sites[leak->sites[i]].stack;
        facts.graph = framework && gradients_on(files, stack);
        const struct vt_frame *evaluating = facts.graph ? find_evaluation(files, stack) : NULL;
        if (vt_keepers_find(files, stack, facts, &keeper)) {
            const struct vt_pysource *s = vt_pyfiles_get(files, keeper.file);
            if (!s || (!is_object(s, &keeper, stack) && !is_number(s, &keeper)))
                return say_kept(p, &keeper, framework, evaluating != NULL);
        } else if (evaluating)
            return say_evaluation(p, evaluating);
    }
    for (uint32_t i = 0; i < leak->site_count && i < SITES_ASKED; i++) {
        const struct vt_stack *stack = p->sites[leak->sites[i]].stack;
        char *advice = framework && gradients_on(files, stack) ? find_carried(files, stack) : NULL;
        if (advice)
            return advice;
    }
    return NULL;
}

/* Handles and pinned batches, which a function's name shows. */
static char *find_by_name(const struct vt_process *p, const struct vt_site *site) {
    const struct vt_frame *main = vt_stack_main_frame(site->stack);
    const struct vt_frame *handle = find_frame(site->stack, handle_makers), *batch = NULL;
    struct vt_string advice = {0};
    char *frame_text = NULL;
    for (uint32_t i = 0; site->layer == VT_LAYER_HOST && i < site->stack->count && !batch; i++) {
        const struct vt_frame *f = &site->stack->frames[i];
        if ((f->user_code || strstr(f->file ? f->file : "", "/torch/utils/data/")) &&
            matches(f->function, loader))
            batch = f;
    }
    if (handle && !handle->user_code && !handle->python) {
        frame_text = vt_frame_text(p, main, FRAME_COLUMNS);
        vt_string_format(&advice, "%s is called repeatedly at %s: reuse one handle",
                         handle->function, frame_text);
    } else if (batch) {
        frame_text = vt_frame_text(p, batch, FRAME_COLUMNS);
        vt_string_format(&advice,
                         "pinned batches of %s are never freed: reuse a fixed set of "
                         "buffers",
                         frame_text);
    }
    free(frame_text);
    return advice.text;
}

/* What each line allocated and freed, over all stacks that lead to it. */
struct lines {
    struct vt_map by_key; /* vt_stack_line_key -> index */
    uint64_t *allocs, *freed;
};

static void count_lines(const struct vt_process *p, struct lines *lines) {
    lines->allocs = vt_alloc(p->site_count, sizeof *lines->allocs);
    lines->freed = vt_alloc(p->site_count, sizeof *lines->freed);
    for (uint32_t i = 0; i < p->site_count; i++) {
        if (!p->sites[i].stack)
            continue;
        uint64_t key = vt_stack_line_key(p->sites[i].stack);
        uint32_t line = vt_map_get(&lines->by_key, key);
        if (line == VT_MAP_NONE)
            vt_map_put(&lines->by_key, key, line = i);
        lines->allocs[line] += p->sites[i].alloc_count;
        lines->freed[line] += p->sites[i].free_count;
    }
}

/* Native code that never frees its blocks, or frees most and loses the rest. All sites of the line
 * count, because one caller may free what another one keeps. */
static char *find_unfreed(const struct vt_process *p, const struct lines *lines,
                          const struct vt_leak *leak) {
    const struct vt_site *site = &p->sites[leak->sites[0]];
    const struct vt_frame *frame = vt_stack_main_frame(leak->stack);
    uint64_t allocs = 0, freed = 0;
    size_t i = 0;
    if (!frame || frame->python || !frame->user_code || !site->api)
        return NULL;
    while (i < sizeof frees / sizeof *frees &&
           strncmp(site->api, frees[i].api, strlen(frees[i].api)))
        i++;
    uint32_t line = vt_map_get(&lines->by_key, vt_stack_line_key(leak->stack));
    if (line != VT_MAP_NONE) {
        allocs = lines->allocs[line];
        freed = lines->freed[line];
    }
    if (i == sizeof frees / sizeof *frees || allocs < 4 || !leak->live_count)
        return NULL;
    struct vt_string advice = {0};
    char *frame_text = vt_frame_text(p, frame, freed ? FRAME_COLUMNS - 10 : FRAME_COLUMNS);
    if (!freed)
        vt_string_format(&advice, "%s is never called for memory allocated at %s", frees[i].free,
                         frame_text);
    else if (leak->verdict == VT_VERDICT_LOST && freed >= leak->live_count * 2)
        vt_string_format(&advice,
                         "%s of %s are freed: some path drops memory allocated at %s without %s",
                         VT_NUMBER(freed), VT_NUMBER(allocs), frame_text, frees[i].free);
    free(frame_text);
    return advice.text;
}

static char *advise(const struct vt_process *p, const struct lines *lines,
                    const struct vt_leak *leak) {
    const struct vt_site *site = &p->sites[leak->sites[0]];
    struct vt_pyfiles files = {.process = p};
    char *advice = NULL;
    if (leak->growth && site->layer != VT_LAYER_HOST)
        advice = find_by_name(p, site);
    if (leak->growth && !advice)
        advice = find_gradients(&files, site->stack);
    /* nothing keeps a block without pointers to it */
    if (leak->growth && !advice && leak->verdict == VT_VERDICT_GROWING)
        advice = find_kept(&files, leak);
    if (leak->growth && !advice)
        advice = find_by_name(p, site);
    vt_pyfiles_free(&files);
    return advice ? advice : find_unfreed(p, lines, leak);
}

void vt_advice_add(struct vt_process *p) {
    struct lines lines = {0};
    count_lines(p, &lines);
    for (uint32_t i = 0; i < p->leak_count; i++) {
        struct vt_leak *leak = &p->leaks[i];
        leak->advice = vt_owners_advise(p, leak);
        leak->advice_of_owner = leak->advice != NULL;
        if (!leak->advice)
            leak->advice = advise(p, &lines, leak);
        if (!leak->advice) {
            leak->advice = vt_owners_advise_objects(leak);
            leak->advice_of_owner = leak->advice != NULL;
        }
    }
    vt_map_free(&lines.by_key);
    free(lines.allocs);
    free(lines.freed);
}
