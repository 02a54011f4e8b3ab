/* SPDX-License-Identifier: MIT */
/*
 * Who keeps what was allocated (see keepers.h). A value is followed as a reader would: what a line's
 * call returned gets a name; the statements behind it store that, add it to something, or return it,
 * and then the caller's line is where it goes on. A container that lives no longer than the value
 * does keeps nothing; it is followed in its turn. Where something empties a container, where the code
 * cannot be reached, or where it is not understood, there is no keeper.
 */
#define _GNU_SOURCE /* memmem */
#include "keepers.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES_ASKED = 8 }; /* of the user's own */

/* How long a container lives. */
enum life {
    LIFE_UNKNOWN, /* or it is emptied, or is none */
    LIFE_ONCE,    /* made anew for each value */
    LIFE_OUTER,   /* made anew in a loop around the one that fills it: with each epoch */
    LIFE_CALL,    /* as long as the call of the function that fills it in a loop */
    LIFE_RUN
};

/* A value on its way through one function. */
struct way {
    const struct vt_pysource *source;
    uint32_t scope; /* head of the function; VT_NO_STATEMENT: the module */
    struct vt_pyscene *scene;
    const struct vt_process *process;
    struct vt_pyvalue returned;
    struct vt_keeper best;
    enum life life; /* of what `best` names; LIFE_UNKNOWN: none was found */
};

static struct vt_pytext text_of(const char *text) {
    return (struct vt_pytext){text, strlen(text)};
}

