/* SPDX-License-Identifier: MIT */
/*
 * The layout of a given minor version of CPython. From 3.13 on, the interpreter publishes the layout of its frames
 * (_Py_DebugOffsets, at the start of _PyRuntime); python_layout.def has the other numbers. In both cases we compare the
 * result with the code type's member table, so that we refuse a build with other structures instead of misreading it.
 *
 * python_find.c calls this, once.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "python_layout.h"
#include "base/base.h"

#define OLDEST 8u
#define NEWEST 15u

#define PUBLISHES 13u
#define OBJECTS   14u /* the newest version whose objects are known */

/* Marks a number in the table as the position where the offset is published. */
#define PUBLISHED (1u << 31)
#define AT(n)     (PUBLISHED | (n))

static const struct {
    uint16_t offset; /* in struct vt_pylayout */
    uint32_t at[NEWEST - OLDEST + 1];
} fields[] = {
#define FIELD(name, ...) {offsetof(struct vt_pylayout, name), {__VA_ARGS__}},
#include "python_layout.def"
#undef FIELD
};

#define COOKIE          "xdebugpy"
#define PUBLISHED_BYTES 768u
#define MOST_OFFSET     (1u << 20) /* no structure is that large */
/* Offset of the lists in the collector's state. 3.14 up to 3.14.4 has one young and two old lists; 3.14.5 has three
 * generations again. */
#define GENERATIONS     24u

bool vt_python_readable(uintptr_t address, size_t bytes) {
    /* The system call takes NULL as "no set", and above the user's half of the addresses the sum below would wrap. */
    const uintptr_t first = 4096, past = VT_MACHINE_ADDRESSES;
    if (address < first || address >= past || bytes > past - address || vt_get(&vt_sys_sealed))
        return false;
    for (uintptr_t at = address; at < address + bytes; at = (at | 4095) + 1)
        if (!vt_sys_is_readable(at))
            return false;
    return true;
}

bool vt_python_peek(void *to, uintptr_t address, size_t bytes) {
    if (vt_get(&vt_sys_sealed)) /* system calls are forbidden, so readability is unknown */
        return false;
    struct iovec local = {to, bytes}, remote = {(void *)address, bytes};
    long pid = VT_SYS0(SYS_getpid);
    if (VT_SYS6(SYS_process_vm_readv, pid, &local, 1, &remote, 1, 0) == (long)bytes)
        return true;
    /* If the system refuses this call for any memory (seccomp, hardened kernels), use another. */
    uintptr_t own = (uintptr_t)&local;
    struct iovec self = {(void *)own, 1};
    char byte;
    struct iovec into = {&byte, 1};
    if (VT_SYS6(SYS_process_vm_readv, pid, &into, 1, &self, 1, 0) == 1)
        return false;
    if (!vt_python_readable(address, bytes))
        return false;
    memcpy(to, (const void *)address, bytes);
    return true;
}

static uint64_t word_at(const unsigned char *bytes, size_t offset) {
    uint64_t v;
    memcpy(&v, bytes + offset, sizeof v);
    return v;
}

/* Takes the table's numbers, and published numbers for AT. False: a number is impossibly large. */
static bool set_fields(struct vt_pylayout *at, const unsigned char *published) {
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        uint32_t value = fields[i].at[at->minor - OLDEST];
        if (value & PUBLISHED) {
            uint64_t word = word_at(published, value & ~PUBLISHED);
            if (word >= MOST_OFFSET)
                return false;
            value = (uint32_t)word;
        }
        memcpy((char *)at + fields[i].offset, &value, sizeof value);
    }
    return true;
}

