/* SPDX-License-Identifier: MIT */
/*
 * Finds the file of a command, and checks whether it can be traced (see run_program.h).
 */
#define _GNU_SOURCE
#include "run_program.h"

#include "base/base.h"
#include "run_elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPT_LEVELS 4   /* the kernel allows this many nested scripts */
#define SCRIPT_LINE   256 /* and reads this many bytes of each first line */

/* --- finding it --- */

/* 0 if the file can be executed, else the errno that exec would return. */
static int judge_file(const char *path) {
    struct stat st;
    if (stat(path, &st))
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    if (!S_ISREG(st.st_mode))
        return EACCES;
    return access(path, X_OK) ? errno : 0;
}

/* For a name that is no program, suggests what the user may have meant: a script, or a program in this folder.
 * Returns whether there was a suggestion. */
static bool add_hint(const char *command, struct vt_string *message) {
    const char *dot = strrchr(command, '.');
    struct stat st;
    if (stat(command, &st) || !S_ISREG(st.st_mode))
        return false;
    if (dot && !strcmp(dot, ".py"))
        vt_string_format(message, "; to run the script: python3 %s", command);
    else if (!strchr(command, '/') && !judge_file(command))
        vt_string_format(message, "; the one in this folder is ./%s", command);
    else
        return false;
    return true;
}

static int refuse_file(const char *path, int error, struct vt_string *message) {
    if (error == ENOENT || error == ENOTDIR) {
        vt_string_format(message, "%s: command not found: %s", path, strerror(error));
        return VT_STATUS_NOT_FOUND;
    }
    if (error == EISDIR)
        vt_string_format(message, "%s: expected a program, found a folder", path);
    else if (error == EACCES) {
        vt_string_format(message, "%s: expected a program, found a file that you may not execute",
                         path);
        add_hint(path, message);
    } else
        vt_string_format(message, "%s: cannot be executed: %s", path, strerror(error));
    return VT_STATUS_NOT_EXECUTABLE;
}

static char *default_search(void) {
    size_t size = confstr(_CS_PATH, NULL, 0);
    char *search = vt_alloc(size + 1, 1);
    confstr(_CS_PATH, search, size);
    return search;
}

int vt_run_program_find(const char *command, const char *search, char **path,
                        struct vt_string *message) {
    *path = NULL;
    if (strchr(command, '/')) {
        int error = judge_file(command);
        if (error)
            return refuse_file(command, error, message);
        *path = vt_strdup(command);
        return 0;
    }
    VT_SCOPED char *fallback = search ? NULL : default_search();
    const char *at = search ? search : fallback;
    VT_SCOPED char *there = NULL; /* the first match that cannot be executed */
    int why = 0;
    while (*command) {
        size_t length = strcspn(at, ":");
        VT_SCOPED char *file =
            vt_formatted("%.*s/%s", length ? (int)length : 1, length ? at : ".", command);
        int error = judge_file(file);
        if (!error) {
            *path = vt_strdup(file);
            return 0;
        }
        if (error != ENOENT && error != ENOTDIR && !why) {
            why = error;
            there = vt_strdup(file);
        }
        if (!at[length])
            break;
        at += length + 1;
    }
    if (why)
        return refuse_file(there, why, message);
    if (!*command)
        vt_string_add(message, "expected a command, found an empty name");
    else
        vt_string_format(message, "%s: command not found in PATH", command);
    if (*command && !add_hint(command, message))
        vt_string_format(message, " (%s)", search ? search : fallback);
    return VT_STATUS_NOT_FOUND;
}

/* --- can it be traced --- */

/* Whether the file has capabilities that its caller lacks. */
static bool gains_capabilities(int fd) {
    uint32_t words[6]; /* vfs_ns_cap_data: magic and flags, then capabilities */
    ssize_t got = fgetxattr(fd, "security.capability", words, sizeof words);
    if (got < 12 || getuid() == 0) /* root has them already */
        return false;
    return (words[0] & 1) || words[1] || (got >= 20 && words[3]);
}

/* A program with more privileges than its caller starts in the loader's secure mode, which ignores LD_PRELOAD
 * (ld.so(8)). Returns why the program has them; NULL: it has none. */
