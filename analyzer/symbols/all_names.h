/* SPDX-License-Identifier: MIT */
/*
 * Asks for every name and every source line that a report on a log can ask for, whatever its options, so that they
 * are recorded: for `vramtrace pack`. Whoever adds a question to symbols/ or analysis/ adds it here.
 */
#ifndef VRAMTRACE_ANALYZER_ALL_NAMES_H
#define VRAMTRACE_ANALYZER_ALL_NAMES_H

#include "symbols/symbolize.h"

/* What was found; of several logs together. Start it as {0}; free with vt_all_names_free. */
struct vt_all_names {
    uint32_t functions, variables; /* places in code with a name, and variables of C and C++ */
    struct vt_all_names_file {
        char *path;
        uint32_t lines;
    } * files; /* sources, in the order in which they were met */
    uint32_t file_count, file_room;
    struct vt_map by_path, asked, lines;
};

/* `symbols` records. `process` has what source lines depend on, and records them; NULL: they are not wanted. */
void vt_all_names_ask(struct vt_all_names *names, const struct vt_log *log,
                      struct vt_symbols *symbols, const struct vt_process *process);
void vt_all_names_free(struct vt_all_names *names);

#endif
