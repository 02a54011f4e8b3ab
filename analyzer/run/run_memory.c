/* SPDX-License-Identifier: MIT */
/*
 * Logs in memory (see run_memory.h). A log's name there is the folder's and behind it the absolute name on the disk, as the
 * library makes it of the user's template.
 */
#define _GNU_SOURCE
#include "run_memory.h"

#include "run_copies.h"
#include "vramtrace/file_systems.h"
#include "vramtrace/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMORY      "/dev/shm"
#define AUTO_SHARE  16u /* of what is free there: how many processes come is not known */
#define ASKED_SHARE 4u  /* at most: others need it, too */
#define AUTO_LEAST  (4ull << 20)
#define AUTO_MOST   (256ull << 20)
#define LOOK_NS     10000000
#define SAY_NS      3000000000ull

/* --- before the command --- */

/* "%" in the name of a folder is no part of the template. */
static void add_plain(struct vt_string *to, const char *text) {
    for (; *text; text++)
        vt_string_add(to, *text == '%' ? "%%" : (char[]){*text, 0});
}

/* The template as an absolute one. False: there is no folder. */
static bool template_of(const char *output, struct vt_string *template) {
    VT_SCOPED char *here = getcwd(NULL, 0);
    struct stat st;
    if (*output != '/') {
        if (!here || *here != '/')
            return false;
        add_plain(template, here);
        vt_string_add(template, here[1] ? "/" : "");
    }
    vt_string_add(template, output);
    if (*output && output[strlen(output) - 1] != '/' && !strchr(output, '%') &&
        !stat(output, &st) && S_ISDIR(st.st_mode))
        vt_string_add(template, "/");
    return true;
}

bool vt_run_memory_is_remote(const char *folder) {
    struct statfs fs;
    const char *forced = getenv("VRAMTRACE_TEST_REMOTE");
    if (forced && (*forced == '1' || *forced == '/'))
        return *forced == '1' || !strncmp(folder, forced, strlen(forced));
    return !statfs(folder, &fs) && vt_file_system(fs.f_type) & VT_FS_REMOTE;
}

/* Whether the logs of the template are: by the last folder before its first % that is there. */
static bool leads_away(const char *template) {
    VT_SCOPED char *folder = vt_strndup(template, strcspn(template, "%"));
    struct stat st;
    char *slash;
    while ((slash = strrchr(folder, '/')) && slash != folder) {
        *slash = 0;
        if (!stat(folder, &st))
            break;
    }
    return strncmp(folder, MEMORY "/", strlen(MEMORY "/")) &&
           vt_run_memory_is_remote(slash == folder ? "/" : folder);
}

/* How large a log in memory may be; 0: there is none. */
static uint64_t bound_of(const char *asked) {
    struct statfs fs;
    uint64_t bytes;
    if ((asked && !strcmp(asked, "off")) || statfs(MEMORY, &fs) || fs.f_type != 0x01021994)
        return 0;
    uint64_t left = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize, most = left / AUTO_SHARE;
    if (most > AUTO_MOST)
        most = AUTO_MOST;
    if (asked && !vt_text_read_size(asked, &bytes) && bytes >= VT_TEXT_MAX_LOG_LEAST)
        most = bytes < left / ASKED_SHARE ? bytes : left / ASKED_SHARE;
    return most < AUTO_LEAST ? 0 : most;
}

void vt_run_memory_start(struct vt_run_memory *memory) {
    const char *output = getenv("VRAMTRACE_OUTPUT");
    uint64_t bytes = bound_of(getenv("VRAMTRACE_MAX_LOG"));
    char folder[] = MEMORY "/vramtrace-XXXXXX";
    VT_SCOPED_STRING template = {0};
    if (!bytes || !template_of(output ? output : "", &template) || !leads_away(template.text) ||
        !mkdtemp(folder))
        return;
    VT_SCOPED char *there = vt_formatted("%s%s", folder, template.text);
    VT_SCOPED char *size = vt_formatted("%llu", (unsigned long long)bytes);
    setenv("VRAMTRACE_OUTPUT", there, 1);
    setenv("VRAMTRACE_MAX_LOG", size, 1);
    setenv("VRAMTRACE_RUN_MEMORY", folder, 1);
    memory->folder = vt_strdup(folder);
}

void vt_run_memory_free(struct vt_run_memory *memory) {
    free(memory->folder);
}

/* --- after it --- */

/* What became of a log. */
struct fate {
    char *name; /* on the disk; NULL: none yet */
    bool written;
    int error;
};

