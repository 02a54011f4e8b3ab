/* SPDX-License-Identifier: MIT */
/*
 * Cuts the mappings in /proc/self/maps into pieces, and finds each piece's meaning for the exit scan.
 *
 *   - A module's data is known exactly from its program headers. The anonymous memory after a file's last page is
 *     .bss only up to the size in those headers, because the kernel merges adjacent mappings.
 *   - A thread's stack is scanned from its stack pointer up. Reading other threads' registers needs ptrace, which a
 *     process cannot use on itself; scan.c allows for unknown registers.
 *   - A dead thread's stack, which the C library keeps for reuse, holds only old words.
 *
 * We never call the loader, because another thread may hold the loader's lock for ever.
 */
#define _GNU_SOURCE
#include "memory.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>

#define AROUND_BLOCK 32768u
#define BELOW_BLOCK  64u  /* alignment of storage and block together; other memory may end there */
#define RED_ZONE     128u /* in use although it is below the stack pointer */

/* In a Python process, whether a module is not the user's own. */
static bool is_library(const char *path, const char *name) {
    return vt_library_is_python(name) || vt_maps_begins(path, "/usr/lib/") ||
           vt_maps_begins(path, "/usr/lib64/") || vt_maps_begins(path, "/lib/") ||
           vt_maps_begins(path, "/lib64/") || strstr(path, "/site-packages/") ||
           strstr(path, "/dist-packages/") || strstr(path, "/lib-dynload/") ||
           strstr(path, "/lib/python3.");
}

static void add_range(struct vt_scan *scan, struct vt_range *list, uint32_t *count, uintptr_t start,
                      uintptr_t end) {
    if (start >= end)
        return;
    if (*count == VT_SCAN_RANGES)
        scan->stop = "the process has too many memory ranges";
    else
        list[(*count)++] = (struct vt_range){start, end};
}

struct module {
    uintptr_t base;
    char path[256]; /* only the end of a long path */
    const char *name;
    bool ours, cuda, libc, loader;
    bool library; /* not the user's own */
    struct vt_range data,
        relro; /* writable memory, and the part of it that only the loader writes */
    bool is_module;
};

static void name_module(struct module *m) {
    const char *slash = strrchr(m->path, '/');
    m->name = slash ? slash + 1 : m->path;
    m->ours = vt_elf_is_ours(m->base); /* by address: its file may have any name */
    /* A pointer in the data of these libraries does not mean that the program can reach an allocation. */
    m->cuda = vt_library_is_cuda_at(m->base, m->path);
    m->libc = vt_maps_begins(m->name, "libc.so.6") || vt_maps_begins(m->name, "libc-2.");
    m->loader = vt_maps_begins(m->name, "ld-linux") || vt_maps_begins(m->name, "ld-2.");
    m->library = is_library(m->path, m->name);
}

/* libunwind's names. Its data holds words read from stacks. */
static const char unwinders[] = "libunwind libunwind-x86_64 libunwind-aarch64 libunwind-generic "
                                "libunwind-vramtrace";

/* A module's writable data. Our own data is no root, and neither is an unwinder's, which caches words of stacks. */
static void note_data(struct vt_scan *scan, const struct module *m, uintptr_t start,
                      uintptr_t end) {
    bool keeps_stacks = m->ours || vt_library_named(m->name, unwinders);
    start &= ~(uintptr_t)7;
    end = (end + 7) & ~(uintptr_t)7;
    if (keeps_stacks)
        add_range(scan, scan->dead, &scan->dead_count, start, end);
    else if (m->cuda)
        add_range(scan, scan->cuda_data, &scan->cuda_data_count, start, end);
    else
        add_range(scan, scan->roots, &scan->root_count, start, end);
    if (m->libc)
        scan->libc = (struct vt_range){start, end};
    if (m->loader)
        scan->loader = (struct vt_range){start, end};
    if (scan->modules && !keeps_stacks && !m->libc && !m->loader && !m->cuda &&
        scan->module_count < VT_SCAN_RANGES)
        scan->modules[scan->module_count++] = (struct vt_module_data){
            start, end, m->library, vt_maps_begins(m->name, "libtorch_cpu.")};
}

