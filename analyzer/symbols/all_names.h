/* SPDX-License-Identifier: MIT */
/*
 * For `vramtrace pack`: looks up every name and every source line that any report on a log can use, so that the answers
 * are recorded. Add each new look-up of symbols/ or analysis/ here.
 */
#ifndef VRAMTRACE_ANALYZER_ALL_NAMES_H
#define VRAMTRACE_ANALYZER_ALL_NAMES_H

#include "symbols/symbolize.h"

/* The results, for several logs together. Initialize as {0}; free with vt_all_names_free. */
struct vt_all_names {
    /* numbers of code addresses with a name, and of C and C++ variables */
    uint32_t functions, variables;
    struct vt_all_names_file {
        char *path;
        uint32_t lines;
    } * files; /* sources, in the order of their look-up */
    uint32_t file_count, file_room;
    struct vt_map by_path, asked, lines;
};

/* `symbols` records names. `process` records source lines, with the settings on which they depend; NULL: no source
 * lines. */
void vt_all_names_ask(struct vt_all_names *names, const struct vt_log *log,
                      struct vt_symbols *symbols, const struct vt_process *process);
void vt_all_names_free(struct vt_all_names *names);

#endif
