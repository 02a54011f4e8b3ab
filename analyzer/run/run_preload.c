/* SPDX-License-Identifier: MIT */
/*
 * The libraries to preload (see run_preload.h).
 */
#define _GNU_SOURCE
#include "run_preload.h"

#include "base/base.h"
#include "run_elf.h"
#include "run_places.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const sim_names[] = {"libcuda.so.1", "libcudart.so.12", "libcudart.so.13",
                                        "nvml/libnvidia-ml.so.1"};
/* All libraries in this folder are preloaded with them. */
#define NUMB "numb"

/* --- paths that LD_PRELOAD can carry --- */

/* In LD_PRELOAD, blanks and colons separate the paths and cannot be quoted, and the loader expands $. But a virtual
 * environment may be in any folder. */
#define TROUBLE " :;$\t\n"

/* Whether `link` is the user's own link to `target`: another user may have made a link there first. */
static bool is_own_link(const char *link, const char *target) {
    char text[PATH_MAX];
    struct stat info;
    ssize_t length = readlink(link, text, sizeof text - 1);
    if (length < 0 || lstat(link, &info) || info.st_uid != geteuid())
        return false;
    text[length] = 0;
    return !strcmp(text, target);
}

/* The path of a link in `folder` to `target`; NULL: none can be made. Free it. */
static char *link_in(const char *folder, const char *target) {
    if (!folder || *folder != '/' || strpbrk(folder, TROUBLE))
        return NULL;
    char *link = vt_formatted("%s/vramtrace-%u-%016llx", folder, (unsigned)geteuid(),
                              (unsigned long long)vt_hash_bytes(0, target, strlen(target)));
    if (!symlink(target, link) || is_own_link(link, target))
        return link;
    free(link);
    return NULL;
}

/* A path to the same file that LD_PRELOAD can carry: `path` itself, or one through a symbolic link in TMPDIR, /tmp
 * or /dev/shm. There is one link for each user and target; it stays, because processes can outlive the run. NULL: no
 * link can be made, or the file's own name has such characters. Free it. */
static char *carried_path(const char *path) {
    const char *last = NULL, *rest;
    for (const char *s = path; (s = strpbrk(s, TROUBLE)); s++)
        last = s;
    if (!last)
        return vt_strdup(path);
    if (!(rest = strchr(last, '/')))
        return NULL;
    VT_SCOPED char *target = vt_strndup(path, (size_t)(rest - path));
    const char *const folders[] = {getenv("TMPDIR"), "/tmp", "/dev/shm"};
    VT_SCOPED char *link = NULL;
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !link; i++)
        link = link_in(folders[i], target);
    return link ? vt_formatted("%s%s", link, rest) : NULL;
}

/* Why the loader cannot preload a file; NULL: it can. */
static const char *fault_of(const char *path) {
    struct vt_run_elf elf;
    const char *why;
    VT_SCOPED_FD fd = vt_file_open(path, &why);
    if (fd < 0)
        return why;
    vt_run_elf_read(fd, &elf);
    if (!elf.is_elf || (elf.native && !elf.whole))
        return "it is not a shared library";
    return elf.native ? NULL : "it is for another machine";
}

/* Replaces `*path` by a path that can be preloaded. Returns 0, or VT_STATUS_CANNOT_TRACE with `message`. */
static int make_ready(char **path, struct vt_string *message) {
    const char *fault = fault_of(*path);
    char *carried = fault ? NULL : carried_path(*path);
    if (!fault && !carried)
        fault = "its path contains a blank, a colon or a $, which LD_PRELOAD cannot carry, and no "
                "link to it can be made in TMPDIR, /tmp or /dev/shm";
    if (fault) {
        vt_string_format(message, "cannot trace: %s cannot be preloaded: %s", *path, fault);
        return VT_STATUS_CANNOT_TRACE;
    }
    free(*path);
    *path = carried;
    return 0;
}

/* --- finding the libraries --- */

static int find_tracer(struct vt_run_libraries *libraries, struct vt_string *message) {
    static const char name[] = "libvramtrace.so";
    VT_SCOPED_STRING tried = {0};
    const char *given = getenv("VRAMTRACE_LIBRARY");
    bool named = given && *given;
    libraries->tracer = named ? realpath(given, NULL) : vt_run_places_library(name, &tried);
    if (libraries->tracer)
        return make_ready(&libraries->tracer, message);
    if (named)
        vt_string_format(message,
                         "cannot trace: VRAMTRACE_LIBRARY: expected %s, found nothing at %s: %s",
                         name, given, strerror(errno));
    else
        vt_string_format(message,
                         "cannot trace: %s not found: looked for %s; VRAMTRACE_LIBRARY can name it",
                         name, tried.text);
    return VT_STATUS_CANNOT_TRACE;
}

static int is_library(const struct dirent *entry) {
    return !strncmp(entry->d_name, "lib", 3) && strstr(entry->d_name, ".so");
}