/* A module's data, its code (from the first to the last byte), and its thread-local storage. */
static void note_segments(struct vt_scan *scan, struct module *m, uintptr_t bias,
                          const Elf64_Phdr *segments, size_t n) {
    struct vt_module_code code = {.start = UINTPTR_MAX,
                                  .library = m->ours || m->cuda || m->library};
    struct vt_module_tls tls = {.bias = bias, .library = m->library};
    for (const Elf64_Phdr *s = segments; s < segments + n; s++) {
        uintptr_t start = bias + s->p_vaddr, end = start + s->p_memsz;
        if (s->p_type == PT_GNU_EH_FRAME) {
            code.unwind = start;
        } else if (s->p_type == PT_TLS) {
            scan->tls_bytes += s->p_memsz + s->p_align;
            tls.start = start;
            tls.bytes = s->p_memsz;
            tls.file_bytes = s->p_filesz;
            tls.align = s->p_align;
            tls.odd = s->p_align ? s->p_vaddr & (s->p_align - 1) : s->p_vaddr;
        } else if (s->p_type == PT_GNU_RELRO) { /* the loader's pointers to code and data */
            m->relro = (struct vt_range){start & ~(vt_machine_page() - 1), end};
            add_range(scan, scan->dead, &scan->dead_count, start, end & ~(vt_machine_page() - 1));
        } else if (s->p_type == PT_LOAD) {
            if (s->p_flags & PF_W) {
                note_data(scan, m, start, end);
                m->data.start = m->data.start ? m->data.start : start;
                m->data.end = end;
            }
            if (s->p_flags & PF_X) {
                code.start = start < code.start ? start : code.start;
                code.end = end > code.end ? end : code.end;
            }
        }
    }
    if (scan->code && code.end && scan->code_count < VT_SCAN_RANGES)
        scan->code[scan->code_count++] = code;
    if (scan->tls && tls.bytes && !m->ours && !m->cuda && !m->libc && !m->loader &&
        scan->tls_count < VT_SCAN_RANGES)
        scan->tls[scan->tls_count++] = tls;
}

static void note_module(struct vt_scan *scan, struct module *m) {
    Elf64_Ehdr head;
    Elf64_Phdr segments[24];
    m->data = m->relro = (struct vt_range){0, 0};
    m->is_module = false;
    if (!m->base || !vt_scan_read(scan, &head, m->base, sizeof head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof segments[0] ||
        head.e_phnum == 0)
        return;
    size_t n = head.e_phnum < 24 ? head.e_phnum : 24;
    if (!vt_scan_read(scan, segments, m->base + head.e_phoff, n * sizeof segments[0]))
        return;
    uintptr_t lowest = UINTPTR_MAX;
    for (size_t i = 0; i < n; i++)
        if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr < lowest)
            lowest = segments[i].p_vaddr;
    if (lowest == UINTPTR_MAX)
        return;
    m->is_module = true;
    name_module(m);
    note_segments(scan, m, m->base - (lowest & ~(vt_machine_page() - 1)), segments, n);
    scan->python |= vt_library_is_python(m->name);
}

struct around {
    struct module module;
    uintptr_t end;             /* the previous mapping's */
    uintptr_t untouchable_end; /* the same, if it is inaccessible */
};

/* Whether the program may have written to a mapping that it cannot write to now. A module's mapping counts only if it
 * is data. A shared file counts only if it lies in memory, because other files may never have been opened for
 * writing. */
