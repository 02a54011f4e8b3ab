/* SPDX-License-Identifier: MIT */
/*
 * Whether a word of a C++ variable is left over from an earlier value (see dwarf.h).
 *
 * The search starts at the variable's type and descends to the word, through arrays, members and bases. A class of
 * the C++ library that holds one of several objects, or none, has a member with its state, whose value is looked up
 * in the logged memory around the word. The rows below list these members in gcc's library and clang's, and the
 * template arguments that they select. If no class on the path decides, the word is assumed to be the pointer that
 * its type says, and the search continues in its target: one object of its type, several in a row, or a node of a
 * container.
 */
#include "dwarf.h"
#include "types.h"

#include <string.h>

enum { DEPTH_MOST = 32, WORDS_MOST = 40, WORD = 8 };

/* The contents of a class, by the number in its member. */
enum holds {
    NOTHING_BY_0, /* nothing, or anything */
    FIRST_BY_1,   /* 0: nothing, 1: its first argument */
    SECOND_BY_0,  /* 1: the first argument, 0: the second */
    NTH           /* the argument's number; all bits set: nothing */
};

static const struct row {
    const char *class_, *member;
    enum holds holds;
} rows[] = {
    {"optional", "_M_engaged", FIRST_BY_1},
    {"optional", "__engaged_", FIRST_BY_1},
    {"variant", "_M_index", NTH},
    {"variant", "__index", NTH},
    {"variant", "__index_", NTH},
    {"expected", "_M_has_value", SECOND_BY_0},
    {"any", "_M_manager", NOTHING_BY_0},
    {"any", "__h", NOTHING_BY_0},
    {"any", "__h_", NOTHING_BY_0},
    {"function", "_M_manager", NOTHING_BY_0},
    {"move_only_function", "_M_invoke", NOTHING_BY_0},
    {"__value_func", "__f_", NOTHING_BY_0}, /* in clang's function */
};

/* Containers whose pointers to nodes point to the common start of all nodes. */
static const struct list {
    const char *class_, *node;
    unsigned argument; /* the type of the node's data after these bytes */
    int64_t header;
} lists[] = {
    {"_Rb_tree", "_Rb_tree_node_base", 1, 32},
    {"list", "_List_node_base", 0, 16},
    {"forward_list", "_Fwd_list_node_base", 0, 8},
    {"_Hashtable", "_Hash_node_base", 1, 8},
};

/* The path down to one word, and the word's target. */
struct word {
    const struct vt_log_around *around;
    struct vt_word_in *split; /* its variable, if that is split; else NULL */
    Dwarf_Die to;             /* a type */
    bool points;              /* `to` is known */
    bool to_text, text;       /* it points to a string's characters; it is one of them */
    const struct list *list;  /* the innermost container on the path so far; NULL: none */
    Dwarf_Die item;           /* of the container's nodes */
    /* for this many pointers, a container of the C++ library has the slots in use */
    unsigned contained;
    bool to_many;       /* the word points to an array, by its class: unique_ptr<T[]>, vector */
    bool may_be_unused; /* the path goes through a slot whose use is unknown */
    bool before_word;   /* ... before this word */
};

/* A place in a variable, or in a word's target. */
struct place {
    struct word *word;
    int64_t start; /* offset of the examined object from the word */
    unsigned depth;
};

static bool look(Dwarf_Die *type, struct place at);

/* Finds a member of a class by its name, in its bases and in members of class type, but not in
 * unions, which hold the program's own data. */
static bool find_member(Dwarf_Die *class_, const char *name, unsigned depth, Dwarf_Die *type,
                        int64_t *offset) {
    Dwarf_Die child, inner;
    int64_t here;
    if (depth == DEPTH_MOST || dwarf_child(class_, &child))
        return false;
    do {
        int tag = dwarf_tag(&child);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !location_of(&child, &here) ||
            !type_of(&child, &inner))
            continue;
        const char *called = tag == DW_TAG_member ? dwarf_diename(&child) : NULL;
        int of = dwarf_tag(&inner);
        bool is_class = of == DW_TAG_class_type || of == DW_TAG_structure_type;
        *offset = here;
        *type = inner;
        if (called && !strcmp(called, name) && !is_class)
            return true;
        if (is_class && find_member(&inner, name, depth + 1, type, offset)) {
            *offset += here;
            return true;
        }
    } while (!dwarf_siblingof(&child, &child));
    return false;
}

