/* SPDX-License-Identifier: MIT */
/*
 * Baseline files (see baseline.h).
 */
#define _GNU_SOURCE
#include "baseline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = "vramtrace-baseline ";

struct vt_baseline_entry *vt_baseline_find(const struct vt_baseline *b, uint64_t hash) {
    uint32_t at = vt_map_get(&b->by_hash, hash);
    return at == VT_MAP_NONE ? NULL : &b->entries[at];
}

static struct vt_baseline_entry *append_entry(struct vt_baseline *b) {
    VT_GROW(b->entries, b->count, b->room);
    b->entries[b->count] = (struct vt_baseline_entry){0};
    return &b->entries[b->count++];
}

/* --- reading --- */

struct reader {
    const char *path;
    uint32_t line;
    struct vt_baseline *baseline;
    struct vt_baseline_entry *open; /* the entry whose frames come next; NULL: none */
    uint32_t frame_room;
    struct vt_string *message;
};

static int wrong(struct reader *r, const char *expected, const char *found) {
    vt_string_format(r->message, "%s:%u: expected %s, found '%.60s'", r->path, r->line, expected,
                     found);
    return -EINVAL;
}

/* Completes the open entry. */
static int finish(struct reader *r) {
    struct vt_baseline_entry *e = r->open;
    r->open = NULL;
    if (!e)
        return 0;
    if (!e->key.count) {
        vt_string_format(r->message,
                         "%s:%u: expected the leak's call stack on indented lines below, found "
                         "none",
                         r->path, e->line);
        return -EINVAL;
    }
    e->key.hash = vt_stack_key_hash(e->key.call, e->key.frames, e->key.count);
    const struct vt_baseline_entry *same = vt_baseline_find(r->baseline, e->key.hash);
    if (same) {
        vt_string_format(r->message, "%s:%u: expected each leak once, found that of line %u again",
                         r->path, e->line, same->line);
        return -EINVAL;
    }
    vt_map_put(&r->baseline->by_hash, e->key.hash, (uint32_t)(e - r->baseline->entries));
    return 0;
}

static const char *read_number(const char *at, uint64_t *number) {
    char *end;
    errno = 0;
    *number = *at >= '0' && *at <= '9' ? strtoull(at, &end, 10) : 0;
    return *at >= '0' && *at <= '9' && !errno ? end : NULL;
}

static int read_first(struct reader *r, const char *line) {
    uint64_t version;
    const char *end =
        strncmp(line, magic, strlen(magic)) ? NULL : read_number(line + strlen(magic), &version);
    if (!end || *end || !version)
        return wrong(r, "'vramtrace-baseline 1'", line);
    if (version <= VT_BASELINE_VERSION)
        return 0;
    vt_string_format(r->message,
                     "%s:1: a baseline of version %" PRIu64
                     "; this vramtrace reads version %u: use the newer vramtrace, or rewrite it "
                     "with --write-baseline",
                     r->path, version, VT_BASELINE_VERSION);
    return -EINVAL;
}

/* "leak LAYER API: N bytes in N blocks" */
static int read_leak(struct reader *r, const char *line) {
    static const char expected[] = "'leak LAYER API: N bytes in N blocks'";
    const char *call = line + strlen("leak "), *colon = strstr(call, ": "), *at;
    uint64_t bytes, blocks;
    if (!colon || colon == call || !(at = read_number(colon + 2, &bytes)) ||
        strncmp(at, " bytes in ", 10) || !(at = read_number(at + 10, &blocks)) ||
        strcmp(at, " blocks"))
        return wrong(r, expected, line);
    r->open = append_entry(r->baseline);
    r->frame_room = 0;
    r->open->key.call = vt_strndup(call, (size_t)(colon - call));
    r->open->bytes = bytes;
    r->open->blocks = blocks;
    r->open->line = r->line;
    return 0;
}

static int read_line(struct reader *r, char *line, size_t length) {
    if (memchr(line, 0, length)) {
        vt_string_format(r->message, "%s:%u: expected text, found a zero byte", r->path, r->line);
        return -EINVAL;
    }
    while (length && strchr(" \t\r\n", line[length - 1]))
        line[--length] = 0;
    if (r->line == 1)
        return read_first(r, line);
    if (!*line || *line == '#')
        return finish(r);
    if (!strncmp(line, "  ", 2) && r->open) {
        struct vt_stack_key *key = &r->open->key;
        VT_GROW(key->frames, key->count, r->frame_room);
        key->frames[key->count++] = vt_strdup(line + 2);
        return 0;
    }
    if (strncmp(line, "leak ", 5))
        return wrong(r, r->open ? "an indented frame, or 'leak ...'" : "'leak ...'", line);
    int error = finish(r);
    return error ? error : read_leak(r, line);
}

