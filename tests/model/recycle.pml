/* SPDX-License-Identifier: MIT */
/*
 * A chunk of two records that is recycled (include/vramtrace/log_chunk.h): two threads, a compactor and a reader. The chunk is
 * full at first. The compactor covers it by a summary, empties and offers it, and goes on so; -DDEATHS: it may die anywhere, and
 * another one begins.
 *
 * No thread writes to a chunk that is another's or has something in it, no record goes that is in no summary, a reader takes no
 * record of another generation, none twice, and all that were published before it began.
 *
 * The memory is the whole one for each step; what the kernel does under its locks (LOG.summary's new name) is a release and an
 * acquire.
 */
#define LOCATIONS 9
#define THREADS   3
#define MESSAGES  8
#define me        (_pid - 1)
#include "memory.pml"

#define SUMMARY    0 /* header.summary */
#define FILE       1 /* LOG.summary: so many generations of the chunk are in it; it is the file's own generation, too */
#define GENERATION 2
#define FINISHED   3 /* generation + 1 */
#define PLACE      4 /* in header.free_chunks: generation + 1 */
#define WORD(i)    (5 + (i)) /* of the records: generation + 1 */
#define REST       7         /* of the first one, likewise: what no reader looks for */
#define TAKEN      8         /* in the chunk's header: when; here, the generation */

#ifdef NO_READ_FENCE
#define READ_FENCE() skip
#else
#define READ_FENCE() fence_acquire()
#endif
#define PUBLISH(i, v) store_release(WORD(i), v)
#ifdef NO_FINISH
#define FINISH(v) store_relaxed(FINISHED, v)
#else
#define FINISH(v) store_release(FINISHED, v)
#endif
#ifdef NO_TAKE_SEE
#define TAKE_SEE(to) load_relaxed(PLACE, to)
#else
#define TAKE_SEE(to) load_acquire(PLACE, to)
#endif
#ifdef NO_GIVE_BACK
#define GIVE_BACK_RELEASES false
#else
#define GIVE_BACK_RELEASES true
#endif

byte written = 2; /* records in all */
byte starts;

init
{
    /* what the first thread wrote, and everybody knows */
    d_step {
        memory[FINISHED].value[0] = 1;
        memory[WORD(0)].value[0] = 1;
        memory[WORD(1)].value[0] = 1;
        memory[REST].value[0] = 1
    };
    atomic {
        run compactor();
        run writer();
#ifdef READS
        run reader()
#else
        run writer()
#endif
    }
}
inline write(i)
{
    assert(memory[WORD(i)].value[memory[WORD(i)].last] == 0);
    assert(memory[GENERATION].value[memory[GENERATION].last] == word);
    atomic { PUBLISH(i, word + 1); written++ }
}

proctype writer()
{
    byte k, word, has;
    bool mine, done;
    do
    :: TAKE_SEE(word);
       if
       :: word ->
#ifdef NO_TAKE_CLAIM
           load_acquire(GENERATION, has);
           mine = (has + 1 == word);
           if
           :: mine -> store_release(GENERATION, word)
           :: else
           fi;
           has = 0;
#else
           claim(GENERATION, word - 1, word, true, mine);
#endif
#ifndef NO_TAKE_RECYCLED
           if
           :: mine -> fence_release()
           :: else
           fi;
#endif
           claim(PLACE, word, 0, true, done);
           if
           :: mine -> break
           :: else -> mine = false; word = 0
           fi
       :: else
       fi
    od;
    store_relaxed(TAKEN, word); /* the chunk's generation */
    store_relaxed(REST, word + 1);
    write(0);
    write(1);
    FINISH(word + 1)
}

inline dies()
{
#ifdef DEATHS
    if
    :: deaths < DEATHS -> deaths++; goto starts_again
    :: true
    fi
#else
    skip
#endif
}

inline zero(where)
{
    atomic {
        assert(memory[where].value[memory[where].last] <= covered);
        store_relaxed(where, 0)
    }
}

