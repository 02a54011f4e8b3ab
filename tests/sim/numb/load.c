/* SPDX-License-Identifier: MIT */
/*
 * A library that a program opens by its path (a wheel's libcublas.so.13, as PyTorch and others do) is the
 * simulated GPU's if that has one of the name: the preloaded ones answer only to names without a path.
 * Preloaded by `vramtrace run --sim`.
 *
 * The real dlopen looks at who called it (for DT_RUNPATH, for the namespace). So it is jumped to, which
 * the optimizer does with a call in tail position: sim.mk compiles this file with -O2 always.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) void *dlopen(const char *path, int flags);

static void *(*next)(const char *path, int flags);
static char folder[PATH_MAX];

__attribute__((constructor)) static void start(void) {
    Dl_info info;
    void *function = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&next, &function, sizeof next);
    if (dladdr(folder, &info) == 0 || info.dli_fname == NULL || strlen(info.dli_fname) >= PATH_MAX)
        return;
    strcpy(folder, info.dli_fname);
    char *slash = strrchr(folder, '/');
    folder[slash != NULL ? slash - folder : 0] = '\0';
}

/* NAME if the simulated GPU has a library of this name. */
static bool is_ours(const char *name) {
    static const char *const places[] = {"", "../", "../nvml/"};
    char path[PATH_MAX + NAME_MAX];
    if (*folder == '\0' || strncmp(name, "lib", 3) != 0 || strlen(name) > NAME_MAX)
        return false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s/%s%s", folder, places[i], name);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

void *dlopen(const char *path, int flags) {
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    if (next == NULL) /* before our constructor */
        start();
    return next(slash != NULL && is_ours(slash + 1) ? slash + 1 : path, flags);
}