/* The number at a place; -1: all its bits are set. False: unknown. */
static bool number_at(const struct vt_log_around *a, int64_t from_word, uint64_t bytes,
                      int64_t *number) {
    uint64_t value = 0, ones = 0, all = UINT64_MAX >> (64 - 8 * bytes);
    int64_t first = from_word + a->before;
    bool other = false;
    if (first < 0 || (uint64_t)first + bytes > a->count)
        return false;
    for (uint64_t i = 0; i < bytes; i++) {
        uint64_t at = (uint64_t)first + i;
        unsigned half = a->halves[at / 2] >> (at % 2 ? 4 : 0) & 15u;
        other |= half == VT_AROUND_OTHER;
        value |= (uint64_t)(half == VT_AROUND_ONES ? 255 : half) << 8 * i;
        ones += half == VT_AROUND_ONES;
    }
    *number = ones == bytes ? -1 : other || value != all ? (int64_t)(value & INT64_MAX) : -1;
    return !other || value; /* of other words it is only known that they are not 0 */
}

static bool find_argument(Dwarf_Die *class_, uint64_t number, unsigned depth, Dwarf_Die *type) {
    Dwarf_Die child;
    if (depth > 1 || dwarf_child(class_, &child))
        return false;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_GNU_template_parameter_pack)
            return find_argument(&child, number, depth + 1, type);
        if (tag == DW_TAG_template_type_parameter && number-- == 0)
            return type_of(&child, type);
    } while (!dwarf_siblingof(&child, &child));
    return false;
}

/* Whether the word is outside the held object, which lies at the start. */
static bool is_beside(Dwarf_Die *held, struct place at) {
    Dwarf_Word size;
    if (dwarf_aggregate_size(held, &size))
        return false;
    return at.start + (int64_t)size < WORD || look(held, at);
}

/* `number`: the value of the class's member. */
static bool is_left_over(Dwarf_Die *class_, enum holds holds, int64_t number, struct place at) {
    Dwarf_Die held;
    uint64_t argument = 0;
    if (number == (holds == NTH ? -1 : 0) && holds != SECOND_BY_0)
        return true;
    if (holds == NOTHING_BY_0)
        return false;
    if (holds == NTH)
        argument = (uint64_t)number;
    if (holds == SECOND_BY_0)
        argument = number ? 0 : 1;
    return find_argument(class_, argument, 0, &held) && is_beside(&held, at);
}

static bool is_called(Dwarf_Die *class_, const char *name) {
    const char *called = dwarf_diename(class_);
    size_t length = strlen(name);
    return called && !strncmp(called, name, length) && (!called[length] || called[length] == '<');
}

/* Converts a distance from a word in its variable to one in memory. */
static bool find_in_memory(const struct word *w, int64_t *from_word) {
    struct vt_part part;
    if (!w->split)
        return true;
    uint64_t offset = w->split->offset + (uint64_t)*from_word;
    for (unsigned i = 0; vt_variables_part(&w->split->variable, i, &part); i++)
        if (part.known && offset - part.start < part.size) {
            *from_word = (int64_t)(part.address + (offset - part.start) - w->split->address);
            return true;
        }
    return false;
}

/* Checks a word in a class of the library. False: the class does not decide. */
static bool ask_class(Dwarf_Die *class_, struct place at, bool *left_over) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Dwarf_Die type;
        Dwarf_Word size;
        int64_t offset, number;
        if (!is_called(class_, rows[i].class_) ||
            !find_member(class_, rows[i].member, 0, &type, &offset))
            continue;
        offset += at.start;
        bool known = !dwarf_aggregate_size(&type, &size) && size && size <= WORD &&
                     find_in_memory(at.word, &offset) &&
                     number_at(at.word->around, offset, size, &number);
        at.word->may_be_unused = known ? at.word->before_word : true;
        *left_over = known && is_left_over(class_, rows[i].holds, number, at);
        return true;
    }
    return false;
}

/* Checks the members and bases around the word. */
static bool look_into(Dwarf_Die *class_, struct place at) {
    Dwarf_Die child, type;
    Dwarf_Word size;
    int64_t offset;
    if (dwarf_child(class_, &child))
        return false;
    do {
        int tag = dwarf_tag(&child);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !location_of(&child, &offset) ||
            !type_of(&child, &type) || dwarf_aggregate_size(&type, &size))
            continue;
        struct place inner = {at.word, at.start + offset, at.depth + 1};
        if (inner.start <= 0 && inner.start + (int64_t)size > 0 && look(&type, inner))
            return true;
    } while (!dwarf_siblingof(&child, &child));
    return false;
}

/* Enters a slot of an array. Entries popped from a stack or a ring stay in the array, and the type does not show the
 * slots in use. A container of the C++ library holds only used ones; an array of pointers to nodes, which point to
 * nodes of the same type, belongs to a hash or a tree: removing a node changes the links. */
static void enter_slot(struct word *w, Dwarf_Die *element) {
    w->may_be_unused |= !w->contained && !vt_dwarf_is_link(element);
}

static bool look_at_array(Dwarf_Die *array, struct place at) {
    Dwarf_Die element;
    Dwarf_Word size, all;
    if (!type_of(array, &element) || dwarf_aggregate_size(&element, &size) || !size ||
        size > INT32_MAX)
        return false;
    bool one = !dwarf_aggregate_size(array, &all) && all == size;
    if (size >= WORD && !one)
        enter_slot(at.word, &element);
    at.start = -(-at.start % (int64_t)size);
    return look(&element, at);
}