/* Returns whether there is nothing to wait for. */
static bool read_fates(FILE *list, struct fate *fates, size_t count) {
    VT_SCOPED char *line = NULL;
    size_t room = 0, number;
    bool done = false;
    rewind(list);
    for (ssize_t length; (length = getline(&line, &room, list)) > 0 && line[length - 1] == '\n';) {
        int at = 0, error = 0;
        line[length - 1] = 0;
        done |= !strcmp(line, VT_RUN_DONE);
        if (!*line || !strchr("=+-", *line) || sscanf(line + 1, "%zu %n", &number, &at) < 1 ||
            number >= count)
            continue;
        if (*line == '=') {
            free(fates[number].name);
            fates[number].name = vt_strdup(line + 1 + at);
        }
        fates[number].written |= *line == '+';
        if (*line == '-' && sscanf(line + 1 + at, "%d", &error) == 1)
            fates[number].error = error;
    }
    return done;
}

static bool is_below(const struct vt_run_memory *memory, const char *path) {
    size_t above = strlen(memory->folder);
    return !strncmp(path, memory->folder, above) && path[above] == '/';
}

/* A name on the disk, as far as it is known. */
static const char *name_of(const struct vt_run_memory *memory, const struct fate *fate,
                           const char *path) {
    return fate->name ? fate->name : is_below(memory, path) ? path + strlen(memory->folder) : path;
}

static void say_waiting(const struct vt_run_memory *memory, const struct fate *fates,
                        const struct vt_run_logs *logs) {
    for (size_t i = 0; i < logs->count; i++) {
        if (fates[i].written || fates[i].error || !is_below(memory, logs->paths[i]))
            continue;
        vt_error("waiting for the disk to take %s (interrupt to leave it in memory, at %s, until "
                 "the disk does)",
                 name_of(memory, &fates[i], logs->paths[i]), logs->paths[i]);
        return;
    }
}

/* Returns whether the logs are there; false: a signal came, or nobody brings them (*gone). */
static bool wait_for(const struct vt_run_memory *memory, const struct vt_run_beside *beside,
                     FILE *list, struct fate *fates, const struct vt_run_logs *logs, bool *gone) {
    enum { ENDS = 3 };
    static const int ends[ENDS] = {SIGINT, SIGTERM, SIGQUIT};
    struct sigaction was[ENDS];
    uint64_t begun = vt_now_ns();
    bool said = false, done;
    sigset_t set, mask;
    sigemptyset(&set);
    for (size_t i = 0; i < ENDS; i++) {
        sigaddset(&set, ends[i]);
        sigaction(ends[i], &(struct sigaction){.sa_handler = SIG_DFL}, &was[i]); /* else not seen */
    }
    sigprocmask(SIG_BLOCK, &set, &mask);
    while (!(done = read_fates(list, fates, logs->count)) && !*gone) {
        int number = sigtimedwait(&set, NULL, &(struct timespec){0, LOOK_NS});
        if (number > 0)
            break;
        if (!said && vt_now_ns() - begun >= SAY_NS) {
            say_waiting(memory, fates, logs);
            said = true;
        }
        *gone = waitpid(beside->pid, NULL, WNOHANG) != 0;
    }
    for (size_t i = 0; i < ENDS; i++)
        sigaction(ends[i], &was[i], NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return done;
}

void vt_run_memory_finish(const struct vt_run_memory *memory, const struct vt_run_beside *beside,
                          const char *path, struct vt_run_logs *logs) {
    static const char over[] = VT_RUN_OVER "\n";
    int fd = vt_run_logs_open_list(path);
    VT_SCOPED_FILE *list = fd < 0 ? NULL : fdopen(fd, "r");
    if (!list || write(fd, over, sizeof over - 1) < 0) {
        vt_error("%s: %s: the logs stay in memory, below %s", path, strerror(errno),
                 memory->folder);
        return;
    }
    VT_SCOPED struct fate *fates = vt_alloc(logs->count, sizeof *fates);
    bool gone = false, done = wait_for(memory, beside, list, fates, logs, &gone);
    for (size_t i = 0; i < logs->count; i++) {
        struct fate *fate = &fates[i];
        const char *name = name_of(memory, fate, logs->paths[i]);
        bool ours = is_below(memory, logs->paths[i]);
        if (fate->error)
            vt_error("%s: cannot be written: %s; the log stays in memory, at %s", name,
                     strerror(fate->error), logs->paths[i]);
        else if (ours && !done && !fate->written)
            vt_error("%s: not written%s; the log is in memory, at %s", name,
                     gone ? ", as the process that does it was killed" : " yet", logs->paths[i]);
        if (fate->written || (done && fate->name && !fate->error)) {
            free(logs->paths[i]);
            logs->paths[i] = fate->name;
        } else {
            free(fate->name);
        }
    }
}
