/* SPDX-License-Identifier: MIT */
/*
 * Rights (see rights.h). File rights are set with plain system calls, which act only on the calling thread: glibc's
 * setgroups changes all threads. With another user's fsuid, root has no capabilities on files.
 */
#define _GNU_SOURCE
#include "rights.h"

#include "files.h"
#include "new_file.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GROUPS 128 /* most groups of a user; further groups are ignored */

struct user {
    uid_t user;
    gid_t group, groups[GROUPS];
    int count;
};

struct noted {
    char *path;
    size_t user; /* in `users` */
    bool found;  /* noted by vt_rights_note_owner */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for this table */
static struct user *users;
static struct noted *noted;
static size_t user_count, user_room, noted_count, noted_room;
static gid_t *own; /* this process's groups */
static int own_count;

static __thread unsigned depth;      /* nested scopes with a user's rights */
static __thread struct user lowered; /* the user whose rights they have */

static struct noted *note_of(const char *path) {
    for (size_t i = 0; i < noted_count; i++)
        if (!strcmp(noted[i].path, path))
            return &noted[i];
    return NULL;
}

/* False: no user is noted. */
static bool user_of(const char *path, struct user *user, bool *found) {
    pthread_mutex_lock(&lock);
    const struct noted *note = note_of(path);
    bool is = note && users[note->user].user;
    if (is) {
        *user = users[note->user];
        *found = note->found;
    }
    pthread_mutex_unlock(&lock);
    return is;
}

/* The group of a file is not always its user's: a folder or mount options may set it. */
static size_t find_user(uid_t id, gid_t group) {
    const struct passwd *entry = id ? getpwuid(id) : NULL;
    if (entry)
        group = entry->pw_gid;
    for (size_t i = 0; i < user_count; i++)
        if (users[i].user == id && users[i].group == group)
            return i;
    struct user *user = VT_ADD(users, user_count, user_room);
    *user = (struct user){.user = id, .group = group, .groups = {group}, .count = GROUPS};
    if (!entry || getgrouplist(entry->pw_name, group, user->groups, &user->count) < 0)
        user->count = entry ? GROUPS : 1;
    return user_count - 1;
}

static void note(const char *path, uid_t id, gid_t group, bool found) {
    if (geteuid())
        return;
    pthread_mutex_lock(&lock);
    if (!own) {
        own_count = getgroups(0, NULL);
        own = vt_alloc((size_t)own_count + 1, sizeof *own);
        own_count = getgroups(own_count, own);
    }
    struct noted *n = note_of(path);
    if (!n && id) {
        n = VT_ADD(noted, noted_count, noted_room);
        *n = (struct noted){.path = vt_strdup(path), .found = found};
        n->user = find_user(id, group);
    } else if (n && (n->found || !found || !users[n->user].user)) {
        n->user = find_user(id, group);
        n->found = found;
    }
    pthread_mutex_unlock(&lock);
}

void vt_rights_note(const char *path, uid_t user, gid_t group) {
    note(path, user, group, false);
}

void vt_rights_note_like(const char *path, const char *like) {
    struct user user;
    bool found;
    if (user_of(like, &user, &found))
        note(path, user.user, user.group, found);
}

void vt_rights_note_owner(const char *path) {
    struct stat st;
    if (geteuid() || depth)
        return;
    VT_SCOPED_FD at = vt_new_file_find(path, &st);
    if (at >= 0 || at == -EXDEV)
        note(path, st.st_uid, VT_NO_GROUP, true);
}

uid_t vt_rights_user(const char *path) {
    struct user user;
    bool found;
    return user_of(path, &user, &found) ? user.user : geteuid();
}

static bool set_groups(const gid_t *groups, int count) {
    return !syscall(SYS_setgroups, count, groups);
}

/* Restores the user id first: root needs its own rights to set the groups. */
static void restore(void) {
    setfsuid(geteuid());
    setfsgid(getegid());
    set_groups(own, own_count);
}

/* Lowers this thread's rights to those of `lowered`. */
static bool lower(void) {
    bool done = set_groups(lowered.groups, lowered.count);
    setfsgid(lowered.group);
    setfsuid(lowered.user);
    /* these calls return the previous value, not success */
    if (done && setfsgid((gid_t)-1) == (int)lowered.group &&
        setfsuid((uid_t)-1) == (int)lowered.user)
        return true;
    restore();
    return false;
}

int vt_rights_lower(const char *path) {
    struct user user;
    bool found;
    if (!user_of(path, &user, &found))
        return 0;
    if (!depth)
        lowered = user;
    /* also fails for another user's path within a scope */
    if (lowered.user != user.user || (!depth && !lower())) {
        errno = EPERM;
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

/* Opens a file that the user owns, even where the user cannot reach it. */
static int open_owned(const char *path, const struct user *user, const char **why) {
    struct stat st;
    unsigned above = depth;
    if (above)
        restore();
    VT_SCOPED_FD at = vt_new_file_find(path, &st);
    int found = at >= 0 && user && st.st_uid != user->user ? -EACCES : at;
    int fd = vt_file_open_found(found, path, O_RDONLY, why);
    if (above && !lower())
        abort(); /* it must not continue with root's rights */
    if (found != -EXDEV)
        return fd;
    *why = "a link of another user";
    return -EACCES;
}

int vt_rights_open(const char *path, const char *like, const char **why) {
    const char *unused;
    struct user user;
    bool found;
    why = why ? why : &unused;
    if (geteuid())
        return vt_file_open(path, why);
    if (!user_of(like, &user, &found))
        return depth ? vt_file_open(path, why) : open_owned(path, NULL, why);
    int fd = -EPERM;
    {
        VT_SCOPED_RIGHTS rights = vt_rights_lower(like);
        if (rights >= 0)
            fd = vt_file_open(path, why);
        else
            *why = strerror(EPERM);
    }
    return fd == -EACCES && found ? open_owned(path, &user, why) : fd;
}

bool vt_rights_drop(const char *path) {
    struct user user;
    bool found;
    uid_t ids[3];
    if (!user_of(path, &user, &found))
        return true;
    return !setgroups((size_t)user.count, user.groups) &&
           !setresgid(user.group, user.group, user.group) &&
           !setresuid(user.user, user.user, user.user) && !getresuid(ids, ids + 1, ids + 2) &&
           ids[0] == user.user && ids[1] == user.user && ids[2] == user.user && !depth;
}
