/* SPDX-License-Identifier: MIT */
/*
 * Writes a log's copy to the disk (see run_disk.h). run_copy.h says in which order, and why.
 */
#define _GNU_SOURCE
#include "run_disk.h"

#include "log/log.h"
#include "run_nvml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- its name --- */

static void make_folders(const char *path) {
    VT_SCOPED char *folder = vt_strdup(path);
    for (char *slash = folder + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        mkdir(folder, 0777); /* a failure shows when the file is made */
    }
}

/* As the library has it: where there is a folder of that name, the log is in it. */
static char *name_of(const struct vt_run_take *take) {
    const struct vt_log_header *h = (const void *)take->header;
    struct stat st;
    const char *asked = take->of->asked;
    if (stat(asked, &st) || !S_ISDIR(st.st_mode))
        return vt_strndup(asked, take->of->stem);
    return h->rank < 0
               ? vt_formatted("%s/vramtrace.%.64s.%u.vtl", asked, h->host, h->pid)
               : vt_formatted("%s/vramtrace.%.64s.r%d.%u.vtl", asked, h->host, h->rank, h->pid);
}

/* Makes the file under the first free name. Returns a descriptor, or -errno. */
static int make_log(const struct vt_run_take *take) {
    enum { NAMES_TRIED = 100000 };
    make_folders(take->of->asked);
    VT_SCOPED char *first = name_of(take);
    for (unsigned n = 1; n < NAMES_TRIED; n++) {
        VT_SCOPED char *name = n == 1 ? vt_strdup(first) : vt_formatted("%s.%u", first, n);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0)
            take->of->name = vt_strdup(name);
        if (fd >= 0 || errno != EEXIST)
            return fd < 0 ? -errno : fd;
    }
    return -EEXIST;
}

/* --- its bytes --- */

/* The first page last: until it is there, the reader takes the chunk for what it was, should we be killed. */
static int write_chunk(int fd, uint32_t number, const uint8_t *bytes) {
    enum { FIRST = 4096 };
    const uint64_t at = (uint64_t)number * VT_CHUNK_BYTES;
    int error = vt_file_write_at(fd, bytes + FIRST, VT_CHUNK_BYTES - FIRST, at + FIRST);
    return error ? error : vt_file_write_at(fd, bytes, FIRST, at);
}

static int write_log(int fd, const struct vt_run_take *take) {
    int error = ftruncate(fd, (off_t)take->bytes) ? -errno : 0;
    for (size_t i = take->count; !error && i-- > 0;) /* the slots last */
        error = write_chunk(fd, take->pieces[i].number, take->pieces[i].bytes);
    return error ? error : write_chunk(fd, 0, take->header);
}

/* Network file systems say here what went wrong. */
static int close_file(int fd, bool sync, int error) {
    if (!error && sync && fdatasync(fd))
        error = -errno;
    return close(fd) && !error ? -errno : error;
}

/* A new file with a name of its own. */
static int open_beside(const char *path) {
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd < 0 ? -errno : fd;
}

static int write_summary(const struct vt_run_take *take, const char *path) {
    int fd = open_beside(path);
    return fd < 0 ? fd
                  : close_file(fd, true,
                               vt_file_write_at(fd, take->summary.text, take->summary.length, 0));
}

/* Where the file system can, and we may. */
static int sync_folder(const char *folder) {
    VT_SCOPED_FD fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES ? 0 : -errno;
    return fsync(fd) && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP ? -errno : 0;
}

/* The new log takes the old one's place, then its summary does. In between the reader takes the summary by its other
 * name. Who has the old log open looks for the new one. */
static int write_anew(int old, const struct vt_run_take *take, const char *folder) {
    const char *name = take->of->name;
    VT_SCOPED char *summary = vt_log_file_path(name, VT_PACK_SUMMARY);
    VT_SCOPED char *new_summary = vt_formatted("%s" VT_SUMMARY_NEXT, summary);
    VT_SCOPED char *new_log = vt_formatted("%s/.%s.tmp", folder, vt_basename(name));
    int error = write_summary(take, new_summary), fd = error ? error : open_beside(new_log);
    if (fd >= 0)
        error = close_file(fd, true, write_log(fd, take));
    else
        error = fd;
    if (!error && (sync_folder(folder) || rename(new_log, name)))
        error = -errno;
    if (error) {
        unlink(new_summary);
        unlink(new_log);
        return error;
    }
    if (rename(new_summary, summary))
        return -errno; /* it stays under its name */
    vt_file_write_at(old, &take->generation, sizeof take->generation,
                     offsetof(struct vt_log_header, summary));
    return sync_folder(folder);
}

static int write_samples(const struct vt_run_take *take) {
    VT_SCOPED char *path = vt_log_file_path(take->of->name, VT_PACK_NVML);
    if (!take->samples.length || take->of->no_samples)
        return 0;
    int fd = take->of->samples ? open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
                               : vt_run_nvml_make_file(take->of->name);
    take->of->no_samples = fd < 0; /* something else has its name: no reason to lose the log */
    if (fd < 0)
        return 0;
    return close_file(
        fd, take->last,
        vt_file_write_at(fd, take->samples.text, take->samples.length, take->of->samples));
}

/* By what its header says: a number of an inode is used again. */
static bool is_ours(int fd, const struct vt_run_take *take) {
    const struct vt_log_header *ours = (const void *)take->header;
    struct vt_log_header there;
    return vt_file_read_at(fd, &there, sizeof there, 0) == sizeof there &&
           !memcmp(there.magic, ours->magic, sizeof there.magic) && there.pid == ours->pid &&
           there.process_start == ours->process_start && there.start_ticks == ours->start_ticks;
}

/* Opens the log that was made before. -ESTALE: it was removed; a file that has its name now is not ours. */
static int open_again(const struct vt_run_take *take) {
    struct vt_run_copy *copy = take->of;
    int fd = open(copy->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT && errno != ELOOP && errno != EISDIR)
        return -errno;
    if (fd >= 0 && is_ours(fd, take))
        return fd;
    if (fd >= 0)
        close(fd);
    free(copy->name);
    copy->name = NULL;
    copy->summary = 0;
    copy->no_samples = false;
    return -ESTALE;
}

int vt_run_disk_write(const struct vt_run_take *take) {
    struct vt_run_copy *copy = take->of;
    bool first = !copy->name;
    int fd = first ? make_log(take) : open_again(take);
    if (fd < 0)
        return fd;
    VT_SCOPED char *folder =
        vt_strndup(copy->name, (size_t)(vt_basename(copy->name) - copy->name - 1));
    int error = take->anew ? write_anew(fd, take, folder) : write_log(fd, take);
    error = close_file(fd, take->last && !take->anew, error);
    if (!error)
        error = write_samples(take);
    if (!error && take->last)
        error = sync_folder(folder);
    if (error && first) { /* nothing of it can be read */
        unlink(copy->name);
        free(copy->name);
        copy->name = NULL;
    }
    return error;
}
