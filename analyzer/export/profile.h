/* SPDX-License-Identifier: MIT */
/*
 * A pprof profile under construction: its tables of texts, functions, mappings and locations, without duplicates, and
 * its samples. fmt_pprof.c decides the contents.
 */
#ifndef VRAMTRACE_ANALYZER_PROFILE_H
#define VRAMTRACE_ANALYZER_PROFILE_H

#include "model/model.h"

#include "profile.pb-c.h"

struct vt_profile;

struct vt_profile *vt_profile_open(void);
void vt_profile_close(struct vt_profile *profile); /* call it after writing */

/* The message. The caller may set its other fields; vt_profile_close frees their memory with free(). */
Perftools__Profiles__Profile *vt_profile_message(struct vt_profile *profile);

/* The number of a text; NULL is "". Invalid UTF-8 and control characters are escaped. */
int64_t vt_profile_text(struct vt_profile *profile, const char *text);

/* The id of a mapped file. NULL: 0. */
uint64_t vt_profile_mapping(struct vt_profile *profile, const struct vt_module *module);

/* A line of a location. `frame` NULL: `name` is no frame's. */
struct vt_profile_line {
    const char *name;
    const struct vt_frame *frame;
};

/* The id of a code location; inlined functions innermost first. */
uint64_t vt_profile_location(struct vt_profile *profile, uint64_t mapping, uint64_t address,
                             const struct vt_profile_line *lines, uint32_t count);

/* Adds a sample; copies the arrays. */
struct vt_profile_label {
    const char *key, *text;
};
void vt_profile_sample(struct vt_profile *profile, const uint64_t *locations, uint32_t depth,
                       const int64_t *values, uint32_t value_count,
                       const struct vt_profile_label *labels, uint32_t label_count);

/* Writes it gzip-compressed. Returns 0 or -errno. */
int vt_profile_write(struct vt_profile *profile, FILE *out);

#endif
