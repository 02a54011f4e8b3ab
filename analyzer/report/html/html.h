/* SPDX-License-Identifier: MIT */
/*
 * The parts of the HTML format, for its files: html.c writes the page, html_data.c a process as
 * JSON, html_words.c the sentences, html_sites.c call sites with their stacks, html_owners.c
 * snapshots, html_time.c what a timeline has, html_text.c texts that the log chose.
 *
 * The data is bounded, whatever the log has: what is left out is counted. It names call sites by their
 * place in the page's own list.
 */
#ifndef VRAMTRACE_ANALYZER_HTML_H
#define VRAMTRACE_ANALYZER_HTML_H

#include "../text_page.h"
#include "../json_parts.h"
#include "content/content.h"

/* How much of a process to write. */
struct vt_html_bounds {
    uint32_t sites, phases, owners; /* the most of each */
    uint32_t numbers;               /* of all courses */
    uint32_t pieces;                /* of all maps */
};

/* Texts that many things name, each written once. */
struct vt_html_texts {
    const char **items;
    uint32_t count, room;
    struct vt_map by_hash;
};

/* Bytes that are left for texts, of all processes: for long ones, and for those in lists of texts. */
struct vt_html_room {
    size_t long_texts, listed;
};

/* What is written of one process. */
struct vt_html {
    struct vt_json *json;
    const struct vt_model *model;
    const struct vt_process *process;
    uint32_t in_job; /* its index there, or VT_JOB_NONE */
    const struct vt_format_options *options;
    struct vt_html_bounds bounds;
    uint32_t *page_site;  /* for each site of the model its place in the page, or VT_NO_SITE */
    uint32_t *model_site; /* for each of the page's its place in the model */
    uint32_t site_count;
    struct vt_html_texts texts;
    struct vt_html_room *room;
};

/* --- html_data.c --- */

void vt_html_process(struct vt_html *h);

/* --- html_text.c --- */

/* Writes a text that the log chose. One of many hundred characters loses its end, and earlier where
 * all such texts together are long. */
void vt_html_text(const struct vt_html *h, const char *name, const char *text);
void vt_html_text_list(const struct vt_html *h, const char *name, const char *const *list,
                       uint32_t count);

/* The number of a text in the page's list of texts; VT_UNKNOWN for NULL. */
uint64_t vt_html_text_number(struct vt_html *h, const char *text);
void vt_html_texts_write(const struct vt_html *h);
void vt_html_texts_free(struct vt_html *h);

/* --- html_sites.c --- */

/* Decides which sites the page has, and frees that. */
void vt_html_sites_choose(struct vt_html *h);
void vt_html_sites_free(struct vt_html *h);

/* The sites, the lines that they are grouped by, their stacks and frames. */
void vt_html_sites(struct vt_html *h);

/* A list of sites: of those that the page has. */
void vt_html_site_list(const struct vt_html *h, const char *name, const uint32_t *sites,
                       uint32_t count);
/* The page's place of a site of the model, or null. */
void vt_html_site(const struct vt_html *h, const char *name, uint32_t site);

/* A device's number; null: unknown; "host": of pinned and managed memory. */
void vt_html_device(struct vt_json *j, const char *name, unsigned device);

/* --- html_ranks.c --- */

/* "ranks": all processes side by side. */
void vt_html_ranks(struct vt_json *j, const struct vt_job *job);

/* --- html_words.c, html_owners.c, html_time.c --- */

void vt_html_words(struct vt_html *h);

void vt_html_snapshots(struct vt_html *h);
void vt_html_courses(struct vt_html *h);
void vt_html_maps(struct vt_html *h);

#endif