int vt_baseline_read(const char *path, struct vt_baseline *baseline, struct vt_string *message) {
    struct reader r = {.path = path, .baseline = baseline, .message = message};
    VT_SCOPED char *line = NULL;
    size_t room = 0;
    int error = 0;
    *baseline = (struct vt_baseline){0};
    const char *why;
    FILE *file = vt_file_stream_given(path, &why);
    if (!file) {
        error = -errno;
        vt_string_format(message, "baseline: %s: %s", path, why);
        if (error == -ENOENT)
            vt_string_add(message, "; --write-baseline makes one");
        return error;
    }
    baseline->path = vt_strdup(path);
    errno = 0;
    for (ssize_t length; !error && (length = getline(&line, &room, file)) > 0;) {
        r.line++;
        error = read_line(&r, line, (size_t)length);
    }
    if (!error && ferror(file)) {
        error = errno ? -errno : -EIO;
        vt_string_format(message, "baseline: %s: %s", path, strerror(-error));
    } else if (!error && !r.line) {
        vt_string_format(message, "%s:1: expected 'vramtrace-baseline 1', found an empty file",
                         path);
        error = -EINVAL;
    } else if (!error) {
        error = finish(&r);
    }
    fclose(file);
    if (error)
        vt_baseline_free(baseline);
    return error;
}

/* --- writing --- */

void vt_baseline_raise(struct vt_baseline *b, struct vt_stack_key *key, uint64_t bytes,
                       uint64_t blocks) {
    struct vt_baseline_entry *e = vt_baseline_find(b, key->hash);
    if (e) {
        vt_stack_key_free(key);
    } else {
        vt_map_put(&b->by_hash, key->hash, b->count);
        e = append_entry(b);
        e->key = *key;
        *key = (struct vt_stack_key){0};
    }
    if (e->bytes < bytes)
        e->bytes = bytes;
    if (e->blocks < blocks)
        e->blocks = blocks;
}

/* Sorts by name, not by size, so that a leak that grew keeps its position in a diff. */
static int by_name(const void *a, const void *b) {
    const struct vt_stack_key *x = &((const struct vt_baseline_entry *)a)->key;
    const struct vt_stack_key *y = &((const struct vt_baseline_entry *)b)->key;
    for (uint32_t i = 0; i < x->count && i < y->count; i++) {
        int order = strcmp(x->frames[i], y->frames[i]);
        if (order)
            return order;
    }
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return strcmp(x->call, y->call);
}

static void write_to(const struct vt_baseline *b, FILE *out) {
    fprintf(
        out,
        "%s%u\n"
        "# Leaks that 'vramtrace check --baseline' accepts while no process holds more of them.\n"
        "# Written by --write-baseline. Delete an entry when its leak is fixed.\n",
        magic, VT_BASELINE_VERSION);
    for (uint32_t i = 0; i < b->count; i++) {
        const struct vt_baseline_entry *e = &b->entries[i];
        fprintf(out, "\nleak %s: %" PRIu64 " bytes in %" PRIu64 " blocks\n", e->key.call, e->bytes,
                e->blocks);
        for (uint32_t j = 0; j < e->key.count; j++)
            fprintf(out, "  %s\n", e->key.frames[j]);
    }
}

int vt_baseline_write(struct vt_baseline *b, const char *path, struct vt_string *message) {
    vt_sort(b->entries, b->count, sizeof *b->entries, by_name);
    vt_map_free(&b->by_hash); /* the sort moved the entries */
    for (uint32_t i = 0; i < b->count; i++)
        vt_map_put(&b->by_hash, b->entries[i].key.hash, i);
    struct vt_new_file file;
    int error = vt_new_file_open(&file, path, VT_NEW_FILE_GIVEN, 0666);
    const char *why = file.why;
    if (!error) {
        write_to(b, file.out);
        error = vt_new_file_close(&file, 0);
        why = strerror(-error);
    }
    if (error)
        vt_string_format(message, "baseline: cannot write %s: %s", path, why);
    return error;
}

void vt_baseline_free(struct vt_baseline *b) {
    for (uint32_t i = 0; i < b->count; i++)
        vt_stack_key_free(&b->entries[i].key);
    free(b->entries);
    free(b->path);
    vt_map_free(&b->by_hash);
    *b = (struct vt_baseline){0};
}
