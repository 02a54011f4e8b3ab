/* SPDX-License-Identifier: MIT */
/*
 * The libraries to preload (see run_preload.h).
 */
#define _GNU_SOURCE
#include "run_preload.h"

#include "base/base.h"
#include "run_elf.h"
#include "run_link.h"
#include "run_places.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const sim_names[] = {"libcuda.so.1", "libcudart.so.12", "libcudart.so.13",
                                        "nvml/libnvidia-ml.so.1"};
/* All libraries in here come with them. */
#define NUMB "numb"

/* Why the loader cannot preload it; NULL: it can. */
static const char *fault_of(const char *path) {
    struct vt_run_elf elf;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return strerror(errno);
    vt_run_elf_read(fd, &elf);
    close(fd);
    if (!elf.is_elf || (elf.native && !elf.whole))
        return "it is not a shared library";
    if (!elf.native)
        return "it is for another machine";
    return NULL;
}

/* Makes `*path` one that can be preloaded. Returns 0, or VT_STATUS_CANNOT_TRACE with `message`. */
static int make_ready(char **path, struct vt_string *message) {
    const char *fault = fault_of(*path);
    char *link = fault ? NULL : vt_run_link_path(*path);
    if (!fault && !link)
        fault = "its path contains a blank, a colon or a $, which LD_PRELOAD cannot carry, and no "
                "link to it can be made in TMPDIR, /tmp or /dev/shm";
    if (fault) {
        vt_string_format(message, "cannot trace: %s cannot be preloaded: %s", *path, fault);
        return VT_STATUS_CANNOT_TRACE;
    }
    free(*path);
    *path = link;
    return 0;
}

static int find_tracer(struct vt_run_libraries *libraries, struct vt_string *message) {
    static const char name[] = "libvramtrace.so";
    struct vt_string tried = {0};
    const char *given = getenv("VRAMTRACE_LIBRARY");
    if (given && *given) {
        libraries->tracer = realpath(given, NULL);
        if (!libraries->tracer) {
            vt_string_format(message,
                             "cannot trace: VRAMTRACE_LIBRARY: expected %s, found nothing "
                             "at %s: %s",
                             name, given, strerror(errno));
            return VT_STATUS_CANNOT_TRACE;
        }
    } else {
        libraries->tracer = vt_run_places_library(name, &tried);
    }
    int status = 0;
    if (!libraries->tracer) {
        vt_string_format(message,
                         "cannot trace: %s not found: looked for %s; VRAMTRACE_LIBRARY can name "
                         "it",
                         name, tried.text);
        status = VT_STATUS_CANNOT_TRACE;
    } else {
        status = make_ready(&libraries->tracer, message);
    }
    vt_string_free(&tried);
    return status;
}

static int is_library(const struct dirent *entry) {
    return !strncmp(entry->d_name, "lib", 3) && strstr(entry->d_name, ".so");
}

/* Adds NAME of the simulated GPU's folder to the libraries. */
static int add_sim(struct vt_run_libraries *libraries, const char *inside, const char *name,
                   struct vt_string *message) {
    struct vt_string tried = {0};
    char *path = vt_formatted("%s%s", inside, name);
    char *found = vt_run_places_look(libraries->sim_folder, path, &tried);
    free(path);
    int status = 0;
    if (!found) {
        vt_string_format(message, "cannot run on the simulated GPU: looked for %s%s in %s", inside,
                         name, libraries->sim_folder);
        status = VT_STATUS_CANNOT_TRACE;
    } else {
        status = make_ready(&found, message);
    }
    if (found) {
        libraries->sim =
            vt_realloc(libraries->sim, libraries->sim_count + 1, sizeof *libraries->sim);
        libraries->sim[libraries->sim_count++] = found;
    }
    vt_string_free(&tried);
    return status;
}

static int find_sim(struct vt_run_libraries *libraries, struct vt_string *message) {
    struct vt_string tried = {0}, folder = {0};
    struct dirent **entries = NULL;
    int status = 0;
    char *driver = vt_run_places_private("sim/libcuda.so.1", libraries->tracer, &tried);
    if (!driver) {
        vt_string_format(message, "cannot run on the simulated GPU: looked for its driver at %s",
                         tried.text);
        vt_string_free(&tried);
        return VT_STATUS_CANNOT_TRACE;
    }
    status = make_ready(&driver, message);
    libraries->sim_folder = vt_run_places_folder(driver);
    free(driver);
    for (size_t i = 0; i < sizeof sim_names / sizeof *sim_names && !status; i++)
        status = add_sim(libraries, "", sim_names[i], message);
    vt_string_format(&folder, "%s/" NUMB, libraries->sim_folder);
    int count = scandir(folder.text, &entries, is_library, alphasort);
    if (count <= 0 && !status) {
        vt_string_format(message, "cannot run on the simulated GPU: looked for libraries in %s",
                         folder.text);
        status = VT_STATUS_CANNOT_TRACE;
    }
    for (int i = 0; i < count; i++) {
        if (!status)
            status = add_sim(libraries, NUMB "/", entries[i]->d_name, message);
        free(entries[i]);
    }
    free(entries);
    vt_string_free(&folder);
    vt_string_free(&tried);
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

/* The loader of another C library (musl) ends a program whose preloads need glibc, but passes over those that
 * it does not find. Only glibc's replaces $LIB, by a folder such as lib/x86_64-linux-gnu or lib64; so behind
 * this prefix, which leads back to the root, only glibc's finds a library. */
#define GLIBC_ONLY "/$LIB/../../../.."

/* Whether glibc's loader finds a library behind the prefix: not where that folder is missing (NixOS). Asked
 * for the C library, which is loaded already. */
static bool prefix_works(void) {
    Dl_info info;
    void *inside = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    if (!inside || !dladdr(inside, &info) || !info.dli_fname || *info.dli_fname != '/')
        return false;
    char *path = vt_formatted(GLIBC_ONLY "%s", info.dli_fname);
    void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    free(path);
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
