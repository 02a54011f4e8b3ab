/* SPDX-License-Identifier: MIT */
/*
 * Finds pytest in a command, and makes it load the plugin (see run_pytest.h).
 */
#define _GNU_SOURCE
#include "run_pytest.h"

#include "base/base.h"
#include "run_places.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLUGIN "vramtrace_pytest"

static bool is_pytest(const char *word) {
    const char *name = vt_basename(word);
    return !strcmp(name, "pytest") || !strcmp(name, "py.test") || !strncmp(name, "pytest-3", 8) ||
           !strncmp(name, "py.test-3", 9) ||
           (strpbrk(word, " ;\n") && (strstr(word, "pytest") || strstr(word, "py.test")));
}

bool vt_run_pytest_is(char *const *argv) {
    for (; *argv; argv++)
        if (is_pytest(*argv))
            return true;
    return false;
}

static bool is_python(const char *word) {
    const char *name = vt_basename(word);
    return !strncmp(name, "python", 6) || !strncmp(name, "pypy", 4);
}

/* Whether a word such as "-sE" has the option -E or -I, before one with a value (-W, -X, -m, -c). */
static bool isolates(const char *word) {
    if (word[0] != '-' || word[1] == '-')
        return false;
    char first = word[1 + strcspn(word + 1, "IEWXmc")];
    return first == 'I' || first == 'E';
}

bool vt_run_pytest_is_isolated(const char *program, char *const *argv) {
    char line[256], *rest = line;
    bool isolated = false;
    for (; *argv && !is_pytest(*argv); argv++)
        if (is_python(*argv))
            for (char *const *word = argv + 1; *word && (*word)[0] == '-' && strcmp(*word, "-m");
                 word++)
                isolated |= isolates(*word);
    VT_SCOPED_FD fd = vt_file_open(program, NULL);
    ssize_t got = fd < 0 ? -1 : pread(fd, line, sizeof line - 1, 0);
    if (got < 2 || strncmp(line, "#!", 2) != 0)
        return isolated;
    line[got] = 0;
    line[strcspn(line, "\n")] = 0;
    for (char *word; (word = strsep(&rest, " \t"));)
        isolated |= isolates(word);
    return isolated;
}

static void append_to_variable(const char *variable, char separator, const char *part) {
    const char *before = getenv(variable);
    VT_SCOPED_STRING value = {0};
    if (before && *before)
        vt_string_format(&value, "%s%c", before, separator);
    vt_string_add(&value, part);
    setenv(variable, value.text, 1);
}

bool vt_run_pytest_set(const struct vt_check *check, const char *tracer) {
    char own[PATH_MAX];
    ssize_t got = readlink("/proc/self/exe", own, sizeof own - 1);
    own[got > 0 ? got : 0] = 0;
    VT_SCOPED_STRING tried = {0};
    VT_SCOPED char *plugin = vt_run_places_private("python/" PLUGIN ".py", tracer, &tried);
    VT_SCOPED char *folder = plugin ? vt_run_places_folder(plugin) : NULL;
    if (!folder || strchr(folder, ':'))
        return false;
    append_to_variable("PYTHONPATH", ':', folder);
    append_to_variable("PYTEST_PLUGINS", ',', PLUGIN);
    setenv("VRAMTRACE_COMMAND", own, 0);
    setenv("VRAMTRACE_CHECK", check->words.length ? check->words.text : "", 1);
    return true;
}
