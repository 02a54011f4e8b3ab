/* SPDX-License-Identifier: MIT */
/*
 * The VRAMTRACE_* variables. Called by process.c when the library is armed.
 * No allocation, no stdio.
 */
#define _GNU_SOURCE
#include "settings.h"
#include "preload.h"
#include "message.h"

#include <string.h>
#include <unistd.h>

struct vt_settings vt_settings = {.depth = 64,
                                  .python = true,
                                  .framework = true,
                                  .ask = true,
                                  .limit = UINT64_MAX,
                                  .snapshot = VT_TRIGGER_END | VT_TRIGGER_OOM};

const char *vt_settings_env(const char *name) {
    size_t n = strlen(name);
    for (char **e = environ; e && *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return *e + n + 1;
    return NULL;
}

static void print_bad(const char *name, const char *value, const char *allowed) {
    char text[512] = "";
    strncat(text, name, 64);
    strcat(text, "=");
    strncat(text, value, 128);
    strcat(text, " is not valid; expected ");
    strncat(text, allowed, 128);
    strcat(text, "; using the default");
    vt_message(text);
}

static void read_output(const char *name, const char *value) {
    (void)name;
    if (*value)
        vt_settings.output = value;
}

/* One of two words. */
static void read_word(const char *name, const char *value, const char *on, const char *off,
                      const char *allowed, bool *option) {
    if (strcmp(value, on) == 0 || strcmp(value, off) == 0)
        *option = strcmp(value, on) == 0;
    else
        print_bad(name, value, allowed);
}

static void read_quiet(const char *name, const char *value) {
    read_word(name, value, "1", "0", "0 or 1", &vt_settings.quiet);
}

static void read_depth(const char *name, const char *value) {
    unsigned n = 0;
    const char *s = value;
    while (*s >= '0' && *s <= '9' && n <= VT_DEPTH_MAX)
        n = n * 10 + (unsigned)(*s++ - '0');
    if (*s || s == value || n < 1 || n > VT_DEPTH_MAX)
        print_bad(name, value, "a number of frames from 1 to 256");
    else
        vt_settings.depth = n;
}

static void read_python(const char *name, const char *value) {
    read_word(name, value, "auto", "off", "auto or off", &vt_settings.python);
}

static void read_framework(const char *name, const char *value) {
    read_word(name, value, "auto", "off", "auto or off", &vt_settings.framework);
}

static void read_ask(const char *name, const char *value) {
    read_word(name, value, "on", "off", "on or off", &vt_settings.ask);
}

static bool read_size(const char *text, uint64_t *bytes) {
    return vt_text_read_size(text, bytes) == 0 && *bytes > 0;
}

#define SIZES "a size above 0, in bytes or like 512M, 512MiB, 1.5G"

static void read_limit(const char *name, const char *value) {
    if (!read_size(value, &vt_settings.limit)) {
        vt_settings.limit = UINT64_MAX;
        print_bad(name, value, SIZES);
    }
}

static void read_inject(const char *name, const char *value) {
    uint64_t n, part, place;
    const char *s = vt_text_read_decimal(value, &n, &part, &place);
    if (!s || !n || strchr(value, '.') || (*s && strcmp(s, "+") != 0)) {
        print_bad(name, value,
                  "N or N+ (the Nth allocation, or all from the Nth on; N is at least 1)");
        return;
    }
    vt_settings.inject = n;
    vt_settings.inject_on = *s == '+';
}

static void read_alarm(const char *name, const char *value) {
    if (vt_text_read_share(value, &vt_settings.alarm_share) == 0)
        vt_settings.alarm_text = value;
    else if (!read_size(value, &vt_settings.alarm)) {
        vt_settings.alarm = 0;
        print_bad(name, value, SIZES ", or a share up to 100%");
    }
}

static void read_snapshot(const char *name, const char *value) {
    unsigned triggers;
    if (vt_text_read_triggers(value, &triggers) != 0) {
        print_bad(name, value, VT_TEXT_TRIGGERS);
        return;
    }
    vt_settings.snapshot = triggers;
    vt_settings.snapshot_text = value;
}

static void read_snapshot_limit(const char *name, const char *value) {
    if (vt_text_read_bounds(value, &vt_settings.snapshot_ns, &vt_settings.snapshot_bytes) != 0) {
        vt_settings.snapshot_ns = vt_settings.snapshot_bytes = 0;
        print_bad(name, value, VT_TEXT_BOUNDS);
    }
}

static void read_max_log(const char *name, const char *value) {
    bool off = strcmp(value, "off") == 0;
    uint64_t bytes = off ? UINT64_MAX : 0;
    if (off || strcmp(value, "auto") == 0 ||
        (read_size(value, &bytes) && bytes >= VT_TEXT_MAX_LOG_LEAST))
        vt_settings.max_log = bytes;
    else
        print_bad(name, value, VT_TEXT_MAX_LOG);
}

/* nvtx.c reads this variable in the constructor; this only reports a bad value. */
static void read_nvtx(const char *name, const char *value) {
    bool unused;
    read_word(name, value, "1", "0", "0 or 1", &unused);
}

static void read_scan(const char *name, const char *value) {
    vt_settings.scan_off = strcmp(value, "off") == 0;
    if (vt_settings.scan_off || strcmp(value, "auto") == 0)
        vt_settings.scan_bytes = 0;
    else if (!read_size(value, &vt_settings.scan_bytes)) {
        vt_settings.scan_bytes = 0;
        print_bad(name, value, "off, auto, or " SIZES);
    }
}

/* One row per variable. */
static const struct {
    const char *name;
    void (*read)(const char *name, const char *value);
} variables[] = {
    {"VRAMTRACE_OUTPUT", read_output},
    {"VRAMTRACE_QUIET", read_quiet},
    {"VRAMTRACE_DEPTH", read_depth},
    {"VRAMTRACE_PYTHON", read_python},
    {"VRAMTRACE_FRAMEWORK", read_framework},
    {"VRAMTRACE_LIMIT", read_limit},
    {"VRAMTRACE_INJECT", read_inject},
    {"VRAMTRACE_ALARM", read_alarm},
    {"VRAMTRACE_ASK", read_ask},
    {"VRAMTRACE_NVTX", read_nvtx},
    {"VRAMTRACE_SCAN", read_scan},
    {"VRAMTRACE_SNAPSHOT", read_snapshot},
    {"VRAMTRACE_SNAPSHOT_LIMIT", read_snapshot_limit},
    {"VRAMTRACE_MAX_LOG", read_max_log},
};

void vt_settings_read(void) {
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = vt_settings_env(variables[i].name);
        if (value)
            variables[i].read(variables[i].name, value);
    }
}
