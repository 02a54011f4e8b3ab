/* SPDX-License-Identifier: MIT */
/*
 * replay [--targets] [--ways] [--kinds] DUMP: maps the memory that dump.c wrote at its addresses and runs the real flood.c
 * and hints.c on it.
 *
 *   --targets  each allocation: its address, its size, reached or LOST
 *   --ways     for each LOST one (its size begins with 4) that is reached: the blocks that lead to it, up to a root
 *   --kinds    the blocks in the C library's heap that hold an allocation's address, by size: how many hold it where, and to
 *              which blocks that hold the same one, and into which library, they point
 */
#define vt_context_each      replay_contexts
#define vt_pool_streams_each replay_streams
#include "scan/flood.c"
#undef vt_context_each
#undef vt_pool_streams_each
#include "dump.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_AT    ((void *)0x100000000000) /* where no program has memory */
#define HANDLES    4096u
#define TRIES      "20" /* to get the dump's addresses */
#define WAYS       4u   /* shown of one allocation */
#define WAY_MOST   60u  /* blocks */
#define FEW_PLACES 4u   /* with fewer, it is no table; the rows of an array are such places */

static struct vt_scan scan;
static uint64_t contexts[HANDLES], streams[HANDLES], sizes[1u << 20];
static uint32_t context_count, stream_count, register_count;
static const uintptr_t *registers;

void replay_contexts(void (*see)(uint64_t, void *), void *data) {
    for (uint32_t i = 0; i < context_count; i++)
        see(contexts[i], data);
}

void replay_streams(void (*see)(uint64_t, void *), void *data) {
    for (uint32_t i = 0; i < stream_count; i++)
        see(streams[i], data);
}

/* --- names --- */

static struct name {
    uintptr_t start, end;
    char text[64];
} names[65536];
static uint32_t name_count;

/* Among several names around an address, the last one counts: thread-local storage lies in other memory. */
static void note_name(uintptr_t start, uintptr_t end, const char *path, const char *of) {
    const char *slash = strrchr(path, '/');
    if (name_count == sizeof names / sizeof *names)
        return;
    struct name *n = &names[name_count++];
    n->start = start;
    n->end = end;
    snprintf(n->text, sizeof n->text, "%.40s%s", slash ? slash + 1 : path, of);
}

static void note_maps(char *text) {
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        unsigned long start, end;
        char path[256] = "mapped";
        if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %255[^\n]", &start, &end, path) >= 2)
            note_name(start, end, path, "");
    }
}

static const struct name *name_of(uintptr_t address) {
    for (uint32_t i = name_count; i-- > 0;)
        if (address >= names[i].start && address < names[i].end)
            return &names[i];
    return NULL;
}

/* --- the dump --- */

/* False: something else is there. */
static bool map_spans(void) {
    uintptr_t mapped = 0; /* so far; spans are in order */
    for (uint32_t i = 0; i < scan.span_count; i++) {
        struct vt_span *s = &scan.spans[i];
        uintptr_t start = s->start & ~4095ul, end = (s->end + 4095) & ~4095ul;
        s->steady = !s->every_page;
        s->pointed = 0;
        memset(s->marked, 0, sizeof s->marked);
        start = start < mapped ? mapped : start;
        if (start < end && mmap((void *)start, end - start, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
                                -1, 0) != (void *)start)
            return false;
        mapped = end > mapped ? end : mapped;
    }
    return true;
}

/* Spans with one base have their bits in common. */
static void make_bits(void) {
    for (uint32_t i = 0; i < scan.span_count; i++) {
        struct vt_span *s = &scan.spans[i], *first = s, *last = s;
        if (s->kind != VT_SPAN_CELLS)
            continue;
        for (uint32_t k = 0; k < scan.span_count; k++) {
            struct vt_span *other = &scan.spans[k];
            if (other->kind == VT_SPAN_CELLS && other->base == s->base) {
                first = k < (uint32_t)(first - scan.spans) ? other : first;
                last = other->end > last->end ? other : last;
            }
        }
        if (first != s) {
            memcpy(s->bits, first->bits, sizeof s->bits);
            s->pages = first->pages;
            continue;
        }
        for (unsigned k = 0; k < VT_BITS_MARK + VT_MARKS; k++)
            s->bits[k] = calloc((last->end - s->base) / 1024 + 2, 8);
        s->pages = calloc((last->end - s->base) / 262144 + 2, 8);
    }
}

static void take_bits(const struct dump_part *p, const uint64_t *words) {
    for (unsigned kind = VT_BITS_START; kind <= VT_BITS_DEAD; kind++)
        for (uint64_t w = 0; w < p->bytes / 16; w++)
            scan.spans[p->a].bits[kind][p->b + w] |= *words++;
}

