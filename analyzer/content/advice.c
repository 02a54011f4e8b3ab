/* SPDX-License-Identifier: MIT */
/*
 * Advice: one line for a leak whose evidence shows a common mistake, with the frame that shows it. The leak's owner
 * is the best evidence (owner_advice.c); the tables below are for function names and counts. If nothing matches,
 * there is no advice, because readers take a guess for a finding.
 */
#include "sentences.h"

#include <limits.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_COLUMNS = 40 /* so that advice fits into two lines */ };

/* --- common mistakes --- */

/* Functions of CUDA libraries that create handles with memory of their own. */
static const char handle_makers[] = "^(cublasCreate(_v2)?|cublas(Lt|Xt)Create|cudnnCreate|"
                                    "cusparseCreate|cusolver(Dn|Sp|Rf|Mg)Create|"
                                    "curandCreateGenerator|cutensorCreate|cufft(Create|Plan(1d|2d|"
                                    "3d|Many)|(Xt)?MakePlan[A-Za-z0-9]*)|"
                                    "ncclCommInit[A-Za-z]*|ncclCommSplit)$";

/* Names of functions, or their classes, that fetch batches. */
static const char loader[] =
    "(^|[._:])((load|next|fetch|get|read|make|pin)_(next_)?batch(es)?|prefetch|_?pin_memory_loop)"
    "($|[^A-Za-z0-9_])|"
    "(^|[._:])([A-Za-z0-9_]*[a-z0-9])?Loader(Iter)?([._:]|$)|"
    "(^|[._:])([A-Za-z0-9_]+_)?loader([._:]|$)|"
    "(^|[._:])(Prefetcher|[A-Za-z0-9_]*[a-z0-9]Prefetcher)([._:]|$)";

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

static const struct vt_frame *find_frame(const struct vt_stack *stack, const char *pattern) {
    for (uint32_t i = 0; i < stack->count; i++)
        if (matches(vt_stack_frame(stack, i)->function, pattern))
            return vt_stack_frame(stack, i);
    return NULL;
}

/* --- handles, loaders, frees --- */

/* Handles and pinned batches, recognized by a function's name. */
static char *find_by_name(const struct vt_process *p, const struct vt_site *site) {
    const struct vt_frame *main = vt_stack_main_frame(site->stack);
    const struct vt_frame *handle = find_frame(site->stack, handle_makers), *batch = NULL;
    struct vt_string advice = {0};
    VT_SCOPED char *frame_text = NULL;
    for (uint32_t i = 0; site->layer == VT_LAYER_HOST && i < site->stack->count && !batch; i++) {
        const struct vt_frame *f = vt_stack_frame(site->stack, i);
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
    return advice.text;
}

/* Each line's allocations and frees, over all stacks that lead to it. */
struct lines {
    struct vt_map by_key; /* vt_stack.line -> index */
    uint64_t *allocs, *freed;
};

static void count_lines(const struct vt_process *p, struct lines *lines) {
    lines->allocs = vt_alloc(p->site_count, sizeof *lines->allocs);
    lines->freed = vt_alloc(p->site_count, sizeof *lines->freed);
    for (uint32_t i = 0; i < p->site_count; i++) {
        uint32_t line = vt_map_add(&lines->by_key, p->sites[i].stack->line, i);
        lines->allocs[line] += p->sites[i].alloc_count;
        lines->freed[line] += p->sites[i].free_count;
    }
}

/* Whether a C++ function, "Decoder::Decoder", is a class's constructor. */
static bool is_constructor(const struct vt_frame *frame) {
    VT_SCOPED char *name = vt_frame_text_function(frame);
    const char *last = name ? strrchr(name, ':') : NULL;
    bool constructor = false;
    if (last && last > name + 1 && last[-1] == ':') {
        size_t length = (size_t)(last - 1 - name), own = strlen(last + 1);
        static const char arguments[] = "<...>";
        if (length > sizeof arguments - 1 &&
            !strncmp(name + length - (sizeof arguments - 1), arguments, sizeof arguments - 1))
            length -= sizeof arguments - 1;
        const char *class = name + length - own;
        constructor =
            length >= own && !strncmp(class, last + 1, own) && (class == name || class[-1] == ':');
    }
    return constructor;
}

/* A later line of the same constructor whose allocations were all freed: the constructor apparently threw between the
 * two. 0: there is none. */
static uint32_t find_throw(const struct vt_process *p, const struct lines *lines,
                           const struct vt_frame *frame, uint64_t freed) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_frame *f = vt_stack_main_frame(p->sites[i].stack);
        if (!f || !f->user_code || !vt_same_function(f, frame) || f->line <= frame->line)
            continue;
        uint32_t line = vt_map_get(&lines->by_key, p->sites[i].stack->line);
        if (lines->allocs[line] == freed && (!found || f->line < found))
            found = f->line;
    }
    return found;
}

