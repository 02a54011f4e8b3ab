/* SPDX-License-Identifier: MIT */
/*
 * Up to which time a log that is still written to is whole (analyzer/logfile/log_reader.c), and the stack table
 * (preload/base/numbering.c). Two threads announce, read the clock, look their stack up, write it if it is new, and publish their
 * events; a reader passes the newest time, waits, and passes the slots and the chunks.
 *
 * Each event up to the reader's frontier is taken, also one that has its time but is not published yet; the stack that it names is
 * there. (numbers.pml has which one.)
 */
#ifdef STACKS /* the second thread has an event with a stack, and the first a second one with the same stack; else none have one */
#define LOCATIONS 8
#else
#define LOCATIONS 6
#endif
#define THREADS  3
#define MESSAGES 9
#include "memory.pml"

#define SLOT(t)      (t)                               /* entered_at */
#define RECORD(t, i) (2 + (t) + (i) + ((t) -> ROOM : 0)) /* an event, and one, or a stack and one */
#ifdef STACKS
#define ROOM   2
#define NUMBER 7 /* of the stack, in the table: whether its record is written. 0: it is new */
#else
#define ROOM 1
#endif
#define CLAIMED 2
#define WRITTEN 3

/* A record is an event, its time * 2 and whether it has the stack, or the stack. */
#define STACK       255
#define TIME(event) ((event) / 2)

#ifdef NO_LEAVE
#define LEAVE(t) store_relaxed(SLOT(t), 0)
#else
#define LEAVE(t) store_release(SLOT(t), 0)
#endif
#define PUBLISH(at, v) store_release(at, v)
#ifdef NO_READ_FENCE
#define READ_FENCE() skip
#else
#define READ_FENCE() fence_acquire()
#endif
#ifdef NO_NUMBER_SEE
#define NUMBER_SEE(at, to) load_relaxed(at, to)
#else
#define NUMBER_SEE(at, to) load_acquire(at, to)
#endif
#ifdef NO_NUMBER_WRITTEN
#define NUMBER_WRITTEN() exchange(NUMBER, WRITTEN, false, false)
#else
#define NUMBER_WRITTEN() exchange(NUMBER, WRITTEN, false, true)
#endif

byte clock = 2;
byte stamp[3]; /* when the events are */

inline enter(e)
{
    atomic {
#ifndef NO_ENTER
        store_relaxed(SLOT(me), since);
#endif
        d_step { now = clock; clock++; stamp[e] = now };
#ifdef STACKS
        store_relaxed(SLOT(me), now - 1)
#endif
    };
#ifndef STACKS
    store_relaxed(SLOT(me), now - 1)
#endif
}

inline leave(with)
{
    atomic { /* stores of one thread: the reader chooses how many of them it sees */
        PUBLISH(RECORD(me, used), now * 2 + with);
        used++;
        LEAVE(me);
        since = now
    }
}

inline look_up()
{
    NUMBER_SEE(NUMBER, has);
    if
    :: !has ->
        claim(NUMBER, 0, CLAIMED, true, done);
        if
        :: !done -> NUMBER_SEE(NUMBER, has)
        :: else
        fi
    :: else
    fi;
    if
    :: has != WRITTEN ->
        atomic {
            PUBLISH(RECORD(me, used), STACK);
            used++;
            NUMBER_WRITTEN()
        }
    :: else
    fi
}

active [2] proctype writer()
{
    byte k, since = 1, now, has, used;
    bool done;
#ifdef STACKS
    if
    :: me == 0 -> atomic { enter(0); leave(0) }; enter(2)
    :: else -> enter(1)
    fi;
    look_up();
    leave(1)
#else
    enter(me);
    leave(0);
    if
    :: me == 0 -> enter(2); leave(0)
    :: else
    fi
#endif
}

byte newest, frontier, seen[3];
bool stack, needed, taken[3];

/* A chunk's records up to its first zero. */
inline copy(t)
{
    atomic {
        load_relaxed(RECORD(t, 0), seen[0]);
        load_relaxed(RECORD(t, 1), seen[1]);
#ifdef STACKS
        if
        :: t == 0 -> load_relaxed(RECORD(t, 2), seen[2])
        :: else
        fi;
#endif
        d_step {
            seen[1] = (seen[0] -> seen[1] : 0);
            seen[2] = (seen[1] -> seen[2] : 0)
        }
    };
    READ_FENCE()
}

inline newest_of(i)
{
    if
    :: seen[i] != STACK && TIME(seen[i]) > newest -> newest = TIME(seen[i])
    :: else
    fi;
}

inline take(t, i)
{
    if
    :: seen[i] == STACK -> stack = true
    :: seen[i] && seen[i] != STACK && TIME(seen[i]) <= frontier ->
        if
        :: t == 1 -> taken[1] = true
        :: t == 0 && TIME(seen[i]) == stamp[0] -> taken[0] = true
        :: else -> taken[2] = true
        fi;
        needed = needed || seen[i] & 1
    :: else
    fi;
    seen[i] = 0
}

inline pass(t)
{
    copy(t);
    d_step {
#ifdef NO_NEWEST_FIRST
        newest_of(0); newest_of(1); newest_of(2);
        frontier = (newest < frontier -> newest : frontier);
#endif
        take(t, 0); take(t, 1); take(t, 2)
    }
}

inline look_at_slots()
{
    atomic {
        load_relaxed(SLOT(0), entered[0]);
        load_relaxed(SLOT(1), entered[1]);
        d_step {
            frontier = (entered[0] && entered[0] - 1 < frontier -> entered[0] - 1 : frontier);
            frontier = (entered[1] && entered[1] - 1 < frontier -> entered[1] - 1 : frontier);
            entered[0] = 0;
            entered[1] = 0
        }
    };
    READ_FENCE()
}

active proctype reader()
{
    byte k, entered[2];
    atomic { /* as a load may read what is old, they may as well be late */
        copy(0);
        newest_of(0); newest_of(1); newest_of(2);
        copy(1);
        newest_of(0); newest_of(1);
        d_step { seen[0] = 0; seen[1] = 0; seen[2] = 0; frontier = newest; };
#ifdef NO_NEWEST_FIRST
        d_step { frontier = 255; newest = 0 };
#endif
#ifndef NO_AWAIT_STORES
        wait_for_stores()
#endif
    };
#ifndef NO_SLOTS_FIRST
    look_at_slots();
#endif
    if /* either may be the first in the file */
    :: pass(0); pass(1)
    :: pass(1); pass(0)
    fi;
#ifdef NO_SLOTS_FIRST
    look_at_slots();
#endif
    d_step {
        assert(!stamp[0] || stamp[0] > frontier || taken[0]);
        assert(!stamp[1] || stamp[1] > frontier || taken[1]);
        assert(!stamp[2] || stamp[2] > frontier || taken[2]);
        assert(!needed || stack)
    }
}
