/* SPDX-License-Identifier: MIT */
/*
 * Looks up every name and every source line that any report on a log can use, so that the answers
 * are recorded: for `vramtrace pack`. Add each new look-up of symbols/ or analysis/ here.
 */
#ifndef VRAMTRACE_ANALYZER_ALL_NAMES_H
#define VRAMTRACE_ANALYZER_ALL_NAMES_H

#include "symbols/symbolize.h"

/* The results, for several logs together. Initialize as {0}; free with vt_all_names_free. */
struct vt_all_names {
    uint32_t functions, variables; /* code addresses with a name, and C and C++ variables */
    struct vt_all_names_file {
        char *path;
        uint32_t lines;
    } * files; /* sources, in the order in which they were met */
    uint32_t file_count, file_room;
    struct vt_map by_path, asked, lines;
};

/* `symbols` records names. `process` records source lines, with the settings that they depend on; NULL: no source lines. */
void vt_all_names_ask(struct vt_all_names *names, const struct vt_log *log,
                      struct vt_symbols *symbols, const struct vt_process *process);
void vt_all_names_free(struct vt_all_names *names);

#endif
