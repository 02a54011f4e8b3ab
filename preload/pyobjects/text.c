/* SPDX-License-Identifier: MIT */
/*
 * Strings, type names and keys of Python as text, and the edges that they name. Used by all files of pyobjects/.
 */
#include "pyobjects.h"

#include <string.h>

const struct vt_pylayout *vt_py;
vt_pyraw *vt_py_raw;

#define CHUNK      64u /* characters read at a time */
#define NAMES_KEPT 1021u
#define LOWEST     65536u /* smaller numbers are not addresses */

/* Text that grows to `room` bytes and is then cut. */
struct out {
    char *at;
    uint32_t n, room;
    bool cut;
};

static void put_bytes(struct out *o, const char *text, uint32_t bytes) {
    if (o->cut || bytes > o->room - o->n) {
        o->cut = true;
        return;
    }
    memcpy(o->at + o->n, text, bytes);
    o->n += bytes;
}

static void put_text(struct out *o, const char *text) {
    put_bytes(o, text, (uint32_t)strlen(text));
}

static void put_character(struct out *o, uint32_t c) {
    char utf8[4];
    put_bytes(o, utf8, (uint32_t)(vt_text_put_utf8(utf8, c) - utf8));
}

/* A character as repr() shows it between single quotes; a character outside printable ASCII stays unchanged, unless it
 * is a control character. */
static void put_quoted(struct out *o, uint32_t c) {
    static const char hex[] = "0123456789abcdef";
    char x[4] = {'\\', 'x', hex[c >> 4 & 15], hex[c & 15]};
    if (c == '\'' || c == '\\') {
        put_text(o, "\\");
        put_character(o, c);
    } else if (c == '\n') {
        put_text(o, "\\n");
    } else if (c == '\t') {
        put_text(o, "\\t");
    } else if (c == '\r') {
        put_text(o, "\\r");
    } else if (c < 0x20 || c == 0x7f) {
        put_bytes(o, x, sizeof x);
    } else {
        put_character(o, c);
    }
}

static bool put_str(struct vt_owners *w, struct out *o, uintptr_t str, bool quoted) {
    const struct vt_pylayout *at = &vt_pyimage.at;
    uint64_t length = vt_owners_word(w, str + at->text_length);
    uint32_t state = (uint32_t)vt_owners_int(w, str + at->text_state);
    unsigned size = state >> 2 & 7;
    bool compact = state >> 5 & 1, ascii = state >> 6 & 1;
    if ((size != 1 && size != 2 && size != 4) || length > INT32_MAX)
        return false;
    uintptr_t data = !compact ? vt_owners_word(w, str + at->text_compact)
                              : str + (ascii ? at->text_ascii : at->text_compact);
    for (uint64_t i = 0; i < length && !o->cut; i += CHUNK) {
        union {
            uint8_t one[CHUNK];
            uint16_t two[CHUNK];
            uint32_t four[CHUNK];
        } c;
        uint64_t n = length - i < CHUNK ? length - i : CHUNK;
        if (!vt_owners_read(w, &c, data + i * size, n * size))
            return false;
        for (uint64_t k = 0; k < n && !o->cut; k++) {
            uint32_t character = size == 1 ? c.one[k] : size == 2 ? c.two[k] : c.four[k];
            if (character >= 0x20 && character < 0x7f && character != '\'' && character != '\\' &&
                o->n < o->room)
                o->at[o->n++] = (char)character; /* nearly all characters */
            else if (quoted)
                put_quoted(o, character);
            else
                put_character(o, character);
        }
    }
    return true;
}

static const struct vt_owners_type *type_of_str(struct vt_owners *w, uintptr_t object) {
    const struct vt_owners_type *type = vt_owners_type_of(w, object);
    return type && type->flags & VT_PYFLAG_UNICODE ? type : NULL;
}

uint32_t vt_py_str(struct vt_owners *w, uintptr_t str, char *to, uint32_t room) {
    struct out o = {.at = to, .room = room};
    if (!type_of_str(w, str) || !put_str(w, &o, str, false))
        return 0;
    return o.n;
}

bool vt_py_is(struct vt_owners *w, uintptr_t str, const char *text) {
    char found[64];
    size_t length = strlen(text);
    if (vt_owners_word(w, str + vt_pyimage.at.text_length) != length)
        return false;
    uint32_t n = vt_py_str(w, str, found, sizeof found);
    return n == length && memcmp(found, text, n) == 0;
}

