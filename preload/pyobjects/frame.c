/* SPDX-License-Identifier: MIT */
/*
 * Python objects with named variables: frames, generators with their suspended frames, and functions with their
 * closures and defaults. Used by objects.c and roots.c.
 *
 * A frame has slots for the local variables, for the cells of variables that closures share, and for the evaluation
 * stack. Slots above the top of that stack are dead, and are not read. Most versions keep the top of a running frame's
 * stack in a register; then only the variables are read.
 */
#include "pyobjects.h"

#include <string.h>

#define MOST_SLOTS    65536
/* owners from this value on belong to the interpreter's loop, not to Python code */
#define SHIM          3u
#define LONGEST_TABLE 65536u
#define TAGS          7u

/* The code of the frame or function being read. */
struct code {
    uintptr_t at;
    /* tuples of names: variables, cells, free variables; from 3.11 on a single tuple */
    uintptr_t names[3];
    uint32_t count[3];
    uint32_t slots; /* number of all slots */
};

static uint32_t tuple_size(struct vt_owners *w, uintptr_t tuple) {
    const struct vt_owners_type *type = vt_owners_type_of(w, tuple);
    uint64_t n = type && type->flags & VT_PYFLAG_TUPLE ? vt_owners_word(w, tuple + VT_PY_SIZE) : 0;
    return n <= MOST_SLOTS ? (uint32_t)n : 0;
}

static uintptr_t tuple_item(struct vt_owners *w, uintptr_t tuple, uint64_t i) {
    return vt_owners_word(w, tuple + vt_py->tuple_items + i * 8);
}

static bool read_code(struct vt_owners *w, uintptr_t at, struct code *code) {
    *code = (struct code){.at = at};
    if (!at || vt_owners_word(w, at + VT_PY_TYPE) != vt_pyimage.code_type)
        return false;
    if (vt_py->slots) {
        int32_t slots = vt_owners_int(w, at + vt_py->slots);
        code->names[0] = vt_owners_word(w, at + vt_py->slot_names);
        code->count[0] = code->slots = tuple_size(w, code->names[0]);
        return slots >= 0 && (uint32_t)slots == code->slots;
    }
    int32_t locals = vt_owners_int(w, at + vt_py->locals);
    code->names[0] = vt_owners_word(w, at + vt_py->variables);
    code->names[1] = vt_owners_word(w, at + vt_py->cells);
    code->names[2] = vt_owners_word(w, at + vt_py->frees);
    for (unsigned i = 0; i < 3; i++)
        code->slots += code->count[i] = tuple_size(w, code->names[i]);
    return locals >= 0 && (uint32_t)locals == code->count[0];
}

/* The name of a slot: a str. */
static uintptr_t slot_name(struct vt_owners *w, const struct code *code, uint32_t slot) {
    unsigned part = 0;
    while (part < 2 && slot >= code->count[part])
        slot -= code->count[part++];
    return tuple_item(w, code->names[part], slot);
}

/* The object in a slot, or in the slot's cell. */
static uintptr_t slot_value(struct vt_owners *w, uint64_t word) {
    if (vt_py->minor >= 14) {
        /* A number, or a borrowed reference (not counted: a variable of the frame holds the object). */
        if ((word & 3) == 3 || (vt_py_raw && word & 1))
            return 0;
        word &= ~(uint64_t)3;
    }
    const struct vt_owners_type *type = vt_owners_type_of(w, word);
    if (!type)
        return 0;
    return type->reader == VT_PYREAD_CELL && !vt_py_raw
               ? vt_owners_word(w, word + VT_PYCELL_CONTENTS)
               : word;
}

/* The number of used words of the evaluation stack; 0 also if unknown. */
static int64_t stack_depth(struct vt_owners *w, uintptr_t frame, uintptr_t slots, uint32_t n) {
    uintptr_t top = frame + vt_py->frame_top, stack = slots + (uint64_t)n * 8;
    int64_t depth;
    if (vt_py->chain == VT_CHAIN_OBJECTS) {
        if (vt_owners_word(w, frame + vt_py->frame_stack) != stack)
            return 0;
        uintptr_t pointer = vt_owners_word(w, top);
        depth = vt_py->minor == 10 ? vt_owners_int(w, top)
                : pointer          ? (int64_t)(pointer - stack) / 8
                                   : 0;
    } else if (vt_py->minor >= 14) {
        uintptr_t pointer = vt_owners_word(w, top);
        depth = pointer ? (int64_t)(pointer - stack) / 8 : 0;
    } else {
        depth = (int64_t)vt_owners_int(w, top) - n;
    }
    return depth > 0 && depth <= MOST_SLOTS ? depth : 0;
}

