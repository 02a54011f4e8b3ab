/* SPDX-License-Identifier: MIT */
/*
 * The purposes of memory (see roles.h).
 */
#include "roles.h"

#include <fnmatch.h>
#include <string.h>

enum vt_purpose vt_roles_seen(unsigned roles) {
    static const struct {
        enum vt_purpose purpose;
        unsigned bit;
    } rows[] = {
#define VT_ROLE_SEEN(PURPOSE, BIT) {VT_PURPOSE_##PURPOSE, BIT},
#include "roles.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (roles & rows[i].bit)
            return rows[i].purpose;
    return VT_PURPOSE_OTHER;
}

struct row {
    enum vt_purpose purpose;
    const char *pattern;
};

static enum vt_purpose find_purpose(const struct row *rows, size_t count, const char *text) {
    for (size_t i = 0; i < count; i++)
        if (!fnmatch(rows[i].pattern, text, 0))
            return rows[i].purpose;
    return VT_PURPOSE_OTHER;
}

enum vt_purpose vt_roles_named(const char *variable) {
    static const struct row rows[] = {
#define VT_ROLE_NAMED(PURPOSE, pattern) {VT_PURPOSE_##PURPOSE, pattern},
#include "roles.def"
    };
    return find_purpose(rows, sizeof rows / sizeof *rows, variable);
}

enum vt_purpose vt_roles_classed(const char *type) {
    static const struct row rows[] = {
#define VT_ROLE_CLASS(PURPOSE, pattern) {VT_PURPOSE_##PURPOSE, pattern},
#include "roles.def"
    };
    return find_purpose(rows, sizeof rows / sizeof *rows, type);
}

const char *vt_roles_host_copy(const char *type) {
    static const struct {
        const char *pattern, *copy;
    } rows[] = {
#define VT_MEMORY_CLASS(pattern, copy) {pattern, copy},
#include "roles.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!fnmatch(rows[i].pattern, type, 0))
            return rows[i].copy;
    return NULL;
}

bool vt_roles_is_graph_node(unsigned kind, const char *type) {
    size_t length = strlen(type);
    while (length && type[length - 1] >= '0' && type[length - 1] <= '9')
        length--;
    bool backward = length > 8 && !strncmp(type + length - 8, "Backward", 8);
    return (backward && (length < strlen(type) || kind == VT_STEP_CLASS)) ||
           (!strncmp(type, "torch::autograd::", 17) && strstr(type, "generated"));
}
