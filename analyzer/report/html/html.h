/* SPDX-License-Identifier: MIT */
/*
 * The parts of the HTML format, for its files: html.c writes the page, html_data.c a process, html_words.c the
 * sentences, html_sites.c which call sites there are, html_time.c what a timeline has.
 *
 * The data is the JSON report, bounded; the rest is counted. Each process also has "page", which only the pictures
 * need: it names call sites by their position in "sites".
 */
#ifndef VRAMTRACE_ANALYZER_HTML_H
#define VRAMTRACE_ANALYZER_HTML_H

#include "../json_parts.h"
#include "../keys.h"
#include "../text_page.h"
#include "content/content.h"

/* How much of a process to write. */
struct vt_html_bounds {
    uint32_t sites, phases, owners, frames; /* the most of each */
    uint32_t items;                         /* of any other list */
    uint32_t numbers;                       /* of all courses */
    uint32_t pieces;                        /* of all maps */
};

/* One process, and how much of it to write. */
struct vt_html {
    struct vt_json *json;
    const struct vt_model *model;
    const struct vt_process *process;
    uint32_t in_job; /* its index there, or VT_JOB_NONE */
    const struct vt_format_options *options;
    struct vt_html_bounds bounds;
    struct vt_key_writer keys;
    uint32_t *page_site; /* for each site of the model its place in the page, or VT_NO_SITE */
    uint32_t site_count;
};

/* --- html_data.c --- */

void vt_html_process(struct vt_html *h);

/* --- html_sites.c --- */

/* Decides which sites the page has: makes `page_site`. The caller frees it. */
uint32_t *vt_html_sites_choose(struct vt_html *h);

/* "site_lines" and "site_leaks": the number of each site's line, and its part of a leak; "sites_left_out": sums of the
 * other sites, for each layer. */
void vt_html_sites(struct vt_html *h);

/* "frame_names": the name to show for each frame; null: its function. */
void vt_html_frame_names(struct vt_html *h);

/* A list of sites: of those that the page has. */
void vt_html_site_list(const struct vt_html *h, const char *name, const uint32_t *sites,
                       uint32_t count);
/* The page's place of a site of the model, or null. */
void vt_html_site(const struct vt_html *h, const char *name, uint32_t site);

/* A device's number; null: unknown; "host": of pinned and managed memory. */
void vt_html_device(struct vt_json *j, const char *name, unsigned device);

/* --- html_ranks.c --- */

/* "job": what the page says of all processes, beyond "ranks". */
void vt_html_ranks(struct vt_json *j, const struct vt_job *job);

/* --- html_words.c, html_time.c --- */

void vt_html_words(struct vt_html *h);
void vt_html_courses(struct vt_html *h);
void vt_html_maps(struct vt_html *h);

#endif