static uintptr_t code_of(struct vt_owners *w, uintptr_t frame) {
    const struct vt_pylayout *at = &vt_pyimage.at;
    unsigned char owner = 0;
    if (at->chain == VT_CHAIN_SHIM &&
        (!vt_owners_read(w, &owner, frame + at->owner, 1) || owner >= SHIM))
        return 0;
    return vt_owners_word(w, frame + at->code) & ~(uintptr_t)TAGS;
}

/* The current line of a frame; 0: unknown. */
static uint32_t line_of(struct vt_owners *w, uintptr_t frame, uintptr_t code) {
    static uint8_t table[LONGEST_TABLE]; /* static: only one snapshot runs at a time */
    const struct vt_pylayout *at = &vt_pyimage.at;
    uintptr_t bytes = vt_owners_word(w, code + at->lines_table);
    uint64_t n = bytes ? vt_owners_word(w, bytes + at->bytes_size) : 0;
    uint32_t first = (uint32_t)vt_owners_int(w, code + at->first_line);
    int64_t lasti = at->chain == VT_CHAIN_OBJECTS
                        ? (int64_t)vt_owners_int(w, frame + at->lasti) * at->lasti_unit
                        : (int64_t)(vt_owners_word(w, frame + at->lasti) - (code + at->bytecode));
    if (lasti < 0 || lasti > INT32_MAX || !n || n > sizeof table ||
        !vt_owners_read(w, table, bytes + at->bytes_data, n))
        return 0;
    return vt_python_line(table, n, first, (uint32_t)lasti);
}

bool vt_py_position(struct vt_owners *w, uintptr_t frame, struct vt_pyposition *place) {
    const struct vt_pylayout *at = &vt_pyimage.at;
    struct code code;
    if (!read_code(w, code_of(w, frame), &code))
        return false;
    place->code = code.at;
    place->line = line_of(w, frame, code.at);
    uint32_t n = vt_py_str(w, vt_owners_word(w, code.at + (at->qualname ? at->qualname : at->name)),
                           place->name, sizeof place->name - 1);
    place->name[n] = 0;
    n = vt_py_str(w, vt_owners_word(w, code.at + at->file), place->file, sizeof place->file - 1);
    place->file[n] = 0;
    return true;
}

void vt_py_frame_stack(struct vt_owners *w, uintptr_t frame) {
    struct code code;
    if (!read_code(w, code_of(w, frame), &code))
        return;
    uintptr_t slots = frame + vt_py->frame_slots;
    int64_t depth = stack_depth(w, frame, slots, code.slots);
    for (int64_t i = 0; i < depth; i++)
        vt_py_item(w, slot_value(w, vt_owners_word(w, slots + (code.slots + (uint64_t)i) * 8)),
                   false);
}

void vt_py_frame_names(struct vt_owners *w, uintptr_t frame) {
    struct code code;
    if (!read_code(w, code_of(w, frame), &code))
        return;
    uintptr_t slots = frame + vt_py->frame_slots;
    for (uint32_t i = 0; i < code.slots; i++) {
        uintptr_t value = slot_value(w, vt_owners_word(w, slots + i * 8ul));
        if (value)
            vt_py_edge_str(w, VT_STEP_NAME, slot_name(w, &code, i), value);
    }
    /* A class body and exec() have their variables in a dict. A module's variables are its globals. */
    uintptr_t locals = vt_owners_word(w, frame + vt_py->frame_locals);
    if (vt_py_raw) {
        vt_py_part(w, locals);
        return;
    }
    uintptr_t globals = vt_owners_word(w, frame + vt_py->frame_locals -
                                              (vt_py->chain == VT_CHAIN_OBJECTS ? 8 : 16));
    if (locals && locals != globals)
        vt_py_names(w, locals, VT_STEP_NAME);
}

void vt_py_frame(struct vt_owners *w, uintptr_t frame) {
    vt_py_frame_names(w, frame);
    vt_py_frame_stack(w, frame);
}

