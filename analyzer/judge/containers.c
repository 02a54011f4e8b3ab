/* SPDX-License-Identifier: MIT */
/*
 * Containers and sums in Python source (see containers.h): what is assigned to them, what empties
 * them, in which loops they are made and filled.
 */
#define _GNU_SOURCE /* memmem */
#include "containers.h"

#include <string.h>

static struct vt_pytext text_of(const char *text) {
    return (struct vt_pytext){text, strlen(text)};
}

static bool same(struct vt_pytext a, struct vt_pytext b) {
    return a.length == b.length && !memcmp(a.at, b.at, a.length);
}

/* Where a whole word stands; NULL: nowhere. */
static const char *find_word(const char *text, struct vt_pytext word) {
    for (const char *at = text; *at; at++)
        if (!strncmp(at, word.at, word.length) && !vt_pysource_is_word(at[word.length]) &&
            (at == text || !vt_pysource_is_word(at[-1])))
            return at;
    return NULL;
}

/* --- assignments --- */

/* Parts "a=b" or "a+=b"; `sign`: 0 or the operator. False: it assigns nothing. */
bool vt_containers_assignment(struct vt_pytext text, struct vt_pytext *target,
                              struct vt_pytext *value, char *sign) {
    struct vt_pytext rest = text, name;
    if (!vt_pytext_part(&rest, '=', target) || !rest.length || rest.at[0] == '=')
        return false;
    char last = target->length ? target->at[target->length - 1] : 0;
    if (!last || strchr("<>!:", last))
        return false;
    *value = rest;
    *sign = strchr("+-*/%@&|^", last) ? last : 0;
    while (*sign && target->length && strchr("+-*/%@&|^<>", target->at[target->length - 1]))
        target->length--;
    struct vt_pytext annotated = *target;
    if (vt_pytext_part(&annotated, ':', &name) && name.length < target->length)
        *target = name;
    return target->length > 0;
}

/* What a statement assigns to a variable, as far as it can be told; length 0: it does not. */
static struct vt_pytext assigned_to(const char *text, struct vt_pytext variable) {
    struct vt_pytext rest = text_of(text), target, value;
    char sign;
    struct vt_pytext last = rest;
    while (vt_containers_assignment(last, &target, &value, &sign) && !sign)
        last = value;
    while (vt_containers_assignment(rest, &target, &value, &sign) && !sign) {
        struct vt_pytext names = vt_pytext_strip(target), values = last, name, one;
        unsigned count = 0, values_count = 0, at = 0;
        bool found = false;
        for (struct vt_pytext left = names; vt_pytext_part(&left, ',', &name); count++)
            if (same(vt_pytext_strip(name), variable)) {
                found = true;
                at = count;
            }
        for (struct vt_pytext left = last; vt_pytext_part(&left, ',', &one);)
            values_count++;
        for (unsigned i = 0; found && count == values_count && i <= at; i++)
            vt_pytext_part(&values, ',', &one);
        if (found)
            return count == values_count ? one : last;
        rest = value;
    }
    return (struct vt_pytext){text, 0};
}

/* --- containers --- */

/* "[...]", "dict()", "[None] * 8"; of numbers, "0.0" and zeros of one's own. */
static bool begins_container(struct vt_pytext value, bool number) {
    value = vt_pytext_strip(value);
    size_t dotted = vt_pytext_dotted(value);
    struct vt_pytext last = vt_pytext_last((struct vt_pytext){value.at, dotted});
    bool called = dotted && dotted < value.length && value.at[dotted] == '(';
    if (number)
        return vt_pytext_listed("0 0. 0.0 .0 None", value) ||
               (called && vt_pytext_listed("zeros tensor float Tensor", last) &&
                memchr(value.at, '0', value.length));
    if (called && vt_pytext_listed("deque", last))
        return !memmem(value.at, value.length, "maxlen", 6) &&
               !memchr(value.at + dotted, ',', value.length - dotted);
    return value.at[0] == '[' || value.at[0] == '{' ||
           (called && vt_pytext_listed("list dict set defaultdict OrderedDict field", last));
}

/* Whether what stands at `at`, where a container is named, takes something out of it, or puts other
 * things in its place. */
static bool empties(const char *at, struct vt_pytext name, bool number) {
    static const char methods[] = "clear pop popleft popitem remove discard resize fill_ zero_";
    const char *after = at + name.length;
    if (*after == '[') /* one of a list of lists */
        after += vt_pytext_bracket(text_of(after), 0);
    struct vt_pytext method = {after + 1, 0};
    while (*after == '.' && vt_pysource_is_word(method.at[method.length]))
        method.length++;
    if (method.length)
        return vt_pytext_listed(methods, method) ||
               (number && vt_pytext_is(method, "backward")); /* trained on: no statistic */
    if (*after != '=')
        return false;
    if (after > at + name.length) /* x[:] = y */
        return after[-2] == ':';
    return !strncmp(after + 1, name.at, name.length) &&
           after[1 + name.length] == '['; /* x = x[1:] */
}

/* Whether any statement of the file does, whoever calls it; a container of the same name in another
 * class counts as well. */
bool vt_containers_emptied(const struct vt_pysource *s, struct vt_pytext container, bool number) {
    struct vt_pytext name = vt_pytext_last(container);
    for (size_t i = 0; i < s->count; i++) {
        const char *text = s->statements[i].text;
        for (const char *at = find_word(text, name); at; at = find_word(at + 1, name)) {
            if (at > text && vt_pysource_is_word(at[-1]))
                continue;
            if (vt_pysource_begins(text, "del") || empties(at, name, number))
                return true;
        }
    }
    return false;
}