static void take_scan(const void *bytes) {
    memcpy(&scan, bytes, sizeof scan);
    scan.memory = NULL;
    scan.stop = NULL;
    scan.work = scan.looked_work = scan.bytes = 0;
    scan.most_work = UINT64_MAX;
    scan.alone = true;
    scan.no_readv = scan.found = scan.in_doubt = scan.by_opaque = false;
    scan.ending = 0;
    scan.unread_pages = 0;
}

static void *copy_of(const void *bytes, size_t count) {
    void *copy = malloc(count + 8);
    return copy ? memcpy(copy, bytes, count) : NULL;
}

static void take_size(uintptr_t address, uint64_t size) {
    struct vt_target *t =
        vt_scan_item_at(scan.targets, scan.target_count, sizeof *scan.targets, address);
    if (t && t->start == address && (size_t)(t - scan.targets) < sizeof sizes / sizeof *sizes)
        sizes[t - scan.targets] = size;
}

/* "": done. NULL: the dump's addresses are taken. */
static const char *take_part(const struct dump_part *p, const void *bytes) {
    switch (p->what) {
    case DUMP_SCAN:
        if (p->bytes != sizeof scan)
            return "of another version";
        take_scan(bytes);
        return vt_scan_read_open(&scan) ? "" : "no memory";
    case DUMP_REGISTERS:
        register_count = (uint32_t)(p->bytes / sizeof *registers);
        registers = bytes;
        break;
    case DUMP_TARGETS:
        scan.targets = copy_of(bytes, p->bytes);
        for (uint32_t i = 0; i < scan.target_count; i++)
            scan.targets[i].reached = false;
        break;
    case DUMP_SPANS:
        scan.spans = copy_of(bytes, p->bytes);
        if (!map_spans())
            return NULL;
        make_bits();
        break;
    case DUMP_CONTEXT:
        if (context_count < HANDLES)
            contexts[context_count++] = p->a;
        break;
    case DUMP_STREAM:
        if (stream_count < HANDLES)
            streams[stream_count++] = p->a;
        break;
    case DUMP_LIVE:
        take_size(p->a, p->b);
        break;
    case DUMP_MAPS:
    case DUMP_TLS: {
        char *text = copy_of(bytes, p->bytes);
        text[p->bytes] = 0;
        if (p->what == DUMP_MAPS)
            note_maps(text);
        else
            note_name(p->a, p->a + p->b, *text ? text : "program", " (thread-local)");
        free(text);
        break;
    }
    case DUMP_BITS:
        take_bits(p, bytes);
        break;
    case DUMP_MEMORY:
        memset((void *)p->a, 1, p->b); /* so that a page of zeros is also present */
        if (p->bytes)
            memcpy((void *)p->a, bytes, p->bytes);
        else
            memset((void *)p->a, 0, p->b);
        break;
    }
    return "";
}

static const char *take_dump(const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0)
        return "cannot be read";
    uint64_t size = (uint64_t)st.st_size;
    const uint8_t *file = mmap(FILE_AT, size, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
    if (file == MAP_FAILED)
        return "cannot be mapped";
    struct dump_part p = {0};
    for (uint64_t at = 0; p.what != DUMP_END; at += p.bytes) {
        if (size - at < sizeof p)
            return "is cut short";
        memcpy(&p, file + at, sizeof p);
        at += sizeof p;
        if (p.bytes > size - at)
            return "is cut short";
        const char *why = take_part(&p, file + at);
        if (!why || *why)
            return why;
    }
    for (uint32_t i = 0; i < scan.span_count; i++)
        if (scan.spans[i].kind == VT_SPAN_CELLS)
            vt_scan_note_present(&scan, scan.spans[i].base, scan.spans[i].start, scan.spans[i].end,
                                 scan.spans[i].pages);
    return "";
}

/* --- results --- */

static unsigned first_digit(uint64_t n) {
    while (n >= 10)
        n /= 10;
    return (unsigned)n;
}

static bool block_at(uintptr_t address, struct vt_span **span, struct vt_range *block) {
    struct vt_span *s = vt_scan_span_at(&scan, address);
    if (!s)
        return false;
    *span = s;
    *block = (struct vt_range){s->start, s->end};
    return s->kind != VT_SPAN_CELLS || vt_scan_cell_at(s, address, block);
}

