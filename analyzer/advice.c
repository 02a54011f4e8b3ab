/* SPDX-License-Identifier: MIT */
/*
 * Advice: one line where the evidence of a leak is that of a mistake which is often made, with the
 * frame that shows it. What is known stands in the tables below, as data. Where nothing matches it
 * is silent: a guess would be read as a finding. leaks.c asks.
 *
 * The source is read where it is there and no newer than the run, as for the lines that a report
 * shows.
 */
#include "diagnose.h"
#include "place.h"
#include "vramtrace/log_format.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINES_AFTER = 40,  /* how far behind a Python line its variable is looked for */
    LINES_BEFORE = 40, /* how far back a function may begin */
    SOURCE_COLUMNS = 200,
    FRAMES_ASKED = 8 /* of the user's own, from the innermost */
};

/* ------------------------------------------------------------------------------------------------
 * what is known -- */

/* A line of Python that keeps a variable: NAME stands for it. `host`: what to keep instead. */
static const struct {
    const char *line;
    const char *what;
} keepers[] = {
    {"\\.(append|appendleft|extend|insert|add|put|push)\\(.*NAME", "is put into a container"},
    {"^[A-Za-z_][A-Za-z_0-9.]*\\[.*\\] *= *.*NAME", "is stored in a container"},
    {"^[A-Za-z_][A-Za-z_0-9.]* *(\\+=|= *[A-Za-z_][A-Za-z_0-9.]* *\\+) *.*NAME", "is added up"},
    {"^self\\.[A-Za-z_0-9]+ *= *NAME", "is kept by its object"},
    {"^yield +.*NAME", "is handed out by a generator"},
};

/* What a variable's name says about what of it is worth keeping. */
static const struct {
    const char *name;
    const char *instead;
} kept_instead[] = {
    {"loss|error|cost|metric|acc", "keep its number (.item(), float(...)), not the array"},
    {"", "keep a copy on the host (.detach().cpu(), copy_to_host()), or drop it"},
};

/* A function on the stack that gives the pattern away; native or Python. */
static const struct {
    int layer; /* enum vt_layer; -1: any */
    const char *function;
    const char *text;
} tellers[] = {
    {-1,
     "^(cublas|cublasLt|cudnn|cusparse|cusolverDn|cusolverSp|curand|cufft)[A-Za-z]*(Create|Plan)",
     "a library handle is made again and again, each with memory of its own: make one, reuse it, "
     "or destroy it"},
    {-1, "^(cufftPlan|cufftMakePlan|cufftPlanMany|ncclCommInit)",
     "a plan or communicator is made again and again: make one, reuse it, or destroy it"},
    {-1, "AccumulateGrad", "gradients add up: optimizer.zero_grad(set_to_none=True) each step"},
    {VT_LAYER_HOST, "pin_memory|[Ll]oader|next_batch|load_batch|prefetch",
     "a loader's pinned batches are not given back: reuse a fixed set of pinned buffers"},
};

/* Evaluation that builds a graph for gradients. */
static const char evaluation[] = "^(eval|evaluate|validate|validation|test|predict|infer)";
static const char without_graph[] = "no_grad|inference_mode";

/* What gives back what an API handed out. */
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
    {"cudaMalloc", "cudaFree"}, /* and all that begin so */
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

/* ------------------------------------------------------------------------------------------------
 * matching -- */

static bool matches(const char *text, const char *pattern) {
    regex_t regex;
    if (!text || regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB))
        return false;
    bool match = !regexec(&regex, text, 0, NULL, 0);
    regfree(&regex);
    return match;
}

/* NAME replaced by the variable, as a whole word. */
static bool keeps(const char *line, const char *pattern, const char *name) {
    struct vt_string full = {0};
    const char *at = strstr(pattern, "NAME");
    vt_string_add_bytes(&full, pattern, (size_t)(at - pattern));
    vt_string_format(&full, "(^|[^A-Za-z_0-9.])%s($|[^A-Za-z_0-9(])%s", name, at + strlen("NAME"));
    bool match = matches(line, full.text);
    /* the space before NAME in a pattern may be the word's own border */
    if (!match && at > pattern) {
        full.length = 0;
        vt_string_add_bytes(&full, pattern, (size_t)(at - pattern));
        vt_string_format(&full, "%s($|[^A-Za-z_0-9(])%s", name, at + strlen("NAME"));
        match = at[-1] == ' ' && matches(line, full.text);
    }
    vt_string_free(&full);
    return match;
}

/* The variable that a line assigns to: "scores" of "scores = model.forward(x)". The caller frees;
 * NULL: none. */
static char *assigned(const char *line) {
    size_t length = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    const char *after = line + length + strspn(line + length, " ");
    return length && *after == '=' && after[1] != '=' ? vt_strndup(line, length) : NULL;
}

static char *source_at(const struct vt_process *p, const struct vt_frame *frame, uint32_t line) {
    struct vt_frame at = *frame;
    at.line = line;
    return line ? vt_place_source(p, &at, SOURCE_COLUMNS) : NULL;
}

static bool ends_function(const char *line) {
    return !strncmp(line, "def ", 4) || !strncmp(line, "class ", 6) ||
           !strncmp(line, "async def", 9);
}

/* ------------------------------------------------------------------------------------------------
 * the patterns -- */

static char *say_kept(const struct vt_process *p, const struct vt_frame *frame, uint32_t line,
                      const char *name, const char *what) {
    struct vt_frame at = *frame;
    struct vt_string advice = {0};
    size_t i = 0;
    at.line = line;
    at.function = NULL;
    char *place = vt_place_text(p, &at, 40);
    while (!matches(name, kept_instead[i].name))
        i++;
    vt_string_format(&advice, "%s%s%s %s at %s: %s", *name ? "`" : "", *name ? name : "it",
                     *name ? "`" : "", what, place, kept_instead[i].instead);
    free(place);
    return advice.text;
}