/* An int's value. False: it needs more than 64 bits. */
static bool read_number(struct vt_owners *w, uintptr_t object, bool *negative, uint64_t *value) {
    int64_t size = (int64_t)vt_owners_word(w, object + VT_PY_SIZE);
    *negative = vt_py->minor >= 12 ? (size & 3) == 2 : size < 0;
    uint64_t n = vt_py->minor >= 12 ? (uint64_t)size >> 3 : (uint64_t)(size < 0 ? -size : size),
             low = 0, high = 0;
    if (n > 3 || (n && !vt_owners_read(w, &low, object + VT_PYLONG_DIGITS, sizeof low)))
        return false;
    if (n == 1) /* the rest of the word is not a digit */
        low &= UINT32_MAX;
    if (n == 3)
        high = (uint32_t)vt_owners_int(w, object + VT_PYLONG_DIGITS + sizeof low);
    *value = (low & UINT32_MAX) | low >> 32 << 30 | high << 60;
    return high <= 15;
}

uint64_t vt_py_number(struct vt_owners *w, uintptr_t object) {
    bool negative;
    uint64_t value;
    return read_number(w, object, &negative, &value) && !negative ? value : 0;
}

static bool is_index(struct vt_owners *w, uintptr_t object, int64_t *index) {
    bool negative;
    uint64_t value;
    if (!read_number(w, object, &negative, &value) || value > INT64_MAX)
        return false;
    *index = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

/* Whether Python shows a key of this type by its value. Other keys (tuples, objects) have no name: their edges share
 * one step. */
static bool is_short(const struct vt_owners_type *type) {
    return type->flags & (VT_PYFLAG_UNICODE | VT_PYFLAG_TYPE) || type->reader == VT_PYREAD_NUMBER ||
           type->leaf;
}

static void put_object(struct vt_owners *w, struct out *o, uintptr_t object) {
    const struct vt_owners_type *type = vt_owners_type_of(w, object);
    char text[VT_OWNERS_TEXT_MOST];
    bool negative;
    uint64_t value;
    if (type->flags & VT_PYFLAG_UNICODE) {
        put_text(o, "'");
        put_str(w, o, object, true);
        put_text(o, "'");
    } else if (type->flags & VT_PYFLAG_TYPE) {
        put_bytes(o, text, vt_py_type_name(w, object, text, sizeof text));
    } else if (type->reader == VT_PYREAD_NUMBER && read_number(w, object, &negative, &value)) {
        if (negative)
            put_text(o, "-");
        vt_text_put_number(text, value);
        put_text(o, text);
    } else {
        uint32_t n = vt_py_type_name(w, type->address, text, sizeof text);
        if (n == 8 && memcmp(text, "NoneType", n) == 0)
            put_text(o, "None");
        else if (n == 4 && memcmp(text, "bool", n) == 0)
            put_text(o, vt_owners_int(w, object + VT_PYLONG_DIGITS) ? "True" : "False");
    }
}

/* Byte by byte, because the next page may not be readable. */
uint32_t vt_py_string(struct vt_owners *w, uintptr_t from, char *to, uint32_t room) {
    uint32_t n = 0;
    for (; n < room - 1 && vt_owners_read(w, to + n, from + n, 1); n++)
        if (!to[n])
            return n;
    to[n] = 0;
    return n;
}

bool vt_py_type_is(struct vt_owners *w, uintptr_t type, const char *text) {
    char found[64];
    uintptr_t from = vt_owners_word(w, type + VT_PYTYPE_NAME);
    size_t bytes = strlen(text) + 1;
    return from && vt_owners_read(w, found, from, bytes) && memcmp(found, text, bytes) == 0;
}

uint32_t vt_py_type_name(struct vt_owners *w, uintptr_t type, char *to, uint32_t room) {
    struct out o = {.at = to, .room = room};
    char name[128];
    uintptr_t text = vt_owners_word(w, type + VT_PYTYPE_NAME);
    bool heap = vt_owners_word(w, type + VT_PYTYPE_FLAGS) & VT_PYFLAG_HEAP;
    vt_py_string(w, text, name, sizeof name);
    if (heap && !strchr(name, '.') && vt_py) {
        uintptr_t dict = vt_owners_word(w, type + VT_PYTYPE_DICT);
        uintptr_t module = vt_py_look_up(w, dict, "__module__");
        uintptr_t qualified = vt_owners_word(w, type + vt_py->cached_keys - 8);
        if (type_of_str(w, module) && !vt_py_is(w, module, "builtins")) {
            put_str(w, &o, module, false);
            put_text(&o, ".");
        }
        if (type_of_str(w, qualified) && put_str(w, &o, qualified, false))
            return o.n;
    }
    put_text(&o, name);
    return o.n;
}

struct vt_owners_text vt_py_class(struct vt_owners *w, uintptr_t type, char *to, uint32_t room) {
    static const char main[] = "__main__.";
    uint32_t n = vt_py_type_name(w, type, to, room), skip = sizeof main - 1;
    bool own = n > skip && memcmp(to, main, skip) == 0;
    return (struct vt_owners_text){own ? to + skip : to, own ? n - skip : n};
}

/* A name's text, perhaps stored in `text`. A class's instances share the str objects of their attribute names, so
 * recent ones are cached. */
static struct vt_owners_text name_of(struct vt_owners *w, uintptr_t name,
                                     char text[VT_OWNERS_TEXT_MOST]) {
    static struct kept {
        uintptr_t name;
        uint8_t bytes;
        char text[55];
    } all[NAMES_KEPT]; /* static: only one snapshot runs at a time */
    static uint32_t of;
    struct kept *kept = &all[(name >> 4) % NAMES_KEPT];
    if (of != vt_owners_number(w)) {
        of = vt_owners_number(w);
        memset(all, 0, sizeof all);
    }
    if (!vt_owners_is_unchanging(w) || kept->name != name) {
        uint32_t n = vt_py_str(w, name, text, VT_OWNERS_TEXT_MOST);
        if (!vt_owners_is_unchanging(w) || n > sizeof kept->text)
            return (struct vt_owners_text){text, n};
        kept->name = name;
        kept->bytes = (uint8_t)n;
        memcpy(kept->text, text, n);
    }
    return (struct vt_owners_text){kept->text, kept->bytes};
}

/* Whether an edge leads to an object that can hold something. */
static bool leads_to_object(struct vt_owners *w, struct vt_edge *edge, uintptr_t to) {
    const struct vt_owners_type *type = vt_owners_type_of(w, to);
    if (vt_py_raw) {
        if (type && !type->leaf)
            vt_py_raw(w, to);
        return false;
    }
    edge->as = VT_AS_PYTHON;
    edge->to = to;
    edge->type = type;
    return type && !type->leaf && (!type->number || vt_py_number(w, to) >= LOWEST);
}

static void name_edge(struct vt_owners *w, struct vt_edge edge, uintptr_t to) {
    if (leads_to_object(w, &edge, to))
        vt_owners_edge(w, &edge);
}

void vt_py_edge(struct vt_owners *w, enum vt_step kind, struct vt_owners_text name, uintptr_t to) {
    name_edge(w, (struct vt_edge){.kind = kind, .name = name}, to);
}

void vt_py_part(struct vt_owners *w, uintptr_t to) {
    name_edge(w, (struct vt_edge){.kind = VT_STEP_NONE}, to);
}

void vt_py_item(struct vt_owners *w, uintptr_t to, bool apart) {
    name_edge(w, (struct vt_edge){.kind = VT_STEP_ITEM, .apart = apart}, to);
}

void vt_py_edge_at(struct vt_owners *w, enum vt_step kind, int64_t index, uintptr_t to) {
    name_edge(w, (struct vt_edge){.kind = kind, .indexed = true, .index = index}, to);
}

void vt_py_edge_str(struct vt_owners *w, enum vt_step kind, uintptr_t name, uintptr_t to) {
    struct vt_edge edge = {.kind = kind};
    char text[VT_OWNERS_TEXT_MOST];
    if (!leads_to_object(w, &edge, to))
        return;
    edge.name = name_of(w, name, text);
    if (edge.name.bytes)
        vt_owners_edge(w, &edge);
}

void vt_py_edge_key(struct vt_owners *w, uintptr_t key, uintptr_t to) {
    struct vt_edge edge = {.kind = VT_STEP_KEY};
    char text[VT_OWNERS_TEXT_MOST];
    struct out o = {.at = text, .room = sizeof text};
    const struct vt_owners_type *type = vt_owners_type_of(w, to);
    if (type && type->reader == VT_PYREAD_LRU_LINK &&
        !vt_py_raw) /* the object that functools.lru_cache puts around a result */
        to = vt_owners_word(w, to + VT_PYLRU_LINK_RESULT);
    if (!leads_to_object(w, &edge, to))
        return;
    if (!key) {
        vt_owners_edge(w, &edge);
        return;
    }
    type = vt_owners_type_of(w, key);
    if (!type)
        return;
    edge.indexed = type->reader == VT_PYREAD_NUMBER && is_index(w, key, &edge.index);
    if (!edge.indexed && is_short(type)) {
        put_object(w, &o, key);
        edge.name = (struct vt_owners_text){text, o.n};
    }
    vt_owners_edge(w, &edge);
}