static const char *read_published(struct vt_pylayout *at, uintptr_t runtime) {
    unsigned char o[PUBLISHED_BYTES];
    if (runtime == 0)
        return "it does not publish where its frames are (no _PyRuntime symbol)";
    if (!vt_python_peek(o, runtime, sizeof o) || memcmp(o, COOKIE, 8) != 0)
        return "it does not publish where its frames are (no xdebugpy table)";
    uint64_t version = word_at(o, 8);
    if (version >> 16 != (0x300u | at->minor))
        return "its table of offsets is for another version";
    bool free_threaded = word_at(o, 16) != 0;
    if (free_threaded && at->minor >= 14)
        return "free-threaded Python 3.14 and later keeps bytecode per thread, which is not read "
               "yet";
    if (!set_fields(at, o))
        return "its table of offsets is not as expected";
    /* These are not published, but derived from neighbours in the same structures. */
    at->version = at->first_line + 24;
    at->first_traceable = at->bytecode - 16;
    at->text_hash = at->text_length + 8;
    at->text_compact = at->text_ascii + 16;
    at->type_members += free_threaded ? 16 : 0;
    at->generations += GENERATIONS;
    at->objects &= !free_threaded && at->tuple_items >= 24 && at->tuple_items < 64;
    return NULL;
}

const char *vt_python_layout(struct vt_pylayout *at, unsigned minor, uintptr_t runtime) {
    if (minor < OLDEST)
        return "Python before 3.8 is not supported";
    if (minor > NEWEST)
        return "this Python is newer than this vramtrace supports (3.8 to 3.15)";
    *at = (struct vt_pylayout){
        .minor = (uint8_t)minor,
        .chain = minor >= 12   ? VT_CHAIN_SHIM
                 : minor == 11 ? VT_CHAIN_ENTRY
                               : VT_CHAIN_OBJECTS,
        .lines = minor >= 11   ? VT_LINES_LOCATIONS
                 : minor == 10 ? VT_LINES_RANGES
                               : VT_LINES_LNOTAB,
        .managed = minor >= 13   ? VT_PYMANAGED_INLINE
                   : minor == 12 ? VT_PYMANAGED_TAGGED
                   : minor == 11 ? VT_PYMANAGED_TWO
                                 : VT_PYMANAGED_NONE,
        .anchors = minor >= 10,
        .one_state = minor <= 11,
        .lasti_unit = minor == 10 ? 2 : 1,
        .objects = minor <= OBJECTS,
    };
    if (minor >= PUBLISHES)
        return read_published(at, runtime);
    set_fields(at, NULL);
    return NULL;
}

/* The first bytes of a string at a known address; the page after it may not be mapped. */
static bool peek_text(char *to, size_t room, uintptr_t from) {
    memset(to, 0, room);
    if (vt_python_peek(to, from, room - 1))
        return true;
    for (size_t k = 0; k < room - 1; k++) {
        if (!vt_python_peek(&to[k], from + k, 1))
            return false;
        if (to[k] == 0)
            break;
    }
    return true;
}

const char *vt_python_layout_check(const struct vt_pylayout *at, uintptr_t code_type) {
    static const char unreadable[] = "its code type is not as expected";
    const struct {
        const char *name;
        uint32_t offset;
    } expected[] = {
        {"co_firstlineno", at->first_line},
        {"co_filename", at->file},
        {"co_name", at->name},
        {"co_qualname", at->qualname},
        {at->lines == VT_LINES_LNOTAB ? "co_lnotab" : "co_linetable", at->lines_table},
    };
    uintptr_t members;
    unsigned found = 0;
    if (!vt_python_peek(&members, code_type + at->type_members, sizeof members))
        return unreadable;
    for (unsigned i = 0; i < 64; i++) {
        struct vt_pymember m;
        char name[16] = "";
        if (!vt_python_peek(&m, members + i * sizeof m, sizeof m))
            return unreadable;
        if (m.name == 0)
            break;
        if (!peek_text(name, sizeof name, m.name))
            return unreadable;
        for (size_t k = 0; k < sizeof expected / sizeof expected[0]; k++) {
            if (strcmp(name, expected[k].name) != 0)
                continue;
            if (m.offset != expected[k].offset)
                return "its code objects differ from the released version's";
            found |= 1u << k;
        }
    }
    unsigned all = at->qualname ? 31u : 23u;
    return found == all ? NULL : "its code type lacks members that this version has";
}
