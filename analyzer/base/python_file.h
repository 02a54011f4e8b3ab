/* SPDX-License-Identifier: MIT */
/*
 * File names of Python code without a file: cells of notebooks, and generated code. logfile/ uses them for call sites'
 * ids; model/ for names, and to find user code.
 */
#ifndef VRAMTRACE_ANALYZER_PYTHON_FILE_H
#define VRAMTRACE_ANALYZER_PYTHON_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the code is an IPython cell. */
bool vt_python_file_is_cell(const char *file);

/* A hash of the file name. For a cell, a hash of its code: the same in each run, though IPython
 * numbers the runs. */
uint64_t vt_python_file_hash(uint64_t seed, const char *file);

/* "In [12]" if `numbered` and the name has a number, else "IPython cell 4012786785", which is the same
 * in each run. NULL: not a cell. Free it. */
char *vt_python_file_cell_name(const char *file, bool numbered);

/* Whether a program such as torch.compile or a library's decorator generated the code. */
bool vt_python_file_is_generated(const char *file);

#endif