static struct vt_pytext behind(struct vt_pytext text, size_t at) {
    return (struct vt_pytext){text.at + at, text.length - at};
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

/* ------------------------------------------------------------------------------------------------
 * assignments -- */

/* Parts "a=b" or "a+=b"; `sign`: 0 or the operator. False: it assigns nothing. */
static bool part_assignment(struct vt_pytext text, struct vt_pytext *target,
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
    while (part_assignment(last, &target, &value, &sign) && !sign)
        last = value;
    while (part_assignment(rest, &target, &value, &sign) && !sign) {
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

/* ------------------------------------------------------------------------------------------------
 * containers -- */

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
static bool is_emptied(const struct vt_pysource *s, struct vt_pytext container, bool number) {
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
static bool holds(const struct vt_pysource *s, uint32_t head, uint32_t i) {
    return i > head && i < vt_pysource_end(s, head);
}

/* The innermost loop around statement i, in its own scope. */
static uint32_t loop_around(const struct vt_pysource *s, uint32_t i) {
    for (i = vt_pysource_above(s, i); i != VT_NO_STATEMENT; i = vt_pysource_above(s, i)) {
        if (vt_pysource_is_scope(s->statements[i].text))
            return VT_NO_STATEMENT;
        if (vt_pysource_is_loop(s->statements[i].text))
            return i;
    }
    return VT_NO_STATEMENT;
}

/* How long a container lives that is made at `made` and filled at `at`, in one scope. */
static enum life life_between(const struct way *w, uint32_t made, uint32_t at) {
    const struct vt_pysource *s = w->source;
    uint32_t innermost = loop_around(s, at);
    for (uint32_t loop = innermost; loop != VT_NO_STATEMENT; loop = loop_around(s, loop))
        if (holds(s, loop, made))
            return loop == innermost ? LIFE_ONCE : LIFE_OUTER;
    if (w->scope == VT_NO_STATEMENT)
        return LIFE_RUN;
    return innermost == VT_NO_STATEMENT ? LIFE_ONCE : LIFE_CALL;
}

/* Looks at all that is assigned to a container from `from` to before `to`; `deep`: in the functions
 * there as well. How often; the last time at `made`. -1: it is made of something else. */
static int find_making(const struct way *w, struct vt_pytext name, bool number, uint32_t from,
                       uint32_t to, bool deep, uint32_t *made) {
    const struct vt_pysource *s = w->source;
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
static enum life life_of(const struct way *w, struct vt_pytext name, uint32_t at, bool number,
                         bool sure) {
    const struct vt_pysource *s = w->source;
    uint32_t from = w->scope == VT_NO_STATEMENT ? 0 : w->scope + 1, made = 0;
    uint32_t to = w->scope == VT_NO_STATEMENT ? (uint32_t)s->count : vt_pysource_end(s, w->scope);
    bool dotted = memchr(name.at, '.', name.length), declared = false;
    if (!name.length || is_emptied(s, name, number))
        return LIFE_UNKNOWN;
    for (uint32_t i = from; i < to; i = vt_pysource_next(s, i))
        if (vt_pysource_begins(s->statements[i].text, "global") ||
            vt_pysource_begins(s->statements[i].text, "nonlocal"))
            declared = declared || find_word(s->statements[i].text, name) != NULL;
    if (!dotted && !declared) {
        int count = find_making(w, name, number, from, to, false, &made);
        if (count < 0)
            return LIFE_UNKNOWN;
        if (count)
            return count == 1 ? life_between(w, made, at) : LIFE_UNKNOWN;
        if (w->scope != VT_NO_STATEMENT && find_word(s->statements[w->scope].text, name))
            return LIFE_UNKNOWN; /* a parameter: its caller may drop it */
    }
    int count = find_making(w, name, number, 0, (uint32_t)s->count, dotted || declared, &made);
    if (count == 0)
        return sure && !number ? LIFE_RUN : LIFE_UNKNOWN;
    if (count != 1)
        return LIFE_UNKNOWN;
    uint32_t maker = vt_pysource_scope(s, made);
    if (maker == w->scope && maker != VT_NO_STATEMENT)
        return life_between(w, made, at);
    if (maker != VT_NO_STATEMENT && !vt_pysource_begins(s->statements[maker].text, "class") &&
        !strstr(s->statements[maker].text, " __init__("))
        return LIFE_UNKNOWN; /* made again whenever that is called */
    return !dotted && loop_around(s, made) != VT_NO_STATEMENT ? LIFE_OUTER : LIFE_RUN;
}

/* ------------------------------------------------------------------------------------------------
 * one statement -- */

static void copy_name(char out[VT_PYNAME_BYTES], struct vt_pytext name) {
    size_t length = name.length < VT_PYNAME_BYTES ? name.length : VT_PYNAME_BYTES - 1;
    memcpy(out, name.at, length);
    out[length] = 0;
}

/* Something is put into a container, or added to a number. */
static void keep(struct way *w, uint32_t at, struct vt_pytext target, struct vt_pyvalue value,
                 bool number, bool sure) {
    if (value.hold == VT_PYHOLD_NOTHING)
        return;
    struct vt_pytext name = {target.at, vt_pytext_dotted(target)};
    /* the method in "outs.setdefault(key, []).append(out)" */
    if (name.length < target.length && target.at[name.length] == '(')
        name.length -= name.length ? vt_pytext_last(name).length + 1 : 0;
    if (!name.length || name.length > target.length)
        return;
    enum life life = life_of(w, name, at, number, sure);
    if (life > w->life) {
        w->life = life;
        w->best = (struct vt_keeper){
            .file = w->source->file, .line = w->source->statements[at].first, .added = number};
        copy_name(w->best.name, text_of(value.name ? value.name : ""));
        copy_name(w->best.container, name);
    }
    if (life == LIFE_ONCE || life == LIFE_OUTER || life == LIFE_CALL) {
        value.of = 0;
        value.hold = number ? VT_PYHOLD_GRAPH : value.hold;
        vt_pyvalue_bind(w->scene, name, value);
    }
}

/* "outs.append(out)" as a whole statement. */
static void see_call(struct way *w, uint32_t at, struct vt_pytext text) {
    size_t open = 0;
    for (size_t i = 0; i < text.length; i++)
        if (text.at[i] == '(' || text.at[i] == '[') {
            open = i;
            i = vt_pytext_bracket(text, i) - 1;
        }
    if (!open || text.at[open] != '(' || vt_pytext_bracket(text, open) != text.length)
        return;
    size_t method = open;
    while (method && vt_pysource_is_word(text.at[method - 1]))
        method--;
    if (method < 2 || text.at[method - 1] != '.')
        return;
    struct vt_pytext name = {text.at + method, open - method}, target = {text.at, method - 1};
    struct vt_pytext inside = {text.at + open + 1, text.length - open - 2};
    bool sure = vt_pytext_listed("append appendleft extend insert setdefault", name);
    if (sure || vt_pytext_is(name, "add"))
        keep(w, at, target, vt_pyvalue_of_arguments(w->scene, inside), false, sure);
}

static void bind_targets(struct way *w, uint32_t at, struct vt_pytext targets,
                         struct vt_pyvalue value) {
    struct vt_pytext part, left = targets = vt_pytext_strip(targets);
    int count = 0;
    while (vt_pytext_part(&left, ',', &part))
        count++;
    for (int i = 0; vt_pytext_part(&targets, ',', &part); i++) {
        struct vt_pyvalue one = value;
        bool other = count > 1 && value.of == count && value.element != i;
        part = vt_pytext_strip(part);
        if (part.length && part.at[0] == '*')
            part = behind(part, 1);
        one.of = count > 1 ? 0 : value.of;
        one.hold = other ? VT_PYHOLD_NOTHING : value.hold;
        if (part.length && part.at[part.length - 1] == ']')
            keep(w, at, part, one, false, false);
        else
            vt_pyvalue_bind(w->scene, part, one);
    }
}

/* Whether an expression is a comprehension, or "list(f(x) for x in y)": a loop of its own. */
static bool is_comprehension(struct vt_pytext value) {
    size_t dotted = vt_pytext_dotted(value);
    if (dotted && !vt_pytext_listed("list tuple dict set", (struct vt_pytext){value.at, dotted}))
        return false;
    if (value.length < dotted + 2 || !strchr("[({", value.at[dotted]) ||
        vt_pytext_bracket(value, dotted) != value.length)
        return false;
    struct vt_pytext inside = {value.at + dotted + 1, value.length - dotted - 2};
    return vt_pytext_keyword(inside, "for") < inside.length;
}

static void see_assignment(struct way *w, uint32_t at, struct vt_pytext text) {
    struct vt_pytext target, value, rest = text;
    char sign;
    if (!part_assignment(text, &target, &value, &sign)) {
        see_call(w, at, text);
        return;
    }
    while (part_assignment(rest, &target, &value, &sign))
        rest = value;
    struct vt_pyvalue held = vt_pyvalue_of(w->scene, value);
    if (!part_assignment(text, &target, &value, &sign))
        return;
    size_t name = vt_pytext_dotted(value);
    bool onto_itself = name == target.length && name + 1 < value.length &&
                       !memcmp(value.at, target.at, name) && value.at[name] == '+';
    if (sign == '+' || (onto_itself && !sign)) {
        struct vt_pyvalue added = vt_pyvalue_of(w->scene, sign ? value : behind(value, name + 1));
        keep(w, at, target, added, false, false);
        if (w->scene->graph) {
            keep(w, at, target, added, true, false);
            added.hold = added.hold ? VT_PYHOLD_GRAPH : VT_PYHOLD_NOTHING;
            if (added.hold)
                vt_pyvalue_bind(w->scene, target, added);
        }
        if (added.hold)
            return;
    }
    if (sign)
        return;
    if (held.hold && is_comprehension(value) && vt_pytext_dotted(target) == target.length &&
        loop_around(w->source, at) == VT_NO_STATEMENT && w->life < LIFE_CALL &&
        w->scene->made.hold && !held.name && !is_emptied(w->source, target, false)) {
        w->life = w->scope == VT_NO_STATEMENT ? LIFE_RUN : LIFE_CALL;
        w->best =
            (struct vt_keeper){.file = w->source->file, .line = w->source->statements[at].first};
        copy_name(w->best.container, target);
    }
    for (rest = text; part_assignment(rest, &target, &value, &sign); rest = value)
        bind_targets(w, at, target, held);
}

/* "(name := f(x))", wherever it stands. */
static void see_walrus(struct way *w, uint32_t at, struct vt_pytext text) {
    for (size_t i = 1; i + 2 < text.length; i++) {
        if (text.at[i] != ':' || text.at[i + 1] != '=')
            continue;
        size_t begin = i;
        while (begin && vt_pysource_is_word(text.at[begin - 1]))
            begin--;
        struct vt_pytext rest = behind(text, i + 2), value;
        int depth = 0;
        size_t end = 0;
        for (; end < rest.length && depth >= 0; end++)
            depth += strchr("([{", rest.at[end]) ? 1 : strchr(")]}", rest.at[end]) ? -1 : 0;
        rest.length = depth < 0 ? end - 1 : end;
        if (vt_pytext_part(&rest, ',', &value))
            bind_targets(w, at, (struct vt_pytext){text.at + begin, i - begin},
                         vt_pyvalue_of(w->scene, value));
    }
}

static void see_loop(struct way *w, uint32_t at, struct vt_pytext text) {
    text = behind(text, vt_pysource_begins(text.at, "async for") ? 9 : 3);
    size_t in = vt_pytext_keyword(text, "in");
    if (in + 2 >= text.length)
        return;
    struct vt_pytext over = behind(text, in + 2);
    over.length -= over.at[over.length - 1] == ':';
    struct vt_pyvalue value = vt_pyvalue_of(w->scene, over);
    if (value.name && value.hold == VT_PYHOLD_GRAPH)
        value.hold = VT_PYHOLD_NOTHING; /* iterating over what was computed: rows, new ones */
    bind_targets(w, at, (struct vt_pytext){text.at, in}, value);
}

static void see_with(struct way *w, uint32_t at, struct vt_pytext text) {
    text = behind(text, vt_pysource_begins(text.at, "async with") ? 10 : 4);
    text.length -= text.length && text.at[text.length - 1] == ':';
    struct vt_pytext part;
    text = vt_pytext_strip(text);
    while (vt_pytext_part(&text, ',', &part)) {
        size_t as = vt_pytext_keyword(part, "as");
        if (as < part.length)
            bind_targets(w, at, behind(part, as + 2),
                         vt_pyvalue_of(w->scene, (struct vt_pytext){part.at, as}));
    }
}

/* Whether something that grows is allocated in a statement. */
static bool is_alive(const struct way *w, const struct vt_statement *at) {
    for (uint32_t i = 0; i < w->process->site_count; i++) {
        const struct vt_site *site = &w->process->sites[i];
        for (uint32_t j = 0; site->growth && site->stack && j < site->stack->count; j++) {
            const struct vt_frame *f = &site->stack->frames[j];
            if (f->python && f->line >= at->first && f->line <= at->last && f->file &&
                !strcmp(f->file, w->source->file))
                return true;
        }
    }
    return false;
}

static void see(struct way *w, uint32_t at) {
    const char *line = w->source->statements[at].text;
    w->scene->alive = w->scene->graph && is_alive(w, &w->source->statements[at]);
    struct vt_pytext text = text_of(line);
    if (line[0] == '@' || vt_pysource_is_scope(line))
        return;
    see_walrus(w, at, text);
    if (vt_pysource_begins(line, "return") || vt_pysource_begins(line, "yield")) {
        struct vt_pyvalue value = vt_pyvalue_of(w->scene, behind(text, line[0] == 'r' ? 6 : 5));
        if (value.hold > w->returned.hold)
            w->returned = value;
    } else if (vt_pysource_begins(line, "for") || vt_pysource_begins(line, "async for")) {
        see_loop(w, at, text);
    } else if (vt_pysource_begins(line, "with") || vt_pysource_begins(line, "async with")) {
        see_with(w, at, text);
    } else if (vt_pysource_begins(line, "del")) {
        struct vt_pytext rest = behind(text, 3), part;
        while (vt_pytext_part(&rest, ',', &part))
            vt_pyvalue_bind(w->scene, vt_pytext_strip(part), (struct vt_pyvalue){0});
    } else if (text.at[text.length - 1] != ':') {
        see_assignment(w, at, text);
    }
}

/* ------------------------------------------------------------------------------------------------
 * one function, then its callers -- */

static bool is_other_branch(const char *text) {
    return vt_pysource_begins(text, "else") || vt_pysource_begins(text, "elif") ||
           vt_pysource_begins(text, "except") || vt_pysource_begins(text, "case");
}

/* From the statement that makes the value to the end of the function, past what cannot be reached
 * from it. */
static void walk(struct way *w, uint32_t from) {
    const struct vt_pysource *s = w->source;
    uint32_t end = w->scope == VT_NO_STATEMENT ? (uint32_t)s->count : vt_pysource_end(s, w->scope);
    unsigned least = s->statements[from].indent, dead = UINT32_MAX, left = UINT32_MAX;
    see(w, from);
    w->scene->made = (struct vt_pyvalue){0};
    bool returns = vt_pysource_begins(s->statements[from].text, "return");
    for (uint32_t i = from + 1; i < end && !returns; i = vt_pysource_next(s, i)) {
        const struct vt_statement *t = &s->statements[i];
        if (t->indent >= dead)
            continue;
        dead = UINT32_MAX;
        if (t->indent < least || t->indent == left) {
            least = t->indent;
            left = is_other_branch(t->text) ? least : UINT32_MAX;
            dead = left == UINT32_MAX ? dead : left + 1;
            if (left != UINT32_MAX)
                continue;
        }
        see(w, i);
        returns = vt_pysource_begins(t->text, "return") || vt_pysource_begins(t->text, "raise");
        if (returns || vt_pysource_begins(t->text, "continue") ||
            vt_pysource_begins(t->text, "break"))
            dead = t->indent;
        returns = returns && t->indent <= least;
    }
}

/* A constructor hands out what it keeps. */
static void see_constructor(struct way *w, const struct vt_frame *frame) {
    for (unsigned i = 0; !strcmp(vt_pysource_name(frame), "__init__") && i < w->scene->name_count;
         i++)
        if (!strncmp(w->scene->names[i].name, "self.", 5))
            w->returned = w->scene->names[i].value;
}

/* The functions that a frame's line has called, for all that is known: those between it and the
 * next own frame inwards, and the class of a constructor. */
static void find_makers(struct vt_pyscene *scene, const struct vt_stack *stack, uint32_t at,
                        char class[VT_PYNAME_BYTES]) {
    scene->maker_count = 0;
    for (uint32_t i = at; i-- > 0 && scene->maker_count + 1 < VT_PYMAKERS;) {
        const struct vt_frame *f = &stack->frames[i];
        const char *name = vt_pysource_name(f);
        if (!f->python)
            continue;
        scene->makers[scene->maker_count++] = name;
        if (!strcmp(name, "__init__") && name > f->function) {
            const char *begin = name - 1;
            while (begin > f->function && begin[-1] != '.')
                begin--;
            copy_name(class, (struct vt_pytext){begin, (size_t)(name - 1 - begin)});
            scene->makers[scene->maker_count++] = class;
        }
        if (f->own && name[0] != '<')
            break;
    }
}

static bool is_asked(const struct vt_frame *frame) {
    const char *name = vt_pysource_name(frame);
    return frame->own && frame->python && (name[0] != '<' || !strcmp(name, "<module>"));
}

/* Whether a frame outside of `inner` stands in a loop, or cannot be looked at. */
static bool is_called_in_loop(struct vt_pyfiles *files, const struct vt_stack *stack,
                              uint32_t inner) {
    for (uint32_t i = inner + 1; i < stack->count; i++) {
        if (!is_asked(&stack->frames[i]))
            continue;
        const struct vt_pysource *s = vt_pyfiles_get(files, stack->frames[i].file);
        uint32_t at = vt_pysource_frame(s, &stack->frames[i]);
        if (at == VT_NO_STATEMENT || vt_pysource_is_loop(s->statements[at].text) ||
            strstr(s->statements[at].text, " for ") || loop_around(s, at) != VT_NO_STATEMENT)
            return true;
    }
    return stack->cut;
}

bool vt_keepers_find(struct vt_pyfiles *files, const struct vt_stack *stack, bool graph, bool whole,
                     struct vt_keeper *keeper) {
    struct vt_pyvalue value = {.hold = VT_PYHOLD_ITSELF};
    unsigned asked = 0;
    bool found = false;
    for (uint32_t i = 0; i < stack->count && asked < FRAMES_ASKED && value.hold; i++) {
        const struct vt_frame *frame = &stack->frames[i];
        char class[VT_PYNAME_BYTES] = "";
        if (!is_asked(frame))
            continue;
        const struct vt_pysource *source = vt_pyfiles_get(files, frame->file);
        uint32_t at = vt_pysource_frame(source, frame);
        if (at == VT_NO_STATEMENT)
            break;
        struct vt_pyscene scene = {
            .graph = graph, .source = source, .innermost = !asked++, .made = value};
        struct way way = {.source = source,
                          .scope = vt_pysource_scope(source, at),
                          .scene = &scene,
                          .process = files->process};
        find_makers(&scene, stack, i, class);
        walk(&way, at);
        see_constructor(&way, frame);
        bool stays = way.life == LIFE_RUN || (way.life == LIFE_OUTER && whole) ||
                     (way.life == LIFE_CALL && !is_called_in_loop(files, stack, i));
        if (stays)
            *keeper = way.best;
        found = found || stays;
        if (way.life == LIFE_RUN)
            break;
        value = way.returned;
        value.name = NULL;
    }
    return found;
}