static bool was_writable(const struct vt_scan *scan, const struct module *module,
                         const struct vt_mapping *m, bool nameless) {
    bool in_memory = vt_maps_begins(m->name, "/dev/zero") || vt_maps_begins(m->name, "/memfd:") ||
                     vt_maps_begins(m->name, "/dev/shm/") || vt_maps_begins(m->name, "/SYSV");
    if (m->access[3] != 'p' || *m->name != '/' || in_memory)
        return m->access[3] == 'p' ? nameless || in_memory : in_memory && m->access[0] == 'r';
    if (module->is_module && strstr(m->name, module->path))
        return m->start < module->data.end && m->end > module->data.start &&
               (m->start < module->relro.start || m->end > module->relro.end);
    return m->access[2] != 'x' && !m->device && scan->pagemap >= 0;
}

static void note_mapping(struct vt_scan *scan, struct around *a, const struct vt_mapping *m) {
    /* The kernel lists the mappings page by page. A mapping that grew downwards in between is listed again. */
    uintptr_t start = m->start < a->end ? a->end : m->start;
    if (start >= m->end)
        return;
    a->end = m->end;
    const char *access = m->access;
    scan->aio |= vt_maps_begins(m->name, "/[aio]");
    if (*m->name == '/' && m->offset == 0 && access[0] == 'r') {
        size_t n = strlen(m->name), most = sizeof a->module.path - 1, cut = n > most ? n - most : 0;
        a->module.base = start;
        memcpy(a->module.path, m->name + cut, n - cut + 1);
        note_module(scan, &a->module);
    }
    bool nameless = !*m->name || vt_maps_begins(m->name, "[anon") ||
                    vt_maps_begins(m->name, "[heap]") || vt_maps_begins(m->name, "[stack"),
         writable = access[0] == 'r' && access[1] == 'w', is_data = start < a->module.data.end;
    if (writable || was_writable(scan, &a->module, m, nameless)) {
        if (scan->vma_count == VT_SCAN_VMAS) {
            scan->stop = "the process has too many mappings";
            return;
        }
        scan->vmas[scan->vma_count++] = (struct vt_vma){
            .start = start,
            .end = m->end,
            .private_ = access[3] == 'p',
            .anonymous = nameless,
            .heap = vt_maps_begins(m->name, "[heap]"),
            .guarded = a->untouchable_end == start,
            .device = m->device,
            .stack = vt_maps_begins(m->name, "[stack"),
            .sealed = access[0] != 'r',
            .written = !writable && !nameless && access[3] == 'p' && !is_data,
        };
        if (scan->vmas[scan->vma_count - 1].heap)
            scan->brk = (struct vt_range){scan->brk.end ? scan->brk.start : start, m->end};
    }
    a->untouchable_end = access[0] == '-' && access[1] == '-' ? m->end : 0;
}

static bool read_maps(struct vt_scan *scan) {
    struct vt_maps *maps = vt_scan_allocate(scan, sizeof *maps);
    struct vt_mapping mapping;
    struct around a = {.module = {.base = 0}};
    if (!maps)
        return false;
    if (!vt_maps_open(maps)) {
        scan->stop = "/proc/self/maps cannot be read";
        return false;
    }
    while (!scan->stop && vt_maps_next(maps, &mapping))
        note_mapping(scan, &a, &mapping);
    vt_maps_close(maps);
    if (!scan->vma_count && !scan->stop)
        scan->stop = "/proc/self/maps cannot be read";
    return !scan->stop;
}

