/* SPDX-License-Identifier: MIT */
/*
 * What a Python expression hands on of a value (see pyvalue.h). What is not understood hands on
 * nothing: an advice that is missing does less harm than one that is wrong.
 */
#define _GNU_SOURCE /* memmem */
#include "pyvalue.h"
#include "pysource.h"

#include <stdlib.h>
#include <string.h>

/* Functions and methods whose result is on the host, or is no memory at all. */
static const char host_calls[] =
    "float int bool len str repr format print isinstance type id hash range item items cpu numpy "
    "tolist copy_to_host get asnumpy device_get to_numpy size dim numel nbytes stride data_ptr "
    "is_contiguous element_size backward argmax argmin eq ne all any round";
static const char host_attributes[] =
    "shape dtype device ndim size nbytes itemsize is_cuda requires_grad name nelement grad_fn";
/* Methods whose result lies in the memory of what they are called for. */
static const char views[] =
    "view reshape squeeze unsqueeze flatten contiguous transpose permute "
    "expand narrow ravel requires_grad_ swapaxes view_as unbind chunk split";
/* Functions whose result refers to their arguments. */
static const char wrappers[] = "list tuple dict set reversed sorted zip enumerate iter next tqdm";

static const struct vt_pyvalue nothing;

/* --- texts --- */

static struct vt_pytext part_of(struct vt_pytext text, size_t from, size_t to) {
    return (struct vt_pytext){text.at + from, to > from ? to - from : 0};
}

static struct vt_pytext from(struct vt_pytext text, size_t at) {
    return part_of(text, at, text.length);
}

static int nesting(char c) {
    return c && strchr("([{", c) ? 1 : c && strchr(")]}", c) ? -1 : 0;
}

bool vt_pytext_is(struct vt_pytext text, const char *word) {
    return text.length == strlen(word) && !memcmp(text.at, word, text.length);
}

size_t vt_pytext_bracket(struct vt_pytext text, size_t at) {
    int depth = 0;
    for (; at < text.length; at++)
        if ((depth += nesting(text.at[at])) == 0)
            return at + 1;
    return text.length;
}

bool vt_pytext_part(struct vt_pytext *rest, char separator, struct vt_pytext *part) {
    size_t i = 0;
    if (!rest->length)
        return false;
    for (int depth = 0; i < rest->length; i++) {
        depth += nesting(rest->at[i]);
        if (rest->at[i] == separator && depth == 0)
            break;
    }
    *part = part_of(*rest, 0, i);
    *rest = from(*rest, i < rest->length ? i + 1 : i);
    return true;
}

struct vt_pytext vt_pytext_strip(struct vt_pytext text) {
    for (;;) {
        if (text.length && text.at[0] == ' ')
            text = from(text, 1);
        else if (text.length && text.at[text.length - 1] == ' ')
            text.length--;
        else if (text.length > 1 && text.at[0] == '(' &&
                 vt_pytext_bracket(text, 0) == text.length && text.at[text.length - 1] == ')')
            text = part_of(text, 1, text.length - 1);
        else
            return text;
    }
}

size_t vt_pytext_dotted(struct vt_pytext text) {
    size_t i = 0;
    if (!text.length || (text.at[0] >= '0' && text.at[0] <= '9'))
        return 0;
    while (i < text.length && vt_pysource_is_word(text.at[i])) {
        while (i < text.length && vt_pysource_is_word(text.at[i]))
            i++;
        if (i + 1 >= text.length || text.at[i] != '.' || !vt_pysource_is_word(text.at[i + 1]))
            break;
        i++;
    }
    return i;
}

size_t vt_pytext_keyword(struct vt_pytext text, const char *keyword) {
    size_t length = strlen(keyword);
    int depth = 0;
    for (size_t i = 0; i + length <= text.length; i++) {
        depth += nesting(text.at[i]);
        if (depth == 0 && (i == 0 || !vt_pysource_is_word(text.at[i - 1])) &&
            !memcmp(text.at + i, keyword, length) &&
            (i + length == text.length || !vt_pysource_is_word(text.at[i + length])))
            return i;
    }
    return text.length;
}

bool vt_pytext_listed(const char *list, struct vt_pytext word) {
    while (*list) {
        size_t length = strcspn(list, " ");
        if (length == word.length && !memcmp(list, word.at, length))
            return true;
        list += length + strspn(list + length, " ");
    }
    return false;
}

struct vt_pytext vt_pytext_last(struct vt_pytext dotted) {
    size_t at = dotted.length;
    while (at && dotted.at[at - 1] != '.')
        at--;
    return from(dotted, at);
}

