/* SPDX-License-Identifier: MIT */
/*
 * Who keeps what was allocated (see keepers.h). A value is followed as a reader would: what a line's
 * call returned gets a name; the statements behind it store that, add it to something, or return it,
 * and then the caller's line is where it goes on. A container that lives no longer than the value
 * does keeps nothing; it is followed in its turn. Where something empties a container, where the code
 * cannot be reached, or where it is not understood, there is no keeper.
 */
#include "keepers.h"
#include "containers.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES_ASKED = 8 }; /* of the user's own */

/* A value on its way through one function. */
struct way {
    const struct vt_pysource *source;
    uint32_t scope; /* head of the function; VT_NO_STATEMENT: the module */
    struct vt_pyscene *scene;
    const struct vt_process *process;
    uint32_t loop;   /* the innermost one that makes the value; VT_NO_STATEMENT: none does */
    bool none_freed; /* see keepers.h */
    struct vt_pyvalue returned;
    struct vt_keeper best;
    bool in_loop;      /* its line is */
    enum vt_life life; /* of what `best` names; VT_LIFE_UNKNOWN: none was found */
};

static struct vt_pytext text_of(const char *text) {
    return (struct vt_pytext){text, strlen(text)};
}

static struct vt_pytext behind(struct vt_pytext text, size_t at) {
    return (struct vt_pytext){text.at + at, text.length - at};
}

/* --- one statement --- */

/* A value that each round of a loop makes anew, behind that loop: it is the last one only. Where none
 * was ever freed, something else has the others. */
static bool is_last_only(const struct way *w, uint32_t at, struct vt_pyvalue value) {
    return w->loop != VT_NO_STATEMENT && w->loop != at &&
           !vt_containers_holds(w->source, w->loop, at) && !value.gathered && w->none_freed;
}

static void copy_name(char out[VT_PYNAME_BYTES], struct vt_pytext name) {
    size_t length = name.length < VT_PYNAME_BYTES ? name.length : VT_PYNAME_BYTES - 1;
    memcpy(out, name.at, length);
    out[length] = 0;
}

/* Something is put into a container, or added to a number. */
static void keep(struct way *w, uint32_t at, struct vt_pytext target, struct vt_pyvalue value,
                 bool number, bool sure) {
    if (value.hold == VT_PYHOLD_NOTHING || is_last_only(w, at, value))
        return;
    struct vt_pytext name = {target.at, vt_pytext_dotted(target)};
    /* the method in "outs.setdefault(key, []).append(out)" */
    if (name.length < target.length && target.at[name.length] == '(')
        name.length -= name.length ? vt_pytext_last(name).length + 1 : 0;
    if (!name.length || name.length > target.length)
        return;
    enum vt_life life = vt_containers_life(w->source, w->scope, name, at, number, sure);
    if (life > w->life) {
        w->life = life;
        w->in_loop = value.gathered || vt_containers_loop(w->source, at) != VT_NO_STATEMENT;
        w->best = (struct vt_keeper){
            .file = w->source->file, .line = w->source->statements[at].first, .added = number};
        copy_name(w->best.name, text_of(value.name ? value.name : ""));
        copy_name(w->best.container, name);
    }
    if (life == VT_LIFE_ONCE || life == VT_LIFE_OUTER || life == VT_LIFE_CALL) {
        value.of = 0;
        value.gathered = true;
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
    if (!open || open + 2 > text.length || text.at[open] != '(' ||
        vt_pytext_bracket(text, open) != text.length)
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

/* Whether a key is another one each time, for all that can be seen: not a constant, nor one of a few
 * that come again and again. */
static bool is_growing_key(struct vt_pytext target) {
    static const char few[] = "name layer module layer_name module_name mode phase split tag rank "
                              "device slot kind which side stage worker stream pid tid";
    size_t open = 0;
    for (size_t i = 0; i < target.length; i++)
        if (target.at[i] == '[') {
            open = i + 1;
            i = vt_pytext_bracket(target, i) - 1;
        }
    if (!open)
        return false;
    struct vt_pytext key = {target.at + open, target.length - open - 1};
    if (memchr(key.at, '%', key.length) || memchr(key.at, ':', key.length))
        return false;
    for (size_t i = 0; i < key.length; i++) {
        size_t dotted = vt_pytext_dotted(behind(key, i));
        struct vt_pytext word = {key.at + i, dotted};
        if (dotted)
            return !vt_pytext_listed(few, vt_pytext_last(word));
    }
    return false; /* a number, a string */
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
        if (part.length && part.at[part.length - 1] != ']')
            vt_pyvalue_bind(w->scene, part, one);
        else if (is_growing_key(part))
            keep(w, at, part, one, false, false);
    }
}

/* Whether an expression is a comprehension, or "list(f(x) for x in y)": a loop of its own. */
static bool is_comprehension(struct vt_pytext value) {
    size_t dotted = vt_pytext_dotted(value);
    if (dotted && !vt_pytext_listed("list tuple dict set", (struct vt_pytext){value.at, dotted}))
        return false;
    if (value.length < dotted + 2 || !strchr(dotted ? "(" : "[{", value.at[dotted]) ||
        vt_pytext_bracket(value, dotted) != value.length)
        return false;
    struct vt_pytext inside = {value.at + dotted + 1, value.length - dotted - 2};
    return vt_pytext_keyword(inside, "for") < inside.length;
}

static void see_assignment(struct way *w, uint32_t at, struct vt_pytext text) {
    struct vt_pytext target, value, rest = text;
    char sign;
    if (!vt_containers_assignment(text, &target, &value, &sign)) {
        see_call(w, at, text);
        return;
    }
    while (vt_containers_assignment(rest, &target, &value, &sign))
        rest = value;
    struct vt_pyvalue held = vt_pyvalue_of(w->scene, value);
    if (!vt_containers_assignment(text, &target, &value, &sign))
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
        vt_containers_loop(w->source, at) == VT_NO_STATEMENT && w->life < VT_LIFE_CALL &&
        w->scene->made.hold && !held.name && !vt_containers_emptied(w->source, target, false)) {
        w->life = w->scope == VT_NO_STATEMENT ? VT_LIFE_RUN : VT_LIFE_CALL;
        w->in_loop = true;
        w->best =
            (struct vt_keeper){.file = w->source->file, .line = w->source->statements[at].first};
        copy_name(w->best.container, target);
    }
    for (rest = text; vt_containers_assignment(rest, &target, &value, &sign); rest = value)
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
        if (value.hold > w->returned.hold && !is_last_only(w, at, value))
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

/* --- one function, then its callers --- */

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
    w->loop = vt_pysource_is_loop(s->statements[from].text) ? from : vt_containers_loop(s, from);
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
        if (f->user_code && name[0] != '<')
            break;
    }
}

