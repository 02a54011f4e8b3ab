/* SPDX-License-Identifier: MIT */
/*
 * The threads' chunks: each thread reserves space for its records in its own chunk, and takes another one when that is
 * full. Also: announcements in a thread's slot, forked children, and the end of the log.
 *
 * Called by event.c, stack/ and the modules that write records; exit.c ends the log.
 */
#define _GNU_SOURCE
#include "log_file.h"
#include "base/base.h"

#include <string.h>
#include <sys/mman.h>

#define RETRY_AFTER_DROPS 4096u

#define KEPT_CHUNKS 24u
/* Atomic; mapped in advance, see vt_log_keep_room. */
static struct vt_chunk_header *kept[KEPT_CHUNKS];
static bool foreign; /* in a forked child: the open log is still its parent's */

static uint64_t chunk_offset(const struct vt_thread *t) {
    return t->chunk_number * VT_CHUNK_BYTES;
}

static bool flush_chunk(struct vt_thread *t) {
    if (!vt_log_buffered || !t->chunk || !t->chunk_number || t->orphan)
        return true;
    /* Only complete records lie below `used`; a reader sees zeroes after them. The chunk's last word, which is always
     * zero, is written first to give the file its full length. */
    uint32_t used = vt_see(&t->used), last = VT_CHUNK_BYTES - 8;
    bool written = (t->flushed > sizeof *t->chunk ||
                    vt_log_write((const char *)t->chunk + last, 8, chunk_offset(t) + last)) &&
                   vt_log_write(t->chunk, used, chunk_offset(t));
    if (written) {
        t->flushed = used;
        vt_log_count_placed(t->chunk_number);
    }
    t->flushed_ticks = vt_log_ticks();
    return written;
}

VT_COLD static void release_chunk(struct vt_thread *t) {
    struct vt_chunk_header *c = t->chunk;
    if (vt_log_buffered) { /* the new chunk carries `entered_at` from now on */
        vt_publish(&c->entered_at, 0);
        t->entered_at = &t->nowhere;
    }
    /* Pairs with vt_log_copy_chunk; model: FINISH. */
    vt_publish(&c->finished, vt_get(&c->generation) + 1);
    if (!flush_chunk(t))
        vt_log_record_lost(t);
    if (t->chunk_number == c->number) /* else another is reserved, and this chunk was recycled */
        vt_publish(&t->chunk_number, 0);
    vt_publish(&t->chunk, NULL);
    vt_sys_munmap(c, VT_CHUNK_BYTES);
}

static struct vt_chunk_header *reuse_kept(void) {
    for (size_t i = 0; vt_get(&vt_sys_sealed) && i < KEPT_CHUNKS; i++) {
        struct vt_chunk_header *c = vt_see(&kept[i]);
        if (c && vt_claim(&kept[i], c, NULL))
            return c;
    }
    return NULL;
}

void vt_log_keep_room(struct vt_thread *t) {
    vt_log_calibrate(vt_log_header); /* the last measurement */
    vt_log_withdraw();               /* a snapshot's child can no longer report */
    for (size_t i = 0; !vt_log_buffered && i < KEPT_CHUNKS && !kept[i]; i++) {
        struct vt_chunk_header *c = vt_log_free_take();
        uint64_t number = c ? 0 : vt_log_bound_number(&vt_log_header->chunks);
        if (number)
            c = vt_log_place(number, false);
        if (!c && number) /* undone, because a number without a chunk would count as lost */
            vt_claim(&vt_log_header->chunks, number + 1, number);
        if (!c)
            break;
        vt_publish(&kept[i], c);
    }
    if (!flush_chunk(t))
        vt_log_record_lost(t);
    if (vt_log_buffered)
        vt_log_write(vt_log_header, sizeof *vt_log_header, 0);
}

static bool is_ours(const struct vt_thread *t) {
    return vt_log_is_open() && !foreign && !t->orphan && !vt_process_is_fresh_child();
}

static bool reserve_number(struct vt_thread *t) {
    if (!t->chunk_number)
        t->chunk_number = vt_log_bound_number(&vt_log_header->chunks);
    return t->chunk_number != 0;
}

