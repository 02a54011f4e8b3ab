/* SPDX-License-Identifier: MIT */
/*
 * Classes of driver memory: a caching allocator's, a CUDA library's own, or the program's. By the
 * frames that made it; the list is in classes.def, and a user's file adds to it.
 */
#ifndef VRAMTRACE_ANALYZER_CLASSES_H
#define VRAMTRACE_ANALYZER_CLASSES_H

#include "model/model.h"

struct vt_classes;

/* The built-in list, with the rows of `file` before it (NULL: none). 0, or -errno with a message
 * that names file, line, expected and found. Free with vt_classes_close; what vt_classes_find gives
 * lives as long. */
int vt_classes_open(const char *file, struct vt_classes **classes, struct vt_string *message);
void vt_classes_close(struct vt_classes *classes);

/* Gives a driver site its class and class_name. `blocks_hook`: of the blocks
 * in it, where there are any. Stream-ordered memory (`pooled`) is never a cache:
 * the driver hands out as the program asks. */
void vt_classes_judge(const struct vt_classes *classes, const struct vt_process *process,
                      bool pooled, unsigned blocks_hook, struct vt_site *site);

/* Who reports blocks through a hook: "PyTorch". */
const char *vt_classes_allocator(unsigned hook);

/* The class that an allocation from this stack would have. */
enum vt_class vt_classes_of_stack(const struct vt_classes *classes,
                                  const struct vt_process *process, const struct vt_stack *stack,
                                  const char **name);

/* Gives a site that belongs to a cache or a CUDA library its verdict and why; false: it is the
 * program's. `end`: what the end is, after "live". */
bool vt_classes_verdict(struct vt_site *site, const char *end);

#endif
