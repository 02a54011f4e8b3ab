/* SPDX-License-Identifier: MIT */
/*
 * Whose rights a path is followed with. Root reads and writes the logs of other users' processes, and those processes chose
 * the paths: each may lead through a link, and be another one a moment later. So a path that another user's process named is
 * noted with that user, and opened, written beside and removed with that user's rights: it leads nowhere that the user could
 * not have gone alone.
 */
#ifndef VRAMTRACE_ANALYZER_RIGHTS_H
#define VRAMTRACE_ANALYZER_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

/* A process of `user` named this path. Only root notes it; not from several threads. The first user stays. */
void vt_rights_note(const char *path, uid_t user, gid_t group);

/* `path` belongs to the user who named `like`. */
void vt_rights_note_like(const char *path, const char *like);

/* The user who named a path; this process's own where none is noted. */
uid_t vt_rights_user(const char *path);

/* From here to the end of the block, this thread has the rights of the path's user on files. Below 0: it cannot, and the path
 * must not be followed. It stands in the place of the type. */
#define VT_SCOPED_RIGHTS __attribute__((cleanup(vt_rights_restore))) int
int vt_rights_lower(const char *path);
void vt_rights_restore(const int *lowered);
/* Says that it cannot. Returns -EPERM. */
struct vt_string;
int vt_rights_refuse(const char *path, struct vt_string *message);

/* This process becomes the path's user, for good. False: it cannot. */
bool vt_rights_drop(const char *path);

#endif
