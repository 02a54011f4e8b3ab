/* SPDX-License-Identifier: MIT */
/*
 * Rewrites the log of an ended process into another file, as its process may have written it: up to a time, with some
 * chunks further than that, and missing records announced. Then again up to a later time, and so on.
 */
#ifndef VRAMTRACE_TESTS_LOG_PLAYER_H
#define VRAMTRACE_TESTS_LOG_PLAYER_H

#include "logfile/logfile.h"

/* A chunk of the log, and how much of it is written by now. */
struct player_chunk {
    const uint8_t *bytes;
    struct player_row {
        uint32_t end;
        uint64_t ticks;    /* of an event; 0: of anything else */
        uint64_t snapshot; /* ticks, of a snapshot that is announced until then; 0: it is none */
    } * rows;
    uint32_t count, have; /* rows, and how many of them are written */
    uint32_t tid;
    uint64_t next; /* the smallest time of those that are not written */

    uint32_t
        place; /* number of the chunk that has it in the compacted file; 0: it is not there yet */
    bool given_back;
};

struct player {
    uint8_t *bytes, *now; /* the whole log, and the file as it is */
    size_t length;
    struct player_chunk *chunks; /* by number; without rows: no chunk of records */
    uint32_t count;
    uint64_t last;
    bool hides; /* missing records are not always announced, so they come late */

    /* the file with a summary: by number of its chunks */
    struct player_place {
        uint64_t generation;
        bool taken, is_free;
    } * places;
    uint8_t *compacted;
    size_t compacted_length;
    uint64_t summary;
};

/* Reads the log. */
void player_start(struct player *p, const char *path);
void player_free(struct player *p);

/* `now` becomes what the process, this one, has written at a time. */
void player_write_until(struct player *p, uint64_t until, uint32_t *seed);
/* ... and what it has written when it has ended. */
void player_end(struct player *p);

/* `compacted` becomes what the file is if what the summaries cover was given back and taken again: `now`, with its chunks
 * at other places. */
void player_compact(struct player *p);
/* Gives back what the summary of a log that is opened has. Returns how many chunks. */
uint32_t player_give_back(struct player *p, const struct vt_log *log);

/* Makes a log of our own, with threads, phases, snapshots, stacks and late names. */
void player_make(const char *path);

void player_save(const char *path, const uint8_t *bytes, size_t length);

/* Fails unless both texts are the same, and shows where they begin to differ. */
void player_expect_same(const char *expected, const char *found, const char *path);

/* A number below `below`, by chance. */
uint32_t player_chance(uint32_t *state, uint32_t below);

#endif
