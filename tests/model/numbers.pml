/* SPDX-License-Identifier: MIT */
/*
 * Who gets which place of the stack table (preload/base/numbering.c): two threads have stacks, the same one or two, whose search
 * begins at the same place. No two stacks get one number, and none gets two.
 */
#define LOCATIONS 2
#define THREADS   2
#define MESSAGES  4
#include "memory.pml"

byte number_of[3], owner[2]; /* by stack, by number */

active [2] proctype writer()
{
    byte k, which, has, number;
    bool done;
    if
    :: which = 1
    :: which = 2
    fi;
    do
    :: number < 2 ->
        load_acquire(number, has);
        if
        :: !has ->
#ifdef NO_NUMBER_CLAIM
            store_release(number, which);
            has = which
#else
            claim(number, 0, which, true, done);
            if
            :: done -> has = which
            :: else -> load_acquire(number, has)
            fi
#endif
        :: else
        fi;
        if
        :: has == which -> break
        :: else -> number++
        fi
    :: else -> break
    od;
    assert(number < 2);
    d_step {
        assert(!number_of[which] || number_of[which] == number + 1);
        assert(!owner[number] || owner[number] == which);
        number_of[which] = number + 1;
        owner[number] = which
    }
}