static bool is_long(void) {
    return vt_get(&vt_log_header->chunks) >= vt_log_bound.events;
}

bool vt_log_is_at_bound(void) {
    return is_long() && !vt_log_free_is_there(vt_tls.entered);
}

/* Called before a thread's first event is stamped: a thread without a slot takes no chunk. Signals are blocked, see
 * renew_chunk. */
VT_COLD static void take_slot(struct vt_thread *t) {
    if (!vt_log_buffered && t->retry)
        return;
    uint64_t held = vt_sys_hold_signals();
    if (vt_log_buffered) {
        t->last = vt_log_now();
    } else if (is_ours(t)) {
        struct vt_log_slot *slot = vt_log_slots_take();
        if (!slot && reserve_number(t) && vt_log_place_slots(t->chunk_number)) {
            t->chunk_number = 0;
            slot = vt_log_slots_take();
        }
        if (slot) {
            t->entered_at = &slot->entered_at;
            t->last = vt_log_now();
        } else {
            t->retry = RETRY_AFTER_DROPS;
        }
    }
    vt_sys_let_signals(held);
}

/* Gives a thread a new chunk. If there is no space, the chunk's number stays reserved for the next attempt. */
VT_COLD static bool take_chunk(struct vt_thread *t) {
    if (!t->last)
        return false;
    struct vt_chunk_header *c = reuse_kept();
    if (!c)
        c = vt_log_free_take();
    if (!c && (!reserve_number(t) || !(c = vt_log_place(t->chunk_number, t->fills)))) {
        t->retry = t->chunk_number ? RETRY_AFTER_DROPS : 0;
        if (!vt_log_buffered && vt_log_is_lost() && !vt_get(&vt_sys_sealed))
            vt_log_drop(VT_DROP_LOG_LOST);
        return false;
    }
    uint64_t generation = vt_get(&c->generation);
    if (generation && vt_get(&vt_log_header->bound_at))
        vt_put(&vt_log_header->bound_at, 0); /* events are recorded again, and can be compacted */
    vt_put(&c->tid, t->tid);
    vt_put(&c->taken, vt_log_now());
    t->used = t->flushed = sizeof *c;
    t->event_room = generation || c->number < vt_log_bound.events ? VT_CHUNK_BYTES : 0;
    t->named = false;
    vt_log_short_forget(&t->shorts);
    vt_publish(&c->magic, VT_CHUNK_MAGIC);
    vt_publish(&t->chunk, c);
    if (vt_log_buffered) {
        t->entered_at = &c->entered_at;
        vt_put(t->entered_at, vt_tls.entered);
    }
    vt_log_calibrate(vt_log_header);
    return true;
}

/* Signals are blocked, because a handler might fork here. The child would then continue like its parent, and write
 * zeroes over the chunk that the parent has begun to fill. */
VT_COLD static bool renew_chunk(struct vt_thread *t) {
    if (t->retry) {
        t->retry--;
        return false;
    }
    uint64_t held = vt_sys_hold_signals();
    bool taken = false;
    if (is_ours(t)) { /* false if a handler forked just before */
        t->fills |= t->chunk != NULL;
        if (t->chunk)
            release_chunk(t);
        taken = take_chunk(t);
    }
    vt_sys_let_signals(held);
    return taken;
}

static uint64_t *room(struct vt_thread *t, uint32_t bytes) {
    if (VT_UNLIKELY(t->orphan || vt_process_is_fresh_child()))
        return NULL;
    /* A zero word always follows the last record; readers stop there. */
    if (VT_UNLIKELY(!t->chunk || t->used + bytes + 8 > VT_CHUNK_BYTES) && !renew_chunk(t))
        return NULL;
    return (uint64_t *)((char *)t->chunk + t->used);
}

void vt_log_abandon(struct vt_thread *t) {
    if (!t->chunk || t->orphan || vt_process_is_fresh_child())
        return;
    /* With its first word, the record is complete and a reader may have it, so it stays; model: STAYS. */
    uint64_t word = *(const uint64_t *)((const char *)t->chunk + t->used);
    vt_publish(&t->used, t->used + vt_record_length(word));
    memset((char *)t->chunk + t->used + 8, 0, VT_CHUNK_BYTES - t->used - 8);
}