/* The word at `at`, and what it is part of. */
static void print_place(uintptr_t at) {
    struct vt_span *s;
    struct vt_range b;
    const struct name *n = name_of(at);
    if (!block_at(at, &s, &b))
        return;
    if (s->kind == VT_SPAN_CELLS)
        printf("%zu bytes at %zu", b.end - b.start, at - b.start);
    else
        printf("%s+%zx", n ? n->text : "?", at - (n ? n->start : b.start));
    printf("%s%s", s->kind == VT_SPAN_ROOT ? " (root)" : "",
           s->heap && vt_scan_has_mark(s, b.start, VT_MARK_CUDA)
               ? vt_scan_has_mark(s, b.start, VT_MARK_THEIRS) ? " (theirs)" : " (marked)"
               : "");
}

/* Blocks that were come to, in order; each with the word that led there. */
static struct step { uintptr_t start, end, from; } * steps;
static uint32_t step_count, step_room;
static uint32_t *step_hash, hash_room; /* by start: index plus 1 */

static uint32_t *slot_of(uintptr_t start) {
    uint64_t i = (start * 0x9e3779b97f4a7c15ull >> 20) % hash_room;
    while (step_hash[i] && steps[step_hash[i] - 1].start != start)
        i = (i + 1) % hash_room;
    return &step_hash[i];
}

static void add_step(uintptr_t start, uintptr_t end, uintptr_t from) {
    uint32_t *slot = slot_of(start);
    if (*slot || step_count == step_room)
        return;
    steps[step_count] = (struct step){start, end, from};
    *slot = ++step_count;
}

static void print_way(uintptr_t at) {
    struct vt_span *s;
    struct vt_range b;
    for (unsigned n = 0; at && n < WAY_MOST; n++) {
        printf(n ? "\n      <- " : "    ");
        print_place(at);
        if (!block_at(at, &s, &b) || !*slot_of(b.start))
            break;
        at = steps[*slot_of(b.start) - 1].from;
    }
    printf("\n");
}

/* As the flood: without the main arena's own data. */
static void add_root(const struct vt_span *s) {
    const struct vt_range *skip = &scan.main_arena;
    bool has = skip->end && skip->start >= s->start && skip->end <= s->end;
    add_step(s->start, has ? skip->start : s->end, 0);
    if (has)
        add_step(skip->end, s->end, 0);
}

/* As the flood goes: not from an object of a library into marked memory. */
static bool may_go(const struct vt_span *from, uintptr_t block, const struct vt_span *to,
                   uintptr_t start) {
    return to->kind != VT_SPAN_ROOT && to->kind != VT_SPAN_CUDA && !to->opaque &&
           !(from->heap && vt_scan_has_mark(from, block, VT_MARK_CUDA) &&
             vt_scan_has_mark(from, block, VT_MARK_THEIRS) &&
             vt_scan_has_mark(to, start, VT_MARK_CUDA));
}

static void print_ways(void) {
    static uint8_t shown[sizeof sizes / sizeof *sizes];
    step_room = 1u << 22;
    hash_room = 1u << 23;
    steps = calloc(step_room, sizeof *steps);
    step_hash = calloc(hash_room, sizeof *step_hash);
    for (uint32_t i = 0; i < scan.span_count; i++)
        if (scan.spans[i].kind == VT_SPAN_ROOT)
            add_root(&scan.spans[i]);
    for (uint32_t i = 0; i < step_count; i++) {
        struct vt_span *s, *to;
        struct vt_range b, next;
        if (!block_at(steps[i].start, &s, &b))
            continue;
        b = (struct vt_range){steps[i].start, steps[i].end}; /* a part of a root */
        for (uintptr_t at = (b.start + 7) & ~7ul; at + 8 <= b.end; at += 8) {
            uintptr_t word = *(uintptr_t *)at;
            struct vt_target *t = target_at(&scan, word);
            size_t n = t ? (size_t)(t - scan.targets) : 0;
            if (t && t->reached && first_digit(sizes[n]) == 4 && shown[n]++ < WAYS) {
                printf("  %#zx, %llu bytes:\n", t->start, (unsigned long long)sizes[n]);
                print_way(at);
            }
            if (block_at(word, &to, &next) && may_go(s, b.start, to, next.start))
                add_step(next.start, next.end, at);
        }
    }
}

/* Pairs of numbers and how often each was seen, as text. */
static struct seen {
    char text[120];
    uint32_t times;
} seen[20000];
static uint32_t seen_count;

static void see(const char *text) {
    uint32_t i = 0;
    while (i < seen_count && strcmp(seen[i].text, text) != 0)
        i++;
    if (i == sizeof seen / sizeof *seen)
        return;
    if (i == seen_count)
        snprintf(seen[seen_count++].text, sizeof seen->text, "%s", text);
    seen[i].times++;
}

