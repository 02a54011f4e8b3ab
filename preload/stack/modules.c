/* SPDX-License-Identifier: MIT */
/*
 * Records the files mapped into the process, so that the analyzer can later turn addresses into names, even on another
 * machine. Called by stack.c for a new stack, because only a new stack can have new addresses.
 */
#define _GNU_SOURCE
#include "modules.h"
#include "base/base.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>

#define KNOWN_MAX      8192u
#define PATH_BYTES_MAX 4096u

struct scan {
    struct vt_thread *thread;
    const uintptr_t *frames; /* of the current event's stack */
    size_t n;
    uint64_t entered, now; /* times before and after that event's stamp */
    bool first;
};

/* A written module, and the time from which it is known to be mapped. */
struct known {
    uint64_t hash, ticks;
};

/* Protected by the loader's lock: */
static struct known known[KNOWN_MAX]; /* open addressing */
static unsigned long long seen_adds, seen_subs;
static uint64_t newest;  /* the largest `ticks` in `known` */
static bool all_written; /* no module lacked space */
static uint32_t writing; /* atomic: a thread writes modules without the lock */

/* Finds the GNU build id in the object's notes. Returns its length; 0: none. */
static uint32_t build_id_of(const struct dl_phdr_info *info, const unsigned char **id) {
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_NOTE)
            continue;
        const char *at = (const char *)(info->dlpi_addr + p->p_vaddr), *stop = at + p->p_memsz;
        while (at + sizeof(ElfW(Nhdr)) <= stop) {
            const ElfW(Nhdr) *note = (const void *)at;
            const char *name = at + sizeof *note, *data = name + ((note->n_namesz + 3) & ~3u);
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
                memcmp(name, "GNU", 4) == 0 && note->n_descsz <= 64 &&
                data + note->n_descsz <= stop) {
                *id = (const unsigned char *)data;
                return note->n_descsz;
            }
            at = data + ((note->n_descsz + 3) & ~3u);
        }
    }
    return 0;
}

static uint64_t hash_of(uint64_t start, uint64_t end, const char *path) {
    uint64_t h = start * 0x9e3779b97f4a7c15ull ^ end;
    for (const char *c = path; *c; c++)
        h = (h ^ (unsigned char)*c) * 0x100000001b3ull;
    return h | 1;
}

/* The slot that has the hash, or the free one where it belongs. NULL: the table is full. */
static struct known *place_of(uint64_t hash) {
    for (uint32_t i = 0; i < 64; i++) {
        struct known *slot = &known[((hash >> 20) + i) & (KNOWN_MAX - 1)];
        if (!slot->hash || slot->hash == hash)
            return slot;
    }
    return NULL;
}

/* A module in the event's stack was mapped at the event. Any other is known to be mapped now, but its address may have
 * belonged to another module before. */
static uint64_t there_since(const struct scan *scan, const struct vt_elf *e) {
    for (size_t i = 0; i < scan->n; i++)
        if (scan->frames[i] - e->start < e->end - e->start)
            return scan->entered;
    return scan->now;
}

/* False: there is no space. */
static bool write_module(struct scan *scan, const struct vt_elf *e, uint64_t word, uint64_t ticks,
                         const char *path, const unsigned char *id, uint32_t id_bytes) {
    const struct vt_rec_module r = {.word = word,
                                    .ticks = ticks,
                                    .start = e->start,
                                    .end = e->end,
                                    .bias = e->bias,
                                    .build_id_bytes = id_bytes,
                                    .path_bytes = (uint32_t)strnlen(path, PATH_BYTES_MAX)};
    return vt_log_entry(scan->thread, &r, sizeof r, (struct vt_log_part){id, id_bytes},
                        (struct vt_log_part){path, r.path_bytes});
}

static char path_buffer[PATH_BYTES_MAX]; /* under the loader's lock */

/* The absolute path. The loader's name (dlopen("./plugin.so")) may be relative to a folder that the program leaves
 * later, or that is not the analyzer's. The vDSO has a name but no path. */
static const char *path_from_root(const char *path) {
    if (*path == '/' || !strchr(path, '/'))
        return path;
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    long n = VT_SYS2(SYS_getcwd, path_buffer, sizeof path_buffer); /* includes the NUL */
    if (n <= 0 || *path_buffer != '/' || (size_t)n + strlen(path) + 1 > sizeof path_buffer)
        return path;
    if (n > 2)
        path_buffer[n++ - 1] = '/';
    strcpy(path_buffer + n - 1, path);
    return path_buffer;
}

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
    struct scan *scan = data;
    if (scan->first && size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs) {
        if (all_written && info->dlpi_adds == seen_adds && info->dlpi_subs == seen_subs &&
            newest <= scan->entered)
            return 1;
        /* An unloaded module may return at the same address: forget all modules, so that the module is written
         * again. */
        if (info->dlpi_subs != seen_subs) {
            memset(known, 0, sizeof known);
            vt_library_forget();
        }
        seen_adds = info->dlpi_adds;
        seen_subs = info->dlpi_subs;
        all_written = true;
    }
    if (scan->first) /* read under the lock: modules may have changed while we waited for it */
        scan->now = vt_log_ticks();
    const char *path = info->dlpi_name;
    if (scan->first && (!path || !*path)) /* the program itself has no name here */
        path = vt_process_program(path_buffer, sizeof path_buffer);
    scan->first = false;
    struct vt_elf e;
    vt_elf_describe(info, &e);
    if (!path || !e.end)
        return 0;
    uint64_t hash = hash_of(e.start, e.end, path), ticks = there_since(scan, &e);
    struct known *place = place_of(hash);
    if (place && place->hash == hash && place->ticks <= ticks)
        return 0;
    bool other;
    const struct vt_library *library = vt_library_loaded(path, &e, &other);
    if (!place || place->hash != hash)
        vt_library_note(library, e.start, e.end);
    const unsigned char *id = NULL;
    uint32_t id_bytes = build_id_of(info, &id);
    uint64_t word = vt_word(VT_REC_MODULE, other ? VT_MODULE_OTHER : 0, 0, 0);
    if (!write_module(scan, &e, word, ticks, path_from_root(path), id, id_bytes))
        all_written = false; /* the next new stack tries again */
    else if (place) {
        *place = (struct known){hash, ticks};
        newest = ticks > newest ? ticks : newest;
    }
    return 0;
}

void vt_modules_write(struct vt_thread *thread, const uintptr_t *frames, size_t n) {
    uint64_t entered = vt_get(thread->entered_at);
    struct scan scan = {.thread = thread,
                        .frames = frames,
                        .n = n,
                        .entered = entered ? entered : vt_log_ticks(),
                        .first = true};
    /* Without the lock, a second thread skips this and tries again at its next new stack. */
    if (vt_locks_lost(VT_LOST_LIST) && !vt_claim(&writing, 0, 1))
        return;
    vt_libc_each_object(visit, &scan);
    vt_publish(&writing, 0);
}

void vt_modules_forked(void) {
    vt_put(&writing, 0);
    memset(known, 0, sizeof known);
    vt_library_forget();
    seen_adds = seen_subs = newest = 0;
}
