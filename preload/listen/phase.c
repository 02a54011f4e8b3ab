/* SPDX-License-Identifier: MIT */
/*
 * Phases and marks that the program names itself, through include/vramtrace.h or NVTX (nvtx.c).
 *
 * A phase alone opens no log: a process that never touches CUDA leaves no file. So what is open is
 * kept: per thread, a stack with the names' text, and for ranges that may end on another thread a
 * small table of the process. When the log opens, each is written at the next event of its thread
 * (event.c asks vt_phase_unwritten), with the time at which it really began beside the time of
 * writing: a record is never stamped earlier than what a reader may have taken already. A forked
 * child's log gets those that were open at the fork in the same way.
 *
 * Names are numbered by the hash of their text, like stacks.
 *
 * Called from any thread, with any lock held; takes none, calls no malloc.
 */
#include "preload.h"
#include "base/atomic.h"
#include "base/sys.h"

#include <string.h>
#include <sys/mman.h>

#define DEPTH   64u
#define RANGES  256u
#define NAMES   (1u << 18)
#define DOMAINS 256u
#define PROBES  64u

/* An open phase. */
struct open_phase {
    uint64_t range, began;
    uint32_t domain, bytes;
    bool written;
    char text[VT_NAME_MAX_BYTES];
};

struct vt_phases {
    uint32_t depth, skipped; /* skipped: pushed past DEPTH, not popped yet */
    struct open_phase open[DEPTH];
};

/* One that START opened before there was a log. */
struct waiting {
    uint64_t range; /* atomic; 0: free, BUSY: being written */
    struct open_phase phase;
};
#define BUSY UINT64_MAX

uint32_t vt_phase_unwritten;   /* atomic */
static uint32_t waiting_count; /* atomic; those of them that are in `waiting` */

static __thread struct vt_phases *own __attribute__((tls_model("initial-exec")));
static struct waiting waiting[RANGES];
static uint64_t last_range; /* atomic */

/* --- names --- */

static uint64_t *names;                              /* atomic; hashes of the names written */
static char domains[DOMAINS][VT_NAME_MAX_BYTES + 1]; /* by number - 1; set once */
static uint32_t domain_state[DOMAINS];               /* atomic; 0 free, 1 being written, 2 there */

static uint64_t *names_table(void) {
    uint64_t *t = vt_see(&names);
    if (t)
        return t;
    uint64_t *fresh = vt_sys_mmap(NAMES * sizeof *t, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!fresh || vt_claim(&names, NULL, fresh))
        return fresh;
    vt_sys_munmap(fresh, NAMES * sizeof *t);
    return vt_see(&names);
}