/* The caller of the allocating line, if only memory of other callers is freed: then the line is a helper's. NULL: it
 * is not. */
static const struct vt_frame *find_caller(const struct vt_process *p, const struct vt_leak *leak) {
    const struct vt_site *site = &p->sites[leak->sites[0]];
    const struct vt_stack *stack = site->stack;
    if (leak->verdict != VT_VERDICT_LOST || leak->site_count > 1 || site->free_count)
        return NULL;
    uint32_t at = vt_stack_caller(stack, stack->user_frame);
    return at < stack->count ? vt_stack_frame(stack, at) : NULL;
}

/* Physical memory ends when it is neither mapped nor referenced. The log has the mappings, but not the references:
 * unmapped memory must have one; for mapped memory that is unknown. NULL: the leak has no such memory. */
static char *find_unreleased(const struct vt_process *p, const struct vt_leak *leak) {
    uint64_t live = 0, mapped = 0;
    for (uint32_t i = 0; i < leak->site_count; i++) {
        const struct vt_site *site = &p->sites[leak->sites[i]];
        if (!vt_same_text(site->api, "cuMemCreate"))
            continue;
        live += site->live_count;
        mapped += site->mapped_count;
    }
    if (!live)
        return NULL;
    if (p->quality.missing)
        return vt_formatted("cuMemUnmap or cuMemRelease is missing for %s handles",
                            VT_NUMBER(live));
    if (!mapped)
        return vt_formatted(
            "cuMemRelease is missing: %s of %s handles are still referenced, and none "
            "is mapped",
            VT_NUMBER(live), VT_NUMBER(live));
    if (mapped < live)
        return vt_formatted(
            "cuMemUnmap is missing for %s of %s handles, cuMemRelease at least for the "
            "other %s",
            VT_NUMBER(mapped), VT_NUMBER(live), VT_NUMBER(live - mapped));
    return vt_formatted("cuMemUnmap is missing: %s of %s handles are still mapped; cuMemRelease "
                        "may also be missing",
                        VT_NUMBER(mapped), VT_NUMBER(live));
}

/* Native code that never frees its blocks, or frees most and loses the rest. All sites of the line count, because one
 * caller may free blocks that another one keeps. */
