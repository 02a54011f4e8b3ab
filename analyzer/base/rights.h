/* SPDX-License-Identifier: MIT */
/*
 * The user whose rights apply to a path. Root reads and writes the logs of other users' processes, and those processes
 * chose the paths: a path may contain links, and may change a moment later. So a path named by another user's process
 * is noted with that user, and all files there are opened, written and removed with that user's rights. Thus such a
 * path reaches only files that the user can reach.
 */
#ifndef VRAMTRACE_ANALYZER_RIGHTS_H
#define VRAMTRACE_ANALYZER_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

/* Notes that a process of `user` named this path. Only root keeps notes. The latest note counts. `group`: used if
 * /etc/passwd has none for the user. */
void vt_rights_note(const char *path, uid_t user, gid_t group);
#define VT_NO_GROUP 65534 /* owns no file */

/* Notes a path that this process found itself. It belongs to the owner of its file or, if it contains links of other
 * users, to the owner of the first such link. */
void vt_rights_note_owner(const char *path);

/* `path` belongs to the user who named `like`. */
void vt_rights_note_like(const char *path, const char *like);

/* The user who named a path; this process's own if none is noted. */
uid_t vt_rights_user(const char *path);

/* The type of a variable: until its block ends, this thread has the file rights of the path's user. Below 0: this
 * failed, and the path must not be followed. */
#define VT_SCOPED_RIGHTS __attribute__((cleanup(vt_rights_restore))) int
int vt_rights_lower(const char *path);
void vt_rights_restore(const int *lowered);
/* Opens a file for reading like vt_file_open, with the rights of the user of `like`: `path` itself, or the log
 * beside it. If the user cannot reach the file and no other user named it, as in root's archive, root opens it. Root
 * does so only through root's links, and only if the user owns the file. A path without a user is opened only
 * through root's links. */
int vt_rights_open(const char *path, const char *like, const char **why);

/* Fills `message` after a failure to lower the rights. Returns -EPERM. */
struct vt_string;
int vt_rights_refuse(const char *path, struct vt_string *message);

/* This process becomes the path's user permanently. False: failed. */
bool vt_rights_drop(const char *path);

#endif
