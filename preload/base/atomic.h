/* SPDX-License-Identifier: MIT */
/*
 * All memory orders that this library uses, and how they pair. Nothing else in preload/ names an order.
 *
 *   vt_publish, vt_see  release store and acquire load: a thread that sees the value also sees everything written
 *                       before it was published. Pairs: a record's first word (written by log.c, read by another process),
 *                       the state of an object that is made once (real.c, log.c), a slot's key (table.c, stack.c).
 *   vt_put, vt_get      relaxed: counters, hints, and words that only their own thread writes.
 *   vt_claim            compare-and-swap, acquire-release: the winner does the work, without waiting.
 *   vt_add              relaxed fetch-add: numbers handed out, counters.
 *   vt_or               release fetch-or: flags, and marks for earlier writes (stack.c).
 *   vt_fence            orders earlier loads and stores before later stores, and earlier loads before later loads,
 *                       plain accesses included. Takes no instruction on x86.
 *
 * doc/INTERNALS.md lists the pairs between log and analyzer; tests/model proves them.
 */
#ifndef VT_PRELOAD_ATOMIC_H
#define VT_PRELOAD_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>

#define vt_publish(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define vt_see(p)        __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define vt_put(p, v)     __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define vt_get(p)        __atomic_load_n((p), __ATOMIC_RELAXED)
#define vt_add(p, v)     __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define vt_or(p, v)      __atomic_fetch_or((p), (v), __ATOMIC_RELEASE)
#define vt_and(p, v)     __atomic_fetch_and((p), (v), __ATOMIC_RELEASE)
#define vt_fence()       __atomic_thread_fence(__ATOMIC_ACQ_REL)
#define vt_claim(p, expected, v)                                                                   \
    __extension__({                                                                                \
        __typeof__(*(p)) vt_expected_ = (expected);                                                \
        __atomic_compare_exchange_n((p), &vt_expected_, (v), false, __ATOMIC_ACQ_REL,              \
                                    __ATOMIC_ACQUIRE);                                             \
    })

#endif