/* --- variables --- */

static bool stands_for(const struct vt_pyscene *s, unsigned i, struct vt_pytext name) {
    return vt_pytext_is(name, s->names[i].name);
}

/* A variable that stands for nothing any more leaves its place empty: values name their variables
 * by pointers. */
void vt_pyvalue_bind(struct vt_pyscene *s, struct vt_pytext name, struct vt_pyvalue value) {
    unsigned i = 0;
    while (i < s->name_count && !stands_for(s, i, name))
        i++;
    if (value.hold == VT_PYHOLD_NOTHING) {
        if (i < s->name_count)
            s->names[i].name[0] = 0;
        return;
    }
    if (i == VT_PYNAMES || !name.length || name.length >= VT_PYNAME_BYTES ||
        vt_pytext_dotted(name) != name.length)
        return;
    s->name_count += i == s->name_count;
    memcpy(s->names[i].name, name.at, name.length);
    s->names[i].name[name.length] = 0;
    value.name = s->names[i].name;
    s->names[i].value = value;
}

/* The variable that a dotted name begins with: "self.out" of "self.out.data". `length`: its. */
static struct vt_pyvalue find_name(const struct vt_pyscene *s, struct vt_pytext dotted,
                                   size_t *length) {
    for (size_t end = dotted.length; end; end--) {
        if (end < dotted.length && dotted.at[end] != '.')
            continue;
        for (unsigned i = 0; i < s->name_count; i++)
            if (stands_for(s, i, part_of(dotted, 0, end))) {
                *length = end;
                return s->names[i].value;
            }
    }
    return nothing;
}

/* --- calls --- */

static struct vt_pyvalue best_of(struct vt_pyvalue a, struct vt_pyvalue b) {
    return b.hold > a.hold ? b : a;
}

static struct vt_pyvalue computed(const struct vt_pyscene *s, struct vt_pyvalue from) {
    if (from.hold == VT_PYHOLD_NOTHING || !s->graph)
        return nothing;
    return (struct vt_pyvalue){
        .hold = VT_PYHOLD_GRAPH, .gathered = from.gathered, .name = from.name};
}

static bool is_library(struct vt_pytext callee) {
    return !strncmp(callee.at, "F.", 2) || !strncmp(callee.at, "torch.", 6) ||
           !strncmp(callee.at, "nn.", 3);
}

/* Whether a function's result may keep its arguments. A loss does. One that is written in the same
 * file may return a number, and there what it returns is followed; any other must be seen to make
 * something that stays. */
static bool computes(const struct vt_pyscene *s, struct vt_pytext callee) {
    struct vt_pytext last = vt_pytext_last(callee);
    if (is_library(callee) || memmem(last.at, last.length, "loss", 4) ||
        vt_pytext_is(last, "criterion"))
        return true;
    for (size_t i = 0; s->source && i < s->source->count; i++) {
        const char *text = s->source->statements[i].text;
        const char *name = vt_pysource_begins(text, "def")         ? text + 4
                           : vt_pysource_begins(text, "async def") ? text + 10
                                                                   : NULL;
        if (name && !strncmp(name, last.at, last.length) && name[last.length] == '(')
            return false;
    }
    return s->alive;
}

static bool is_maker(const struct vt_pyscene *s, struct vt_pytext word) {
    for (unsigned i = 0; i < s->maker_count; i++)
        if (vt_pytext_is(word, s->makers[i]))
            return true;
    return false;
}

/* What a text calls: one of the makers; something whose result may be the value. */
static void look_at_calls(const struct vt_pyscene *s, struct vt_pytext text, bool *maker,
                          bool *other) {
    for (size_t i = 0; i < text.length;) {
        size_t length = vt_pytext_dotted(from(text, i));
        if (length && i + length < text.length && text.at[i + length] == '(') {
            struct vt_pytext callee = part_of(text, i, i + length);
            bool host = !strncmp(callee.at, "np.", 3) || !strncmp(callee.at, "numpy.", 6) ||
                        vt_pytext_listed(host_calls, vt_pytext_last(callee)) ||
                        vt_pytext_listed("min max abs iter next zip list tuple", callee);
            /* a library's function would be seen on the stack if the user's line led there */
            bool elsewhere = s->maker_count && is_library(callee);
            *maker = *maker || is_maker(s, vt_pytext_last(callee));
            *other = *other || (!host && !elsewhere);
        }
        i += length ? length : 1;
    }
}

