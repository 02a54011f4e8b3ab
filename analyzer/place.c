/* SPDX-License-Identifier: MIT */
/*
 * A frame in words (see place.h), for the formats that people read.
 */
#define _GNU_SOURCE /* getline, memrchr */
#include "place.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

unsigned vt_place_columns(const char *text) {
    unsigned columns = 0;
    size_t left = strlen(text);
    while (left) {
        unsigned bytes = vt_utf8_length(text, left);
        bytes = bytes ? bytes : 1;
        text += bytes;
        left -= bytes;
        columns++;
    }
    return columns;
}

/* Keeps the first `width` columns, in place; the last three become dots where something is lost. */
static void cut_end(char *text, unsigned width) {
    if (vt_place_columns(text) <= width)
        return;
    unsigned columns = 0;
    char *at = text;
    while (columns + 3 < width) {
        unsigned bytes = vt_utf8_length(at, strlen(at));
        at += bytes ? bytes : 1;
        columns++;
    }
    strcpy(at, width >= 3 ? "..." : "");
}

/* Keeps the end of a path, from a slash on where one is near. Frees and replaces. */
static char *cut_start(char *path, unsigned width) {
    unsigned columns = vt_place_columns(path);
    if (columns <= width)
        return path;
    const char *at = path;
    for (unsigned drop = columns + 3 - (width > 3 ? width : 3); drop && *at; drop--) {
        unsigned bytes = vt_utf8_length(at, strlen(at));
        at += bytes ? bytes : 1;
    }
    const char *slash = strchr(at, '/');
    struct vt_string cut = {0};
    vt_string_format(&cut, "...%s", slash ? slash : at);
    free(path);
    return cut.text;
}

/* Control characters would do things to a terminal. */
static char *printable(char *text) {
    for (char *at = text; at && *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = *at == '\t' ? ' ' : '?';
    return text;
}

char *vt_place_file(const struct vt_process *p, const struct vt_frame *frame) {
    const char *file = frame->file;
    if (!file)
        return NULL;
    if (p->cwd) {
        size_t length = strlen(p->cwd);
        if (length > 1 && !strncmp(file, p->cwd, length) && file[length] == '/')
            file += length + 1;
    }
    while (!strncmp(file, "./", 2))
        file += 2;
    return printable(vt_strdup(file));
}

/* Where the parameter list of a demangled C++ name begins; its end where there is none. */
static size_t parameters_at(const char *name) {
    size_t end = strlen(name);
    const char *last = strrchr(name, ')');
    if (!last)
        return end;
    /* what may follow: " const", " [clone .cold]", "&" - never an identifier of its own */
    int depth = 0;
    for (const char *at = last; at >= name; at--) {
        depth += *at == ')';
        depth -= *at == '(';
        if (depth == 0) {
            size_t start = (size_t)(at - name);
            /* "operator()" and "(anonymous namespace)::f" are names */
            bool call = start >= 8 && !memcmp(at - 8, "operator", 8) && at + 1 == last;
            return start == 0 || call || strstr(last, "::") ? end : start;
        }
    }
    return end;
}

char *vt_place_function(const struct vt_frame *frame) {
    if (!frame->function)
        return NULL;
    if (frame->python)
        return printable(vt_strdup(frame->function));
    size_t end = parameters_at(frame->function);
    struct vt_string short_name = {0};
    int depth = 0;
    vt_string_add(&short_name, "");
    for (size_t i = 0; i < end; i++) {
        char c = frame->function[i];
        bool arrow = c == '>' && i && frame->function[i - 1] == '-';
        bool in_operator = short_name.length >= 8 && depth == 0 &&
                           !memcmp(short_name.text + short_name.length - 8, "operator", 8);
        if (c == '<' && !in_operator && depth++ == 0)
            vt_string_add(&short_name, "<");
        if (c == '>' && !arrow && !in_operator && depth && --depth == 0) {
            vt_string_add(&short_name, "...>");
            continue;
        }
        if (depth == 0)
            vt_string_add_bytes(&short_name, &c, 1);
    }
    /* a template function's name begins with its result: "void f<...>" */
    char *blank = strstr(short_name.text, "> ") ? NULL : strrchr(short_name.text, ' ');
    if (blank && !strstr(short_name.text, "operator") && !strstr(short_name.text, "(anonymous") &&
        !strchr(short_name.text, '[') && !strchr(short_name.text, '.'))
        memmove(short_name.text, blank + 1, strlen(blank + 1) + 1);
    return printable(short_name.text);
}

char *vt_place_text(const struct vt_process *p, const struct vt_frame *frame, unsigned width) {
    if (!frame)
        return vt_strdup("unknown (no stack)");
    char *file = vt_place_file(p, frame), *function = vt_place_function(frame);
    struct vt_string text = {0};
    if (file) {
        char line[16] = "";
        if (frame->line)
            snprintf(line, sizeof line, ":%u", frame->line);
        unsigned function_columns = function ? vt_place_columns(function) + 4 : 0;
        unsigned line_columns = (unsigned)strlen(line);
        /* the file gives way first, down to about its last part */
        unsigned name_columns = vt_place_columns(vt_basename(file)) + 4 + line_columns;
        unsigned room =
            width > function_columns + line_columns ? width - function_columns - line_columns : 0;
        if (room < name_columns)
            room = name_columns;
        file = cut_start(file, room);
        vt_string_format(&text, "%s%s", file, line);
        if (function)
            vt_string_format(&text, " in %s", function);
    } else if (function && frame->module) {
        vt_string_format(&text, "%s in %s", function, vt_basename(frame->module));
    } else if (frame->module) {
        vt_string_format(&text, "%s+0x%llx", frame->module[0] ? vt_basename(frame->module) : "?",
                         (unsigned long long)frame->offset);
    } else if (function) {
        vt_string_add(&text, function);
    } else {
        vt_string_add(&text, "generated code");
    }
    free(file);
    free(function);
    printable(text.text);
    cut_end(text.text, width);
    return text.text;
}

/* The file may be named relative to the folder the process ran in. */
static FILE *open_source(const struct vt_process *p, const char *file) {
    struct stat st;
    struct vt_string path = {0};
    if (file[0] != '/' && p->cwd)
        vt_string_format(&path, "%s/", p->cwd);
    vt_string_add(&path, file);
    FILE *in = stat(path.text, &st) || !S_ISREG(st.st_mode) ? NULL : fopen(path.text, "re");
    vt_string_free(&path);
    if (in && p->started_at && (uint64_t)st.st_mtim.tv_sec > p->started_at / 1000000000) {
        fclose(in);
        in = NULL;
    }
    return in;
}

char *vt_place_source(const struct vt_process *p, const struct vt_frame *frame, unsigned width) {
    if (!frame || !frame->file || !frame->line || width < 8)
        return NULL;
    FILE *in = open_source(p, frame->file);
    if (!in)
        return NULL;
    char *line = NULL;
    size_t room = 0;
    ssize_t length = -1;
    for (uint32_t i = 0; i < frame->line && (length = getline(&line, &room, in)) >= 0; i++)
        continue;
    fclose(in);
    if (length < 0) {
        free(line);
        return NULL;
    }
    while (length > 0 && strchr(" \t\r\n", line[length - 1]))
        line[--length] = 0;
    char *start = line + strspn(line, " \t");
    memmove(line, start, strlen(start) + 1);
    if (!line[0]) {
        free(line);
        return NULL;
    }
    printable(line);
    cut_end(line, width);
    return line;
}
