/* SPDX-License-Identifier: MIT */
/*
 * A chunk of two records: a thread writes them and may die anywhere; another one takes the chunk over and fills it; a reader
 * copies it twice, as vt_log_copy_chunk() does, at any moment and again. A record is a first word and the rest.
 *
 * The reader never takes a record that is not whole, none changes that it has taken, and of a chunk that is finished it has all.
 */
#define LOCATIONS 8
#define THREADS   3
#define MESSAGES  5
#include "memory.pml"

#define TID      0
#define DEAD     1
#define USED     2
#define FINISHED 3
#define WORD(i)  (4 + 2 * (i))
#define REST(i)  (5 + 2 * (i))

#ifdef NO_PUBLISH
#define PUBLISH(i, v) store_relaxed(WORD(i), v)
#else
#define PUBLISH(i, v) store_release(WORD(i), v)
#endif
#ifdef NO_FINISH
#define FINISH() store_relaxed(FINISHED, 1)
#else
#define FINISH() store_release(FINISHED, 1)
#endif
#ifdef NO_READ_FENCE
#define READ_FENCE() skip
#else
#define READ_FENCE() fence_acquire()
#endif

active proctype writer()
{
    store_relaxed(REST(0), 1);
    PUBLISH(0, 1);
    store_release(USED, 1);
    if
    :: goto dies
    :: store_relaxed(REST(1), 2)
    fi;
    if
    :: goto dies
    :: PUBLISH(1, 2)
    fi;
    if
    :: goto dies
    :: store_release(USED, 2)
    fi;
    if
    :: goto dies
    :: FINISH(); goto ends
    fi;
dies:
    store_release(DEAD, 1); /* by the kernel */
ends:
    skip
}

active proctype heir()
{
    byte k, dead, used, word;
    bool mine;
    do
    :: load_relaxed(DEAD, dead);
       if
       :: dead -> break
       :: else
       fi
    od;
    claim(TID, 0, 1, true, mine);
#ifndef NO_TAKE_OVER
    fence_acquire();
#endif
    load_relaxed(USED, used);
    if
    :: used < 2 ->
        load_relaxed(WORD(used), word);
#ifdef NO_STAYS
        store_release(WORD(used), 0);
        store_relaxed(REST(used), 0)
#else
        if
        :: word -> used++
        :: else -> store_relaxed(REST(used), 0)
        fi
#endif
    :: else
    fi;
    do
    :: used < 2 ->
        store_relaxed(REST(used), 3 + used);
        PUBLISH(used, 3 + used);
        used++;
        store_release(USED, used)
    :: else -> break
    od;
    FINISH()
}

active proctype reader()
{
    byte k, word[2], rest[2], had[2], taken, end, passes, finished;
    do
    :: passes < 2 ->
        passes++;
#ifdef NO_HEAD_FIRST
        atomic { load_relaxed(FINISHED, finished) };
#else
        load_relaxed(FINISHED, finished);
        READ_FENCE();
#endif
        atomic { /* one copy: its loads read what they may, in any order */
            load_relaxed(WORD(0), word[0]);
            load_relaxed(REST(0), rest[0]);
            load_relaxed(WORD(1), word[1]);
            load_relaxed(REST(1), rest[1]);
            end = (word[0] -> (word[1] -> 2 : 1) : 0)
        };
        READ_FENCE();
#ifndef NO_COPY_TWICE
        if
        :: !finished ->
            atomic {
                if
                :: end > 0 -> load_relaxed(WORD(0), word[0]); load_relaxed(REST(0), rest[0])
                :: else
                fi;
                if
                :: end > 1 -> load_relaxed(WORD(1), word[1]); load_relaxed(REST(1), rest[1])
                :: else
                fi
            };
            READ_FENCE()
        :: else
        fi;
#endif
        d_step {
            assert(end < 1 || word[0] == rest[0]);
            assert(end < 2 || word[1] == rest[1]);
            assert(taken < 1 || word[0] == had[0]);
            assert(taken < 2 || word[1] == had[1]);
            assert(!finished || end == 2);
            assert(end >= taken);
            taken = end;
            had[0] = word[0];
            had[1] = word[1]
        }
    :: else -> break
    od
}
