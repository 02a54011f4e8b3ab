/* SPDX-License-Identifier: MIT */
/*
 * Demangling, by libiberty (see dwarf.h).
 */
#define _GNU_SOURCE
#include "dwarf.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

/* gfortran's name of a procedure or variable of a module: "__mod_MOD_grow" is "mod::grow". */
static char *demangle_fortran(const char *name) {
    const char *mark = strstr(name, "_MOD_");
    if (!mark || mark < name + 3 || !mark[5])
        return NULL;
    return vt_formatted("%.*s::%s", (int)(mark - name - 2), name + 2, mark + 5);
}

char *vt_demangle_type(const char *name) {
    return cplus_demangle_v3(name, DMGL_PARAMS | DMGL_TYPES);
}

char *vt_demangle_symbol(const char *name) {
    if (name[0] != '_')
        return NULL;
    if (name[1] == '_')
        return demangle_fortran(name);
    if (name[1] == 'D')
        return dlang_demangle(name, 0);
    char *plain = name[1] == 'Z' || name[1] == 'R' ? rust_demangle(name, 0) : NULL;
    if (plain || name[1] != 'Z')
        return plain;
    plain = vt_demangle_type(name);
    /* the compiler's copy of a variable: _ZL4kept.lto_priv.0, _ZL4kept.llvm.1 */
    const char *mark = strchr(name, '.');
    if (!plain && mark) {
        VT_SCOPED char *cut = vt_strndup(name, (size_t)(mark - name));
        plain = vt_demangle_type(cut);
    }
    return plain;
}

char *vt_class_text(const char *name) {
    const char *digits = name + (*name == 'N');
    char *plain = *digits >= '1' && *digits <= '9' ? vt_demangle_type(name) : NULL;
    return plain ? plain : vt_strdup(name);
}

char *vt_class_short(const char *type) {
    const char *from = type, *end = type + strcspn(type, "<(");
    for (const char *at = type; at < end; at++)
        if (*at == '.' || *at == ':')
            from = at + 1;
    return vt_strdup(from[0] ? from : type);
}
