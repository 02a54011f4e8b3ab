/* SPDX-License-Identifier: MIT */
/*
 * Does a copy of this process fit into memory? The program continues to write, so in the worst case each of its own
 * pages exists twice; pinned pages are copied at once (Linux 5.9). If memory then runs short, the kernel kills the
 * program, or its whole container. So a copy is made only if all of that fits, with a margin for concurrent
 * allocations, into the limit of each control group (of both versions) around the process. It must also fit into the
 * machine's memory, because a container's parent groups may not be visible from inside.
 *
 * Called by snapshot.c before a copy is made, and by copy_guard.c in the copy.
 */
#define _GNU_SOURCE
#include "room.h"
#include "memory/memory.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define KIB          1024u
#define MIB          ((uint64_t)1 << 20)
#define NONE         ((uint64_t)1 << 60) /* version 1's "no limit" is near 2^63 */
/* The margin kept below a limit: memory that threads may allocate before the watcher notices. */
#define MARGIN_SHARE 8u
#define MARGIN_LEAST (64 * MIB)
#define MARGIN_MOST  (1024 * MIB)

/* index in vt_room.groups: memory by version 1 and by version 2, and version 1's tasks */
enum { FIRST, SECOND, TASKS };

/* Static: only one snapshot begins at a time, and a copy of the process has its own. */
static struct vt_maps file;
static char path[VT_ROOM_PATH + 64];

/* --- files of "key number" lines --- */

static const char *joined(const char *a, const char *b, const char *c) {
    size_t n = strlen(a), m = strlen(b), k = strlen(c);
    if (n + m + k >= sizeof path)
        return ""; /* no file has this name */
    memcpy(path, a, n);
    memcpy(path + n, b, m);
    memcpy(path + n + m, c, k + 1);
    return path;
}

static uint64_t number_at(const char *at) {
    uint64_t n = 0;
    while (*at == ' ' || *at == '\t' || *at == ':')
        at++;
    if (*at < '0' || *at > '9')
        return UINT64_MAX;
    for (; *at >= '0' && *at <= '9'; at++)
        n = n < NONE ? n * 10 + (uint64_t)(*at - '0') : n;
    return n;
}

/* Reads the numbers after these keys, each at the start of a line; UINT64_MAX: no such line. */
static void read_keys(const char *name, const char *const *keys, uint64_t *values, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        values[i] = UINT64_MAX;
    if (!vt_maps_open_file(&file, name))
        return;
    for (const char *line; (line = vt_maps_line(&file));)
        for (unsigned i = 0; i < count; i++) {
            size_t n = strlen(keys[i]);
            if (values[i] == UINT64_MAX && strncmp(line, keys[i], n) == 0 &&
                (!n || line[n] == ' ' || line[n] == ':'))
                values[i] = number_at(line + n);
        }
    vt_maps_close(&file);
}

static uint64_t read_number(const char *folder, const char *name) {
    static const char *const whole[] = {""};
    uint64_t value;
    read_keys(joined(folder, "/", name), whole, &value, 1);
    return value;
}

/* --- finding the limits --- */

/* Whether a list of controllers or options, such as "cpu,memory", contains this name. */
static bool has_word(const char *list, const char *name) {
    for (size_t n;; list += n + 1) {
        n = strcspn(list, ",: ");
        if (n == strlen(name) && memcmp(list, name, n) == 0)
            return true;
        if (list[n] != ',')
            return false;
    }
}

/* Stores the names of this process's groups, from lines "NUMBER:CONTROLLERS:PATH"; version 2 has no controllers. */
static bool read_names(struct vt_room *room) {
    if (!vt_maps_open_file(&file, joined(room->root, "/proc/self/cgroup", "")))
        return false;
    for (const char *line; (line = vt_maps_line(&file));) {
        const char *list = strchr(line, ':'), *name = list ? strchr(list + 1, ':') : NULL;
        if (!name || strlen(name) > VT_ROOM_PATH)
            continue;
        if (name == list + 1 || has_word(list + 1, "memory"))
            strcpy(room->groups[name == list + 1].folder, name + 1);
        if (has_word(list + 1, "pids"))
            strcpy(room->groups[TASKS].folder, name + 1);
    }
    vt_maps_close(&file);
    return true;
}

static const char *field_behind(const char *line, unsigned skipped) {
    for (; skipped && line; skipped--)
        line = (line = strchr(line, ' ')) ? line + 1 : NULL;
    return line ? line : "";
}