/* Adds FOLDER ("" or "numb/") and NAME of the simulated GPU's folder to the libraries. */
static int add_sim(struct vt_run_libraries *libraries, const char *folder, const char *name,
                   struct vt_string *message) {
    VT_SCOPED char *path = vt_formatted("%s/%s%s", libraries->sim_folder, folder, name);
    char *found = realpath(path, NULL);
    if (!found) {
        vt_string_format(message, "cannot run on the simulated GPU: looked for %s%s in %s", folder,
                         name, libraries->sim_folder);
        return VT_STATUS_CANNOT_TRACE;
    }
    libraries->sim = vt_realloc(libraries->sim, libraries->sim_count + 1, sizeof *libraries->sim);
    libraries->sim[libraries->sim_count++] = found;
    return make_ready(&libraries->sim[libraries->sim_count - 1], message);
}

static int find_sim(struct vt_run_libraries *libraries, struct vt_string *message) {
    VT_SCOPED_STRING tried = {0};
    VT_SCOPED struct dirent **entries = NULL;
    VT_SCOPED char *driver = vt_run_places_private("sim/libcuda.so.1", libraries->tracer, &tried);
    if (!driver) {
        vt_string_format(message, "cannot run on the simulated GPU: looked for its driver at %s",
                         tried.text);
        return VT_STATUS_CANNOT_TRACE;
    }
    int status = make_ready(&driver, message);
    libraries->sim_folder = vt_run_places_folder(driver);
    for (size_t i = 0; i < sizeof sim_names / sizeof *sim_names && !status; i++)
        status = add_sim(libraries, "", sim_names[i], message);
    VT_SCOPED char *numb = vt_formatted("%s/" NUMB, libraries->sim_folder);
    int count = scandir(numb, &entries, is_library, alphasort);
    if (count <= 0 && !status) {
        vt_string_format(message, "cannot run on the simulated GPU: looked for libraries in %s",
                         numb);
        status = VT_STATUS_CANNOT_TRACE;
    }
    for (int i = 0; i < count; i++) {
        if (!status)
            status = add_sim(libraries, NUMB "/", entries[i]->d_name, message);
        free(entries[i]);
    }
    return status;
}

int vt_run_preload_find(bool simulated, struct vt_run_libraries *libraries,
                        struct vt_string *message) {
    *libraries = (struct vt_run_libraries){0};
    int status = find_tracer(libraries, message);
    return status || !simulated ? status : find_sim(libraries, message);
}

void vt_run_preload_free(struct vt_run_libraries *libraries) {
    free(libraries->tracer);
    free(libraries->sim_folder);
    for (size_t i = 0; i < libraries->sim_count; i++)
        free(libraries->sim[i]);
    free(libraries->sim);
    *libraries = (struct vt_run_libraries){0};
}

/* --- the value --- */

/* The loader of another C library (musl) ends a program whose preloads need glibc, but ignores preloads that it
 * cannot find. Only glibc's loader replaces $LIB, by a folder such as lib/x86_64-linux-gnu or lib64. So with this
 * prefix, which leads back to the root, only glibc's loader finds a library. */
#define GLIBC_ONLY "/$LIB/../../../.."

/* Whether glibc's loader finds a library with this prefix: not if that folder is missing (NixOS). Tested with the C
 * library, which is already loaded. */
static bool prefix_works(void) {
    Dl_info info;
    void *inside = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    if (!inside || !dladdr(inside, &info) || !info.dli_fname || *info.dli_fname != '/')
        return false;
    VT_SCOPED char *path = vt_formatted(GLIBC_ONLY "%s", info.dli_fname);
    void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (handle)
        dlclose(handle);
    return handle != NULL;
}

static bool is_ours(const struct vt_run_libraries *libraries, const char *word, size_t length) {
    const size_t prefix = strlen(GLIBC_ONLY);
    if (length > prefix && !memcmp(word, GLIBC_ONLY, prefix))
        word += prefix, length -= prefix;
    for (size_t i = 0; i <= libraries->sim_count; i++) {
        const char *ours = i < libraries->sim_count ? libraries->sim[i] : libraries->tracer;
        if (ours && strlen(ours) == length && !memcmp(ours, word, length))
            return true;
    }
    return false;
}

char *vt_run_preload_value(const struct vt_run_libraries *libraries, const char *user) {
    struct vt_string value = {0};
    const char *prefix = prefix_works() ? GLIBC_ONLY : "";
    vt_string_format(&value, "%s%s", prefix, libraries->tracer);
    for (const char *word = user ? user : ""; *(word += strspn(word, " :"));) {
        size_t length = strcspn(word, " :");
        if (!is_ours(libraries, word, length)) {
            vt_string_add(&value, ":");
            vt_string_add_bytes(&value, word, length);
        }
        word += length;
    }
    for (size_t i = 0; i < libraries->sim_count; i++)
        vt_string_format(&value, ":%s%s", prefix, libraries->sim[i]);
    return value.text;
}
