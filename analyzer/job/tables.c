/* SPDX-License-Identifier: MIT */
/*
 * The tables of a job (see tables.h).
 */
#include "tables.h"

#include "job.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A process's data until the job is finished. */
struct life {
    bool dropped;
    uint32_t before; /* the process that it replaced; VT_JOB_NONE: none */
};

struct vt_job_memory {
    struct vt_map texts; /* text hash (or the next free key) -> index in `strings` */
    char **strings;
    size_t string_count, string_room;
    struct vt_map lines, owners, hosts, processes; /* by key, or id -> index */
    struct life *lives;                            /* by process */
    size_t line_room, owner_room, host_room, process_room, rooms[VT_ROW_KINDS];
};

enum { UNREAD_KEPT = 8 };

struct vt_job *vt_job_open(void) {
    struct vt_job *job = vt_alloc(1, sizeof *job);
    job->memory = vt_alloc(1, sizeof *job->memory);
    return job;
}

void vt_job_free(struct vt_job *f) {
    if (!f)
        return;
    struct vt_job_memory *m = f->memory;
    for (size_t i = 0; i < f->device_count; i++)
        free(f->devices[i].levels.bytes);
    for (uint32_t i = 0; i < f->peers_count; i++)
        free(f->peers[i].processes);
    for (uint32_t i = 0; i < f->outlier_count; i++) {
        free(f->outliers[i].processes);
        free(f->outliers[i].differences);
    }
    for (uint32_t i = 0; i < f->unread_count && i < UNREAD_KEPT; i++)
        free(f->unread[i]);
    for (size_t i = 0; i < m->string_count; i++)
        free(m->strings[i]);
    vt_map_free(&m->texts);
    vt_map_free(&m->lines);
    vt_map_free(&m->owners);
    vt_map_free(&m->hosts);
    vt_map_free(&m->processes);
    free(m->strings);
    free(m->lives);
    free(m);
    free(f->hosts);
    free(f->processes);
    free(f->devices);
    free(f->lines);
    free(f->cells);
    free(f->owners);
    free(f->owned);
    free(f->leaks);
    free(f->ooms);
    free(f->peers);
    free(f->outliers);
    free(f->shown);
    free(f->unread);
    free(f);
}

const char *vt_job_text(struct vt_job *f, const char *text) {
    struct vt_job_memory *m = f->memory;
    if (!text)
        return NULL;
    VT_SCOPED_STRING clean = {0};
    vt_string_add_utf8(&clean, text);
    const char *wanted = clean.text ? clean.text : "";
    uint64_t key = vt_hash_bytes(0, wanted, strlen(wanted));
    uint32_t index;
    while ((index = vt_map_get(&m->texts, key)) != VT_MAP_NONE && strcmp(m->strings[index], wanted))
        key++;
    if (index == VT_MAP_NONE) {
        index = (uint32_t)m->string_count;
        vt_map_put(&m->texts, key, index);
        VT_GROW(m->strings, m->string_count, m->string_room);
        m->strings[m->string_count++] = vt_strdup(wanted);
    }
    return m->strings[index];
}

static uint64_t add_to_key(uint64_t key, const char *text) {
    return text ? vt_hash_bytes(key + 1, text, strlen(text)) : vt_mix(key);
}

/* The order of lists of texts; NULL comes first. */
static int compare_texts(const char *const *a, const char *const *b, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int order = a[i] && b[i] ? strcmp(a[i], b[i]) : (a[i] != NULL) - (b[i] != NULL);
        if (order)
            return order;
    }
    return 0;
}