static struct vt_pyvalue call(const struct vt_pyscene *s, struct vt_pytext callee,
                              struct vt_pytext inside) {
    struct vt_pytext last = vt_pytext_last(callee);
    bool maker_inside = false, other_inside = false;
    bool numpy = !strncmp(callee.at, "np.", 3) || !strncmp(callee.at, "numpy.", 6);
    if (numpy || vt_pytext_listed(host_calls, last))
        return nothing;
    struct vt_pyvalue handed = vt_pyvalue_of_arguments(s, inside);
    if (vt_pytext_listed(wrappers, callee) && handed.hold)
        return handed;
    look_at_calls(s, inside, &maker_inside, &other_inside);
    if (s->made.hold && is_maker(s, last))
        return s->made;
    if (s->made.hold && !maker_inside && !other_inside)
        return s->made;
    if (s->made.hold)
        handed = best_of(handed, s->made);
    return computes(s, callee) ? computed(s, handed) : nothing;
}

static struct vt_pyvalue method(const struct vt_pyscene *s, struct vt_pyvalue of,
                                struct vt_pytext name, struct vt_pytext inside) {
    bool to_cpu = inside.length && memchr(inside.at, '"', inside.length) &&
                  memmem(inside.at, inside.length, "\"cpu\"", 5);
    if (vt_pytext_listed(host_calls, name) || (vt_pytext_is(name, "to") && (to_cpu || of.name)))
        return nothing;
    if (vt_pytext_is(name, "detach"))
        return of.hold == VT_PYHOLD_ITSELF ? of : nothing;
    if (vt_pytext_listed(views, name) || !of.name)
        return of;
    return computed(s, of);
}

/* What follows a name or a call: attributes, methods, subscripts. */
static struct vt_pyvalue trailers(const struct vt_pyscene *s, struct vt_pyvalue of,
                                  struct vt_pytext rest) {
    while (rest.length && of.hold) {
        if (rest.at[0] == '[') {
            size_t end = vt_pytext_bracket(rest, 0);
            bool digit = end == 3 && rest.at[1] >= '0' && rest.at[1] <= '9';
            if (digit && of.of && rest.at[1] - '0' != of.element)
                return nothing;
            of.of = digit ? 0 : of.of;
            rest = from(rest, end);
        } else if (rest.at[0] == '(') {
            of = of.name ? computed(s, of) : of;
            rest = from(rest, vt_pytext_bracket(rest, 0));
        } else if (rest.at[0] == '.') {
            size_t end = 1;
            while (end < rest.length && vt_pysource_is_word(rest.at[end]))
                end++;
            struct vt_pytext name = part_of(rest, 1, end);
            rest = from(rest, end);
            if (rest.length && rest.at[0] == '(') {
                size_t close = vt_pytext_bracket(rest, 0);
                of = method(s, of, name, part_of(rest, 1, close > 1 ? close - 1 : 1));
                rest = from(rest, close);
            } else if (vt_pytext_listed(host_attributes, name) ||
                       (vt_pytext_is(name, "data") && of.hold != VT_PYHOLD_ITSELF)) {
                return nothing;
            }
        } else {
            return nothing;
        }
    }
    return of;
}

/* A name or a call, and what follows it. */
static struct vt_pyvalue chain(const struct vt_pyscene *s, struct vt_pytext e) {
    size_t length = 0, dotted = vt_pytext_dotted(e);
    if (!dotted && e.at[0] == '(') {
        size_t end = vt_pytext_bracket(e, 0);
        if (e.at[end - 1] != ')')
            return nothing;
        return trailers(s, vt_pyvalue_of(s, part_of(e, 1, end - 1)), from(e, end));
    }
    struct vt_pyvalue found = find_name(s, part_of(e, 0, dotted), &length);
    if (found.hold)
        return length < e.length && e.at[length] == '(' ? nothing
                                                        : trailers(s, found, from(e, length));
    if (!dotted || dotted == e.length || e.at[dotted] != '(')
        return nothing;
    size_t end = vt_pytext_bracket(e, dotted);
    found = call(s, part_of(e, 0, dotted), part_of(e, dotted + 1, end - 1));
    return trailers(s, found, from(e, end));
}

/* --- expressions --- */

static struct vt_pyvalue of_tuple(const struct vt_pyscene *s, struct vt_pytext e) {
    struct vt_pyvalue best = nothing;
    struct vt_pytext part;
    int count = 0, element = 0;
    while (vt_pytext_part(&e, ',', &part)) {
        struct vt_pyvalue value = vt_pyvalue_of(s, part);
        if (value.hold > best.hold)
            element = count;
        best = best_of(best, value);
        count++;
    }
    best.element = element;
    best.of = count;
    return best;
}

