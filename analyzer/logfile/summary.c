/* SPDX-License-Identifier: MIT */
/*
 * LOG.summary (see summary.h). A new summary replaces it once it is on the disk. Readers load the whole file into
 * memory, so it may be replaced meanwhile.
 */
#include "summary.h"

#include "log_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Identifies the log and the state. */
struct head {
    uint64_t generation, until;
    uint64_t process_start, start_ticks;
    uint32_t pid, clock;
    char boot_id[40], run_id[40];
};

struct vt_summary_rest {
    struct vt_state state;
    uint8_t *bytes;
    char *path;
};

static struct head head_of(const struct vt_log *log, uint64_t generation, uint64_t until) {
    const struct vt_log_header *h = &log->header;
    struct head head = {.generation = generation,
                        .until = until,
                        .process_start = h->process_start,
                        .start_ticks = h->start_ticks,
                        .pid = h->pid,
                        .clock = h->clock};
    static_assert(sizeof head.boot_id == sizeof h->boot_id &&
                      sizeof head.run_id == sizeof h->run_id,
                  "as in the log");
    memcpy(head.boot_id, h->boot_id, sizeof head.boot_id);
    memcpy(head.run_id, h->run_id, sizeof head.run_id);
    return head;
}

/* --- writing --- */

int vt_summary_sync(const struct vt_log *log, struct vt_string *message) {
    VT_SCOPED char *path = vt_log_file_path(log->path, VT_PACK_SUMMARY);
    VT_SCOPED char *copy = vt_strdup(path);
    VT_SCOPED_FD fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = fd < 0 || fsync(fd) ? -errno : 0;
    if (error)
        vt_string_format(message, "%s: cannot be written: %s", path, strerror(-error));
    return error;
}

static int write_state(struct vt_log *log, struct head head, FILE *file, uint64_t most,
                       void (*more)(void *of, struct vt_state *s), void *of, const char *path,
                       struct vt_string *message) {
    struct vt_state s;
    vt_state_save(&s, file);
    s.most = most;
    VT_STATE_SECTION(&s, "summary", head);
    VT_STATE(&s, head);
    vt_log_state(log, head.until, &s);
    more(of, &s);
    int error = vt_state_end(&s, path, message);
    log->summary_bytes = s.written;
    return error;
}

/* Lets the log's readers read the summary, even if another user compacts the log. */
static int share(const struct vt_log *log, FILE *file) {
    struct stat st;
    if (fstat(log->fd, &st))
        return -errno;
    if (fchown(fileno(file), st.st_uid, st.st_gid))
        errno = 0; /* only root may change the owner */
    return fchmod(fileno(file), st.st_mode & 0777) ? -errno : 0;
}

int vt_summary_write(struct vt_log *log, uint64_t generation, uint64_t until, uint64_t most,
                     void (*more)(void *of, struct vt_state *s), void *of,
                     struct vt_string *message) {
    struct vt_new_file file;
    VT_SCOPED char *path = vt_log_file_path(log->path, VT_PACK_SUMMARY);
    if (log->header.flags & VT_FLAG_BUFFERED) {
        vt_string_format(message, "%s: only mapped logs can have a summary", log->path);
        return -EINVAL;
    }
    uint64_t newest = vt_log_passed(log).newest;
    struct head head = head_of(log, generation, until < newest ? until : newest);
    int error = vt_new_file_open(&file, path, VT_NEW_FILE_SYNC, 0600);
    if (!error) {
        error = write_state(log, head, file.out, most, more, of, path, message);
        error = vt_new_file_close(&file, error ? error : share(log, file.out));
    }
    if (error && !message->length)
        vt_string_format(message, "%s: cannot be written: %s", path,
                         file.why ? file.why : strerror(-error));
    if (!error)
        error = vt_summary_sync(log, message);
    if (error)
        return error;
    vt_log_leave_covered(log, head.until);
    log->summary = generation;
    log->until = head.until;
    return 0;
}

/* --- reading --- */