static bool is_asked(const struct vt_frame *frame) {
    const char *name = vt_pysource_name(frame);
    return frame->user_code && frame->python && (name[0] != '<' || !strcmp(name, "<module>"));
}

/* Whether a frame outside of `inner` stands in a loop, or is the user's and cannot be looked at.
 * `libraries`: also in a library's loop, as a trainer's that calls the user's function back. */
static bool is_called_in_loop(struct vt_pyfiles *files, const struct vt_stack *stack,
                              uint32_t inner, bool libraries) {
    for (uint32_t i = inner + 1; i < stack->count; i++) {
        const struct vt_frame *f = &stack->frames[i];
        bool asked = is_asked(f);
        if (!asked && !(libraries && f->python && !f->user_code))
            continue;
        const struct vt_pysource *s = vt_pyfiles_get(files, f->file);
        uint32_t at = vt_pysource_frame(s, f);
        if (at == VT_NO_STATEMENT ? asked
                                  : vt_pysource_is_loop(s->statements[at].text) ||
                                        strstr(s->statements[at].text, " for ") ||
                                        vt_containers_loop(s, at) != VT_NO_STATEMENT)
            return true;
    }
    return stack->python_cut;
}

/* Whether what a function has found is kept from one iteration to the next. */
static bool stays(struct vt_pyfiles *files, const struct way *w, const struct vt_stack *stack,
                  uint32_t frame, bool repeats) {
    switch (w->life) {
    case VT_LIFE_RUN: /* the line must be passed more than once */
        return w->in_loop || is_called_in_loop(files, stack, frame, true);
    case VT_LIFE_CALL:
        return !is_called_in_loop(files, stack, frame, false);
    case VT_LIFE_OUTER:
        return w->none_freed && !repeats;
    default:
        return false;
    }
}

bool vt_keepers_find(struct vt_pyfiles *files, const struct vt_stack *stack,
                     struct vt_keepers_facts facts, struct vt_keeper *keeper) {
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
        if (vt_pysource_compiled(source, frame) != VT_NO_STATEMENT) {
            asked++; /* what it returns, for all that is known */
            continue;
        }
        if (at == VT_NO_STATEMENT)
            break;
        struct vt_pyscene scene = {
            .graph = facts.graph, .source = source, .innermost = !asked++, .made = value};
        struct way way = {.source = source,
                          .scope = vt_pysource_scope(source, at),
                          .scene = &scene,
                          .process = files->process,
                          .none_freed = facts.none_freed};
        find_makers(&scene, stack, i, class);
        walk(&way, at);
        see_constructor(&way, frame);
        if (stays(files, &way, stack, i, facts.repeats)) {
            *keeper = way.best;
            found = true;
        }
        if (way.life == VT_LIFE_RUN)
            break;
        value = way.returned;
        value.name = NULL;
    }
    return found;
}