static uint64_t hash_of(const char *text, uint32_t bytes) {
    uint64_t h = 0xcbf29ce484222325ull ^ bytes;
    for (uint32_t i = 0; i < bytes; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3ull;
    h ^= h >> 29;
    return h ? h : 1;
}

static void write_name(struct vt_thread *t, uint32_t number, const char *text, uint32_t n) {
    uint32_t bytes = (uint32_t)sizeof(struct vt_rec_name) + ((n + 7) & ~7u);
    struct vt_rec_name *r = (void *)vt_log_reserve(t, bytes);
    if (!r)
        return;
    r->number = number;
    r->text_bytes = n;
    memset(r + 1, 0, bytes - sizeof *r);
    memcpy(r + 1, text, n);
    vt_log_commit(t, &r->word, vt_word(VT_REC_NAME, 0, 0, bytes), bytes);
}

/* A name's number, its slot from 1; written to the log by the one who claims the slot. 0: no room.
 */
static uint32_t name_number(struct vt_thread *t, const char *text, uint32_t bytes) {
    uint64_t *table = names_table(), hash = hash_of(text, bytes);
    for (uint32_t i = 0; table && i < PROBES; i++) {
        uint32_t slot = (uint32_t)(hash + i) & (NAMES - 1);
        if (!vt_see(&table[slot]) && vt_claim(&table[slot], 0, hash)) {
            write_name(t, slot + 1, text, bytes);
            return slot + 1;
        }
        if (vt_see(&table[slot]) == hash)
            return slot + 1;
    }
    return 0;
}

uint32_t vt_phase_domain(const char *name) {
    for (uint32_t i = 0; i < DOMAINS; i++) {
        if (!vt_see(&domain_state[i]) && vt_claim(&domain_state[i], 0, 1)) {
            strncpy(domains[i], name, VT_NAME_MAX_BYTES);
            vt_publish(&domain_state[i], 2);
            return i + 1;
        }
        if (vt_see(&domain_state[i]) == 2 && strncmp(domains[i], name, VT_NAME_MAX_BYTES) == 0)
            return i + 1;
    }
    return 0;
}

/* --- records --- */

/* Whether there is a log to write to; in a forked child, after it has let go of its parent's. */
static bool log_is_open(void) {
    if (!vt_init_is_armed())
        return false;
    vt_init_check_fork();
    return vt_log_is_open();
}

static void write_phase(struct vt_thread *t, enum vt_phase_event what, const struct open_phase *p) {
    const char *domain = p->domain ? domains[p->domain - 1] : "";
    uint32_t name = p->bytes ? name_number(t, p->text, p->bytes) : 0;
    uint32_t of = *domain ? name_number(t, domain, (uint32_t)strlen(domain)) : 0;
    struct vt_rec_phase *r = (void *)vt_log_reserve(t, sizeof *r);
    if (!r)
        return;
    uint64_t now = vt_log_ticks();
    r->when = vt_when(VT_DEVICE_UNKNOWN, now);
    r->began = p->began < now ? p->began : now;
    r->range = p->range;
    r->name = name;
    r->domain = of;
    vt_log_commit(t, &r->word, vt_word(VT_REC_PHASE, what, 0, 0), sizeof *r);
}

static void fill(struct open_phase *p, uint32_t domain, const char *name) {
    *p = (struct open_phase){.range = vt_add(&last_range, 1) + 1,
                             .began = vt_log_ticks(),
                             .domain = domain <= DOMAINS ? domain : 0};
    p->bytes = name ? (uint32_t)strnlen(name, VT_NAME_MAX_BYTES) : 0;
    if (p->bytes)
        memcpy(p->text, name, p->bytes);
}

/* Writes one record now, if there is a log. True: it is written. */
static bool record(enum vt_phase_event what, const struct open_phase *p) {
    if (!log_is_open())
        return false;
    struct vt_recording rec = vt_event_open();
    if (!rec.thread)
        return false;
    write_phase(rec.thread, what, p);
    vt_event_close(&rec);
    return true;
}

static void wait_is_over(struct waiting *w) {
    vt_add(&vt_phase_unwritten, -1);
    vt_add(&waiting_count, -1);
    vt_publish(&w->range, 0);
}

void vt_phase_write_open(struct vt_thread *t) {
    for (uint32_t i = 0; own && i < own->depth; i++) {
        struct open_phase *p = &own->open[i];
        if (p->written)
            continue;
        p->written = true;
        vt_add(&vt_phase_unwritten, -1);
        write_phase(t, VT_PHASE_PUSH, p);
    }
    for (uint32_t i = 0; i < RANGES && vt_get(&waiting_count); i++) {
        uint64_t range = vt_see(&waiting[i].range);
        if (!range || range == BUSY || !vt_claim(&waiting[i].range, range, BUSY))
            continue;
        write_phase(t, VT_PHASE_START, &waiting[i].phase);
        wait_is_over(&waiting[i]);
    }
}

/* --- phases of a thread --- */

/* Made once, and taken over with the rest of a dead thread's; what that one left open stays open in
 * the log. */
static struct vt_phases *own_phases(void) {
    struct vt_thread *thread;
    if (VT_LIKELY(own != NULL) || !(thread = vt_thread_self()))
        return own;
    if (!thread->phases)
        thread->phases =
            vt_sys_mmap(sizeof *own, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    own = thread->phases;
    for (uint32_t i = 0; own && i < own->depth; i++)
        if (!own->open[i].written)
            vt_add(&vt_phase_unwritten, -1);
    if (own)
        own->depth = own->skipped = 0;
    return own;
}

static int level_of(const struct vt_phases *t, uint32_t domain) {
    int level = 0;
    for (uint32_t i = 0; i < t->depth; i++)
        level += t->open[i].domain == domain;
    return level;
}

int vt_phase_push(uint32_t domain, const char *name) {
    struct vt_phases *t = own_phases();
    if (!t)
        return -1;
    if (t->depth == DEPTH) {
        t->skipped++;
        return -1;
    }
    struct open_phase *p = &t->open[t->depth];
    int level = level_of(t, domain);
    fill(p, domain, name);
    /* What is open already goes first, so this one joins the stack only afterwards. */
    p->written = record(VT_PHASE_PUSH, p);
    if (!p->written)
        vt_add(&vt_phase_unwritten, 1);
    t->depth++;
    return level;
}

int vt_phase_pop(uint32_t domain) {
    struct vt_phases *t = own;
    if (t && t->skipped) {
        t->skipped--;
        return -1;
    }
    uint32_t i = t ? t->depth : 0;
    while (i && t->open[i - 1].domain != domain)
        i--;
    if (!i)
        return -1;
    /* Recorded while it is still on the stack: one that was begun before there was a log is written
     * on the way. One that ends before there is one is no news. */
    record(VT_PHASE_POP, &t->open[--i]);
    if (!t->open[i].written)
        vt_add(&vt_phase_unwritten, -1);
    memmove(&t->open[i], &t->open[i + 1], (t->depth - i - 1) * sizeof *t->open);
    t->depth--;
    return level_of(t, domain);
}

/* --- phases of the process, and marks --- */

uint64_t vt_phase_start(uint32_t domain, const char *name) {
    struct open_phase p;
    fill(&p, domain, name);
    if (record(VT_PHASE_START, &p))
        return p.range;
    for (uint32_t i = 0; i < RANGES; i++) {
        if (vt_see(&waiting[i].range) || !vt_claim(&waiting[i].range, 0, BUSY))
            continue;
        waiting[i].phase = p;
        vt_add(&vt_phase_unwritten, 1);
        vt_add(&waiting_count, 1);
        vt_publish(&waiting[i].range, p.range);
        break;
    }
    return p.range;
}

void vt_phase_end(uint64_t range) {
    const struct open_phase p = {.range = range};
    if (!range || range > vt_get(&last_range) || record(VT_PHASE_END, &p))
        return;
    for (uint32_t i = 0; i < RANGES; i++)
        if (vt_see(&waiting[i].range) == range && vt_claim(&waiting[i].range, range, BUSY))
            wait_is_over(&waiting[i]);
}

void vt_phase_mark(uint32_t domain, const char *name) {
    struct open_phase p;
    if (!log_is_open())
        return;
    fill(&p, domain, name);
    p.range = 0;
    record(VT_PHASE_MARK, &p);
}

/* The child's log has none of the names and none of the phases; its clock starts now. What other
 * threads had open is gone with them. */
void vt_phase_forked(void) {
    if (vt_see(&names))
        VT_SYS3(SYS_madvise, names, NAMES * sizeof *names, MADV_DONTNEED);
    memset(waiting, 0, sizeof waiting);
    vt_put(&waiting_count, 0);
    for (uint32_t i = 0; own && i < own->depth; i++) {
        own->open[i].written = false;
        own->open[i].began = 0;
    }
    vt_put(&vt_phase_unwritten, own ? own->depth : 0);
}

/* --- what include/vramtrace.h calls: names that stay --- */

VT_EXPORT void vramtrace_v1_mark(const char *name);
VT_EXPORT void vramtrace_v1_push(const char *name);
VT_EXPORT void vramtrace_v1_pop(void);
VT_EXPORT int64_t vramtrace_v1_live_bytes(int device);
VT_EXPORT int vramtrace_v1_active(void);
VT_EXPORT int vramtrace_v1_simulated(void);

void vramtrace_v1_mark(const char *name) {
    vt_phase_mark(0, name);
}

void vramtrace_v1_push(const char *name) {
    vt_phase_push(0, name);
}

void vramtrace_v1_pop(void) {
    vt_phase_pop(0);
}

/* Driver-layer bytes of a device, or of all (-1). Walks the live table: for a test's assertion or a
 * line a step, not for an inner loop. */
int64_t vramtrace_v1_live_bytes(int device) {
    if (!log_is_open())
        return 0;
    return (int64_t)vt_live_on_device(device);
}

int vramtrace_v1_active(void) {
    return 1;
}

/* The driver that is loaded, or that this process would load first: it need not have been used. */
int vramtrace_v1_simulated(void) {
    struct vt_elf object;
    return vt_elf_named("libcuda.so", &object) &&
           vt_elf_symbol(&object, "vramtrace_sim_driver", NULL) != NULL;
}