uint32_t vt_job_add_line(struct vt_job *f, struct vt_job_line line) {
    struct vt_job_memory *m = f->memory;
    const char **const texts[] = {&line.text, &line.function, &line.file, &line.module, &line.api};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = vt_job_text(f, *texts[i]);
    struct vt_frame frame = {.function = line.function,
                             .file = line.file,
                             .module = line.module,
                             .python = !line.module};
    line.key = vt_frame_line(&frame, VT_LINE_NAMED) + line.line * 8ull + line.recycled * 4ull +
               line.segments * 2ull + line.rest;
    line.key = add_to_key(line.key, vt_layer_names[line.layer]);
    /* if the line is unknown, as in a library without symbols, the text contains the offset */
    line.key = add_to_key(line.key, line.file ? NULL : line.text);
    uint32_t index = vt_map_get(&m->lines, line.key);
    if (index != VT_MAP_NONE) {
        struct vt_job_line *known = &f->lines[index];
        const char *const ours[] = {line.text, line.module, line.api};
        const char *const theirs[] = {known->text, known->module, known->api};
        if (compare_texts(ours, theirs, 3) < 0)
            *known = line;
        return index;
    }
    vt_map_put(&m->lines, line.key, f->line_count);
    VT_GROW(f->lines, f->line_count, m->line_room);
    f->lines[f->line_count] = line;
    return f->line_count++;
}

uint32_t vt_job_add_owner(struct vt_job *f, struct vt_job_owner owner) {
    struct vt_job_memory *m = f->memory;
    const char **const texts[] = {&owner.text,     &owner.name, &owner.root,   &owner.module,
                                  &owner.function, &owner.file, &owner.purpose};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = vt_job_text(f, *texts[i]);
    owner.key = add_to_key(owner.rest * 2ull + owner.unowned, owner.text);
    owner.key = add_to_key(owner.key, owner.purpose);
    uint32_t index = vt_map_get(&m->owners, owner.key);
    if (index != VT_MAP_NONE) {
        struct vt_job_owner *known = &f->owners[index];
        const char *const ours[] = {owner.name, owner.root, owner.module, owner.function,
                                    owner.file};
        const char *const theirs[] = {known->name, known->root, known->module, known->function,
                                      known->file};
        int order = compare_texts(ours, theirs, 5);
        if (order < 0 || (!order && owner.line < known->line))
            *known = owner;
        return index;
    }
    vt_map_put(&m->owners, owner.key, f->owner_count);
    VT_GROW(f->owners, f->owner_count, m->owner_room);
    f->owners[f->owner_count] = owner;
    return f->owner_count++;
}

uint32_t vt_job_add_host(struct vt_job *f, const char *name, const char *boot) {
    struct vt_job_memory *m = f->memory;
    uint64_t key = add_to_key(add_to_key(0, name), boot);
    uint32_t index = vt_map_get(&m->hosts, key);
    if (index != VT_MAP_NONE)
        return index;
    vt_map_put(&m->hosts, key, f->host_count);
    VT_GROW(f->hosts, f->host_count, m->host_room);
    f->hosts[f->host_count] =
        (struct vt_job_host){.name = vt_job_text(f, name), .boot = vt_job_text(f, boot)};
    return f->host_count++;
}

/* Whether `a` has more data than `b` for the same process. The last comparisons make the result independent of the
 * order of reading. */
static bool is_more_complete(const struct vt_job_process *a, const struct vt_job_process *b) {
    const char *const ours[] = {vt_basename(a->log)}, *const theirs[] = {vt_basename(b->log)};
    int order = VT_ORDER({a->events, b->events}, {a->duration, b->duration},
                         {a->quality.complete, b->quality.complete}, {a->live_bytes, b->live_bytes},
                         {a->peak_bytes, b->peak_bytes}, {a->leaked_bytes, b->leaked_bytes});
    return order ? order > 0 : compare_texts(ours, theirs, 1) < 0;
}

