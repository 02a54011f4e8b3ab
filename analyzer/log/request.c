/* SPDX-License-Identifier: MIT */
/* Asks a running process for a snapshot (see request.h). */
#include "request.h"

#include "vramtrace/log_format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS 5000000

static bool is_alive(unsigned pid) {
    return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

/* A process in a container has another number there: the last one of NSpid. */
static unsigned own_pid(unsigned pid) {
    char path[64], line[256];
    unsigned found = pid;
    snprintf(path, sizeof path, "/proc/%u/status", pid);
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof line, status)) {
        char *last = strncmp(line, "NSpid:", 6) ? NULL : strrchr(line, '\t');
        if (last)
            found = (unsigned)strtoul(last + 1, NULL, 10);
    }
    if (status)
        fclose(status);
    return found;
}

/* Reads the header. Returns whether it is that of a log of the process. */
static bool read_header(const char *path, unsigned pid, struct vt_log_header *h) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool is_log = fd >= 0 && read(fd, h, sizeof *h) == sizeof *h &&
                  !memcmp(h->magic, VT_LOG_MAGIC, sizeof h->magic) && h->pid == own_pid(pid);
    if (fd >= 0)
        close(fd);
    return is_log;
}

/* The path of a line of /proc/PID/maps whose mapping is shared and begins at the file's start; NULL: it is none. */
static char *shared_file(char *line) {
    char access[8], *path = strchr(line, '/');
    uint64_t offset;
    line[strcspn(line, "\n")] = 0;
    if (!path || sscanf(line, "%*x-%*x %7s %" SCNx64, access, &offset) != 2 || offset ||
        !strchr(access, 's'))
        return NULL;
    return path;
}

/* The header stays mapped while the process runs. In another mount namespace the path is not ours. */
char *vt_request_log(unsigned pid, struct vt_string *message) {
    char path[64], *line = NULL, *found = NULL;
    size_t room = 0;
    struct vt_log_header h;
    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    FILE *maps = fopen(path, "re");
    if (!maps || getline(&line, &room, maps) < 0) {
        int error = maps ? (errno ? errno : ESRCH) : errno;
        vt_string_format(message, "process %u: %s", pid,
                         error == ENOENT || error == ESRCH ? "there is none" : strerror(error));
    } else {
        do {
            char *file = shared_file(line);
            if (!file)
                continue;
            found = vt_strdup(file);
            if (read_header(found, pid, &h))
                break;
            free(found);
            found = vt_formatted("/proc/%u/root%s", pid, file);
            if (read_header(found, pid, &h))
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

/* NULL, with `message`: it cannot be asked. */
static struct vt_log_header *map_header(const char *log, struct vt_string *message) {
    struct stat st;
    int fd = open(log, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct vt_log_header *h = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof *h)
        h = mmap(NULL, sizeof *h, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (h == MAP_FAILED) {
        vt_string_format(message, "%s: %s", log, strerror(error));
        return NULL;
    }
    if (h->version >= 4 && !(h->flags & VT_FLAG_BUFFERED))
        return h;
    if (h->version < 4)
        vt_string_format(
            message,
            "%s: offset 8: expected format version 4 or later, which can be asked for a snapshot, "
            "found %u",
            log, h->version);
    else
        vt_string_format(message,
                         "%s: expected a log that is mapped, found one that is written in blocks, "
                         "as on this file "
                         "system: its process cannot be asked",
                         log);
    munmap(h, sizeof *h);
    return NULL;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int vt_request_snapshot(unsigned pid, const char *log, unsigned timeout_ms, const bool *stop,
                        enum vt_answer *answer, struct vt_string *message) {
    struct vt_log_header *h = map_header(log, message);
    if (!h)
        return -EINVAL;
    uint64_t until = now_ns() + (uint64_t)timeout_ms * 1000000;
    uint32_t refused = __atomic_load_n(&h->snapshots_refused, __ATOMIC_ACQUIRE);
    uint32_t mine = __atomic_add_fetch(&h->snapshots_asked, 1, __ATOMIC_ACQ_REL);
    *answer = VT_ANSWER_NONE;
    for (;;) {
        const struct timespec pause = {0, POLL_NS};
        /* in this order: what is done before the end was answered */
        bool ended =
            __atomic_load_n(&h->exit_kind, __ATOMIC_ACQUIRE) == VT_EXIT_EXITED || !is_alive(pid);
        if ((int32_t)(__atomic_load_n(&h->snapshots_done, __ATOMIC_ACQUIRE) - mine) >= 0) {
            *answer = __atomic_load_n(&h->snapshots_refused, __ATOMIC_ACQUIRE) == refused
                          ? VT_ANSWER_TAKEN
                          : VT_ANSWER_REFUSED;
            break;
        }
        if (ended || now_ns() >= until || (stop && __atomic_load_n(stop, __ATOMIC_ACQUIRE))) {
            *answer = ended ? VT_ANSWER_ENDED : VT_ANSWER_NONE;
            __atomic_compare_exchange_n(&h->snapshots_asked, &mine, mine - 1, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
            break;
        }
        nanosleep(&pause, NULL);
    }
    munmap(h, sizeof *h);
    return 0;
}
