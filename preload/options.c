/* SPDX-License-Identifier: MIT */
/*
 * The VRAMTRACE_* variables, and what we say on stderr. Called at arming, by init.c. No allocation,
 * no stdio.
 */
#define _GNU_SOURCE
#include "preload.h"
#include "sys.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct vt_options vt_options = {.depth = 64, .python = true};

static dev_t stderr_device;
static ino_t stderr_inode;
static bool stderr_known;

const char *vt_options_env(const char *name) {
    size_t n = strlen(name);
    for (char **e = environ; e && *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return *e + n + 1;
    return NULL;
}

/* ----------------------------------------------------------------------------------------------- a
 * line on stderr -- */

/* Descriptor 2 may have become a socket or a data file of the program's by the end. */
static bool stderr_is_the_same(void) {
    struct stat st;
    return stderr_known && VT_SYS2(SYS_fstat, 2, &st) == 0 && st.st_dev == stderr_device &&
           st.st_ino == stderr_inode;
}

void vt_options_say(const char *text) {
    static const char prefix[] = "vramtrace: ";
    char line[8192];
    size_t n = strnlen(text, sizeof line - sizeof prefix - 1);
    if (!stderr_is_the_same())
        return;
    memcpy(line, prefix, sizeof prefix - 1);
    memcpy(line + sizeof prefix - 1, text, n);
    n += sizeof prefix - 1;
    line[n++] = '\n';
    /* A closed pipe must not kill the program: SIGPIPE (13) is held back, and taken away when it is
     * ours. */
    uint64_t pipe_signal = 1ull << 12, before = 0, pending = 0;
    VT_SYS4(SYS_rt_sigpending, &pending, sizeof pending, 0, 0);
    VT_SYS4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &pipe_signal, &before, sizeof before);
    long written = VT_SYS3(SYS_write, 2, line, n);
    if (written < 0 && !(pending & pipe_signal)) {
        uint64_t no_wait[2] = {0, 0};
        VT_SYS4(SYS_rt_sigtimedwait, &pipe_signal, NULL, no_wait, sizeof pipe_signal);
    }
    VT_SYS4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &before, NULL, sizeof before);
}

static void say_bad(const char *name, const char *value, const char *allowed) {
    char text[512] = "";
    strncat(text, name, 64);
    strcat(text, "=");
    strncat(text, value, 128);
    strcat(text, " is not valid: allowed is ");
    strncat(text, allowed, 128);
    strcat(text, "; going on with the default");
    vt_options_say(text);
}

/* --------------------------------------------------------------------------------------------------
 * the variables -- */

static void read_output(const char *name, const char *value) {
    (void)name;
    if (*value)
        vt_options.output = value;
}

static void read_quiet(const char *name, const char *value) {
    if (strcmp(value, "0") == 0 || strcmp(value, "1") == 0)
        vt_options.quiet = *value == '1';
    else
        say_bad(name, value, "0 or 1");
}

static void read_depth(const char *name, const char *value) {
    unsigned n = 0;
    const char *s = value;
    while (*s >= '0' && *s <= '9' && n <= VT_DEPTH_MAX)
        n = n * 10 + (unsigned)(*s++ - '0');
    if (*s || s == value || n < 1 || n > VT_DEPTH_MAX)
        say_bad(name, value, "a number of frames from 1 to 256");
    else
        vt_options.depth = n;
}

static void read_python(const char *name, const char *value) {
    if (strcmp(value, "auto") == 0 || strcmp(value, "off") == 0)
        vt_options.python = *value == 'a';
    else
        say_bad(name, value, "auto or off");
}

/* One row a variable. */
static const struct {
    const char *name;
    void (*read)(const char *name, const char *value);
} variables[] = {
    {"VRAMTRACE_OUTPUT", read_output},
    {"VRAMTRACE_QUIET", read_quiet},
    {"VRAMTRACE_DEPTH", read_depth},
    {"VRAMTRACE_PYTHON", read_python},
};

void vt_options_read(void) {
    struct stat st;
    stderr_known = VT_SYS2(SYS_fstat, 2, &st) == 0;
    stderr_device = st.st_dev;
    stderr_inode = st.st_ino;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = vt_options_env(variables[i].name);
        if (value)
            variables[i].read(variables[i].name, value);
    }
}
