/* SPDX-License-Identifier: MIT */
/*
 * Groups the processes of a job that do the same work, and should therefore hold the same memory (see outliers.h).
 *
 * Peers belong to one job or run, have the same command except for the launcher's variations, and are either all ranks
 * or all not. A process and its children are not peers, even though a fork has its parent's command. Helpers that
 * allocated nothing, replaced starts of a rank, and processes whose logs lack events get groups of their own, so that
 * no process is compared with them.
 */
#include "outliers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- the command --- */

/* Whether a number after this word varies by process: `--local_rank=3`, `--port 29501`, `pipe_handle=7`, `cuda:1`. */
static bool varies(const char *word, size_t length) {
    static const char *const names[] = {"rank", "port",  "node", "proc",   "handle",   "fd",
                                        "pid",  "host",  "addr", "worker", "endpoint", "url",
                                        "seed", "index", "gpu",  "shard",  "device",   "cuda"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t at = 0; at + strlen(names[i]) <= length; at++)
            if (!strncasecmp(word + at, names[i], strlen(names[i])))
                return true;
    return false;
}

/* Whether a word is a path below a folder for temporary files, whose names are random. */
static bool temporary(const char *word, size_t length) {
    static const char *const folders[] = {"/tmp/", "/var/tmp/", "/dev/shm/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *found = strstr(word, folders[i]);
        if (found && found < word + length)
            return true;
    }
    return false;
}

static void add_without_numbers(struct vt_string *text, const char *word, size_t length) {
    for (size_t i = 0, start = 0; i < length; start = i) {
        bool digits = isdigit((unsigned char)word[i]);
        while (i < length && !isdigit((unsigned char)word[i]) == !digits)
            i++;
        vt_string_format(text, "%.*s", digits ? 1 : (int)(i - start), digits ? "#" : word + start);
    }
}

/* The command without the launcher's variations, but with the rank. */
static void put_command(struct vt_string *text, const struct vt_job_process *p) {
    const char *word = p->command ? p->command : "";
    bool python_worker = strstr(word, "multiprocessing"), after = false;
    for (size_t length; *word; word += length + strspn(word + length, " ")) {
        length = strcspn(word, " ");
        bool named = varies(word, length);
        vt_string_add(text, " ");
        if (temporary(word, length))
            vt_string_add(text, "/");
        else if (python_worker || named || after)
            add_without_numbers(text, word, length);
        else
            vt_string_format(text, "%.*s", (int)length, word);
        after = named && word[0] == '-' && !memchr(word, '=', length);
    }
}

/* Commands that are equal except for the ranks in them. */
struct command {
    char *text;
    int rank;
    /* in `all`: the previous command that differs only in numbers; VT_MAP_NONE: none */
    uint32_t next;
};

struct commands {
    struct command *all;
    uint32_t count, room;
    struct vt_map texts;   /* hash of a text -> index in `all` */
    struct vt_map numbers; /* hash of a text without numbers -> the last in `all` */
};

static bool is_number(const char *digits, size_t length, int number) {
    uint64_t value = 0;
    for (size_t i = 0; i < length && value <= INT32_MAX; i++)
        value = value * 10 + (uint64_t)(digits[i] - '0');
    return number >= 0 && value == (uint64_t)number;
}

/* Whether two texts differ only in their ranks: "worker 3 8" of rank 3, and "worker 8 8" of rank 8. */
static bool same_but_for_rank(const char *a, int a_rank, const char *b, int b_rank) {
    while (*a && *b) {
        size_t x = strspn(a, "0123456789"), y = strspn(b, "0123456789");
        bool same = x == y && !memcmp(a, b, x);
        if (!same && !(x && y && is_number(a, x, a_rank) && is_number(b, y, b_rank)))
            return false;
        a += x;
        b += y;
        if (!x && *a++ != *b++)
            return false;
    }
    return *a == *b;
}

static uint32_t find_command(const struct commands *c, const char *text, int rank, uint32_t first) {
    enum { TRIED = 64 };
    unsigned tried = 0;
    for (uint32_t i = first; rank >= 0 && i != VT_MAP_NONE && tried < TRIED; i = c->all[i].next) {
        if (same_but_for_rank(c->all[i].text, c->all[i].rank, text, rank))
            return i;
        tried++;
    }
    return VT_MAP_NONE;
}