/* Remembers the type of a container's nodes. */
static void remember(Dwarf_Die *class_, struct word *w) {
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (is_called(class_, lists[i].class_))
            w->list = find_argument(class_, lists[i].argument, 0, &w->item) ? &lists[i] : NULL;
}

/* Checks a string of gcc's library, which has a pointer and, if it is short, its characters. False: it is not one. */
static bool ask_string(Dwarf_Die *class_, struct place at) {
    Dwarf_Die type;
    int64_t offset;
    if (!is_called(class_, "basic_string") || !find_member(class_, "_M_p", 0, &type, &offset))
        return false;
    at.word->to_text = at.start + offset == 0;
    at.word->points = at.word->to_text;
    at.word->text = !at.word->to_text;
    return true;
}

/* Remembers the class around the word. */
static void come_to_class(Dwarf_Die *class_, bool is_library, struct place at) {
    static const char *const plain[] = {"array", "optional", "pair", "tuple", "variant"};
    struct word *w = at.word;
    const char *name = dwarf_diename(class_);
    if (!is_library) {
        w->contained = 0;
        return;
    }
    w->to_many |= name && (strstr(name, "[]") || is_called(class_, "vector"));
    bool contains = name && name[0] != '_' && !strstr(name, "[]");
    for (size_t i = 0; contains && i < sizeof plain / sizeof *plain; i++)
        contains = !is_called(class_, plain[i]);
    unsigned pointers = is_called(class_, "deque") ? 2 : contains;
    w->contained = pointers > w->contained ? pointers : w->contained;
    if (contains) /* it is empty when unused */
        w->may_be_unused = w->before_word;
}

static bool look(Dwarf_Die *type, struct place at) {
    bool left_over, is_library;
    if (at.start > 0 || at.depth++ == DEPTH_MOST)
        return false;
    switch (dwarf_tag(type)) {
    case DW_TAG_array_type:
        return look_at_array(type, at);
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
        is_library = vt_dwarf_is_of_library(type);
        come_to_class(type, is_library, at);
        if (is_library) {
            if (ask_class(type, at, &left_over))
                return left_over;
            if (ask_string(type, at))
                return false;
            remember(type, at.word);
        }
        return look_into(type, at);
    case DW_TAG_pointer_type:
        at.word->points = at.start == 0 && type_of(type, &at.word->to);
        return false;
    default: /* the active member of a union is unknown */
        return false;
    }
}

static bool is_polymorphic(Dwarf_Die *class_) {
    return dwarf_hasattr(class_, DW_AT_containing_type);
}

/* Checks a word at this offset in the previous word's target. Also false if `w` does not show its contents. */
static bool look_behind(struct word *w, int64_t offset) {
    Dwarf_Die to = w->to;
    Dwarf_Word size;
    const struct list *list = w->list;
    bool is_class = dwarf_tag(&to) == DW_TAG_structure_type || dwarf_tag(&to) == DW_TAG_class_type;
    w->points = false;
    if (is_class && list && is_called(&to, list->node)) {
        w->to = to;
        w->points = offset < list->header; /* points to another node */
        to = w->item;
        return !w->points && look(&to, (struct place){w, list->header - offset, 0});
    }
    if (is_class)
        w->list = NULL;
    if (dwarf_aggregate_size(&to, &size) || !size || size > INT32_MAX ||
        (is_class && offset >= (int64_t)size && is_polymorphic(&to)))
        return false;
    w->before_word = w->may_be_unused;
    bool lone = is_class && !w->to_many && offset < (int64_t)size; /* it may be a separate object */
    if (size >= WORD && !lone)
        enter_slot(w, &to);
    w->to_many = false;
    w->contained -= w->contained > 0;
    return look(&to, (struct place){w, -(offset % (int64_t)size), 0});
}

bool vt_left_over_is(struct vt_word_in *word, const struct vt_log_around *around,
                     bool *may_be_unused) {
    const struct vt_log_around *words[WORDS_MOST];
    unsigned count = 0;
    struct word w = {.points = true, .contained = 1};
    *may_be_unused = false;
    if (!type_of(&word->variable, &w.to))
        return false;
    for (; around && count < WORDS_MOST; around = around->parent)
        words[count++] = around;
    for (unsigned i = count; i-- > 0 && !around && w.points;) {
        int64_t from = i + 1 == count ? (int64_t)(word->offset & INT64_MAX) : words[i]->offset;
        w.around = words[i];
        w.split = i + 1 == count && word->split ? word : NULL;
        if (from < 0 || !w.around->halves)
            break;
        if (w.to_text)
            return true;
        if (look_behind(&w, from) || w.text)
            return true;
    }
    *may_be_unused = w.may_be_unused;
    return false;
}