uintptr_t vt_py_frame_in(struct vt_owners *w, uintptr_t object) {
    return vt_py->chain == VT_CHAIN_OBJECTS ? object
                                            : vt_owners_word(w, object + vt_py->frame_of_object);
}

void vt_py_traceback(struct vt_owners *w, uintptr_t traceback) {
    struct vt_pyposition place;
    uintptr_t object = vt_owners_word(w, traceback + VT_PYTRACEBACK_FRAME);
    uintptr_t frame = object ? vt_py_frame_in(w, object) : 0;
    if (frame && vt_py_position(w, frame, &place))
        vt_py_edge(w, VT_STEP_FRAME, vt_owners_text_of(place.name), object);
    /* The next traceback is a part of this one, because the depth of the frame does not matter. */
    vt_py_part(w, vt_owners_word(w, traceback + VT_PYTRACEBACK_NEXT));
}

void vt_py_generator(struct vt_owners *w, uintptr_t generator) {
    const struct vt_pylayout *py = vt_py;
    int8_t state;
    uintptr_t frame = generator + py->generator_frame;
    if (py->chain == VT_CHAIN_OBJECTS)
        frame = vt_owners_word(w, frame); /* 0: the generator has ended */
    else if (!vt_owners_read(w, &state, generator + py->generator_state, 1) || state > 0 ||
             state < -(int)py->generator_created)
        return;
    if (!frame)
        return;
    if (py->chain == VT_CHAIN_OBJECTS && vt_py_raw) {
        vt_py_part(w, frame);
        return;
    }
    vt_py_frame(w, frame);
    /* The exception that the suspended generator is handling. */
    vt_py_item(w, vt_owners_word(w, generator + py->generator_exception + py->exception_value),
               false);
}

static void default_of(struct vt_owners *w, uintptr_t key, uintptr_t value, void *data) {
    (void)data;
    vt_py_edge_str(w, VT_STEP_DEFAULT, key, value);
}

uintptr_t vt_py_free_variable(struct vt_owners *w, uintptr_t function, const char *name) {
    const struct vt_owners_type *type = vt_owners_type_of(w, function);
    struct code code;
    if (!type || type->reader != VT_PYREAD_FUNCTION ||
        !read_code(w, vt_owners_word(w, function + vt_py->function_code), &code))
        return 0;
    uintptr_t closure = vt_owners_word(w, function + vt_py->closure);
    uint32_t frees = tuple_size(w, closure);
    for (uint32_t i = 0; i < frees && frees <= code.slots; i++)
        if (vt_py_is(w, slot_name(w, &code, code.slots - frees + i), name))
            return slot_value(w, tuple_item(w, closure, i));
    return 0;
}

void vt_py_function(struct vt_owners *w, uintptr_t function) {
    const struct vt_pylayout *py = vt_py;
    struct code code;
    if (vt_py_raw) {
        const uint16_t direct[] = {py->closure, py->defaults, py->keyword_defaults,
                                   py->function_dict};
        for (size_t i = 0; i < sizeof direct / sizeof *direct; i++)
            vt_py_part(w, vt_owners_word(w, function + direct[i]));
        return;
    }
    if (!read_code(w, vt_owners_word(w, function + py->function_code), &code))
        return;
    uintptr_t closure = vt_owners_word(w, function + py->closure);
    uint32_t frees = tuple_size(w, closure);
    for (uint32_t i = 0; i < frees && frees <= code.slots; i++)
        vt_py_edge_str(w, VT_STEP_CLOSURE, slot_name(w, &code, code.slots - frees + i),
                       slot_value(w, tuple_item(w, closure, i)));
    uintptr_t defaults = vt_owners_word(w, function + py->defaults);
    uint32_t n = tuple_size(w, defaults);
    int32_t arguments = vt_owners_int(w, code.at + py->arguments);
    for (uint32_t i = 0; i < n && (int64_t)n <= arguments; i++)
        vt_py_edge_str(w, VT_STEP_DEFAULT, slot_name(w, &code, (uint32_t)arguments - n + i),
                       tuple_item(w, defaults, i));
    vt_py_each(w, vt_owners_word(w, function + py->keyword_defaults), default_of, NULL);
    vt_py_names(w, vt_owners_word(w, function + py->function_dict), VT_STEP_ATTRIBUTE);
}
