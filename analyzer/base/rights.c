/* SPDX-License-Identifier: MIT */
/*
 * Rights (see rights.h). Those on files are set by the plain system calls, which act on the calling thread alone: glibc's
 * setgroups changes all threads. With another user's fsuid, root has none of its capabilities on files.
 */
#define _GNU_SOURCE
#include "rights.h"

#include "util.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GROUPS 128 /* of a user, at most: the others are left out */

struct user {
    uid_t user;
    gid_t group, groups[GROUPS];
    int count;
};

struct noted {
    char *path;
    size_t user; /* in `users` */
};

static struct user *users;
static struct noted *noted;
static size_t user_count, user_room, noted_count, noted_room;
static gid_t *own; /* this process's groups */
static int own_count;
static __thread unsigned depth; /* of scopes with a user's rights */

static const struct user *user_of(const char *path) {
    for (size_t i = 0; i < noted_count; i++)
        if (!strcmp(noted[i].path, path))
            return &users[noted[i].user];
    return NULL;
}

static size_t find_user(uid_t id, gid_t group) {
    for (size_t i = 0; i < user_count; i++)
        if (users[i].user == id && users[i].group == group)
            return i;
    struct user *user = VT_ADD(users, user_count, user_room);
    const struct passwd *entry = getpwuid(id);
    *user = (struct user){.user = id, .group = group, .groups = {group}, .count = GROUPS};
    if (!entry || getgrouplist(entry->pw_name, group, user->groups, &user->count) < 0)
        user->count = entry ? GROUPS : 1;
    return user_count - 1;
}

void vt_rights_note(const char *path, uid_t id, gid_t group) {
    if (geteuid() || !id || user_of(path))
        return;
    if (!own) {
        own_count = getgroups(0, NULL);
        own = vt_alloc((size_t)own_count + 1, sizeof *own);
        own_count = getgroups(own_count, own);
    }
    size_t user = find_user(id, group);
    *VT_ADD(noted, noted_count, noted_room) = (struct noted){vt_strdup(path), user};
}

void vt_rights_note_like(const char *path, const char *like) {
    const struct user *user = user_of(like);
    if (user)
        vt_rights_note(path, user->user, user->group);
}

uid_t vt_rights_user(const char *path) {
    const struct user *user = user_of(path);
    return user ? user->user : geteuid();
}

static bool set_groups(const gid_t *groups, int count) {
    return !syscall(SYS_setgroups, count, groups);
}

/* The user's first: once it is root's again, root has its rights to set the groups. */
static void restore(void) {
    setfsuid(geteuid());
    setfsgid(getegid());
    set_groups(own, own_count);
}

int vt_rights_lower(const char *path) {
    const struct user *user = user_of(path);
    if (!user)
        return 0;
    if (!depth) {
        bool done = set_groups(user->groups, user->count);
        setfsgid(user->group);
        setfsuid(user->user);
        /* they do not say whether they did it, but what was set before */
        if (!done || setfsgid((gid_t)-1) != (int)user->group ||
            setfsuid((uid_t)-1) != (int)user->user) {
            restore();
            errno = EPERM;
            return -1;
        }
    } else if (setfsuid((uid_t)-1) != (int)user->user) {
        errno = EPERM; /* a path of another user, in a scope of this one's */
        return -1;
    }
    depth++;
    return 1;
}

void vt_rights_restore(const int *lowered) {
    int error = errno;
    if (*lowered > 0 && !--depth)
        restore();
    errno = error;
}

int vt_rights_refuse(const char *path, struct vt_string *message) {
    vt_string_format(message, "%s: cannot take the rights of its user %u", path,
                     (unsigned)vt_rights_user(path));
    return -EPERM;
}

bool vt_rights_drop(const char *path) {
    const struct user *user = user_of(path);
    uid_t ids[3];
    if (!user)
        return true;
    return !setgroups((size_t)user->count, user->groups) &&
           !setresgid(user->group, user->group, user->group) &&
           !setresuid(user->user, user->user, user->user) && !getresuid(ids, ids + 1, ids + 2) &&
           ids[0] == user->user && ids[1] == user->user && ids[2] == user->user && !depth;
}