static char *find_unfreed(const struct vt_process *p, const struct lines *lines,
                          const struct vt_leak *leak) {
    const struct vt_site *site = &p->sites[leak->sites[0]];
    const struct vt_frame *frame = vt_stack_main_frame(leak->stack);
    uint32_t thrown;
    size_t i = 0;
    if (!frame || frame->python || !frame->user_code || !site->api)
        return NULL;
    while (i < sizeof frees / sizeof *frees &&
           strncmp(site->api, frees[i].api, strlen(frees[i].api)))
        i++;
    uint32_t line = vt_map_get(&lines->by_key, leak->stack->line);
    uint64_t allocs = lines->allocs[line], freed = lines->freed[line];
    if (i == sizeof frees / sizeof *frees || allocs < 4 || !leak->live_count)
        return NULL;
    char *unreleased = freed ? NULL : find_unreleased(p, leak);
    if (unreleased)
        return unreleased;
    struct vt_string advice = {0};
    const struct vt_frame *caller = freed ? find_caller(p, leak) : NULL;
    VT_SCOPED char *frame_text = vt_frame_text(
        p, caller ? caller : frame, freed && !caller ? FRAME_COLUMNS - 10 : FRAME_COLUMNS);
    if (caller)
        vt_string_format(&advice,
                         "%s is called for what other callers of this line get, never for %s",
                         frees[i].free, frame_text);
    else if (!freed)
        vt_string_format(&advice, "%s is never called for memory allocated at %s", frees[i].free,
                         frame_text);
    else if (leak->verdict != VT_VERDICT_LOST || freed < leak->live_count * 2)
        ;
    else if (is_constructor(frame) && (thrown = find_throw(p, lines, frame, freed)))
        vt_string_format(&advice,
                         "%s of %s are freed: the other times the constructor threw before line "
                         "%u, so no destructor called %s",
                         VT_NUMBER(freed), VT_NUMBER(allocs), thrown, frees[i].free);
    else
        vt_string_format(&advice,
                         "%s of %s are freed: some path drops memory allocated at %s without %s",
                         VT_NUMBER(freed), VT_NUMBER(allocs), frame_text, frees[i].free);
    return advice.text;
}

/* Memory that a graph's launch allocates, and that the graph does not free, has no owner once the graph is destroyed. */
static char *find_graph(const struct vt_process *p, const struct vt_leak *leak) {
    for (uint32_t i = 0; i < leak->site_count; i++)
        if (!p->sites[leak->sites[i]].graph_memory)
            return NULL;
    return vt_strdup("no graph frees this when it is destroyed: capture the free as well, or free "
                     "it before");
}

/* Gradients that backward(create_graph=True) made: PyTorch warns that parameter, .grad and graph then hold each other,
 * which no search for owners and no garbage collector sees, as the graph is not Python's (torch/_tensor.py, 2.14). */
static char *find_double_backward(const struct vt_process *p, const struct vt_leak *leak) {
    enum { ASKED = 16 };
    for (uint32_t i = 0; i < leak->site_count && i < ASKED && !leak->kept_count; i++) {
        const struct vt_stack *stack = p->sites[leak->sites[i]].stack;
        VT_SCOPED char *node = vt_stack_text_node(stack);
        const struct vt_frame *frame = vt_stack_main_frame(stack);
        VT_SCOPED char *source = node && frame ? vt_frame_text_source(p, frame, UINT_MAX) : NULL;
        if (!source || !strstr(source, "create_graph=True"))
            continue;
        VT_SCOPED char *place = vt_frame_text(p, frame, FRAME_COLUMNS);
        return vt_formatted("backward(create_graph=True) at %s makes each parameter's .grad hold "
                            "the graph that holds the parameter: use torch.autograd.grad(), or set "
                            "p.grad = None when done",
                            place);
    }
    return NULL;
}

static char *advise(const struct vt_process *p, const struct lines *lines,
                    const struct vt_leak *leak) {
    char *advice = find_graph(p, leak);
    advice = advice ? advice : find_double_backward(p, leak);
    if (advice)
        return advice;
    advice = leak->growth ? find_by_name(p, &p->sites[leak->sites[0]]) : NULL;
    return advice ? advice : find_unfreed(p, lines, leak);
}

void vt_advice_add(struct vt_process *p) {
    struct lines lines = {0};
    count_lines(p, &lines);
    for (uint32_t i = 0; i < p->found_count; i++) {
        struct vt_leak *leak = &p->leaks[i];
        char *of_owner = vt_owners_advise(p, leak), *of_names = NULL;
        if (!of_owner)
            of_names = advise(p, &lines, leak);
        if (!of_owner && !of_names)
            of_owner = vt_owners_advise_objects(leak);
        leak->advice = of_owner ? of_owner : of_names;
        leak->advice_of_owner = of_owner != NULL;
    }
    vt_map_free(&lines.by_key);
    free(lines.allocs);
    free(lines.freed);
}