/* [a, b], {a: b}, [f(x) for x in y] */
static struct vt_pyvalue of_display(const struct vt_pyscene *s, struct vt_pytext inside) {
    struct vt_pyvalue best = nothing;
    struct vt_pytext part, key;
    size_t loop = vt_pytext_keyword(inside, "for");
    inside.length = loop;
    while (vt_pytext_part(&inside, ',', &part)) {
        struct vt_pytext value = part;
        vt_pytext_part(&value, ':', &key);
        best = best_of(best, vt_pyvalue_of(s, value.length ? value : part));
    }
    best.of = 0;
    return best;
}

/* Whether operators stand in it outside brackets: 1, those that calculate; 2, those that compare. */
static int operators(struct vt_pytext e) {
    static const char *const words[] = {"and", "or", "in", "is", "not", "lambda"};
    int depth = 0, found = 0;
    for (size_t i = 0; i < e.length; i++) {
        depth += nesting(e.at[i]);
        if (depth == 0 && strchr("<>=!", e.at[i]))
            return 2;
        if (depth == 0 && strchr("+-*/%@&|^~", e.at[i]))
            found = 1;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (vt_pytext_keyword(e, words[i]) < e.length)
            return 2;
    return found;
}

static struct vt_pyvalue of_calculation(const struct vt_pyscene *s, struct vt_pytext e) {
    struct vt_pyvalue best = nothing;
    bool calls = memchr(e.at, '(', e.length), names = false;
    size_t begin = 0;
    int depth = 0;
    for (size_t i = 0; i <= e.length; i++) {
        char c = i < e.length ? e.at[i] : '+';
        depth += nesting(c);
        if (depth || !strchr("+-*/%@&|^~", c))
            continue;
        struct vt_pytext operand = part_of(e, begin, i);
        names = names || vt_pytext_dotted(operand);
        best = best_of(best, operand.length ? vt_pyvalue_of(s, operand) : nothing);
        begin = i + 1;
    }
    if (best.hold)
        return computed(s, best);
    return !calls && names && s->innermost ? s->made : nothing;
}

struct vt_pyvalue vt_pyvalue_of(const struct vt_pyscene *s, struct vt_pytext e) {
    e = vt_pytext_strip(e);
    if (e.length > 6 && !memcmp(e.at, "await ", 6))
        return vt_pyvalue_of(s, from(e, 6));
    if (e.length > 1 && e.at[0] == '*')
        return vt_pyvalue_of(s, from(e, 1));
    size_t name = vt_pytext_dotted(e);
    if (name && name + 2 < e.length && e.at[name] == ':' && e.at[name + 1] == '=')
        return vt_pyvalue_of(s, from(e, name + 2));
    struct vt_pytext rest = e, part;
    if (!vt_pytext_part(&rest, ',', &part))
        return nothing;
    if (part.length < e.length)
        return of_tuple(s, e);
    size_t condition = vt_pytext_keyword(e, "if"), other = vt_pytext_keyword(e, "else");
    if (condition < other && other < e.length)
        return best_of(vt_pyvalue_of(s, part_of(e, 0, condition)),
                       vt_pyvalue_of(s, from(e, other + 4)));
    if ((e.at[0] == '[' || e.at[0] == '{') && vt_pytext_bracket(e, 0) == e.length && e.length > 2)
        return of_display(s, part_of(e, 1, e.length - 1));
    if (vt_pytext_keyword(e, "for") < e.length) /* a generator: what is made is its element */
        return vt_pyvalue_of(s, part_of(e, 0, vt_pytext_keyword(e, "for")));
    int kind = operators(e);
    return kind == 2 ? nothing : kind ? of_calculation(s, e) : chain(s, e);
}

struct vt_pyvalue vt_pyvalue_of_arguments(const struct vt_pyscene *s, struct vt_pytext inside) {
    struct vt_pyvalue best = nothing;
    struct vt_pytext part;
    while (vt_pytext_part(&inside, ',', &part)) {
        size_t name = vt_pytext_dotted(part);
        bool keyword =
            name && name + 1 < part.length && part.at[name] == '=' && part.at[name + 1] != '=';
        best = best_of(best, vt_pyvalue_of(s, keyword ? from(part, name + 1) : part));
    }
    best.of = 0;
    return best;
}
