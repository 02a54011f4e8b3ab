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

/* A process of `user` named this path. Only root notes it. The latest note counts. `group`: the user's, if no /etc/passwd says it. */
void vt_rights_note(const char *path, uid_t user, gid_t group);
#define VT_NO_GROUP 65534 /* that of no file */

/* This process found a path that no other one named. It belongs to the owner of the file that it leads to, or else to whoever
 * owns the first link in it that is not root's. */
void vt_rights_note_owner(const char *path);

/* `path` belongs to the user who named `like`. */
void vt_rights_note_like(const char *path, const char *like);

/* The user who named a path; this process's own where none is noted. */
uid_t vt_rights_user(const char *path);

/* From here to the end of the block, this thread has the rights of the path's user on files. Below 0: it cannot, and the path
 * must not be followed. It stands in the place of the type. */
#define VT_SCOPED_RIGHTS __attribute__((cleanup(vt_rights_restore))) int
int vt_rights_lower(const char *path);
void vt_rights_restore(const int *lowered);
/* Opens a file to read it as vt_file_open does, with the rights of the user of `like`: `path` itself, or the log that it lies beside.
 * If the user cannot reach it and no other user named it, as in an archive of root's, root opens it, but only by links of root's, and
 * only a file of that user's. A path without a user is opened by links of root's alone. */
int vt_rights_open(const char *path, const char *like, const char **why);

/* Says that it cannot. Returns -EPERM. */
struct vt_string;
int vt_rights_refuse(const char *path, struct vt_string *message);

/* This process becomes the path's user, for good. False: it cannot. */
bool vt_rights_drop(const char *path);

#endif
