/* SPDX-License-Identifier: MIT */
/*
 * Work that is due at an event (vt_tls.due): periodic checks, and another process's requests in the header (`vramtrace
 * snapshot`). log_chunks.c detects it; snapshot/triggers.c does it.
 */
#include "log_file.h"
#include "base/base.h"

uint64_t vt_log_look_at;    /* atomic: ticks of the next VT_DUE_LOOK */
static uint64_t first_look; /* atomic; 0: none yet */

void vt_log_looked(void) {
    uint64_t now = vt_log_ticks(), most = vt_get(&vt_log_second_ticks);
    if (!vt_get(&first_look))
        vt_put(&first_look, now);
    uint64_t age = now - vt_get(&first_look), wait = age < most ? age : most;
    vt_put(&vt_log_look_at, now + (wait > most / 1024 ? wait : most / 1024));
}

void vt_log_look_soon(void) {
    vt_put(&vt_log_look_at, 0);
}

void vt_log_look_within(unsigned ms) {
    uint64_t at = vt_log_ticks() + vt_get(&vt_log_second_ticks) * ms / 1000;
    if (vt_get(&vt_log_look_at) > at)
        vt_put(&vt_log_look_at, at);
}

/* Another process writes the number of requests, so it may be any number. */
bool vt_log_asked_take(void) {
    struct vt_log_header *h = vt_log_header;
    uint32_t taken = vt_get(&h->snapshots_taken), asked = vt_get(&h->snapshots_asked);
    return vt_log_is_open() && asked != taken && vt_claim(&h->snapshots_taken, taken, asked);
}

void vt_log_asked_done(bool answered) {
    struct vt_log_header *h = vt_log_header;
    if (!answered)
        vt_add(&h->snapshots_refused, 1);
    vt_publish(&h->snapshots_done, vt_get(&h->snapshots_taken));
}

void vt_log_due_forked(void) {
    vt_put(&vt_log_look_at, 0);
    vt_put(&first_look, 0);
}