/* Who begins, or has had a summary written, looks at the chunk that it covers. */
proctype compactor()
{
    byte k, covered, generation, finished, first, second, offered, deaths, rounds;
    bool done;
    goto idle;
#ifdef DEATHS
starts_again:
    skip;
    d_step { generation = 0; finished = 0; first = 0; second = 0; offered = 0; done = false };
    load_acquire(FILE, covered);
    load_relaxed(SUMMARY, first);
    if
    :: covered && first != covered -> store_release(SUMMARY, covered)
    :: else
    fi;
#ifndef NO_NAME_FENCE
    fence_release();
#endif
    first = 0;
    if
    :: !covered -> goto idle
    :: else
    fi;
#endif
looks:
    atomic {
#ifdef NO_GENERATION_LAST
        load_relaxed(GENERATION, generation);
        READ_FENCE();
#endif
        load_relaxed(WORD(0), first);
        load_relaxed(WORD(1), second);
        first = first + second;
        load_relaxed(REST, second);
    };
#ifndef NO_GENERATION_LAST
    READ_FENCE();
    load_relaxed(GENERATION, generation);
#endif
    READ_FENCE();
    dies();
    if
    :: generation + 1 != covered -> goto idle
    :: generation + 1 == covered && (first || second) ->
        d_step { first = 0; second = 0; generation = 0 };
        zero(WORD(0));
        zero(REST);
        dies();
        zero(WORD(1));
        dies()
    :: else -> generation = 0
    fi;
    if
    :: offered < covered ->
        claim(PLACE, 0, covered, GIVE_BACK_RELEASES, done);
        if
        :: done -> offered = covered; done = false
        :: else
        fi
    :: else
    fi;
    dies();
idle:
    skip;
    d_step { first = 0; second = 0; generation = 0; finished = 0 };
    if
    :: rounds < ROUNDS -> rounds++
    :: else -> goto ends
    fi;
    atomic {
        load_relaxed(GENERATION, generation);
        load_relaxed(FINISHED, finished)
    };
    READ_FENCE();
    atomic {
        load_relaxed(WORD(0), first);
        load_relaxed(WORD(1), second)
    };
    READ_FENCE();
    if
    :: finished == generation + 1 && generation >= covered ->
        assert(first == generation + 1 && second == generation + 1);
        assert(generation == covered);
        covered = generation + 1;
        store_release(FILE, covered);
        dies();
#ifndef NO_NAME_FIRST
        store_release(SUMMARY, covered);
#ifndef NO_NAME_FENCE
        fence_release();
#endif
        dies();
#else
        zero(WORD(0));
        zero(WORD(1));
        store_release(SUMMARY, covered);
#endif
    :: else
    fi;
    if
    :: covered -> goto looks
    :: else -> goto idle
    fi;
ends:
    skip
}

proctype reader()
{
    byte k, header, covered, generation, taken, first, second, least, again;
opens:
    atomic {
        d_step { header = 0; covered = 0; generation = 0; taken = 0; first = 0; second = 0; again = 0; least = written };
        wait_for_stores()
    };
    load_relaxed(SUMMARY, header);
    READ_FENCE();
    load_acquire(FILE, covered);
    if
    :: covered != header && covered != header + 1 -> goto opens
    :: else
    fi;
    /* look_at_chunk: is it a new generation? */
    atomic { load_relaxed(GENERATION, generation); load_relaxed(TAKEN, taken) };
    READ_FENCE();
    load_relaxed(WORD(0), first);
    READ_FENCE();
#ifdef NO_GENERATION_HIGHER
    if
    :: first ->
#else
    if
    :: first && generation >= covered ->
#endif
#ifndef NO_SEEN_AGAIN
        atomic { load_relaxed(GENERATION, generation); load_relaxed(TAKEN, taken) };
        READ_FENCE();
#endif
        atomic {
            load_relaxed(WORD(0), first);
            load_relaxed(WORD(1), second);
            second = (first -> second : 0)
        };
        READ_FENCE()
    :: else -> first = 0
    fi;
#ifndef NO_SUMMARY_AGAIN
    load_relaxed(SUMMARY, again);
    if
    :: again > covered -> goto opens
    :: else
    fi;
#endif
    d_step {
        assert(!first || first == generation + 1);
        assert(!second || second == generation + 1);
        assert(!first || taken == generation);
        assert(2 * covered + (first -> 1 : 0) + (second -> 1 : 0) >= least);
        assert(2 * covered + (first -> 1 : 0) + (second -> 1 : 0) <= written)
    }
}
