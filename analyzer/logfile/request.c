/* SPDX-License-Identifier: MIT */
/*
 * Asks a running process for a snapshot (see request.h).
 *
 * The command may run as root for another user's process; that user names the file and may replace or truncate it at
 * any time. So all writes go to one descriptor, checked to be a log of the process, owned by its user. The file is read
 * and written by system calls, because accessing a mapping of a truncated file raises SIGBUS.
 */
#define _GNU_SOURCE
#include "request.h"

#include "base/base.h"
#include "vramtrace/log_format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS 5000000
#define IDLE_NS 1000000000

static bool is_alive(unsigned pid) {
    return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

struct process {
    unsigned pid; /* in its container, if it has one: the last number of NSpid */
    /* real, effective, saved, file system: a daemon that drops its rights still owns its log */
    long users[4], groups[4];
};

static struct process read_process(unsigned pid) {
    char path[64], line[256];
    struct process p = {pid, {-1, -1, -1, -1}, {-1, -1, -1, -1}};
    snprintf(path, sizeof path, "/proc/%u/status", pid);
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof line, status)) {
        char *last = strncmp(line, "NSpid:", 6) ? NULL : strrchr(line, '\t');
        if (last)
            p.pid = (unsigned)strtoul(last + 1, NULL, 10);
        sscanf(line, "Uid: %ld %ld %ld %ld", &p.users[0], &p.users[1], &p.users[2], &p.users[3]);
        sscanf(line, "Gid: %ld %ld %ld %ld", &p.groups[0], &p.groups[1], &p.groups[2],
               &p.groups[3]);
    }
    if (status)
        fclose(status);
    return p;
}

static bool is_of(const struct process *p, uid_t user) {
    for (unsigned i = 0; i < 4; i++)
        if (p->users[i] == (long)user)
            return true;
    return false;
}

static bool read_header(int fd, struct vt_log_header *h) {
    return vt_file_read_at(fd, h, sizeof *h, 0) == sizeof *h &&
           !memcmp(h->magic, VT_LOG_MAGIC, sizeof h->magic);
}

/* Opens the process's log at this path. -1, with *why: it is not that log. */
static int open_log(const char *path, unsigned pid, int access, struct vt_log_header *h,
                    const char **why) {
    struct process p = read_process(pid);
    int error = -EACCES;
    /* with the process's present file rights; if refused, with rights that it can regain */
    for (int i = 3; i >= 0 && error == -EACCES; i--) {
        struct stat st;
        if (p.users[i] < 0 || (i < 3 && p.users[i] == p.users[i + 1]))
            continue;
        vt_rights_note(path, (uid_t)p.users[i], (gid_t)p.groups[i]);
        VT_SCOPED_RIGHTS rights = vt_rights_lower(path);
        int fd = rights < 0 ? -1 : vt_file_open_as(path, access | O_NOFOLLOW, why);
        error = rights < 0 ? -EPERM : fd < 0 ? fd : 0;
        if (fd < 0)
            continue;
        bool own = !fstat(fd, &st) && st.st_nlink == 1 && is_of(&p, st.st_uid);
        if (own && read_header(fd, h) && h->pid == p.pid)
            return fd;
        *why = own ? "not its log" : "a file of another user, or none of its own";
        close(fd);
    }
    return -1;
}

