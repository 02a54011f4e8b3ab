/* SPDX-License-Identifier: MIT */
/*
 * The owner of driver memory: a caching allocator, a CUDA library, or the program. The frames of the memory's stack
 * decide, by the list in classes.def and the user's own file.
 */
#ifndef VRAMTRACE_ANALYZER_CLASSES_H
#define VRAMTRACE_ANALYZER_CLASSES_H

#include "model/model.h"

struct vt_classes;

/* Loads the rows of `file` (NULL: none), and after them the built-in list. Returns 0, or -errno with a `message`
 * that names the file, the line, the expected and the actual text. After 0, free with vt_classes_close; names live
 * until then. */
int vt_classes_open(const char *file, struct vt_classes **classes, struct vt_string *message);
void vt_classes_close(struct vt_classes *classes);

/* Sets the class and class_name of a driver site, and whether host memory is recycled. `blocks_hook`: the hook of
 * the site's blocks, if any. Stream-ordered memory (`pooled`) is never a cache, since the program requested each
 * allocation. */
void vt_classes_judge(const struct vt_classes *classes, const struct vt_process *process,
                      bool pooled, unsigned blocks_hook, struct vt_site *site);

/* The framework whose blocks come from this hook: "PyTorch". A constant. */
const char *vt_classes_allocator(unsigned hook);

/* The class of an allocation from this stack, and its *name; NULL: the program itself. */
enum vt_class vt_classes_of_stack(const struct vt_classes *classes,
                                  const struct vt_process *process, const struct vt_stack *stack,
                                  const char **name);

#endif
