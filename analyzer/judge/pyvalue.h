/* SPDX-License-Identifier: MIT */
/*
 * What a Python expression hands on of a value: "out" and "(x, out[0])" hand it on, "out.item()" and
 * "len(out)" do not. keepers.c follows values with it. Texts are those of pysource.h.
 */
#ifndef VRAMTRACE_ANALYZER_PYVALUE_H
#define VRAMTRACE_ANALYZER_PYVALUE_H

#include "pysource.h"

/* What is handed on: nothing; what was computed from it, which keeps it as long as its gradients are
 * asked for; the value itself. */
enum vt_pyhold { VT_PYHOLD_NOTHING, VT_PYHOLD_GRAPH, VT_PYHOLD_ITSELF };

struct vt_pyvalue {
    enum vt_pyhold hold;
    int element, of;  /* which of a tuple's it is; 0 of 0: not known to be in one */
    bool gathered;    /* it is a container that has it, or a sum: the ones before it as well */
    const char *name; /* the variable; NULL: a call's result */
};

/* A part of a text. */
struct vt_pytext {
    const char *at;
    size_t length;
};

enum { VT_PYNAMES = 16, VT_PYNAME_BYTES = 64, VT_PYMAKERS = 8 };

/* What is known where an expression stands. */
struct vt_pyscene {
    bool graph; /* what is computed from it may keep it */
    bool alive; /* something that grows is allocated where the expression stands */
    const struct vt_pysource *source; /* where it stands; NULL: unknown */
    /* the expression calls what made the value, or makes it by itself */
    struct vt_pyvalue made;          /* .hold VT_PYHOLD_NOTHING: it does not */
    bool innermost;                  /* nothing that the user wrote is called for it */
    const char *makers[VT_PYMAKERS]; /* the functions that were called, as far as known */
    unsigned maker_count;
    struct {
        char name[VT_PYNAME_BYTES];
        struct vt_pyvalue value;
    } names[VT_PYNAMES];
    unsigned name_count;
};

struct vt_pyvalue vt_pyvalue_of(const struct vt_pyscene *scene, struct vt_pytext expression);

/* Of a call's arguments: any of them. */
struct vt_pyvalue vt_pyvalue_of_arguments(const struct vt_pyscene *scene, struct vt_pytext inside);

/* Lets a variable (dotted, too) stand for a value; for none where it holds nothing. */
void vt_pyvalue_bind(struct vt_pyscene *scene, struct vt_pytext name, struct vt_pyvalue value);

/* The next part of `rest` up to a comma (or another character) outside brackets; moves `rest` behind
 * it. False: there is none left. */
bool vt_pytext_part(struct vt_pytext *rest, char separator, struct vt_pytext *part);

/* Bytes to behind the bracket that closes the one at `at`; all of them where none does. */
size_t vt_pytext_bracket(struct vt_pytext text, size_t at);

/* Without blanks and whole parentheses around it. */
struct vt_pytext vt_pytext_strip(struct vt_pytext text);

/* The bytes of the dotted name that a text begins with. */
size_t vt_pytext_dotted(struct vt_pytext text);

/* Where a keyword stands outside brackets; the text's length where nowhere. */
size_t vt_pytext_keyword(struct vt_pytext text, const char *keyword);

/* Whether a word is one of those in a list, parted by blanks. */
bool vt_pytext_listed(const char *list, struct vt_pytext word);

/* The last part of a dotted name. */
struct vt_pytext vt_pytext_last(struct vt_pytext dotted);

bool vt_pytext_is(struct vt_pytext text, const char *word);

#endif
