/* SPDX-License-Identifier: MIT */
/*
 * A part of log_format.h: the header of a chunk of records, and how a chunk is taken again.
 */
#ifndef VRAMTRACE_LOG_CHUNK_H
#define VRAMTRACE_LOG_CHUNK_H

/* The header of a chunk of records.
 * OFFSET SIZE DESCRIPTION
 *      0    4 magic, VT_CHUNK_MAGIC (0: no thread has taken the chunk, or it was lost)
 *      4    4 tid of the thread that writes here now (atomic; a dead one's chunk may be taken over)
 *      8    8 number of this chunk in the file
 *     16    8 entered_at, as in a slot: in a log that is written in blocks (VT_FLAG_BUFFERED), when its
 *             chunk was written last. What a thread has recorded since then is announced nowhere: a
 *             reader of such a log cannot know what is still to come.
 *     24    8 its generation + 1: the thread has filled it, and nothing in it changes any more until it is taken again
 *             (atomic; see vt_chunk_is_finished)
 *     32    8 generation: how often it was taken again (atomic)
 *     40    8 taken: ticks when the thread took it (atomic). The chunks of a thread have an order by it,
 *             wherever they lie
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
/* Of a header that may change while it is copied: word by word, in whichever order. */
static inline bool vt_chunk_is_finished(const struct vt_chunk_header *c) {
    return c->finished == c->generation + 1;
}

/* Chunks that are taken again. LOG.summary has what a reader of the log knew up to a moment. When it is on the disk,
 * another process, the compactor, gives back the chunks that it covers: those that are finished, of which each record is
 * in it. Only chunks of records are given back, and none of a log that is written in blocks.
 *
 * The compactor, for a chunk of generation g:
 *   1. sets header.summary: a reader that looks at it before and after reading knows whether what it read was still there;
 *   2. writes zeroes behind the chunk's header, which stays as it is, and waits until they are on the disk: pages get there in
 *      any order, and after a power cut an old page must not lie behind new ones;
 *   3. puts vt_free_chunk(g, number) into an empty place of header.free_chunks.
 * A compactor may die anywhere, and the next one does not know where. Of a chunk that the summary covers in generation g
 * it looks first whether all behind the header is zero, and then whether the generation still is g. If it is, and all is zero,
 * step 2 was done: it goes on with step 3, and the word may then stand in two places. If not all is zero, step 2 was not
 * done, so no thread can have the chunk: it goes on with step 2. If the generation is a higher one, a thread has it.
 *
 * A thread that needs a chunk:
 *   1. maps the chunk that a word in header.free_chunks names;
 *   2. sets its generation from g to g + 1 by compare-and-swap, which one thread alone can do: the chunk is its own. If the
 *      generation is another one, the word is out of date;
 *   3. clears the word, by compare-and-swap, too: somebody may have done so;
 *   4. sets tid and taken, and writes records.
 * `finished` is not touched: it names the generation, so it is never true of the next one.
 *
 * A reader looks at header.summary, loads the summary, reads each chunk's header and then its records, and looks at
 * header.summary again. If that did not change, the records are those of the generation in the header. They are new if it is
 * higher than the one that the summary knows. (tests/unit/preload/log/recycle_model_test.c tries all orders.)
 *
 * A chunk that may be taken again, as one word of header.free_chunks; 0: an empty place: */
#define VT_FREE_CHUNKS    128
#define VT_FREE_KEPT_MOST 8u /* so many of them at most are not for events, at the bound */
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
