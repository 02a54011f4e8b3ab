/* SPDX-License-Identifier: MIT */
/*
 * The offsets of the fields in a CPython of a given minor version. From 3.13 on, the interpreter
 * publishes them (_Py_DebugOffsets, at the start of _PyRuntime); for earlier versions, there is one
 * row each here. Either way the result is compared with the code type's member table, so that a
 * build with other structures is refused and not misread.
 *
 * Source of the numbers: the structure definitions in CPython's Include/ of each version, 64-bit
 * builds. python_find.c calls this, once.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "python_layout.h"
#include "base/base.h"

#define OLDEST 8u
#define NEWEST 15u

/* Common to 3.8 to 3.11. */
#define COMMON_TEXT                                                                                \
    .ob_type = 8, .bytes_size = 16, .bytes_data = 32, .text_length = 16, .text_hash = 24,          \
    .text_state = 32, .text_ascii = 48, .text_compact = 72, .type_members = 240
/* 3.12 dropped a pointer from each string. */
#define COMMON_TEXT_312                                                                            \
    .ob_type = 8, .bytes_size = 16, .bytes_data = 32, .text_length = 16, .text_hash = 24,          \
    .text_state = 32, .text_ascii = 40, .text_compact = 56, .type_members = 240
#define CODE_38  .first_line = 40, .file = 104, .name = 112, .lines_table = 120
#define CODE_311 .file = 112, .name = 120, .qualname = 128, .lines_table = 136

/* 3.8 to 3.12, one row per layout, newest first. */
static const struct vt_pylayout rows[] = {
    {
        .minor = 12,
        .chain = VT_CHAIN_SHIM,
        .lines = VT_LINES_LOCATIONS,
        .anchors = true,
        .state_cframe = 56,
        .state_thread = 136,
        .cframe_current = 0,
        .previous = 8,
        .code = 0,
        .lasti = 56,
        .owner = 70,
        .first_line = 68,
        CODE_311,
        .bytecode = 192,
        .first_traceable = 176,
        .version = 92,
        COMMON_TEXT_312,
    },
    {
        .minor = 11,
        .chain = VT_CHAIN_ENTRY,
        .lines = VT_LINES_LOCATIONS,
        .one_state = true,
        .anchors = true,
        .state_cframe = 56,
        .state_thread = 152,
        .state_next = 8,
        .cframe_current = 8,
        .cframe_previous = 16,
        .interp_threads = 16,
        .previous = 48,
        .code = 32,
        .lasti = 56,
        .owner = 69,
        .entry = 68,
        .first_line = 72,
        CODE_311,
        .bytecode = 184,
        .first_traceable = 168,
        COMMON_TEXT,
    },
    {
        .minor = 10,
        .chain = VT_CHAIN_OBJECTS,
        .lines = VT_LINES_RANGES,
        .one_state = true,
        .anchors = true,
        .lasti_unit = 2,
        .state_frame = 24,
        .state_cframe = 48,
        .state_thread = 176,
        .state_next = 8,
        .cframe_previous = 8,
        .interp_threads = 8,
        .previous = 24,
        .code = 32,
        .lasti = 96,
        CODE_38,
        COMMON_TEXT,
    },
    {
        .minor = 8,
        .chain = VT_CHAIN_OBJECTS,
        .lines = VT_LINES_LNOTAB,
        .one_state = true,
        .lasti_unit = 1,
        .state_frame = 24,
        .state_thread = 176,
        .state_next = 8,
        .interp_threads = 8,
        .previous = 24,
        .code = 32,
        .lasti = 104,
        CODE_38,
        COMMON_TEXT,
    },
};

/* Where _Py_DebugOffsets keeps each group of offsets. Its own layout differs per minor version. */
static const struct {
    unsigned minor;
    uint16_t current_frame, thread_id, previous, file, ob_type, bytes_size, text_state;
} published[] = {
    {13, 184, 192, 232, 280, 360, 520, 544},
    {14, 208, 216, 256, 320, 408, 600, 624},
    {15, 208, 240, 320, 384, 472, 696, 720},
};

#define COOKIE          "xdebugpy"
#define PUBLISHED_BYTES 768u

