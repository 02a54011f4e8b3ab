/* SPDX-License-Identifier: MIT */
/*
 * Words of the log's header that belong together: the calibration pair, which is measured again and again (vt_log_calibrate), and
 * how the process ended (vt_log_end). A reader copies the header until two copies agree (read_header() in log_reader.c).
 */
#define LOCATIONS 4
#define THREADS   2
#define MESSAGES  6
#include "memory.pml"

#define TICKS  0 /* 0 while the pair changes */
#define NS     1
#define KIND   2
#define STATUS 3

#ifdef NO_CALIBRATE
#define CALIBRATE(at, v) store_relaxed(at, v)
#else
#define CALIBRATE(at, v) store_release(at, v)
#endif
#ifdef NO_END
#define END() store_relaxed(KIND, 1)
#else
#define END() store_release(KIND, 1)
#endif

active proctype writer()
{
    byte i = 1;
    do
    :: i <= 2 ->
        CALIBRATE(TICKS, 0);
        CALIBRATE(NS, i);
        CALIBRATE(TICKS, i);
        i++
    :: else -> break
    od;
    store_relaxed(STATUS, 7);
    END()
}

active proctype reader()
{
    byte k, ticks, ns, kind, status, ticks2, ns2, kind2;
copies:
    atomic {
        load_relaxed(TICKS, ticks);
        load_relaxed(NS, ns);
        load_relaxed(KIND, kind);
        load_relaxed(STATUS, status)
    };
#ifndef NO_HEADER_TWICE
#ifndef NO_READ_FENCE
    fence_acquire();
#endif
    atomic {
        load_relaxed(TICKS, ticks2);
        load_relaxed(NS, ns2);
        load_relaxed(KIND, kind2);
        load_relaxed(STATUS, status)
    };
    if
    :: ticks != ticks2 || ns != ns2 || kind != kind2 -> goto copies
    :: else
    fi;
#endif
    assert(!ticks || ticks == ns);
    assert(!kind || status == 7)
}
