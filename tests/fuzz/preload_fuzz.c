/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: the preload's input from its environment: the VRAMTRACE_* variables and the patterns of log names; and
 * the sizes and shares that both halves read. The input is lines: of an environment, "VRAMTRACE_DEPTH=8", and values,
 * which are parsed as sizes.
 */
#define _GNU_SOURCE
#include "base/base.h"
#include "vramtrace/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Log names are opened by system calls: here none is made, and the first names are taken. */
static unsigned names_taken;
static long no_open(void) {
    return names_taken-- ? -EEXIST : 3;
}
#define vt_descriptors_open(path, flags, mode)                                                     \
    ((void)(path), (void)(flags), (void)(mode), no_open())
#undef VT_SYS3
#undef VT_SYS4
#define VT_SYS3(number, a, b, c)    ((void)(a), (void)(b), (void)(c), -EPERM)
#define VT_SYS4(number, a, b, c, d) ((number) == SYS_openat ? no_open() : -EPERM)

#include "log/log_launcher.c"
#include "log/log_name.c"

#define MOST_LINES 64

static void expect(bool good) {
    if (!good)
        abort();
}

static void try_size(const char *text) {
    uint64_t bytes = 0, whole, part, place;
    uint32_t millionths = 0;
    char shown[16], *end;
    size_t digits = strspn(text, "0123456789");
    int error = vt_text_read_size(text, &bytes);
    expect(error == 0 || error == -EINVAL || error == -ERANGE);
    if (digits && !text[digits]) { /* the C library's answer */
        errno = 0;
        unsigned long long number = strtoull(text, &end, 10);
        expect(errno ? error == -ERANGE : !error && bytes == number);
    }
    if (!error) {
        expect(vt_text_put_size(shown, bytes) <= shown + 8);
        vt_text_put_number((char[24]){0}, bytes);
    }
    if (!vt_text_read_share(text, &millionths))
        expect(millionths >= 1 && millionths <= VT_TEXT_WHOLE);
    vt_text_read_decimal(text, &whole, &part, &place);
}

static void try_name(size_t size) {
    char path[4096];
    names_taken = 3;
    const char *shown;
    int fd = vt_log_name_open(path, size, &shown);
    expect(fd == 3 || fd < 0);
    expect(strnlen(path, size) < size);
    vt_log_launcher_fill(&(struct vt_log_header){0});
    vt_log_launcher_job();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct vt_settings defaults = {
        .depth = 64, .python = true, .framework = true, .ask = true, .limit = UINT64_MAX};
    char *text = malloc(size + 1), *rest = text, *lines[MOST_LINES + 1], **before = environ;
    int count = 0;
    memcpy(text, data, size);
    text[size] = 0;
    for (char *line; count < MOST_LINES && (line = strsep(&rest, "\n"));)
        lines[count++] = line;
    lines[count] = NULL;
    for (int i = 0; i < count; i++)
        try_size(lines[i]);
    environ = lines;
    vt_settings = defaults;
    vt_settings_read();
    expect(vt_settings.depth >= 1 && vt_settings.depth <= VT_DEPTH_MAX);
    expect(vt_settings.limit > 0 && vt_settings.alarm_share <= VT_TEXT_WHOLE);
    try_name(4096);
    try_name(1 + size % 64);
    environ = before;
    free(text);
    return 0;
}