bool vt_job_add_process(struct vt_job *f, struct vt_job_process process) {
    struct vt_job_memory *m = f->memory;
    const char **const texts[] = {&process.log,    &process.run_id,  &process.job,
                                  &process.launch, &process.command, &process.version,
                                  &process.program};
    uint32_t before = vt_map_get(&m->processes, process.id);
    if (before != VT_MAP_NONE) {
        if (!is_more_complete(&process, &f->processes[before]))
            return false;
        m->lives[before].dropped = true;
    }
    vt_map_put(&m->processes, process.id, f->process_count);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = vt_job_text(f, *texts[i]);
    size_t room = m->process_room;
    VT_GROW(f->processes, f->process_count, m->process_room);
    if (room != m->process_room)
        m->lives = vt_realloc(m->lives, m->process_room, sizeof *m->lives);
    m->lives[f->process_count] = (struct life){.before = before};
    f->processes[f->process_count++] = process;
    return true;
}
static_assert(VT_MAP_NONE == VT_JOB_NONE, "a process that replaced no other");

/* --- the rows of processes --- */

/* An array of rows in vt_job. A row begins with the index of its process. The process stores its first row and their
 * count. */
struct array {
    size_t items, count, size, first, number;
    size_t texts[4]; /* offsets of the texts in a row; 0: no more */
};