/* Reads a file, and loads its head. */
static int read_head(int fd, const char *path, struct vt_summary_rest *rest, struct head *head,
                     struct vt_string *message) {
    struct stat st;
    ssize_t got = fstat(fd, &st) ? -errno : 0;
    if (!got) {
        rest->bytes = vt_alloc((size_t)st.st_size, 1);
        got = vt_file_read_at(fd, rest->bytes, (size_t)st.st_size, 0);
    }
    if (got < 0) {
        vt_string_format(message, "%s: cannot be read: %s", path, strerror((int)-got));
        return (int)got;
    }
    struct vt_state *s = &rest->state;
    vt_state_load(s, rest->bytes, (size_t)got);
    VT_STATE_SECTION(s, "summary", *head);
    VT_STATE(s, *head);
    return 0;
}

static int read_file(struct vt_log *log, const char *path, struct vt_summary_rest *rest,
                     struct head *head, struct vt_string *message) {
    VT_SCOPED_STRING why = {0};
    VT_SCOPED_FD fd = vt_log_file_open(log->path, VT_PACK_SUMMARY, UINT64_MAX, NULL, &why);
    if (fd == -ENOENT) {
        vt_string_format(message,
                         "%s: offset %zu: the log was compacted, expected its summary of "
                         "generation %llu, found no %s; copy a log together with its summary",
                         log->path, offsetof(struct vt_log_header, summary),
                         (unsigned long long)log->header.summary, path);
        return -EINVAL;
    }
    if (fd < 0) {
        vt_string_add(message, why.text);
        return fd;
    }
    return read_head(fd, path, rest, head, message);
}

static void check_head(const struct vt_log *log, const struct head *head, struct vt_state *s) {
    uint64_t needed = log->header.summary;
    struct head expected = head_of(log, head->generation, head->until);
    if (memcmp(head, &expected, sizeof expected))
        vt_state_refuse(s, "expected the summary of process %u, found another log's", expected.pid);
    if (head->generation != needed && head->generation != needed + 1)
        vt_state_refuse(s, "expected generation %llu of the log's summary, found %llu",
                        (unsigned long long)needed, (unsigned long long)head->generation);
    vt_state_within(s, head->until, VT_TICKS_MASK, "ticks");
}

int vt_summary_read(struct vt_log *log, struct vt_string *message) {
    struct vt_summary_rest *rest = vt_alloc(1, sizeof *rest);
    struct head head;
    rest->path = vt_log_file_path(log->path, VT_PACK_SUMMARY);
    log->rest = rest;
    log->summary = log->header.summary;
    int error = read_file(log, rest->path, rest, &head, message);
    if (error)
        return error;
    struct vt_state *s = &rest->state;
    if (!s->bad)
        check_head(log, &head, s);
    vt_log_state(log, head.until, s);
    if (s->bad)
        return vt_state_end(s, rest->path, message);
    log->summary = head.generation;
    log->until = head.until;
    return 0;
}

int vt_summary_load(const struct vt_log *log, void (*more)(void *of, struct vt_state *s), void *of,
                    struct vt_string *message) {
    struct vt_summary_rest *rest = log->rest;
    if (!rest)
        return 0;
    more(of, &rest->state);
    int error = vt_state_end(&rest->state, rest->path, message);
    free(rest->bytes); /* it can be loaded only once */
    rest->bytes = NULL;
    rest->state = (struct vt_state){.loading = true};
    return error;
}

void vt_summary_free(struct vt_summary_rest *rest) {
    if (!rest)
        return;
    vt_state_drop(&rest->state);
    free(rest->bytes);
    free(rest->path);
    free(rest);
}

/* Pairs with name_summary in compact.c; model: SUMMARY_AGAIN. */
bool vt_summary_is_newer(const struct vt_log *log) {
    uint64_t now;
    return vt_file_read_at(log->fd, &now, sizeof now, offsetof(struct vt_log_header, summary)) ==
               sizeof now &&
           now > log->summary;
}