static bool holds(const struct vt_range *b, const struct vt_target *t) {
    for (uintptr_t at = b->start; at + 8 <= b->end; at += 8)
        if (target_at(&scan, *(uintptr_t *)at) == t)
            return true;
    return false;
}

/* What a block points to that holds the address of the same allocation, and code. */
static void see_leads(const struct vt_range *b, const struct vt_target *t) {
    char text[120];
    for (uintptr_t at = b->start; at + 8 <= b->end; at += 8) {
        struct vt_span *s;
        struct vt_range to;
        uintptr_t word = *(uintptr_t *)at;
        const struct name *n;
        if (block_at(word, &s, &to)) {
            if (s->kind == VT_SPAN_CELLS && to.start != b->start && holds(&to, t)) {
                snprintf(text, sizeof text, "%6zu at %-5zu leads to a block of %zu that holds it",
                         b->end - b->start, at - b->start, to.end - to.start);
                see(text);
            }
        } else if (word >= 1ul << 32 && (n = name_of(word)) && !strncmp(n->text, "lib", 3)) {
            snprintf(text, sizeof text, "%6zu at %-5zu leads into %s", b->end - b->start,
                     at - b->start, n->text);
            see(text);
        }
    }
}

static int by_text(const void *a, const void *b) {
    return strcmp(((const struct seen *)a)->text, ((const struct seen *)b)->text);
}

static void print_kinds(void) {
    char text[120];
    for (uint32_t i = 0; i < scan.span_count; i++) {
        struct vt_span *s = &scan.spans[i];
        struct vt_range b = {0, s->start};
        if (s->kind != VT_SPAN_CELLS || !s->heap)
            continue;
        for (uintptr_t cell = s->start; cell < s->end; cell += 16) {
            if (cell < b.end || !vt_scan_cell_at(s, cell, &b))
                continue;
            const struct vt_target *last = NULL;
            for (uintptr_t at = b.start; at + 8 <= b.end; at += 8) {
                const struct vt_target *t = target_at(&scan, *(uintptr_t *)at);
                if (!t)
                    continue;
                snprintf(text, sizeof text, "%6zu at %-5zu holds it", b.end - b.start,
                         at - b.start);
                see(text);
                if (t != last)
                    see_leads(&b, t);
                last = t;
            }
        }
    }
    qsort(seen, seen_count, sizeof *seen, by_text);
    for (uint32_t i = 0; i < seen_count; i++)
        if (seen[i].times >= FEW_PLACES)
            printf("%7u x %s\n", seen[i].times, seen[i].text);
}

static void print_result(const char *path, bool done) {
    uint32_t reached = 0, kept_lost = 0, lost_reached = 0;
    for (uint32_t i = 0; i < scan.target_count; i++) {
        reached += scan.targets[i].reached;
        kept_lost += first_digit(sizes[i]) == 3 && !scan.targets[i].reached;
        lost_reached += first_digit(sizes[i]) == 4 && scan.targets[i].reached;
    }
    printf("%s: %u of %u reached, %s%s%s%s; kept but called lost: %u; lost but reached: %u\n", path,
           reached, scan.target_count, done ? "whole" : "stopped",
           scan.in_doubt ? ", in doubt" : "", scan.by_opaque ? ", some by opaque memory" : "",
           scan.found ? ", until all was found" : "", kept_lost, lost_reached);
}

/* The addresses of a new process are others. */
static void try_again(char **argv) {
    const char *before = getenv("REPLAY_TRIES");
    char tries[16];
    snprintf(tries, sizeof tries, "%d", atoi(before ? before : TRIES) - 1);
    setenv("REPLAY_TRIES", tries, 1);
    if (strcmp(tries, "0") != 0)
        execv("/proc/self/exe", argv);
    fprintf(stderr, "replay: the dump's addresses are taken here\n");
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[argc - 1] : "", *why = take_dump(path);
    if (!why)
        try_again(argv);
    else if (*why)
        fprintf(stderr, "replay: %s %s\n", path, why);
    if (!why || *why)
        return 1;
    print_result(path, vt_scan_flood(&scan, registers, register_count));
    for (int i = 1; i < argc - 1; i++) {
        for (uint32_t k = 0; k < scan.target_count && !strcmp(argv[i], "--targets"); k++)
            printf("  %#zx %10llu %s\n", scan.targets[k].start, (unsigned long long)sizes[k],
                   scan.targets[k].reached ? "reached" : "LOST");
        if (!strcmp(argv[i], "--ways"))
            print_ways();
        if (!strcmp(argv[i], "--kinds"))
            print_kinds();
    }
    fflush(stdout);
    _exit(0); /* no scan of this process */
}