#define ARRAY(items, count, first, number, ...)                                                    \
    {                                                                                              \
        offsetof(struct vt_job, items), offsetof(struct vt_job, count),                            \
            sizeof *(struct vt_job){0}.items, offsetof(struct vt_job_process, first),              \
            offsetof(struct vt_job_process, number), {                                             \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
static const struct array arrays[VT_ROW_KINDS] = {
    [VT_DEVICE_ROWS] =
        ARRAY(devices, device_count, first_device, device_count,
              offsetof(struct vt_job_device, uuid), offsetof(struct vt_job_device, name)),
    [VT_CELL_ROWS] =
        ARRAY(cells, cell_count, first_cell, cell_count, offsetof(struct vt_job_cell, caller)),
    [VT_OWNED_ROWS] = ARRAY(owned, owned_count, first_owned, owned_count, 0),
    [VT_LEAK_ROWS] = ARRAY(leaks, leak_count, first_leak, leak_rows,
                           offsetof(struct vt_job_leak, per), offsetof(struct vt_job_leak, kept_by),
                           offsetof(struct vt_job_leak, why), offsetof(struct vt_job_leak, caller)),
    [VT_OOM_ROWS] = ARRAY(ooms, oom_count, first_oom, oom_rows, offsetof(struct vt_job_oom, why),
                          offsetof(struct vt_job_oom, caller)),
};
#undef ARRAY

static char *rows_of(const struct vt_job *f, const struct array *a) {
    char *rows;
    memcpy(&rows, (const char *)f + a->items, sizeof rows);
    return rows;
}

static size_t *count_of(struct vt_job *f, const struct array *a) {
    return (size_t *)((char *)f + a->count);
}

static uint32_t *process_of(char *row) {
    return (uint32_t *)row;
}

static void set_rows(struct vt_job_process *p, const struct array *a, size_t first, size_t end) {
    *(uint32_t *)((char *)p + a->first) = (uint32_t)first;
    *(uint32_t *)((char *)p + a->number) = (uint32_t)(end - first);
}

void *vt_job_add_row(struct vt_job *f, enum vt_job_rows kind, const void *row) {
    const struct array *a = &arrays[kind];
    char *rows = rows_of(f, a);
    size_t *count = count_of(f, a), *room = &f->memory->rooms[kind];
    if (*count == *room) {
        *room = *room ? *room * 2 : 16;
        rows = vt_realloc(rows, *room, a->size);
        memcpy((char *)f + a->items, &rows, sizeof rows);
    }
    char *added = memcpy(rows + (*count)++ * a->size, row, a->size);
    *process_of(added) = f->process_count - 1;
    for (size_t i = 0; i < sizeof a->texts / sizeof *a->texts && a->texts[i]; i++) {
        const char **text = (const char **)(added + a->texts[i]);
        *text = vt_job_text(f, *text);
    }
    return added;
}

static void move_rows(struct vt_job *f, const struct array *a, const uint32_t *places) {
    char *rows = rows_of(f, a);
    size_t *count = count_of(f, a);
    VT_SCOPED size_t *next = vt_alloc(f->process_count + 1, sizeof *next);
    VT_SCOPED char *moved = vt_alloc(*count, a->size);
    for (size_t i = 0; i < *count; i++) {
        uint32_t place = places[*process_of(rows + i * a->size)];
        if (place != VT_JOB_NONE)
            next[place + 1]++;
    }
    for (uint32_t i = 0; i < f->process_count; i++) {
        next[i + 1] += next[i];
        set_rows(&f->processes[i], a, next[i], next[i + 1]);
    }
    size_t kept = next[f->process_count];
    for (size_t i = 0; i < *count; i++) {
        uint32_t *process = process_of(rows + i * a->size), place = places[*process];
        *process = place;
        if (place != VT_JOB_NONE)
            memcpy(moved + next[place]++ * a->size, process, a->size);
    }
    if (kept)
        memcpy(rows, moved, kept * a->size);
    *count = kept;
}

void vt_job_move_rows(struct vt_job *f, const uint32_t *places) {
    for (size_t i = 0; i < f->device_count; i++)
        if (places[f->devices[i].process] == VT_JOB_NONE)
            free(f->devices[i].levels.bytes);
    for (size_t i = 0; i < VT_ROW_KINDS; i++)
        move_rows(f, &arrays[i], places);
}

void vt_job_remove_from(struct vt_job *f, uint32_t first) {
    struct vt_job_memory *m = f->memory;
    for (; f->process_count > first; f->process_count--) {
        uint32_t last = f->process_count - 1, before = m->lives[last].before;
        if (before == VT_JOB_NONE) {
            vt_map_remove(&m->processes, f->processes[last].id);
        } else {
            m->lives[before].dropped = false;
            vt_map_put(&m->processes, f->processes[last].id, before);
        }
    }
    for (size_t i = 0; i < VT_ROW_KINDS; i++) {
        const struct array *a = &arrays[i];
        char *rows = rows_of(f, a);
        size_t *count = count_of(f, a);
        while (*count && *process_of(rows + (*count - 1) * a->size) >= first) {
            *count -= 1;
            if (a->items == offsetof(struct vt_job, devices))
                free(f->devices[*count].levels.bytes);
        }
    }
}

void vt_job_remove_dropped(struct vt_job *f) {
    VT_SCOPED uint32_t *places = vt_alloc(f->process_count, sizeof *places);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->process_count; i++) {
        places[i] = f->memory->lives[i].dropped ? VT_JOB_NONE : kept;
        if (places[i] != VT_JOB_NONE)
            f->processes[kept++] = f->processes[i];
    }
    f->process_count = kept;
    vt_job_move_rows(f, places);
}

struct vt_levels vt_job_levels(const struct vt_levels *levels) {
    struct vt_levels copy = *levels;
    copy.bytes = vt_alloc(levels->count, sizeof *copy.bytes);
    if (levels->count)
        memcpy(copy.bytes, levels->bytes, levels->count * sizeof *copy.bytes);
    return copy;
}

int vt_job_compare_cells(const struct vt_job_cell *x, uint64_t x_key, const struct vt_job_cell *y,
                         uint64_t y_key) {
    return VT_ORDER({y->peak_bytes, x->peak_bytes}, {y->allocated_bytes, x->allocated_bytes},
                    {x_key, y_key}, {x->device, y->device});
}

void vt_job_add_unread(struct vt_job *f, const char *why) {
    if (f->unread_count < UNREAD_KEPT) {
        f->unread = vt_realloc(f->unread, f->unread_count + 1, sizeof *f->unread);
        f->unread[f->unread_count] = vt_strdup(why);
    }
    f->unread_count++;
}