/* Whether the line that allocates, or one behind it in the same function, keeps what the line made.
 */
static char *find_keeper(const struct vt_process *p, const struct vt_frame *frame) {
    char *line = frame->python ? source_at(p, frame, frame->line) : NULL, *advice = NULL;
    if (!line)
        return NULL;
    char *name = assigned(line);
    if (matches(line, "\\.(append|appendleft|insert|add|put)\\("))
        advice = say_kept(p, frame, frame->line, "", keepers[0].what);
    for (uint32_t i = 1; name && !advice && i <= LINES_AFTER; i++) {
        char *next = source_at(p, frame, frame->line + i);
        bool end = next && ends_function(next);
        for (size_t k = 0; next && !end && !advice && k < sizeof keepers / sizeof *keepers; k++)
            if (next[0] != '#' && keeps(next, keepers[k].line, name))
                advice = say_kept(p, frame, frame->line + i, name, keepers[k].what);
        free(next);
        if (end)
            break;
    }
    free(name);
    free(line);
    return advice;
}

static char *find_kept(const struct vt_process *p, const struct vt_stack *stack) {
    char *advice = NULL;
    unsigned asked = 0;
    for (uint32_t i = 0; i < stack->count && !advice && asked < FRAMES_ASKED; i++)
        if (stack->frames[i].own) {
            advice = find_keeper(p, &stack->frames[i]);
            asked++;
        }
    return advice;
}

static char *find_teller(const struct vt_process *p, const struct vt_site *site) {
    const struct vt_stack *stack = site->stack;
    for (size_t k = 0; k < sizeof tellers / sizeof *tellers; k++) {
        if (tellers[k].layer >= 0 && tellers[k].layer != (int)site->layer)
            continue;
        for (uint32_t i = 0; i < stack->count; i++) {
            if (!matches(stack->frames[i].function, tellers[k].function))
                continue;
            struct vt_string advice = {0};
            char *place = vt_place_text(p, &stack->frames[i], 40);
            vt_string_format(&advice, "%s (%s)", tellers[k].text, place);
            free(place);
            return advice.text;
        }
    }
    return NULL;
}

/* Blocks of a framework made in a function that evaluates, with nothing that turns gradients off
 * from the function's beginning to the call. */
static char *find_evaluation(const struct vt_process *p, const struct vt_site *site) {
    const struct vt_stack *stack = site->stack;
    for (uint32_t i = 0; site->layer == VT_LAYER_FRAMEWORK && i < stack->count; i++) {
        const struct vt_frame *frame = &stack->frames[i];
        bool off = false, begun = false;
        if (!frame->own || !frame->python || !matches(frame->function, evaluation))
            continue;
        for (uint32_t back = 0; !off && !(begun && back == 0) && back <= LINES_BEFORE; back++) {
            char *line = source_at(p, frame, frame->line > back ? frame->line - back : 0);
            off = line && matches(line, without_graph);
            bool def = line && ends_function(line);
            free(line);
            if (begun)
                break; /* the decorator's line was looked at */
            begun = def;
        }
        if (off || !begun)
            return NULL;
        struct vt_string advice = {0};
        char *place = vt_place_text(p, frame, 50);
        vt_string_format(&advice, "%s evaluates with gradients: put it under torch.no_grad()",
                         place);
        free(place);
        return advice.text;
    }
    return NULL;
}

/* Native code that never frees, or mostly does. */
static char *find_unfreed(const struct vt_process *p, const struct vt_leak *leak) {
    const struct vt_site *site = &p->sites[leak->sites[0]];
    const struct vt_frame *frame = vt_stack_main_frame(leak->stack);
    uint64_t allocs = 0, freed = 0;
    size_t i = 0;
    if (!frame || frame->python || !frame->own || !site->api)
        return NULL;
    while (i < sizeof frees / sizeof *frees &&
           strncmp(site->api, frees[i].api, strlen(frees[i].api)))
        i++;
    for (uint32_t j = 0; j < leak->site_count; j++) {
        allocs += p->sites[leak->sites[j]].alloc_count;
        freed += p->sites[leak->sites[j]].free_count;
    }
    if (i == sizeof frees / sizeof *frees || allocs < 4 || !leak->live_count)
        return NULL;
    struct vt_string advice = {0};
    char a[VT_FORMAT_BYTES], b[VT_FORMAT_BYTES];
    char *place = vt_place_text(p, frame, 50);
    if (!freed)
        vt_string_format(&advice, "no %s is ever called for what %s allocates", frees[i].free,
                         place);
    else if (freed >= leak->live_count * 2)
        vt_string_format(&advice, "%s of %s are freed: some way out of %s skips its %s",
                         vt_format_count(freed, a), vt_format_count(allocs, b), place,
                         frees[i].free);
    free(place);
    return advice.text;
}

char *vt_advice_for(const struct vt_process *p, const struct vt_leak *leak) {
    const struct vt_site *site = &p->sites[leak->sites[0]];
    char *advice = NULL;
    if (leak->growth)
        advice = find_teller(p, site);
    if (leak->growth && !advice)
        advice = find_evaluation(p, site);
    for (uint32_t i = 0; leak->growth && !advice && i < leak->site_count && i < 4; i++)
        advice = find_kept(p, p->sites[leak->sites[i]].stack);
    return advice ? advice : find_unfreed(p, leak);
}
