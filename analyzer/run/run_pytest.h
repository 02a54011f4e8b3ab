/* SPDX-License-Identifier: MIT */
/*
 * pytest under `run --check`: the plugin that judges each test (examples/pytest) is loaded
 * automatically, so that a test and the gate have one verdict. For cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_PYTEST_H
#define VRAMTRACE_ANALYZER_RUN_PYTEST_H

#include "gate/gate.h"

/* Whether a command runs pytest, judged by its words: one of them is pytest, py.test or
 * pytest-3, in any folder, or a shell's text that names it (`sh -c "cd tests; pytest"`). This finds
 * `python -m pytest`, `coverage run -m pytest` and `uv run pytest`, but no script or Makefile
 * that calls it. */
bool vt_run_pytest_is(char *const *argv);

/* Whether such a command's Python ignores PYTHONPATH (-I, -E, in the command or in the first line of
 * the script `program`): then it would not find the plugin. */
bool vt_run_pytest_is_isolated(const char *program, char *const *argv);

/* Sets PYTEST_PLUGINS, PYTHONPATH, VRAMTRACE_COMMAND and VRAMTRACE_CHECK (the gate's options, one a
 * line) in this process's environment; `tracer`: the tracer's path. False: the plugin is not
 * installed. */
bool vt_run_pytest_set(const struct vt_check *check, const char *tracer);

#endif