bool vt_python_peek(void *to, uintptr_t address, size_t bytes) {
    if (vt_get(&vt_sys_sealed)) /* no system call may be asked whether it can be read */
        return false;
    struct iovec local = {to, bytes}, remote = {(void *)address, bytes};
    long pid = VT_SYS0(SYS_getpid);
    if (VT_SYS6(SYS_process_vm_readv, pid, &local, 1, &remote, 1, 0) == (long)bytes)
        return true;
    /* Is the call refused altogether (seccomp, hardened kernels)? Then use another: the kernel
     * copies a signal set from us before it looks at the invalid `how`, so EFAULT means "not
     * readable" and EINVAL "readable"; neither changes a mask. */
    uintptr_t own = (uintptr_t)&local;
    struct iovec self = {(void *)own, 1};
    char byte;
    struct iovec into = {&byte, 1};
    if (VT_SYS6(SYS_process_vm_readv, pid, &into, 1, &self, 1, 0) == 1)
        return false;
    /* That call takes NULL as no set, and beyond the user half the sum below would wrap. */
    const uintptr_t first = 4096, past = (uintptr_t)1 << 47;
    if (address < first || address >= past || bytes > past - address)
        return false;
    for (uintptr_t at = address; at < address + bytes; at = (at | 7) + 1) {
        const long efault = -14;
        if (VT_SYS4(SYS_rt_sigprocmask, -1, at & ~(uintptr_t)7, 0, 8) == efault)
            return false;
    }
    memcpy(to, (const void *)address, bytes);
    return true;
}

static uint64_t word_at(const unsigned char *bytes, size_t offset) {
    uint64_t v;
    memcpy(&v, bytes + offset, sizeof v);
    return v;
}

/* Copies one published offset. False: no structure is that large. */
static bool take(uint16_t *to, const unsigned char *from, size_t offset) {
    uint64_t v = word_at(from, offset);
    *to = (uint16_t)v;
    return v < 4096;
}

static const char *read_published(struct vt_pylayout *at, unsigned minor, uintptr_t runtime) {
    unsigned char o[PUBLISHED_BYTES];
    if (runtime == 0)
        return "it does not publish where its frames are (no _PyRuntime symbol)";
    if (!vt_python_peek(o, runtime, sizeof o) || memcmp(o, COOKIE, 8) != 0)
        return "it does not publish where its frames are (no xdebugpy table)";
    uint64_t version = word_at(o, 8);
    if (version >> 16 != (0x300u | minor))
        return "its table of offsets is for another version";
    bool free_threaded = word_at(o, 16) != 0;
    if (free_threaded && minor >= 14)
        return "free-threaded Python 3.14 and later keeps bytecode per thread, which is not read "
               "yet";
    size_t row = minor - 13;
    *at = (struct vt_pylayout){
        .minor = (uint8_t)minor,
        .chain = VT_CHAIN_SHIM,
        .lines = VT_LINES_LOCATIONS,
        .anchors = true,
    };
    size_t frame = published[row].previous, code = published[row].file;
    bool ok = take(&at->state_frame, o, published[row].current_frame) &&
              take(&at->state_thread, o, published[row].thread_id) &&
              take(&at->previous, o, frame) && take(&at->code, o, frame + 8) &&
              take(&at->lasti, o, frame + 16) && take(&at->owner, o, frame + 32) &&
              take(&at->file, o, code) && take(&at->name, o, code + 8) &&
              take(&at->qualname, o, code + 16) && take(&at->lines_table, o, code + 24) &&
              take(&at->first_line, o, code + 32) && take(&at->bytecode, o, code + 64) &&
              take(&at->ob_type, o, published[row].ob_type) &&
              take(&at->bytes_size, o, published[row].bytes_size) &&
              take(&at->bytes_data, o, published[row].bytes_size + 8) &&
              take(&at->text_state, o, published[row].text_state) &&
              take(&at->text_length, o, published[row].text_state + 8) &&
              take(&at->text_ascii, o, published[row].text_state + 16);
    if (!ok)
        return "its table of offsets is not as expected";
    /* Not published; they follow from neighbours in the same structures. */
    at->version = at->first_line + 24;
    at->first_traceable = at->bytecode - 16;
    at->text_hash = at->text_length + 8;
    at->text_compact = at->text_ascii + 16;
    at->type_members = free_threaded ? 256 : 240;
    return NULL;
}

const char *vt_python_layout(struct vt_pylayout *at, unsigned minor, uintptr_t runtime) {
    if (minor < OLDEST)
        return "Python before 3.8 is not supported";
    if (minor > NEWEST)
        return "this Python is newer than this vramtrace supports (3.8 to 3.15)";
    if (minor >= 13)
        return read_published(at, minor, runtime);
    const struct vt_pylayout *row = rows;
    while (row->minor > minor)
        row++;
    *at = *row;
    at->minor = (uint8_t)minor;
    return NULL;
}

/* PyMemberDef: name, type, offset, flags, doc. */
struct member {
    uintptr_t name, type;
    int64_t offset;
    uintptr_t flags, doc;
};

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
        uint16_t offset;
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
        struct member m;
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