static uint32_t environment_written; /* atomic: once per log */

static void name_thread(struct vt_thread *t) {
    struct vt_rec_thread *r = (void *)room(t, sizeof *r);
    if (!r)
        return;
    r->tid = t->tid;
    r->zero = 0;
    memset(r->name, 0, sizeof r->name);
    VT_SYS2(SYS_prctl, 16 /* PR_GET_NAME */, r->name);
    vt_put(&t->chunk->tid, t->tid);
    if (!vt_log_buffered)
        vt_put(&((struct vt_log_slot *)t->entered_at)->tid, t->tid);
    t->named = true;
    vt_log_commit(t, &r->word, vt_word(VT_REC_THREAD, 0, 0, sizeof *r), sizeof *r);
}

uint64_t *vt_log_reserve_entry(struct vt_thread *t, uint32_t bytes) {
    uint64_t *record = room(t, bytes);
    if (VT_UNLIKELY(record && !t->named)) {
        name_thread(t);
        if (vt_claim(&environment_written, 0, 1))
            vt_log_environment_write(t);
        record = room(t, bytes);
    }
    return record;
}

uint64_t *vt_log_reserve(struct vt_thread *t, uint32_t bytes) {
    bool bound = (!t->chunk || t->used + bytes + 8 > t->event_room) && vt_log_is_at_bound();
    uint64_t *record = bound ? NULL : vt_log_reserve_entry(t, bytes);
    if (VT_UNLIKELY(!record) && !t->orphan && !vt_process_is_fresh_child()) {
        bound |= !t->retry && is_long(); /* other threads took the last chunks */
        vt_log_drop(bound ? VT_DROP_BOUND : VT_DROP_LOG_FULL);
    }
    return record;
}

VT_COLD static void look(uint64_t now) {
    if (now > vt_get(&vt_log_calibrate_at))
        vt_log_calibrate(vt_log_header);
    if (vt_get(&vt_log_header->bound_at) && !vt_log_is_at_bound())
        vt_put(&vt_log_header->bound_at, 0);
    vt_tls.due |= VT_DUE_LOOK;
}

static inline __attribute__((always_inline)) void entered(struct vt_thread *t, uint64_t now) {
    vt_put(t->entered_at, now);
    vt_tls.entered = now;
    if (VT_UNLIKELY(now > vt_get(&vt_log_look_at)))
        look(now);
    if (VT_UNLIKELY(vt_get(&vt_log_header->snapshots_asked) !=
                    vt_get(&vt_log_header->snapshots_taken)))
        vt_tls.due |= VT_DUE_ASKED;
}

VT_HOT void vt_log_enter(struct vt_thread *t) {
    if (VT_UNLIKELY(!t->last))
        take_slot(t);
    entered(t, t->held ? t->held : vt_log_now());
}

__attribute__((noinline)) static uint64_t enter_slowly(struct vt_thread *t) {
    vt_log_enter(t);
    if (t->last)
        t->last = vt_tls.entered;
    return vt_log_now();
}

/* Reading the clock is the most expensive part of an event, so we read it once. Until then, entered_at is the time of
 * the thread's last event, as the next one is not older. A reader that sees entered_at sees the records before it: the
 * release in left() also covers the relaxed stores that follow. Pairs with read_slots in log_passes.c; model: ENTER. */
VT_HOT uint64_t vt_log_enter_now(struct vt_thread *t) {
    if (VT_UNLIKELY(t->held || !t->last))
        return enter_slowly(t);
    vt_put(t->entered_at, t->last);
    uint64_t now = t->last = vt_log_now();
    entered(t, now - 1);
    return now;
}

/* In buffered mode: once a second. Signals are blocked, see renew_chunk. */
VT_COLD static void flush_all(struct vt_thread *t) {
    if (!t->chunk || vt_log_ticks() - t->flushed_ticks <= vt_get(&vt_log_second_ticks))
        return;
    uint64_t held = vt_sys_hold_signals();
    if (!t->orphan && !vt_process_is_fresh_child()) {
        flush_chunk(t);
        vt_log_write(vt_log_header, sizeof *vt_log_header, 0);
    }
    vt_sys_let_signals(held);
}

