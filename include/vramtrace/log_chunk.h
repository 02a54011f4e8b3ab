/* SPDX-License-Identifier: MIT */
/*
 * A part of log_format.h: the header of a chunk of records, and how chunks are recycled.
 */
#ifndef VRAMTRACE_LOG_CHUNK_H
#define VRAMTRACE_LOG_CHUNK_H

/* The header of a chunk of records.
 * OFFSET SIZE DESCRIPTION
 *      0    4 magic, VT_CHUNK_MAGIC (0: no thread has taken the chunk, or it was lost)
 *      4    4 tid of the thread that writes here now (atomic; the chunk of a dead thread may be taken over)
 *      8    8 number of this chunk in the file
 *     16    8 entered_at, as in a slot. In a log that is written in blocks (VT_FLAG_BUFFERED): when this chunk was last
 *             written out. The thread's records since then are not announced, so a reader of such a log cannot know
 *             which records will follow.
 *     24    8 generation + 1 once the thread has filled the chunk, which then stays unchanged until it is recycled
 *             (atomic; see vt_chunk_is_finished)
 *     32    8 generation: how often the chunk was recycled (atomic)
 *     40    8 taken: ticks when the thread took it (atomic). It orders the chunks of a thread, whatever their positions
 *     48   16 zero
 *     64      records
 */
struct vt_chunk_header {
    uint32_t magic;
    uint32_t tid;
    uint64_t number;
    uint64_t entered_at;
    uint64_t finished;
    uint64_t generation;
    uint64_t taken;
    uint64_t zero[2];
};
static_assert(sizeof(struct vt_chunk_header) == 64, "one cache line");
/* Also safe for a copy of a header that was made while its words changed, in any order. */
static inline bool vt_chunk_is_finished(const struct vt_chunk_header *c) {
    return c->finished == c->generation + 1;
}

/* Recycled chunks. LOG.summary holds the state of a reader of the log at one moment. Once the summary is on the disk,
 * another process, the compactor, gives back the chunks that it covers: finished ones whose records are all in the
 * summary. Only chunks of records are given back, never those of a log that is written in blocks.
 *
 * The compactor, for a chunk of generation g:
 *   1. sets header.summary. A reader compares this field before and after reading, to know that no chunk was given back
 *      meanwhile;
 *   2. zeroes the chunk behind its header, which stays as it is, and waits until the zeroes are on the disk: pages are
 *      written in any order, and after a power cut an old page must not follow new ones;
 *   3. puts vt_free_chunk(g, number) into an empty element of header.free_chunks.
 * A compactor may die at any step, and the next one does not know at which. For a chunk that the summary covers in
 * generation g, it checks first whether everything behind the header is zero, then whether the generation is still g.
 * If the generation is higher, a thread has the chunk. If it is g and all is zero, step 2 was done: the compactor
 * resumes with step 3, and the word may then be in two elements. If not all is zero, step 2 was not completed, so no
 * thread can have the chunk: the compactor resumes with step 2.
 *
 * A thread that needs a chunk:
 *   1. maps the chunk that a word in header.free_chunks names;
 *   2. sets its generation from g to g + 1 by compare-and-swap. Only one thread can succeed; it owns the chunk. If it
 *      has another generation, the word is out of date;
 *   3. clears the word, also by compare-and-swap, because another thread may have cleared it;
 *   4. sets tid and taken, and writes records.
 * `finished` is left as it is: it contains the old generation, so it does not match the new one.
 *
 * A reader loads header.summary, reads the summary, reads each chunk's header and then its records, and loads
 * header.summary again. If that field is unchanged, the records belong to the generation in the chunk's header. They
 * are new if that generation is higher than the summary's. (tests/unit/preload/log/recycle_model_test.c tries all
 * orders.)
 *
 * A free chunk, as one word of header.free_chunks; 0: an empty element: */
#define VT_FREE_CHUNKS    128
#define VT_FREE_KEPT_MOST 8u /* at the bound, at most this many are reserved for entries */
static inline uint64_t vt_free_chunk(uint64_t generation, uint32_t number) {
    return generation << 32 | number;
}
static inline uint32_t vt_free_chunk_number(uint64_t word) {
    return (uint32_t)word;
}
static inline uint64_t vt_free_chunk_generation(uint64_t word) {
    return word >> 32;
}

#endif