static bool is_log(const char *path, unsigned pid) {
    struct vt_log_header h;
    const char *why = NULL;
    int fd = open_log(path, pid, O_RDONLY, &h, &why);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* The path in a line of /proc/PID/maps whose mapping is shared and begins at the file's start; else NULL. */
static char *shared_file(char *line) {
    char access[8], *path = strchr(line, '/');
    uint64_t offset;
    line[strcspn(line, "\n")] = 0;
    if (!path || sscanf(line, "%*x-%*x %7s %" SCNx64, access, &offset) != 2 || offset ||
        !strchr(access, 's'))
        return NULL;
    return path;
}

/* A process keeps its log's header mapped. The path may be in another mount namespace. */
char *vt_request_log(unsigned pid, struct vt_string *message) {
    char path[64], *line = NULL, *found = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    FILE *maps = fopen(path, "re");
    if (!maps || getline(&line, &room, maps) < 0) {
        int error = maps ? (errno ? errno : ESRCH) : errno;
        vt_string_format(message, "process %u: %s", pid,
                         error == ENOENT || error == ESRCH ? "no such process" : strerror(error));
    } else {
        do {
            char *file = shared_file(line);
            if (!file)
                continue;
            found = vt_strdup(file);
            if (is_log(found, pid))
                break;
            free(found);
            found = vt_formatted("/proc/%u/root%s", pid, file);
            if (is_log(found, pid))
                break;
            free(found);
            found = NULL;
        } while (getline(&line, &room, maps) >= 0);
        if (!found)
            vt_string_format(
                message,
                "process %u: expected a process that is traced and has used the GPU, found no log "
                "that it writes",
                pid);
    }
    free(line);
    if (maps)
        fclose(maps);
    return found;
}

/* Opens the log to make a request in it; -1, with `message`: no request is possible. */
static int open_to_ask(unsigned pid, const char *log, struct vt_log_header *h,
                       struct vt_string *message) {
    const char *why = strerror(EPERM);
    int fd = open_log(log, pid, O_RDWR, h, &why);
    if (fd < 0)
        vt_string_format(message, "%s: expected the log of process %u, found %s", log, pid, why);
    else if (h->flags & VT_FLAG_BUFFERED)
        vt_string_format(message,
                         "%s: expected a log that is mapped, found one that is written in blocks, "
                         "as on this file "
                         "system: its process cannot be asked",
                         log);
    else
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Two simultaneous requests may get one number: then one answer serves both. */
static void set_asked(int fd, uint32_t number) {
    ssize_t written =
        pwrite(fd, &number, sizeof number, offsetof(struct vt_log_header, snapshots_asked));
    (void)written; /* after a failure there will be no answer */
}

int vt_request_snapshot(unsigned pid, const char *log, const struct vt_request *request,
                        enum vt_answer *answer, struct vt_string *message) {
    struct vt_log_header h;
    int fd = open_to_ask(pid, log, &h, message);
    if (fd < 0)
        return -EINVAL;
    uint64_t begun = vt_now_ns(), most = (uint64_t)request->timeout_ms * 1000000;
    bool told = !request->idle;
    uint32_t refused = h.snapshots_refused, mine = h.snapshots_asked + 1;
    set_asked(fd, mine);
    *answer = VT_ANSWER_NONE;
    for (;;) {
        const struct timespec pause = {0, POLL_NS};
        bool alive = is_alive(
            pid); /* checked before reading the answer: a snapshot done before the end counts */
        if (!read_header(fd, &h)) {
            vt_string_format(message, "%s: was truncated", log);
            break;
        }
        if ((int32_t)(h.snapshots_done - mine) >= 0) {
            read_header(fd, &h); /* the matching counts: pairs with vt_log_asked_done */
            *answer = h.snapshots_refused == refused ? VT_ANSWER_TAKEN : VT_ANSWER_REFUSED;
            break;
        }
        bool ended = h.exit_kind == VT_EXIT_EXITED || !alive;
        bool taken_up = (int32_t)(h.snapshots_taken - mine) >= 0;
        uint64_t waited = vt_now_ns() - begun;
        if (ended || (most && waited >= most) ||
            (request->stop && __atomic_load_n(request->stop, __ATOMIC_ACQUIRE))) {
            *answer = ended ? VT_ANSWER_ENDED : taken_up ? VT_ANSWER_LATE : VT_ANSWER_NONE;
            if (h.snapshots_asked == mine && !taken_up)
                set_asked(fd, mine - 1);
            break;
        }
        if (!told && !taken_up && waited >= IDLE_NS) {
            request->idle(pid);
            told = true;
        }
        nanosleep(&pause, NULL);
    }
    close(fd);
    return message->length ? -EINVAL : 0;
}
