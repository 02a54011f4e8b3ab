/* SPDX-License-Identifier: MIT */
/*
 * pytest under `run --check`: the plugin that judges each test (examples/pytest) is loaded automatically, so that a
 * test and the gate get the same verdict. For cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_PYTEST_H
#define VRAMTRACE_ANALYZER_RUN_PYTEST_H

#include "gate/gate.h"

/* Whether a command runs pytest, by its words: one is pytest, py.test or pytest-3, in any folder, or shell code with
 * such a word (`sh -c "cd tests; pytest"`). This finds `python -m pytest`, `coverage run -m pytest` and `uv run
 * pytest`, but no script or Makefile that calls pytest. */
bool vt_run_pytest_is(char *const *argv);

/* Whether such a command's Python ignores PYTHONPATH (-I or -E, in the command or in the first line of the script
 * `program`), so that it would not find the plugin. */
bool vt_run_pytest_is_isolated(const char *program, char *const *argv);

/* Sets PYTEST_PLUGINS, PYTHONPATH, VRAMTRACE_COMMAND and VRAMTRACE_CHECK (the gate's options, one per line) in this
 * process's environment; `tracer`: the tracer's path. False: the plugin is not installed. */
bool vt_run_pytest_set(const struct vt_check *check, const char *tracer);

#endif
