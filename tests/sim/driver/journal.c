/* SPDX-License-Identifier: MIT */
/* See journal.h. Each line is one write, so a killed program's journal has only complete lines. */
#include "journal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void sim_journal(int device, int kind, int64_t bytes, int count) {
    static int file = -2; /* not looked yet */
    if (file == -2) {
        const char *path = getenv("VRAMTRACE_SIM_JOURNAL");
        file = path && *path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
        if (path && *path && file < 0)
            fprintf(stderr, "vramtrace sim: VRAMTRACE_SIM_JOURNAL=%s: cannot write there\n", path);
    }
    if (file < 0)
        return;
    char line[96];
    int n = snprintf(line, sizeof line, "%d %d %d %lld\n", kind, device, count, (long long)bytes);
    if (write(file, line, (size_t)n) != n) {
        fprintf(stderr, "vramtrace sim: the journal cannot be written\n");
        abort();
    }
}
