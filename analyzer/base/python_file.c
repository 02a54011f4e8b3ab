/* SPDX-License-Identifier: MIT */
/*
 * File names of Python code without a file (see python_file.h).
 *
 * IPython gives each run of a cell a name of its own:
 *     <ipython-input-12-1669048046ab>             number of the run, hash of the code
 *     /tmp/ipython-input-12-1669048046.py         the same in Colab; newer ones have no number
 *     /tmp/ipykernel_11412/1669048046.py          Jupyter: process, hash of the code
 */
#include "python_file.h"

#include "util.h"

#include <string.h>

static const char digits[] = "0123456789";

/* A cell's parts, which point into its file name. */
struct cell {
    const char *number, *code;
    size_t number_length, code_length; /* number_length 0: the name has no number */
};

/* Whether `text` begins with `prefix`; moves `text` past it. */
static bool skip(const char **text, const char *prefix) {
    size_t length = strlen(prefix);
    bool found = !strncmp(*text, prefix, length);
    *text += found ? length : 0;
    return found;
}

/* The rest of the name is CODE or NUMBER-CODE, and `ending`. */
static bool parse_input(const char *at, const char *ending, struct cell *cell) {
    size_t length = strlen(at), end = strlen(ending), number = strspn(at, digits);
    if (length <= end || strcmp(at + length - end, ending) != 0)
        return false;
    bool numbered = number && at[number] == '-';
    cell->number = at;
    cell->number_length = numbered ? number : 0;
    cell->code = numbered ? at + number + 1 : at;
    cell->code_length = (size_t)(at + length - end - cell->code);
    return cell->code_length > 0;
}

static bool parse_cell(const char *file, struct cell *cell) {
    const char *name = strrchr(file, '/');
    if (!name) {
        name = file;
        return skip(&name, "<ipython-input-") && parse_input(name, ">", cell);
    }
    const char *folder = name++;
    while (folder > file && folder[-1] != '/')
        folder--;
    if (skip(&name, "ipython-input-"))
        return parse_input(name, ".py", cell);
    size_t code = strspn(name, digits);
    if (!skip(&folder, "ipykernel_") || !code || strcmp(name + code, ".py") != 0)
        return false;
    *cell = (struct cell){.number = name, .code = name, .code_length = code};
    return true;
}

bool vt_python_file_is_cell(const char *file) {
    struct cell cell;
    return file && parse_cell(file, &cell);
}

uint64_t vt_python_file_hash(uint64_t seed, const char *file) {
    struct cell cell;
    if (!parse_cell(file, &cell))
        return vt_hash_bytes(seed, file, strlen(file));
    return vt_hash_bytes(vt_mix(seed), cell.code, cell.code_length);
}

char *vt_python_file_cell_name(const char *file, bool numbered) {
    struct cell cell;
    if (!file || !parse_cell(file, &cell))
        return NULL;
    if (cell.number_length && numbered)
        return vt_formatted("In [%.*s]", (int)cell.number_length, cell.number);
    return vt_formatted("IPython cell %.*s", (int)cell.code_length, cell.code);
}

/* Inductor's modules are CACHE/ab/cab...py: "c" and 51 characters of base32, in a folder named by the name's second
 * and third characters. */
static bool is_inductor(const char *file) {
    enum { NAME = 52 };
    const char *name = strrchr(file, '/');
    if (strstr(file, "/torchinductor_"))
        return true;
    if (!name || name - file < 3 || name[1] != 'c' || memcmp(name - 3, "/", 1) != 0 ||
        memcmp(name - 2, name + 2, 2) != 0)
        return false;
    return strspn(name + 1, "abcdefghijklmnopqrstuvwxyz234567") == NAME && name[1 + NAME] == '.';
}

bool vt_python_file_is_generated(const char *file) {
    static const char *const names[] = {
        "<eval_with_key>", "<precompile>",  "<compile_to_python>",  "<derived arg ",
        "<decorator-gen-", "<makefun-gen-", "<lambdifygenerated-",  "<attrs generated ",
        "<boltons.",       "<quack-",       "<__array_function__ ",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(file, names[i], strlen(names[i])))
            return true;
    return is_inductor(file);
}
