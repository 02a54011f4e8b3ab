/* SPDX-License-Identifier: MIT */
/* Damaged chunks (see chunk_damage.h). */
#include "chunk_damage.h"

bool vt_chunk_has_ended(const struct vt_log *log) {
    const struct vt_log_header *h = &log->header;
    return (h->exit_kind == VT_EXIT_EXITED || h->exit_kind == VT_EXIT_EXEC) && !log->running &&
           !(h->flags & (VT_FLAG_BARE_END | VT_FLAG_BUFFERED));
}

uint64_t vt_chunk_placed(const struct vt_log *log) {
    const uint64_t *dropped = log->header.dropped;
    bool refused =
        dropped[VT_DROP_LOG_FULL] || dropped[VT_DROP_LOG_LOST] || dropped[VT_DROP_STACKS];
    return vt_chunk_has_ended(log) && !refused ? log->header.placed : 0;
}

static bool has_bytes(const uint8_t *chunk, uint32_t from, uint32_t have) {
    for (uint32_t i = from; i < have; i++)
        if (chunk[i])
            return true;
    return false;
}

/* A chunk that was never used has at most a number. A chunk of the live list also has its entries. */
bool vt_chunk_lost_header(const struct vt_log *log, const struct vt_chunk_header *head,
                          uint32_t number, const uint8_t *chunk, uint32_t have) {
    return vt_chunk_has_ended(log) && number < log->header.placed &&
           (head->tid || head->generation || head->taken ||
            (!head->number && has_bytes(chunk, sizeof *head, have)));
}

/* After the end there is only an unfinished record. A finished chunk had no space for another record. */
bool vt_chunk_ends_early(const struct vt_log *log, const struct vt_chunk_header *head,
                         size_t announced, const uint8_t *chunk, uint32_t end, uint32_t have) {
    bool full = vt_chunk_is_finished(head), whole = vt_chunk_has_ended(log);
    uint32_t begun = whole && (full || !announced) ? 0 : VT_RECORD_MAX_BYTES;
    return has_bytes(chunk, end + begun, have) ||
           (full && whole && end + VT_RECORD_MAX_BYTES + 8 < have);
}
