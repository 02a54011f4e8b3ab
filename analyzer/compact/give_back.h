/* SPDX-License-Identifier: MIT */
/* Releases chunks that a summary covers, for compact.c. The protocol: include/vramtrace/log_chunk.h. */
#ifndef VRAMTRACE_ANALYZER_GIVE_BACK_H
#define VRAMTRACE_ANALYZER_GIVE_BACK_H

#include "logfile/logfile.h"

/* Empty chunks, as vt_free_chunk, the lowest number last. */
struct vt_free_chunks {
    uint64_t *words;
    size_t count, room;
    uint64_t emptied; /* how many were not empty before */
};

/* Empties the chunks that the log's summary covers, and fills `found`; free its words. `ended`: no thread will take
 * them, so holes are punched into the file if possible. Returns 0, or -errno with `message`. */
int vt_free_chunks_empty(const struct vt_log *log, int fd, bool ended, struct vt_free_chunks *found,
                         struct vt_string *message);

/* A thread that offers chunks, even while a summary is being written. */
struct vt_free_offer;
struct vt_free_offer *
vt_free_offer_start(uint64_t *places); /* header.free_chunks, mapped; NULL: there is no thread */
/* Offers these chunks from now on, and takes over their words. */
void vt_free_offer_put(struct vt_free_offer *offer, struct vt_free_chunks *chunks);
uint64_t vt_free_offer_taken(struct vt_free_offer *offer); /* how many were taken */
uint32_t vt_free_offer_left(struct vt_free_offer *offer);  /* how many are left; NULL: none */
void vt_free_offer_stop(struct vt_free_offer *offer);      /* NULL: nothing */

#endif