/* Whether statement i stands in what a head holds. */
bool vt_containers_holds(const struct vt_pysource *s, uint32_t head, uint32_t i) {
    return i > head && i < vt_pysource_end(s, head);
}

/* The innermost loop around statement i, in its own scope. */
uint32_t vt_containers_loop(const struct vt_pysource *s, uint32_t i) {
    for (i = vt_pysource_above(s, i); i != VT_NO_STATEMENT; i = vt_pysource_above(s, i)) {
        if (vt_pysource_is_scope(s->statements[i].text))
            return VT_NO_STATEMENT;
        if (vt_pysource_is_loop(s->statements[i].text))
            return i;
    }
    return VT_NO_STATEMENT;
}

/* PyTorch's modules, whose loops are over layers, not over rounds. */
static bool is_passed_over(const struct vt_frame *f) {
    return !f->python || (!f->user_code && f->file && strstr(f->file, "-packages/torch/"));
}

bool vt_containers_main_loops(struct vt_pyfiles *files, const struct vt_stack *stack) {
    bool main_loops = false;
    for (uint32_t i = 0; i < stack->count; i++) {
        const struct vt_frame *f = &stack->frames[i];
        if (is_passed_over(f))
            continue;
        const struct vt_pysource *s = vt_pyfiles_get(files, f->file);
        uint32_t at = vt_pysource_frame(s, f);
        if (main_loops && at != VT_NO_STATEMENT && !strcmp(vt_pysource_name(f), "<module>"))
            return f->user_code && vt_containers_loop(s, at) == VT_NO_STATEMENT && !stack->cut;
        if (main_loops || at == VT_NO_STATEMENT || strstr(s->statements[at].text, " for "))
            return false;
        main_loops = vt_containers_loop(s, at) != VT_NO_STATEMENT;
    }
    return false;
}

/* How long a container lives that is made at `made` and filled at `at`, in one scope. */
static enum vt_life life_between(const struct vt_pysource *s, uint32_t scope, uint32_t made,
                                 uint32_t at) {
    uint32_t innermost = vt_containers_loop(s, at);
    for (uint32_t loop = innermost; loop != VT_NO_STATEMENT; loop = vt_containers_loop(s, loop))
        if (vt_containers_holds(s, loop, made))
            return loop == innermost ? VT_LIFE_ONCE : VT_LIFE_OUTER;
    if (scope == VT_NO_STATEMENT)
        return VT_LIFE_RUN;
    return innermost == VT_NO_STATEMENT ? VT_LIFE_ONCE : VT_LIFE_CALL;
}

/* Looks at all that is assigned to a container from `from` to before `to`; `deep`: in the functions
 * there as well. How often; the last time at `made`. -1: it is made of something else. */
static int find_making(const struct vt_pysource *s, struct vt_pytext name, bool number,
                       uint32_t from, uint32_t to, bool deep, uint32_t *made) {
    int count = 0;
    for (uint32_t i = from; i < to; i = deep ? i + 1 : vt_pysource_next(s, i)) {
        struct vt_pytext value = assigned_to(s->statements[i].text, name);
        bool itself = vt_pytext_dotted(value) == name.length &&
                      !memcmp(value.at, name.at, name.length); /* x = x + ... */
        if (!value.length || itself)
            continue;
        if (!begins_container(value, number))
            return -1;
        count++;
        *made = i;
    }
    return count;
}

/* `sure`: what was written can only be done to a container. */
enum vt_life vt_containers_life(const struct vt_pysource *s, uint32_t scope, struct vt_pytext name,
                                uint32_t at, bool number, bool sure) {
    uint32_t from = scope == VT_NO_STATEMENT ? 0 : scope + 1, made = 0;
    uint32_t to = scope == VT_NO_STATEMENT ? (uint32_t)s->count : vt_pysource_end(s, scope);
    bool dotted = memchr(name.at, '.', name.length), declared = false;
    if (!name.length || vt_containers_emptied(s, name, number))
        return VT_LIFE_UNKNOWN;
    for (uint32_t i = from; i < to; i = vt_pysource_next(s, i))
        if (vt_pysource_begins(s->statements[i].text, "global") ||
            vt_pysource_begins(s->statements[i].text, "nonlocal"))
            declared = declared || find_word(s->statements[i].text, name) != NULL;
    if (!dotted && !declared) {
        int count = find_making(s, name, number, from, to, false, &made);
        if (count < 0)
            return VT_LIFE_UNKNOWN;
        if (count)
            return count == 1 ? life_between(s, scope, made, at) : VT_LIFE_UNKNOWN;
        if (scope != VT_NO_STATEMENT && find_word(s->statements[scope].text, name))
            return VT_LIFE_UNKNOWN; /* a parameter: its caller may drop it */
    }
    int count = find_making(s, name, number, 0, (uint32_t)s->count, dotted || declared, &made);
    if (count == 0 && dotted) /* the class's own: "outs = []" in its body */
        count = find_making(s, vt_pytext_last(name), number, 0, (uint32_t)s->count, true, &made);
    if (count != 1)
        return VT_LIFE_UNKNOWN;
    if (!sure && strstr(s->statements[made].text, "]*"))
        return VT_LIFE_UNKNOWN; /* as long as it was made */
    uint32_t maker = vt_pysource_scope(s, made);
    if (maker == scope && maker != VT_NO_STATEMENT)
        return life_between(s, scope, made, at);
    if (maker != VT_NO_STATEMENT && !vt_pysource_begins(s->statements[maker].text, "class") &&
        !strstr(s->statements[maker].text, " __init__("))
        return VT_LIFE_UNKNOWN; /* made again whenever that is called */
    return !dotted && vt_containers_loop(s, made) != VT_NO_STATEMENT ? VT_LIFE_OUTER : VT_LIFE_RUN;
}