/* A line is "ID PARENT DEVICE TOP POINT OPTIONS [TAGS] - TYPE SOURCE OPTIONS". The mount shows the groups below TOP. A
 * group elsewhere, or with ".." in its name, is outside of this namespace: then only the mount itself is visible. */
static void read_mount(struct vt_room *room, const char *line, unsigned which) {
    static const char *const controllers[] = {"memory", "", "pids"};
    const char *type = strstr(line, " - cgroup"), *top = field_behind(line, 3),
               *point = field_behind(line, 4);
    bool second = type && type[9] == '2';
    struct vt_room_group *group = &room->groups[which];
    if (!type || !group->folder[0] || group->mount || second != (which == SECOND) ||
        !(second || has_word(field_behind(type + 3, 2), controllers[which])))
        return;
    size_t above = strcspn(top, " "), before = strlen(room->root), length = strcspn(point, " ");
    above -= above == 1; /* "/" */
    const char *below = group->folder + above;
    if (strncmp(group->folder, top, above) != 0 || (*below && *below != '/') ||
        strstr(group->folder, "/..") || strcmp(below, "/") == 0)
        below = "";
    if (before + length + strlen(below) >= VT_ROOM_PATH)
        return;
    memmove(group->folder + before + length, below, strlen(below) + 1);
    memcpy(group->folder, room->root, before);
    memcpy(group->folder + before, point, length);
    group->mount = before + length;
}

bool vt_room_find(struct vt_room *room, const char *root) {
    *room = (struct vt_room){.root = root};
    if (!read_names(room) || !vt_maps_open_file(&file, joined(root, "/proc/self/mountinfo", "")))
        return false;
    for (const char *line; (line = vt_maps_line(&file));)
        for (unsigned i = 0; i < 3; i++)
            read_mount(room, line, i);
    vt_maps_close(&file);
    bool known = true;
    for (unsigned i = 0; i < 3; i++) {
        struct vt_room_group *group = &room->groups[i];
        /* A group that is not mounted has an invisible limit. Only one version limits memory; if that is version 1,
         * version 2's group, which a container may not see, has no limit. */
        known &= group->mount || !group->folder[0] || !group->folder[1] ||
                 (i && room->groups[FIRST].mount) || i == TASKS;
        if (!group->mount)
            group->folder[0] = 0;
    }
    return known;
}

/* --- the remainders --- */

static uint64_t left_of(const struct vt_room *room, uint64_t limit, uint64_t free) {
    uint64_t margin = limit / MARGIN_SHARE;
    margin = margin < MARGIN_LEAST ? MARGIN_LEAST : margin > MARGIN_MOST ? MARGIN_MOST : margin;
    if (room->waits)
        margin = 0;
    return free > margin ? free - margin : 0;
}

/* Unused cached pages of files, which the kernel drops when necessary. */
static uint64_t idle_bytes(const char *folder, bool second) {
    static const char *const keys[2] = {"total_inactive_file", "inactive_file"};
    uint64_t bytes;
    read_keys(joined(folder, "/memory.stat", ""), &keys[second], &bytes, 1);
    return bytes < NONE ? bytes : 0;
}

static uint64_t left_in(const struct vt_room *room, const char *folder, bool second,
                        uint64_t enough) {
    static const struct {
        const char *limit, *usage;
    } files[2][2] = {{{"memory.limit_in_bytes", "memory.usage_in_bytes"},
                      {"memory.memsw.limit_in_bytes", "memory.memsw.usage_in_bytes"}},
                     {{"memory.max", "memory.current"}, {"memory.high", "memory.current"}}};
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < 2; i++) {
        uint64_t limit = read_number(folder, files[second][i].limit), used, left;
        if (limit >= NONE)
            continue;
        used = read_number(folder, files[second][i].usage);
        left = left_of(room, limit, limit > used ? limit - used : 0);
        if (left < enough && used < NONE) {
            uint64_t idle = idle_bytes(folder, second);
            used -= idle < used ? idle : used;
            left = left_of(room, limit, limit > used ? limit - used : 0);
        }
        least = left < least ? left : least;
    }
    return least;
}

static uint64_t tasks_in(const char *folder) {
    uint64_t limit = read_number(folder, "pids.max"),
             used = limit < NONE ? read_number(folder, "pids.current") : 0;
    return limit >= NONE ? UINT64_MAX : limit > used ? limit - used : 0;
}

