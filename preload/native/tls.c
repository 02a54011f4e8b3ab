/* SPDX-License-Identifier: MIT */
/*
 * Finds each module's thread-local variables in each thread.
 *
 * glibc keeps a table for each thread (the DTV), to which the thread's block points. Its entry at a module's number is
 * the address of that thread's copy of the module's storage. The loader's data for the module (struct link_map, glibc
 * 2.26 to 2.41) contains consecutive words that we know from the program headers: the address of the initial contents,
 * the sizes in the file and in memory, the alignment. After these words come the offset from a thread's block and the
 * number. If the words are not found, the module's variables get no names.
 *
 * Called by native.c.
 */
#define _GNU_SOURCE
#include "native.h"

#include <link.h>

#define MAP_WORDS    192u /* searched words of the loader's private struct link_map */
#define MAPS_MOST    8192u
#define MODULES_MOST 65536u
#define BEFORE       5u /* words of the public struct link_map */
#define UNALLOCATED  (~(uintptr_t)0)

/* The loader's data on a module's storage. */
struct known {
    /* distance to a thread's block, if it is the same in all threads; else 0 or -1 */
    uintptr_t offset;
    uint64_t number;
};

static bool find_in_map(struct vt_owners *w, uintptr_t map, const struct vt_module_tls *m,
                        struct known *known) {
    uint64_t words[MAP_WORDS];
    if (!vt_owners_read(w, words, map, sizeof words))
        return false;
    for (unsigned i = BEFORE; i + 7 <= MAP_WORDS; i++)
        if (words[i] == m->start && words[i + 1] == m->file_bytes && words[i + 2] == m->bytes &&
            words[i + 3] == m->align && words[i + 4] == m->odd) {
            *known = (struct known){words[i + 5], words[i + 6]};
            return known->number && known->number < MODULES_MOST;
        }
    return false;
}

static bool ask_loader(struct vt_owners *w, const struct vt_module_tls *m, struct known *known) {
    uintptr_t map = (uintptr_t)_r_debug.r_map;
    for (unsigned i = 0; map && i < MAPS_MOST; i++) {
        if (vt_owners_word(w, map + offsetof(struct link_map, l_addr)) == m->bias)
            return find_in_map(w, map, m, known);
        map = vt_owners_word(w, map + offsetof(struct link_map, l_next));
    }
    return false;
}

/* The address of a thread's copy; 0: none yet. */
static uintptr_t copy_of(struct vt_owners *w, uintptr_t block, struct known known) {
    uint64_t head[VT_THREAD_HEAD];
    uintptr_t table = block && vt_owners_read(w, head, block, sizeof head)
                          ? vt_machine_thread_table(head, block)
                          : 0;
    if (!table)
        return 0;
    if (known.offset && known.offset < (uintptr_t)1 << 32)
        return vt_machine_thread_data(block, known.offset);
    uint64_t room = vt_owners_word(w, table - 16);
    uintptr_t at = known.number <= room && room < MODULES_MOST
                       ? vt_owners_word(w, table + 16 * known.number)
                       : 0;
    return at == UNALLOCATED ? 0 : at;
}

uint32_t vt_native_thread_local_at(const struct vt_native *n, uintptr_t address) {
    uintptr_t nearest = UINT32_MAX;
    for (uint32_t i = 0; i < n->scan->tls_count; i++) {
        const struct vt_module_tls *m = &n->scan->tls[i];
        if (address - m->start < m->bytes && address - m->start < nearest)
            nearest = address - m->start;
    }
    return nearest < UINT32_MAX ? (uint32_t)nearest : 0;
}

void vt_native_thread_locals(struct vt_native *n, const uintptr_t *blocks, uint32_t count) {
    for (uint32_t i = 0; i < n->scan->tls_count && vt_owners_may_continue(n->w); i++) {
        const struct vt_module_tls *m = &n->scan->tls[i];
        struct known known;
        if ((n->scan->python && m->library) || !ask_loader(n->w, m, &known))
            continue;
        for (uint32_t k = 0; k < count; k++) {
            uintptr_t copy = copy_of(n->w, blocks[k], known);
            /* The log gets a variable's address in the module, which is the same for all threads. */
            n->shift = m->start - copy;
            if (copy)
                vt_native_scan(n, (copy + 7) & ~(uintptr_t)7, copy + m->bytes, false);
        }
    }
    n->shift = 0;
}
