/* SPDX-License-Identifier: MIT */
/*
 * libcudnn's graphs: descriptors that keep the attributes they are given (see numb.h). Heuristics find one
 * engine for every graph, and its plans need a workspace of one size.
 */
#include "cudnn.h"

#include <stdlib.h>
#include <string.h>

enum { DESCRIPTOR = 15, WORKSPACE_BYTES = 1 << 20 };

/* The attributes that cuDNN answers by itself. */
enum {
    HEURISTICS_RESULTS = 202,
    CONFIGURATION_ENGINE = 300,
    CONFIGURATION_WORKSPACE = 303,
    PLAN_WORKSPACE = 402,
    GRAPH_ENGINES = 802,
    ENGINE_INDEX = 1301,
};

struct attribute {
    struct attribute *next;
    int name, type;
    int64_t count;
    char values[];
};

/* Behind a descriptor of the backend. */
struct node {
    struct attribute *first;
};

NUMB_API int cudnnBackendCreateDescriptor(int kind, void **out);
NUMB_API int cudnnBackendSetAttribute(void *descriptor, int name, int type, int64_t count,
                                      const void *values);
NUMB_API int cudnnBackendGetAttribute(void *descriptor, int name, int type, int64_t room,
                                      int64_t *count, void *values);

static size_t size_of(int type) {
    switch (type) {
    case 0: /* a handle */
    case 3: /* int64 */
    case 5: /* double */
    case 6: /* a pointer */
    case DESCRIPTOR:
        return 8;
    case 2:  /* bool */
    case 24: /* char */
        return 1;
    case 26: /* a fraction */
        return 16;
    default:
        return 4;
    }
}

static void end(struct numb_handle *handle) {
    struct node *node = numb_more(handle);
    for (struct attribute *next, *a = node->first; a != NULL; a = next) {
        next = a->next;
        free(a);
    }
}

int cudnnBackendCreateDescriptor(int kind, void **out) {
    struct numb_handle *handle = numb_new(sizeof(struct node));
    *out = handle;
    if (handle == NULL)
        return CUDNN_ALLOC_FAILED;
    handle->mode[0] = kind;
    handle->end = end;
    return 0;
}

static struct attribute **find(struct numb_handle *handle, int name) {
    struct node *node = numb_more(handle);
    struct attribute **at = &node->first;
    while (*at != NULL && (*at)->name != name)
        at = &(*at)->next;
    return at;
}

int cudnnBackendSetAttribute(void *descriptor, int name, int type, int64_t count,
                             const void *values) {
    struct numb_handle *known = numb_handle(descriptor);
    size_t bytes = (size_t)count * size_of(type);
    if (known == NULL || count < 0)
        return CUDNN_BAD_PARAM;
    struct attribute **at = find(known, name), *added = malloc(sizeof *added + bytes);
    if (added == NULL)
        return CUDNN_ALLOC_FAILED;
    *added = (struct attribute){*at != NULL ? (*at)->next : NULL, name, type, count};
    if (bytes > 0)
        memcpy(added->values, values, bytes);
    free(*at);
    *at = added;
    return 0;
}

/* What cuDNN knows by itself: one number, or one descriptor that the program made to receive it. */
static bool answer(int name, int64_t *value) {
    static const struct {
        int name;
        int64_t value;
    } known[] = {{HEURISTICS_RESULTS, 0},
                 {CONFIGURATION_ENGINE, 0},
                 {CONFIGURATION_WORKSPACE, WORKSPACE_BYTES},
                 {PLAN_WORKSPACE, WORKSPACE_BYTES},
                 {GRAPH_ENGINES, 1},
                 {ENGINE_INDEX, 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].name == name) {
            *value = known[i].value;
            return true;
        }
    return false;
}

int cudnnBackendGetAttribute(void *descriptor, int name, int type, int64_t room, int64_t *count,
                             void *values) {
    struct numb_handle *known = numb_handle(descriptor);
    int64_t unused, value;
    if (known == NULL)
        return CUDNN_BAD_PARAM;
    if (count == NULL)
        count = &unused;
    *count = 0;
    const struct attribute *kept = *find(known, name);
    if (kept != NULL) {
        *count = kept->count;
        /* a descriptor's own receives nothing: its contents are never read */
        if (values != NULL && type != DESCRIPTOR)
            memcpy(values, kept->values,
                   (size_t)(kept->count < room ? kept->count : room) * size_of(type));
    } else if (answer(name, &value)) {
        *count = 1;
        if (values != NULL && room > 0 && type != DESCRIPTOR)
            memcpy(values, &value, size_of(type));
    }
    return 0;
}
