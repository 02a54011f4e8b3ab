/* SPDX-License-Identifier: MIT */
/*
 * Paths that LD_PRELOAD can carry (see run_link.h).
 */
#define _GNU_SOURCE
#include "run_link.h"

#include "base/base.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TROUBLE " :;$\t\n"

/* Whether `link` is the user's own link to `target`: another user may have put one there first. */
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

char *vt_run_link_path(const char *path) {
    const char *last = NULL, *rest;
    for (const char *s = path; (s = strpbrk(s, TROUBLE)); s++)
        last = s;
    if (!last)
        return vt_strdup(path);
    if (!(rest = strchr(last, '/')))
        return NULL;
    char *target = vt_strndup(path, (size_t)(rest - path));
    const char *const folders[] = {getenv("TMPDIR"), "/tmp", "/dev/shm"};
    char *link = NULL, *found = NULL;
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !link; i++)
        link = link_in(folders[i], target);
    if (link)
        found = vt_formatted("%s%s", link, rest);
    free(target);
    free(link);
    return found;
}