struct vt_vma *vt_scan_vma_from(const struct vt_scan *scan, uintptr_t address) {
    uint32_t low = 0, high = scan->vma_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (scan->vmas[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < scan->vma_count ? &scan->vmas[low] : NULL;
}

static struct vt_vma *vma_at(const struct vt_scan *scan, uintptr_t address) {
    struct vt_vma *v = vt_scan_vma_from(scan, address);
    return v && v->start <= address ? v : NULL;
}

/* If this mapping is a thread's stack: the C library's block of the thread, near its top; 0: none. *ended: the thread
 * has ended. */
static uintptr_t thread_block(struct vt_scan *scan, const struct vt_vma *v, bool *ended) {
    uintptr_t most = 16384 + vt_machine_thread_above(scan->tls_bytes),
              from = v->end - v->start > most ? v->end - most : v->start;
    const uintptr_t step = VT_THREAD_ALIGN;
    for (uintptr_t p = (from + step - 1) & ~(step - 1); p + VT_THREAD_TID + 8 <= v->end; p += step)
        if (vt_scan_peek(scan, p + VT_THREAD_SELF) == p + VT_THREAD_SELF_IS &&
            vt_scan_peek(scan, p + VT_THREAD_SELF_2) == p + VT_THREAD_SELF_IS) {
            *ended = (int32_t)vt_scan_peek(scan, p + VT_THREAD_TID) <= 0;
            return p + vt_machine_thread_bytes();
        }
    return 0;
}

uintptr_t vt_scan_thread_block(struct vt_scan *scan, uintptr_t sp) {
    const struct vt_vma *v = vma_at(scan, sp);
    bool ended = false;
    uintptr_t block = v && !v->heap ? thread_block(scan, v, &ended) : 0;
    return ended ? 0 : block;
}

static void find_stacks(struct vt_scan *scan) {
    uintptr_t block = vt_machine_thread_block();
    struct vt_vma *v = vma_at(scan, block);
    if (v) {
        /* Modules' thread-local storage lies around the thread's block, and the loader's data for it lies above. The
         * kernel may have merged other memory on both sides. */
        uintptr_t below = vt_machine_thread_below(scan->tls_bytes) + BELOW_BLOCK,
                  above = vt_machine_thread_above(scan->tls_bytes) + AROUND_BLOCK;
        add_range(scan, scan->roots, &scan->root_count,
                  block - v->start > below ? block - below : v->start,
                  v->end - block > above ? block + above : v->end);
    }
    for (uint32_t i = 0; i < scan->thread_count; i++) {
        uintptr_t sp = scan->threads[i].sp & ~(uintptr_t)7;
        v = sp ? vma_at(scan, sp) : NULL;
        if (!v) {
            scan->stacks_unknown = true;
            continue;
        }
        v->stack = true;
        uintptr_t from = sp - RED_ZONE > v->start ? sp - RED_ZONE : v->start;
        if (v->heap) { /* a stack inside the program's heap: its bounds are unknown */
            add_range(scan, scan->roots, &scan->root_count, v->start, v->end);
            continue;
        }
        add_range(scan, scan->dead, &scan->dead_count, v->start, from);
        add_range(scan, scan->roots, &scan->root_count, from, v->end);
    }
    for (uint32_t i = 0; i < scan->vma_count; i++) {
        v = &scan->vmas[i];
        if (!v->guarded || v->stack || !v->anonymous || v->device || v->sealed)
            continue;
        /* A living thread may currently use another stack: a signal's or a coroutine's. */
        bool ended = false, block = thread_block(scan, v, &ended) != 0;
        if (block && ended)
            add_range(scan, scan->dead, &scan->dead_count, v->start, v->end);
        else if (block || scan->stacks_unknown)
            add_range(scan, scan->roots, &scan->root_count, v->start, v->end);
    }
}

/* Sorts ranges, and merges those that touch or overlap. */
static uint32_t in_order(struct vt_range *a, uint32_t n) {
    vt_scan_sort(a, n, sizeof *a);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (kept && a[i].start <= a[kept - 1].end) {
            if (a[i].end > a[kept - 1].end)
                a[kept - 1].end = a[i].end;
        } else {
            a[kept++] = a[i];
        }
    }
    return kept;
}

/* A mapping that contains live device memory belongs to the device, even if it is readable, as in
 * the simulated driver: a program cannot follow pointers in device memory. */
static void find_device_memory(struct vt_scan *scan) {
    for (uint32_t i = 0; i < scan->target_count; i++) {
        const struct vt_target *t = &scan->targets[i];
        struct vt_vma *v = t->held || t->end - t->start == 1 ? NULL : vma_at(scan, t->start);
        if (v)
            v->device = true;
    }
}

bool vt_scan_list_maps(struct vt_scan *scan) {
    scan->vmas = vt_scan_allocate(scan, VT_SCAN_VMAS * sizeof *scan->vmas);
    scan->ours = vt_scan_allocate(scan, VT_SCAN_RANGES * sizeof *scan->ours);
    scan->roots = vt_scan_allocate(scan, VT_SCAN_RANGES * sizeof *scan->roots);
    scan->cuda_data = vt_scan_allocate(scan, VT_SCAN_RANGES * sizeof *scan->cuda_data);
    scan->dead = vt_scan_allocate(scan, VT_SCAN_RANGES * sizeof *scan->dead);
    scan->spans = vt_scan_allocate(scan, VT_SCAN_SPANS * sizeof *scan->spans);
    return !scan->stop && read_maps(scan);
}

/* Malloc's memory may span adjacent mappings: the kernel splits a mapping if a part is locked, protected, or not
 * inherited, and does not merge a child's new memory with inherited memory. */
static void find_runs(struct vt_scan *scan) {
    for (uint32_t i = scan->vma_count; i-- > 0;) {
        struct vt_vma *v = &scan->vmas[i], *next = v + 1;
        bool may_be_mallocs = v->anonymous && v->private_ && !v->device && !v->stack &&
                              !(v->empty && v->end - v->start >= VT_RESERVE_MOST),
             goes_on = may_be_mallocs && i + 1 < scan->vma_count && next->start == v->end;
        v->run_end = goes_on && next->run_end ? next->run_end : v->end;
        v->steady_end = !v->steady ? 0 : goes_on && next->steady_end ? next->steady_end : v->end;
        if (!may_be_mallocs)
            v->run_end = 0;
    }
}

bool vt_scan_classify_maps(struct vt_scan *scan) {
    find_device_memory(scan);
    for (uint32_t i = 0; i < scan->vma_count; i++) {
        struct vt_vma *v = &scan->vmas[i];
        v->empty = v->sealed && !vt_scan_has_pages(scan, v->start, v->end);
        v->steady = v->anonymous && v->private_ && !v->device && !v->sealed &&
                    vt_scan_in_place(scan, v->start, v->end);
    }
    find_stacks(scan);
    find_runs(scan);
    if (!vt_mappings_list(scan->ours, VT_SCAN_RANGES, &scan->our_count))
        scan->stop = "the process has too many threads";
    scan->our_count = in_order(scan->ours, scan->our_count);
    scan->root_count = in_order(scan->roots, scan->root_count);
    scan->cuda_data_count = in_order(scan->cuda_data, scan->cuda_data_count);
    scan->dead_count = in_order(scan->dead, scan->dead_count);
    return !scan->stop;
}

struct vt_span *vt_scan_add_span(struct vt_scan *scan, uintptr_t start, uintptr_t end,
                                 unsigned kind, const struct vt_vma *vma) {
    start = (start + 7) & ~(uintptr_t)7;
    end &= ~(uintptr_t)7;
    if (start >= end)
        return NULL;
    if (scan->span_count == VT_SCAN_SPANS) {
        scan->stop = "the process has too many memory ranges";
        return NULL;
    }
    struct vt_span *s = &scan->spans[scan->span_count++];
    *s = (struct vt_span){.start = start,
                          .end = end,
                          .kind = (uint8_t)kind,
                          .steady = vma->steady && end <= vma->steady_end,
                          .written = vma->written};
    return s;
}

struct vt_span *vt_scan_span_at(const struct vt_scan *scan, uintptr_t address) {
    return vt_scan_item_at(scan->spans, scan->span_count, sizeof *scan->spans, address);
}

/* A position in a sorted list of ranges. */
struct cursor {
    const struct vt_range *list;
    uint32_t count, at;
};

/* Whether `pos` is in one of the ranges; lowers *until to the position where that changes. */
static bool covers(struct cursor *c, uintptr_t pos, uintptr_t *until) {
    while (c->at < c->count && c->list[c->at].end <= pos)
        c->at++;
    if (c->at == c->count)
        return false;
    const struct vt_range *r = &c->list[c->at];
    uintptr_t change = r->start > pos ? r->start : r->end;
    if (change < *until)
        *until = change;
    return r->start <= pos;
}

enum { OURS, HELD, DEAD, CUDA_DATA, ROOTS, MEANINGS };

static bool covers_any(struct cursor *lists, uintptr_t pos, uintptr_t *until, bool *in) {
    bool any = false;
    for (unsigned i = 0; i < MEANINGS; i++)
        any |= in[i] = covers(&lists[i], pos, until);
    return any;
}

/* Makes spans from all mappings. */
static void cut_mappings(struct vt_scan *scan, const struct vt_range *held, uint32_t held_count) {
    /* The first list that covers a piece determines its meaning. Held ranges are not merged, because each is reached
     * separately. */
    struct cursor lists[MEANINGS] = {[OURS] = {scan->ours, scan->our_count, 0},
                                     [HELD] = {held, held_count, 0},
                                     [DEAD] = {scan->dead, scan->dead_count, 0},
                                     [CUDA_DATA] = {scan->cuda_data, scan->cuda_data_count, 0},
                                     [ROOTS] = {scan->roots, scan->root_count, 0}};
    uintptr_t taken = 0; /* end of a heap that began in an earlier mapping */
    bool in[MEANINGS];
    for (uint32_t i = 0; i < scan->vma_count && vt_scan_may_continue(scan); i++) {
        const struct vt_vma *v = &scan->vmas[i];
        uintptr_t plain =
            v->start > taken ? v->start : taken; /* start of the current plain piece */
        if (v->empty)
            continue;
        for (uintptr_t pos = plain, until; pos < v->end && !scan->stop; pos = until) {
            until = v->end;
            if (!covers_any(lists, pos, &until, in))
                continue;
            if (plain < pos && !v->device)
                vt_scan_heap_piece(scan, v, plain, pos, pos);
            plain = until;
            if (in[OURS] || (in[DEAD] && !in[HELD]))
                continue;
            struct vt_span *s = vt_scan_add_span(scan, pos, until,
                                                 in[HELD]        ? VT_SPAN_PLAIN
                                                 : in[CUDA_DATA] ? VT_SPAN_CUDA
                                                                 : VT_SPAN_ROOT,
                                                 v);
            if (s && in[HELD]) {
                s->every_page = true;
                s->steady = false;
            }
        }
        if (plain >= v->end || v->device || scan->stop)
            continue;
        uintptr_t limit = UINTPTR_MAX; /* start of the next piece with another meaning */
        limit = covers_any(lists, v->end, &limit, in) ? v->end : limit;
        taken = vt_scan_heap_piece(scan, v, plain, v->end, limit);
    }
}

bool vt_scan_make_spans(struct vt_scan *scan) {
    struct vt_range *held = vt_scan_allocate(scan, ((size_t)scan->target_count + 1) * sizeof *held);
    uint32_t held_count = 0;
    if (!held)
        return false;
    for (uint32_t i = 0; i < scan->target_count; i++)
        if (scan->targets[i].held)
            held[held_count++] = (struct vt_range){scan->targets[i].start, scan->targets[i].end};
    vt_scan_heap_open(scan);
    scan->look_inside = true;
    cut_mappings(scan, held, held_count);
    if (!vt_scan_heap_adds_up(scan)) {
        scan->look_inside = scan->unordered = false;
        scan->main_next = 0;
        scan->span_count = scan->tcache_count = scan->arena_count = 0;
        cut_mappings(scan, held, held_count);
    }
    if (scan->unordered)
        vt_scan_sort(scan->spans, scan->span_count, sizeof *scan->spans);
    return !scan->stop;
}