/* The smallest remainder (memory or tasks) in a group and the groups above it. */
static uint64_t least_above(const struct vt_room *room, unsigned which, bool tasks,
                            uint64_t enough) {
    static char folder[VT_ROOM_PATH];
    const struct vt_room_group *group = &room->groups[which];
    uint64_t least = UINT64_MAX;
    strcpy(folder, group->folder);
    while (folder[0]) {
        uint64_t left = tasks ? tasks_in(folder) : left_in(room, folder, which == SECOND, enough);
        least = left < least ? left : least;
        if (strlen(folder) <= group->mount)
            break;
        *strrchr(folder, '/') = 0;
    }
    return least;
}

static uint64_t lesser(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

uint64_t vt_room_left(const struct vt_room *room, uint64_t enough) {
    static const char *const keys[] = {"MemTotal", "MemAvailable"};
    uint64_t memory[2];
    read_keys(joined(room->root, "/proc/meminfo", ""), keys, memory, 2);
    if (memory[0] >= NONE || memory[1] >= NONE)
        return 0;
    uint64_t least = left_of(room, memory[0] * KIB, memory[1] * KIB);
    least = lesser(least, least_above(room, FIRST, false, enough));
    return lesser(least, least_above(room, SECOND, false, enough));
}

#define USERS_INITIAL  0xEFFFFFFDu /* inode of the first user namespace */
#define PROCESSES_MOST 2048u       /* processes to examine for their users: max */

enum { UID, THREADS, STATUS };

static void read_status(const char *name, uint64_t *of) {
    static const char *const keys[STATUS] = {"Uid", "Threads"};
    read_keys(name, keys, of, STATUS);
}

/* Whether the kernel lets the process exceed RLIMIT_NPROC. Rights within a user namespace do not count. */
static bool is_exempt(const struct vt_room *room, uint64_t uid) {
    const char *line = NULL;
    uintptr_t rights = 0;
    struct stat st;
    if (VT_SYS4(SYS_newfstatat, AT_FDCWD, joined(room->root, "/proc/self/ns/user", ""), &st, 0) !=
            0 ||
        st.st_ino != USERS_INITIAL)
        return false;
    if (uid != 0 && vt_maps_open_file(&file, joined(room->root, "/proc/self/status", ""))) {
        while ((line = vt_maps_line(&file)) && !vt_maps_begins(line, "CapEff:\t"))
            ;
        vt_maps_hex(line ? line + 8 : "", &rights);
        vt_maps_close(&file);
    }
    return uid == 0 || rights & (1u << 21 /* CAP_SYS_ADMIN */ | 1u << 24 /* CAP_SYS_RESOURCE */);
}

/* The number of visible tasks of other users; stops at `enough`. Invisible tasks, as in another pid namespace, may be
 * this user's. */
static uint64_t tasks_of_others(const struct vt_room *room, uint64_t uid, uint64_t enough) {
    static char block[4096], name[32];
    uint64_t others = 0, of[STATUS];
    uint32_t pid, left = PROCESSES_MOST;
    long fd = vt_descriptors_open(joined(room->root, "/proc", ""), O_RDONLY | O_DIRECTORY, 0), got;
    while (fd >= 0 && left && others < enough &&
           (got = VT_SYS3(SYS_getdents64, fd, block, sizeof block)) > 0)
        for (long at = 0; left && others < enough && vt_scan_next_entry(block, got, &at, &pid);) {
            if (!pid)
                continue;
            left--;
            memcpy(vt_scan_write_number(name, pid), "/status", 8);
            read_status(joined(room->root, "/proc/", name), of);
            others += of[UID] != uid && of[UID] < NONE && of[THREADS] < NONE ? of[THREADS] : 0;
        }
    if (fd >= 0)
        VT_SYS1(SYS_close, fd);
    return others;
}

/* How many more tasks the limits of the user and of the machine allow, at least. The kernel does not report how many
 * tasks the user has, so all count except those seen to belong to others. */
static uint64_t tasks_anywhere(const struct vt_room *room, uint64_t enough) {
    struct rlimit user = {0, 0};
    uint64_t self[STATUS];
    char text[128];
    VT_SYS2(SYS_getrlimit, RLIMIT_NPROC, &user);
    uint64_t most = lesser(read_number(room->root, "proc/sys/kernel/threads-max"),
                           read_number(room->root, "proc/sys/kernel/pid_max")),
             own = user.rlim_cur;
    const char *all = vt_scan_read_file(joined(room->root, "/proc/loadavg", ""), text, sizeof text)
                          ? strchr(text, '/')
                          : NULL;
    uint64_t used = all ? number_at(all + 1) : UINT64_MAX, users = used;
    if (own < NONE && (own < used || own - used < enough)) {
        read_status(joined(room->root, "/proc/self/status", ""), self);
        if (is_exempt(room, self[UID]))
            own = UINT64_MAX;
        else if (used < NONE && self[UID] < NONE)
            users -= lesser(used, tasks_of_others(room, self[UID], used + enough - own));
    }
    most = most >= NONE ? UINT64_MAX : most > used ? most - used : 0;
    return lesser(most, own >= NONE ? UINT64_MAX : own > users ? own - users : 0);
}

uint64_t vt_room_tasks(const struct vt_room *room, uint64_t enough) {
    return lesser(tasks_anywhere(room, enough),
                  lesser(least_above(room, SECOND, true, 0), least_above(room, TASKS, true, 0)));
}

/* --- the size of a copy --- */

uint64_t vt_room_needed(const char *root, uint64_t registered) {
    enum { ANON, SWAP, PINNED, TABLES, HIGHEST, NOW, POOL, KEYS };
    static const char *const keys[KEYS] = {
        [ANON] = "RssAnon",  [SWAP] = "VmSwap", [PINNED] = "VmPin",     [TABLES] = "VmPTE",
        [HIGHEST] = "VmHWM", [NOW] = "VmRSS",   [POOL] = "HugetlbPages"};
    uint64_t of[KEYS];
    read_keys(joined(root, "/proc/self/status", ""), keys, of, KEYS);
    if (of[ANON] >= NONE)
        of[ANON] = of[NOW]; /* before Linux 4.5 */
    if (of[ANON] >= NONE || (of[POOL] && of[POOL] < NONE))
        return UINT64_MAX;
    for (unsigned i = 0; i < KEYS; i++)
        of[i] = of[i] < NONE ? of[i] * KIB : 0;
    /* Pinned pages are among the private pages, and are not copied again when written to. */
    uint64_t pinned = of[PINNED] > registered ? of[PINNED] : registered;
    uint64_t twice = of[ANON] + of[SWAP] > pinned ? of[ANON] + of[SWAP] : pinned;
    /* A program that used more memory before will use it again. */
    uint64_t again = of[HIGHEST] > of[NOW] ? of[HIGHEST] - of[NOW] : 0;
    return twice + of[TABLES] + again;
}

/* --- threads --- */

char vt_room_state(const char *name) {
    char text[256];
    size_t bytes = vt_scan_read_file(name, text, sizeof text);
    const char *name_end = strrchr(text, ')'); /* proc(5): the state follows the name */
    return !bytes ? 0 : name_end && name_end[1] == ' ' ? name_end[2] : '?';
}

/* Adds up how often a thread ran: the third number in "schedstat". */
static bool sleeps(uint32_t tid, uint64_t *turns) {
    char name[64] = "/proc/self/task/", text[256];
    char *end = vt_scan_write_number(name + strlen(name), tid);
    memcpy(end, "/stat", 6);
    char state = vt_room_state(name);
    if (!state)
        return true; /* the thread has ended */
    if (state == 'R' || state == '?')
        return false;
    memcpy(end, "/schedstat", 11);
    uint64_t n = vt_scan_read_file(name, text, sizeof text) ? number_at(field_behind(text, 2)) : 0;
    *turns += n;
    return n && n < NONE; /* 0: the kernel does not count turns */
}

bool vt_room_asleep(uint64_t *turns) {
    static char block[4096];
    uint32_t self = vt_scan_own_tid(), tid;
    long fd = vt_descriptors_open("/proc/self/task", O_RDONLY | O_DIRECTORY, 0);
    bool asleep = fd >= 0;
    *turns = 0;
    for (long got, at; asleep && (got = VT_SYS3(SYS_getdents64, fd, block, sizeof block)) > 0;)
        for (at = 0; asleep && vt_scan_next_entry(block, got, &at, &tid);)
            asleep = !tid || tid == self || sleeps(tid, turns);
    if (fd >= 0)
        VT_SYS1(SYS_close, fd);
    return asleep;
}
