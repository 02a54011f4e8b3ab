/* SPDX-License-Identifier: MIT */
/*
 * What the file name of Python code says where it names no file: a cell of a notebook, or code that
 * a program generated. logfile/ asks for call sites' ids, model/ for names and for whose code it is.
 */
#ifndef VRAMTRACE_ANALYZER_PYTHON_FILE_H
#define VRAMTRACE_ANALYZER_PYTHON_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the code is an IPython cell. */
bool vt_python_file_is_cell(const char *file);

/* A hash of the file. A cell's is of its code: it is the same each time that the cell runs, though
 * IPython numbers the runs. */
uint64_t vt_python_file_hash(uint64_t seed, const char *file);

/* "In [12]"; without a number, or if it is not wanted because it differs from run to run,
 * "IPython cell 4012786785". NULL: no cell. Free it. */
char *vt_python_file_cell_name(const char *file, bool numbered);

/* Whether a program generated the code: torch.compile, a library's decorator. */
bool vt_python_file_is_generated(const char *file);

#endif
