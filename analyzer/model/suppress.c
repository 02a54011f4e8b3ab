/* SPDX-License-Identifier: MIT */
/*
 * Suppression files (see suppress.h).
 */
#define _GNU_SOURCE
#include "suppress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char vt_suppress_builtin[] =
#include "suppressions_builtin.def"
    ;

/* Frames (mostly outermost ones) that occur in every stack of some kinds of processes. A pattern that matches one of
 * them would disable the gate by mistake. */
static const struct {
    const char *text, *what;
} everywhere[] = {
    {"main", "every program's function"},
    {"_start", "every program's function"},
    {"__libc_start_main", "every program's function"},
    {"__libc_start_call_main", "every program's function"},
    {"start_thread", "every thread's function"},
    {"clone3", "every thread's function"},
    {"/usr/lib/x86_64-linux-gnu/libc.so.6", "the C library"},
    {"<module>", "the outermost frame of every Python script"},
    {"/usr/bin/python3", "the Python interpreter"},
    {"_PyEval_EvalFrameDefault", "the Python interpreter's loop"},
    {"Py_RunMain", "every Python process's function"},
};

/* Matches as a shell does, but only '*' is special. */
static bool matches(const char *glob, const char *text) {
    const char *star = NULL, *again = NULL;
    while (*text) {
        if (*glob == '*') {
            star = glob++;
            again = text;
        } else if (*glob == *text) {
            glob++;
            text++;
        } else if (star) {
            glob = star + 1;
            text = ++again;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return !*glob;
}

static char *glob_of(const char *pattern) {
    struct vt_string glob = {0};
    size_t length = strlen(pattern);
    bool start = pattern[0] == '^', end = length > start && pattern[length - 1] == '$';
    if (!start)
        vt_string_add(&glob, "*");
    vt_string_add_bytes(&glob, pattern + start, length - start - end);
    if (!end)
        vt_string_add(&glob, "*");
    return glob.text;
}

/* Whether a pattern is bad; adds the reason to `message`. */
static bool refuse(const char *pattern, const char *glob, struct vt_string *message) {
    if (!*pattern) {
        vt_string_add(message, "expected a pattern after 'leak:', found nothing");
        return true;
    }
    if (glob[strspn(glob, "*")] == 0) {
        vt_string_format(message, "leak:%s would suppress everything", pattern);
        return true;
    }
    for (size_t i = 0; i < sizeof everywhere / sizeof *everywhere; i++)
        if (matches(glob, everywhere[i].text)) {
            vt_string_format(message,
                             "leak:%s would suppress everything: it matches '%s', %s; expected "
                             "a narrower pattern",
                             pattern, everywhere[i].text, everywhere[i].what);
            return true;
        }
    return false;
}

static void add(struct vt_suppressions *list, const char *pattern, char *glob, const char *file,
                uint32_t line) {
    *VT_ADD(list->rules, list->count, list->room) =
        (struct vt_suppression){.pattern = vt_strdup(pattern),
                                .glob = glob,
                                .file = file ? vt_strdup(file) : NULL,
                                .line = line};
}

/* The line without surrounding blanks; "" for a comment. */
static char *trim(char *line) {
    line += strspn(line, " \t");
    if (*line == '#')
        return line + strlen(line);
    size_t length = strlen(line);
    while (length && strchr(" \t\r\n", line[length - 1]))
        line[--length] = 0;
    return line;
}

static int add_line(struct vt_suppressions *list, const char *path, uint32_t number, char *text,
                    struct vt_string *message) {
    VT_SCOPED_STRING fault = {0};
    char *line = trim(text), *glob = NULL;
    if (!*line)
        return 0;
    if (strncmp(line, "leak:", 5)) {
        vt_string_format(&fault, "expected leak:PATTERN or a # comment, found '%.60s'", line);
    } else {
        glob = glob_of(line + 5);
        if (!refuse(line + 5, glob, &fault)) {
            add(list, line + 5, glob, path, number);
            return 0;
        }
    }
    free(glob);
    vt_string_format(message, "%s:%u: %s", path, number, fault.text);
    return -EINVAL;
}

int vt_suppress_read(struct vt_suppressions *list, const char *path, struct vt_string *message) {
    const char *why;
    FILE *file = vt_file_stream_given(path, &why);
    VT_SCOPED char *line = NULL;
    size_t room = 0;
    uint32_t number = 0;
    bool anything = false;
    int error = 0;
    if (!file) {
        error = -errno;
        vt_string_format(message, "suppressions: %s: %s", path, why);
        return error;
    }
    errno = 0;
    for (ssize_t length; !error && (length = getline(&line, &room, file)) > 0;) {
        number++;
        anything |= line[strspn(line, " \t\r\n")] != 0;
        if (memchr(line, 0, (size_t)length)) {
            vt_string_format(message, "%s:%u: expected text, found a zero byte", path, number);
            error = -EINVAL;
        } else {
            error = add_line(list, path, number, line, message);
        }
    }
    if (!error && ferror(file)) {
        error = errno ? -errno : -EIO;
        vt_string_format(message, "suppressions: %s: %s", path, strerror(-error));
    }
    if (!error && !anything) {
        vt_string_format(message, "%s:1: expected leak:PATTERN lines, found an empty file", path);
        error = -EINVAL;
    }
    fclose(file);
    return error;
}

void vt_suppress_add_builtin(struct vt_suppressions *list) {
    char *all = vt_strdup(vt_suppress_builtin), *rest = all;
    uint32_t number = 0;
    for (char *line; (line = strsep(&rest, "\n"));) {
        number++;
        line = trim(line);
        if (!strncmp(line, "leak:", 5))
            add(list, line + 5, glob_of(line + 5), NULL, number);
    }
    free(all);
}

int64_t vt_suppress_find(const struct vt_suppressions *list, const struct vt_stack *stack,
                         enum vt_verdict verdict) {
    for (uint32_t i = 0; i < list->count; i++)
        for (uint32_t j = 0; j < stack->count; j++) {
            const struct vt_frame *f = vt_stack_frame(stack, j);
            /* a library keeps a constant amount for the life of the process, and does not lose it */
            bool built_in = !list->rules[i].file;
            if (built_in && (verdict == VT_VERDICT_GROWING || verdict == VT_VERDICT_LOST))
                break;
            const char *texts[] = {f->module, f->function, f->file};
            if (built_in && (f->other || !f->module || !vt_library_of(f->module)))
                continue;
            for (int k = 0; k < (built_in ? 1 : 3); k++)
                if (texts[k] && matches(list->rules[i].glob, texts[k]))
                    return i;
        }
    return -1;
}

void vt_suppress_free(struct vt_suppressions *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        free(list->rules[i].pattern);
        free(list->rules[i].glob);
        free(list->rules[i].file);
    }
    free(list->rules);
    *list = (struct vt_suppressions){0};
}
