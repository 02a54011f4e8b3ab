/* SPDX-License-Identifier: MIT */
/*
 * A slot of the table of what is live (preload/base/table.c): two threads insert an entry of the same key, two take one.
 *
 * Whoever finds an entry has the words of that very one, and each is taken once at most.
 */
#define LOCATIONS 3
#define THREADS   4
#define MESSAGES  7
#include "memory.pml"

#define KEY   0
#define WORD  1
#define STATE 2 /* generation * 4, CLAIMED and THERE */
#define THERE   1
#define CLAIMED 2

#ifdef NO_TABLE_WORDS
#define TABLE_WORDS(at, v) store_relaxed(at, v)
#else
#define TABLE_WORDS(at, v) store_release(at, v)
#endif
#ifdef NO_TABLE_STATE
#define TABLE_STATE(v) store_relaxed(STATE, v)
#else
#define TABLE_STATE(v) store_release(STATE, v)
#endif
#ifdef NO_TABLE_SEE
#define TABLE_SEE(at, to) load_relaxed(at, to)
#else
#define TABLE_SEE(at, to) load_acquire(at, to)
#endif

byte word_of[4]; /* by generation */
bool taken[4];

active [2] proctype inserter()
{
    byte k, was;
    bool done;
    do
    :: load_acquire(STATE, was);
       if
       :: !(was & (THERE | CLAIMED)) ->
#ifdef NO_TABLE_CLAIM
           store_release(STATE, was + 4 + CLAIMED);
           done = true;
#else
           claim(STATE, was, was + 4 + CLAIMED, true, done);
#endif
           if
           :: done -> break
           :: else
           fi
       :: else
       fi
    od;
    word_of[was / 4 + 1] = me + 1;
    TABLE_WORDS(KEY, me + 1);
    TABLE_WORDS(WORD, me + 1);
    TABLE_STATE(was + 4 + THERE)
}

active [2] proctype taker()
{
    byte k, state, key, word, again;
    bool done;
    do
    :: load_acquire(STATE, state);
       TABLE_SEE(WORD, word);
       TABLE_SEE(KEY, key);
#ifdef NO_TABLE_AGAIN
       again = state;
#else
       load_acquire(STATE, again);
#endif
       if
       :: (state & THERE) && again == state ->
           assert(key == word_of[state / 4] && word == key);
#ifdef NO_TABLE_TAKE
           store_release(STATE, state - THERE);
           done = true;
#else
           claim(STATE, state, state - THERE, true, done);
#endif
           if
           :: done -> break
           :: else
           fi
       :: else
       fi
    od;
    assert(state & THERE);
    d_step {
        assert(!taken[state / 4]);
        taken[state / 4] = true
    }
}
