/* SPDX-License-Identifier: MIT */
/* The VRAMTRACE_* variables (settings.c). */
#ifndef VT_PRELOAD_SETTINGS_H
#define VT_PRELOAD_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vt_settings {
    const char *output;     /* VRAMTRACE_OUTPUT as given, or NULL */
    bool quiet;             /* VRAMTRACE_QUIET */
    unsigned depth;         /* VRAMTRACE_DEPTH: native frames kept, 1..VT_DEPTH_MAX */
    bool python;            /* VRAMTRACE_PYTHON */
    bool framework;         /* VRAMTRACE_FRAMEWORK: caching allocators' blocks */
    bool ask;               /* VRAMTRACE_ASK: whether to ask the driver about its devices */
    uint64_t limit;         /* VRAMTRACE_LIMIT: bytes per device; UINT64_MAX: none */
    uint64_t inject;        /* VRAMTRACE_INJECT: which allocation fails, counted from 1; 0: none */
    bool inject_on;         /* ... and every later one */
    uint64_t alarm;         /* VRAMTRACE_ALARM: bytes; 0: none */
    uint32_t alarm_share;   /* ... or a share of the device, in units of 1/VT_TEXT_WHOLE; 0: none */
    const char *alarm_text; /* ... as given */
    /* VRAMTRACE_SNAPSHOT: enum vt_text_trigger, when to look for owners */
    unsigned snapshot;
    const char *snapshot_text; /* ... as given, with the names of phases; NULL: the default */
    uint64_t snapshot_ns;      /* VRAMTRACE_SNAPSHOT_LIMIT: time; 0: the default */
    uint64_t snapshot_bytes;   /* ... and memory, for each 4 GiB of the process; 0: the default */
    uint64_t max_log;          /* VRAMTRACE_MAX_LOG: bytes; 0: auto; UINT64_MAX: off */
    bool scan_off;             /* VRAMTRACE_SCAN=off: no search for pointers at exit */
    uint64_t scan_bytes;       /* ... or the limit of resident memory to scan, in bytes; 0: auto */
};
#define VT_DEPTH_MAX 256u

extern struct vt_settings vt_settings;

/* Reads the VRAMTRACE_* variables. For a bad value, prints one line on stderr and uses the default. */
void vt_settings_read(void);

/* A variable's value in the process's environment, or NULL. Unlike getenv, which shells redefine. */
const char *vt_settings_env(const char *name);

#endif
