/* SPDX-License-Identifier: MIT */
/*
 * A memory that is as weak as C's release and acquire allow, which is weaker than arm64's but for what README.md names. Spin's
 * own is sequentially consistent and finds no missing barrier.
 *
 * A location is the list of all that was ever stored there. A thread has a view: of each location, the oldest store that it
 * may still read. A load picks any store from there on. A release store takes its thread's view along, and an acquire load adds
 * it to the reader's; relaxed loads and stores do so at fences only.
 *
 * Before this is included: LOCATIONS, THREADS, MESSAGES (stores to one location, with its zero). `me` is the thread's number.
 */
typedef View {
    byte at[LOCATIONS]
};
typedef Location {
    byte last;
    byte value[MESSAGES];
    byte by[MESSAGES];
    View from[MESSAGES]
};
typedef Thread {
    View now; /* what it knows */
    View may; /* what its relaxed loads have read: known from the next acquire fence on */
    View out  /* what it knew at its last release fence: its relaxed stores take that along */
};
Location memory[LOCATIONS];
Thread thread[THREADS];
hidden byte i_;
#ifndef me
#define me _pid
#endif

inline join(dst, src)
{
    i_ = 0;
    do
    :: i_ < LOCATIONS ->
        if
        :: src.at[i_] > dst.at[i_] -> dst.at[i_] = src.at[i_]
        :: else
        fi;
        i_++
    :: else -> break
    od;
    i_ = 0
}

inline forget(dst)
{
    i_ = 0;
    do
    :: i_ < LOCATIONS -> dst.at[i_] = 0; i_++
    :: else -> break
    od;
    i_ = 0
}

/* Sets the process's variable `k` to a store that this thread may read. */
inline pick(l)
{
    k = thread[me].now.at[l];
    do
    :: k < memory[l].last -> k++
    :: break
    od
}

inline load_relaxed(l, to)
{
    atomic {
        pick(l);
        to = memory[l].value[k];
        thread[me].now.at[l] = k;
        d_step { join(thread[me].may, memory[l].from[k]); k = 0 }
    }
}

inline load_acquire(l, to)
{
    atomic {
        pick(l);
        to = memory[l].value[k];
        thread[me].now.at[l] = k;
        d_step { join(thread[me].now, memory[l].from[k]); k = 0 }
    }
}

/* Whoever stores knows all stores to that location: else two race, and which is the newer one would be open. */
inline append(l, v)
{
    assert(thread[me].now.at[l] == memory[l].last);
    memory[l].last++;
    assert(memory[l].last < MESSAGES);
    memory[l].value[memory[l].last] = v;
    memory[l].by[memory[l].last] = me;
    thread[me].now.at[l] = memory[l].last
}

/* C17's release sequence, which both processors keep: behind a thread's own release store, its relaxed ones to that location take
 * along the same. */
inline store_relaxed(l, v)
{
    d_step {
        append(l, v);
        join(memory[l].from[memory[l].last], thread[me].out);
        if
        :: memory[l].by[memory[l].last - 1] == me ->
            join(memory[l].from[memory[l].last], memory[l].from[memory[l].last - 1])
        :: else
        fi;
        memory[l].from[memory[l].last].at[l] = memory[l].last
    }
}

inline store_release(l, v)
{
    d_step {
        append(l, v);
        join(memory[l].from[memory[l].last], thread[me].now)
    }
}

inline fence_acquire()
{
    d_step { join(thread[me].now, thread[me].may); forget(thread[me].may) }
}

inline fence_release()
{
    d_step { join(thread[me].out, thread[me].now) }
}

/* An exchange reads the newest store and appends to it; what that took along, its own takes along, too. */
inline exchange(l, v, acquires, releases)
{
    d_step {
        thread[me].now.at[l] = memory[l].last;
        if
        :: acquires -> join(thread[me].now, memory[l].from[memory[l].last])
        :: else -> join(thread[me].may, memory[l].from[memory[l].last])
        fi;
        append(l, v);
        join(memory[l].from[memory[l].last], memory[l].from[memory[l].last - 1]);
        if
        :: releases -> join(memory[l].from[memory[l].last], thread[me].now)
        :: else -> join(memory[l].from[memory[l].last], thread[me].out)
        fi;
        memory[l].from[memory[l].last].at[l] = memory[l].last
    }
}

/* Compare and swap: acquires, and releases where it succeeds. One that fails may have read an older store. */
inline claim(l, expected, v, releases, done)
{
    atomic {
        if
        :: memory[l].value[memory[l].last] == (expected) -> exchange(l, v, true, releases); done = true
        :: pick(l); memory[l].value[k] != (expected);
           thread[me].now.at[l] = k;
           d_step { join(thread[me].now, memory[l].from[k]); k = 0 };
           done = false
        fi;
        k = 0
    }
}

/* As long as it takes until all that was stored is seen. */
inline wait_for_stores()
{
    d_step {
        i_ = 0;
        do
        :: i_ < LOCATIONS -> thread[me].now.at[i_] = memory[i_].last; i_++
        :: else -> break
        od;
        i_ = 0
    }
}