/* The number of a command; equal for commands that differ only by a launcher's variations. */
static uint32_t command_of(struct commands *c, const struct vt_job_process *p) {
    VT_SCOPED_STRING text = {0}, coarse = {0};
    put_command(&text, p);
    vt_string_add(&text, ""); /* never NULL */
    add_without_numbers(&coarse, text.text, text.length);
    uint64_t exact = vt_hash_bytes(1, text.text, text.length),
             numbers = vt_hash_bytes(p->rank >= 0, coarse.text, coarse.length);
    uint32_t index = vt_map_get(&c->texts, exact);
    if (index == VT_MAP_NONE) {
        uint32_t first = vt_map_get(&c->numbers, numbers);
        index = find_command(c, text.text, p->rank, first);
        if (index == VT_MAP_NONE) {
            index = c->count;
            VT_GROW(c->all, c->count, c->room);
            c->all[c->count++] = (struct command){vt_strdup(text.text), p->rank, first};
            vt_map_put(&c->numbers, numbers, index);
        }
        vt_map_put(&c->texts, exact, index);
    }
    return index;
}

static void commands_free(struct commands *c) {
    for (uint32_t i = 0; i < c->count; i++)
        free(c->all[i].text);
    free(c->all);
    vt_map_free(&c->texts);
    vt_map_free(&c->numbers);
}

/* --- which processes belong together --- */

/* A process's properties as a peer. */
struct traits {
    bool child;    /* a process of the job started it */
    bool empty;    /* a helper that allocated nothing */
    bool replaced; /* the process's rank was restarted */
    bool lacking;  /* see vt_log_lacks_much */
    uint64_t key;  /* equal for all peers */
};

struct peers {
    struct vt_job *f;
    uint32_t *together; /* sets: processes of one run, or started together */
    struct traits *of;
};

static uint64_t pid_key(const struct vt_job_process *p, uint32_t pid) {
    return vt_mix(((uint64_t)p->host << 32 | pid) + 1);
}

static void join_same(struct peers *s, struct vt_map *first, uint64_t key, uint32_t process) {
    uint32_t other = vt_map_get(first, key);
    if (other == VT_MAP_NONE)
        vt_map_put(first, key, process);
    else
        vt_sets_join(s->together, other, process);
}

/* A process, sorted by its parent and its start. */
struct sibling {
    uint64_t parent, start, end;
    uint32_t process;
};

static int compare_siblings(const void *a, const void *b) {
    const struct sibling *x = a, *y = b;
    return VT_ORDER({x->parent, y->parent}, {x->start, y->start}, {x->process, y->process});
}

/* Joins processes of one parent that ran at the same time. Runs that a shell starts one after the other are not
 * peers. */
static void join_siblings(struct peers *s) {
    struct vt_job *f = s->f;
    VT_SCOPED struct sibling *all = vt_alloc(f->process_count, sizeof *all);
    for (uint32_t i = 0; i < f->process_count; i++) {
        const struct vt_job_process *p = &f->processes[i];
        all[i] =
            (struct sibling){pid_key(p, p->ppid), p->started_at, p->started_at + p->duration, i};
    }
    vt_sort(all, f->process_count, sizeof *all, compare_siblings);
    for (uint32_t i = 1; i < f->process_count; i++) {
        struct sibling *a = &all[i - 1], *b = &all[i];
        if (a->parent != b->parent || f->processes[b->process].ppid <= 1 || b->start > a->end)
            continue;
        vt_sets_join(s->together, a->process, b->process);
        b->end = b->end > a->end ? b->end : a->end;
    }
}

static void join_processes(struct peers *s) {
    struct vt_job *f = s->f;
    VT_SCOPED_MAP runs = {0}, pids = {0};
    for (uint32_t i = 0; i < f->process_count; i++) {
        join_same(s, &runs, f->processes[i].run, i);
        vt_map_put(&pids, pid_key(&f->processes[i], f->processes[i].pid), i);
    }
    for (uint32_t i = 0; i < f->process_count; i++) {
        const struct vt_job_process *p = &f->processes[i];
        uint32_t parent = vt_map_get(&pids, pid_key(p, p->ppid));
        s->of[i].child = parent != VT_MAP_NONE && parent != i &&
                         f->processes[parent].started_at <= p->started_at;
    }
    join_siblings(s);
}

/* --- exceptions --- */

/* Whether a process allocated nothing, so that there is nothing to report. */
static bool is_empty(const struct vt_job_process *p) {
    return !p->peak_bytes && !p->cell_count && !p->oom_count && vt_log_is_whole(&p->quality);
}