static const char *gained_privilege(int fd, const struct stat *st) {
    struct statvfs fs;
    if (!fstatvfs(fd, &fs) && (fs.f_flag & ST_NOSUID))
        return NULL;
    if (gains_capabilities(fd))
        return "has file capabilities";
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) /* disables set-user-ID and set-group-ID, but
                                                        not capabilities */
        return NULL;
    if ((st->st_mode & S_ISUID) && st->st_uid != getuid())
        return "is setuid";
    if ((st->st_mode & S_ISGID) && (st->st_mode & S_IXGRP) && st->st_gid != getgid())
        return "is setgid";
    return NULL;
}

static int cannot_trace(struct vt_string *message, const char *path, const char *why) {
    vt_string_format(message, "cannot trace %s: %s", path, why);
    return VT_STATUS_CANNOT_TRACE;
}

static int judge_elf(int fd, const char *path, const struct vt_run_elf *elf, bool simulated,
                     struct vt_string *message) {
    char why[512];
    struct stat st;
    if (!elf->native) {
        snprintf(
            why, sizeof why,
            "it is a program for %s, but this libvramtrace.so is for 64-bit " VT_RUN_MACHINE_NAME,
            elf->machine);
        return cannot_trace(message, path, why);
    }
    if (!elf->whole)
        return 0; /* truncated or foreign: let exec report it */
    const char *privilege = fstat(fd, &st) ? NULL : gained_privilege(fd, &st);
    if (privilege) {
        snprintf(why, sizeof why,
                 "it %s, and such programs ignore LD_PRELOAD; run a copy without it", privilege);
        return cannot_trace(message, path, why);
    }
    /* A file without PT_INTERP but with a name is the loader (ld.so PROGRAM), which does preload. */
    if (!elf->interpreted && !elf->has_soname)
        return cannot_trace(message, path,
                            "it is statically linked, and LD_PRELOAD needs the dynamic loader; "
                            "link it without -static");
    if (!strncmp(vt_basename(elf->loader), "ld-musl-", 8)) {
        snprintf(why, sizeof why, "its C library is musl (%s), but libvramtrace.so needs glibc",
                 elf->loader);
        return cannot_trace(message, path, why);
    }
    if (elf->loader[0] && access(elf->loader, F_OK)) {
        vt_string_format(message, "%s: cannot be executed: its loader %s: %s", path, elf->loader,
                         strerror(errno));
        return VT_STATUS_NOT_EXECUTABLE;
    }
    if (simulated && vt_run_elf_has_static_runtime(fd))
        return cannot_trace(message, path,
                            "NVIDIA's CUDA runtime is linked into it statically and needs a real "
                            "GPU; build it with -cudart shared (CMake: "
                            "CMAKE_CUDA_RUNTIME_LIBRARY=Shared) to run it on the simulated one");
    return 0;
}

/* The interpreter in a "#!" line, a part of `line`; NULL: no such line. */
static char *read_interpreter(int fd, char line[SCRIPT_LINE + 1]) {
    ssize_t got = pread(fd, line, SCRIPT_LINE, 0);
    if (got < 3 || line[0] != '#' || line[1] != '!')
        return NULL;
    line[got] = 0;
    line[strcspn(line, "\n")] = 0;
    char *interpreter = line + 2 + strspn(line + 2, " \t");
    interpreter[strcspn(interpreter, " \t")] = 0;
    return *interpreter ? interpreter : NULL;
}

static int refuse_interpreter(const char *script, const char *interpreter, int error,
                              struct vt_string *message) {
    vt_string_format(message, "%s: cannot be executed: its first line names %s, which is %s",
                     script, interpreter,
                     error == ENOENT || error == ENOTDIR ? "not there"
                     : error == EISDIR                   ? "a folder"
                                                         : "not executable");
    return VT_STATUS_NOT_EXECUTABLE;
}

int vt_run_program_inspect(const char *path, bool simulated, struct vt_string *message) {
    char lines[2][SCRIPT_LINE +
                  1]; /* first lines of the script, and of an interpreter that is a script */
    const char *program = path;
    for (int level = 0; level <= SCRIPT_LEVELS; level++) {
        VT_SCOPED_FD fd = vt_file_open(program, NULL);
        struct vt_run_elf elf;
        if (fd < 0)
            return 0;
        vt_run_elf_read(fd, &elf);
        if (elf.is_elf)
            return judge_elf(fd, program, &elf, simulated, message);
        const char *interpreter = read_interpreter(fd, lines[level % 2]);
        int error = interpreter ? judge_file(interpreter) : 0;
        if (error)
            return refuse_interpreter(program, interpreter, error, message);
        if (!interpreter)
            return 0;
        program = interpreter;
    }
    return 0;
}