static inline __attribute__((always_inline)) void left(struct vt_thread *t) {
    vt_publish(t->entered_at, t->held); /* pairs with read_slots in log_passes.c; model: LEAVE */
    if (VT_UNLIKELY(vt_log_buffered))
        flush_all(t);
}

/* A child that continues its parent's record must not change the slot, which is still its parent's. */
VT_COLD static void leave_if_ours(struct vt_thread *t) {
    if (!vt_process_is_fresh_child())
        left(t);
}

VT_HOT void vt_log_leave(struct vt_thread *t) {
    if (VT_LIKELY(vt_get(vt_get(&vt_process_settled))))
        left(t);
    else
        leave_if_ours(t);
}

void vt_log_end(enum vt_exit kind, int status) {
    if (!vt_log_is_open())
        return;
    vt_log_calibrate(vt_log_header);
    if (vt_log_header->rank < 0)
        vt_log_launcher_fill(vt_log_header);
    vt_put(&vt_log_header->exit_status, status);
    vt_put(&vt_log_header->exit_ticks, vt_log_ticks());
    /* Pairs with vt_log_read_header; model: END. */
    vt_publish(&vt_log_header->exit_kind, (uint32_t)kind);
    if (!vt_log_buffered)
        return;
    for (struct vt_thread *t = vt_thread_first(); t; t = t->next)
        if (!flush_chunk(t))
            vt_log_record_lost(t);
    vt_log_write(vt_log_header, VT_CHUNK_BYTES, 0);
}

void vt_log_unend(void) {
    vt_put(&vt_log_bound.now, vt_log_bound.entries);
    if (vt_log_is_open())
        vt_publish(&vt_log_header->exit_kind, (uint32_t)VT_EXIT_NONE);
}

/* A signal handler may fork in the middle of a record, and return. Then parent and child both finish that record in the
 * same shared chunk. The parent does not wait, so it may have written more records when the child continues. Therefore:
 *   - parent and child store the same bytes for a record, and nothing behind it: the space there is zero from the start
 *     (vt_log_abandon keeps it zero);
 *   - no signal is handled while a thread moves from one chunk to the next (renew_chunk);
 *   - a child never starts a record in its parent's log: its guard word is cleared (room).
 * This is true for every way to make a child. A child made by the C library (fork.c calls this) also replaces its
 * mappings of the chunk and of its slot's page by private memory at the same addresses: pointers in interrupted code
 * stay valid, and the child's stores stay private. The counters in the log's header are still shared. A child made by a
 * bare system call keeps the parent's chunk. It would fail only if it continued after the chunk was filled, given back
 * and recycled. */
void vt_log_child(void) {
    struct vt_thread *t = vt_tls.thread;
    if (!vt_log_is_open() || foreign || vt_log_pid() == (uint32_t)VT_SYS0(SYS_getpid))
        return;
    vt_publish(&foreign, true);
    if (!t)
        return;
    if (t->chunk && !vt_log_buffered)
        VT_SYS6(SYS_mmap, t->chunk, VT_CHUNK_BYTES, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (t->entered_at != &t->nowhere && !vt_log_buffered)
        VT_SYS6(SYS_mmap, (uintptr_t)t->entered_at & ~(vt_machine_page() - 1), vt_machine_page(),
                PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (vt_tls.busy)
        vt_publish(&t->orphan, true);
    else
        vt_tls.thread = NULL;
}

/* The child opens a log of its own, and leaves the parent's file, mappings and counts alone. */
void vt_log_forked(void) {
    vt_log_child();
    foreign = false;
    uint32_t simulated =
        vt_get(&vt_log_counters->flags) & (VT_FLAG_SIMULATED | VT_FLAG_NO_UNWINDER);
    memset(&vt_log_early, 0, sizeof vt_log_early);
    vt_put(&environment_written, 0);
    vt_log_early.flags = simulated;
    vt_log_counters = &vt_log_early;
    vt_log_clock_forked();
    memset(kept, 0, sizeof kept);
    vt_log_slots_forked();
    vt_log_free_forked();
    vt_log_file_forked();
}