static uint64_t rank_key(struct peers *s, uint32_t i) {
    return vt_mix(((uint64_t)vt_sets_find(s->together, i) << 32) +
                  (uint32_t)s->f->processes[i].rank + 1);
}

/* A rank that allocated nothing is still a peer of the other ranks, since that may be a finding. A helper beside a
 * rank, with the same number, is not. */
static void find_helpers(struct peers *s) {
    struct vt_job *f = s->f;
    VT_SCOPED_MAP workers = {0}; /* ranks with a process that allocated */
    for (uint32_t i = 0; i < f->process_count; i++)
        if (f->processes[i].rank >= 0 && !is_empty(&f->processes[i]))
            vt_map_put(&workers, rank_key(s, i), i);
    for (uint32_t i = 0; i < f->process_count; i++) {
        const struct vt_job_process *p = &f->processes[i];
        s->of[i].empty = is_empty(p) && (p->rank < 0 || s->of[i].child ||
                                         vt_map_get(&workers, rank_key(s, i)) != VT_MAP_NONE);
        s->of[i].replaced = p->next_start != VT_JOB_NONE;
        s->of[i].lacking = vt_log_lacks_much(&p->quality, p->events);
    }
}

/* --- groups --- */

/* Ranks of a job whose runs were started separately (one per host) are peers if no rank number occurs twice;
 * otherwise each run has its own peers. */
static void make_keys(struct peers *s) {
    struct vt_job *f = s->f;
    VT_SCOPED_MAP ranks = {0}, split = {0};
    struct commands commands = {0};
    for (uint32_t i = 0; i < f->process_count; i++) {
        const struct vt_job_process *p = &f->processes[i];
        const char *job = p->job;
        uint64_t key = vt_mix(command_of(&commands, p) + 1);
        key = vt_mix(key + s->of[i].child + s->of[i].empty * 2u + s->of[i].replaced * 4u +
                     (p->rank >= 0) * 8u + s->of[i].lacking * 16u);
        s->of[i].key = job ? vt_hash_bytes(key, job, strlen(job)) : key;
        if (p->rank < 0)
            continue;
        uint64_t number = vt_mix(s->of[i].key + (uint32_t)p->rank);
        uint32_t other = vt_map_get(&ranks, number);
        if (other == VT_MAP_NONE)
            vt_map_put(&ranks, number, i);
        else if (vt_sets_find(s->together, other) != vt_sets_find(s->together, i))
            vt_map_put(&split, s->of[i].key, 1);
    }
    for (uint32_t i = 0; i < f->process_count; i++)
        if (f->processes[i].rank < 0 || vt_map_get(&split, s->of[i].key) != VT_MAP_NONE)
            s->of[i].key = vt_mix(s->of[i].key + vt_sets_find(s->together, i) + 1);
    commands_free(&commands);
}

static void make_groups(struct peers *s) {
    struct vt_job *f = s->f;
    VT_SCOPED_MAP groups = {0};
    VT_SCOPED uint32_t *group = vt_alloc(f->process_count, sizeof *group);
    f->peers = vt_alloc(f->process_count, sizeof *f->peers);
    for (uint32_t i = 0; i < f->process_count; i++) {
        group[i] = vt_map_get(&groups, s->of[i].key);
        if (group[i] == VT_MAP_NONE) {
            group[i] = f->peers_count++;
            vt_map_put(&groups, s->of[i].key, group[i]);
            f->peers[group[i]].empty = s->of[i].empty;
            f->peers[group[i]].replaced = s->of[i].replaced;
            f->peers[group[i]].lacking = s->of[i].lacking;
        }
        f->peers[group[i]].process_count++;
    }
    for (uint32_t i = 0; i < f->peers_count; i++) {
        struct vt_job_peers *peers = &f->peers[i];
        peers->processes = vt_alloc(peers->process_count, sizeof *peers->processes);
        peers->process_count = 0;
    }
    for (uint32_t i = 0; i < f->process_count; i++) {
        struct vt_job_peers *peers = &f->peers[group[i]];
        peers->processes[peers->process_count++] = i;
    }
}

void vt_job_find_peers(struct vt_job *f) {
    VT_SCOPED uint32_t *together = vt_sets_make(f->process_count);
    VT_SCOPED struct traits *traits = vt_alloc(f->process_count, sizeof *traits);
    struct peers s = {f, together, traits};
    join_processes(&s);
    find_helpers(&s);
    make_keys(&s);
    make_groups(&s);
}
