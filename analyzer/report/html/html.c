/* SPDX-License-Identifier: MIT */
/*
 * The report as a page for a browser: one file that needs no network, with the answer in words, then pictures. html.c
 * joins the parts: the style, the data as JSON, d3 and our scripts; all but the data are in the program (embed.S). The
 * scripts make the whole page from the data; what the log says is text to them, never HTML.
 */
#include "html.h"

extern const char vt_html_style[], vt_html_script[], vt_html_d3[];
extern const uint64_t vt_html_style_size, vt_html_script_size, vt_html_d3_size;

/* The page's limits. The processes that are shown in full, at most WHOLE, share most of them. */
enum {
    WHOLE = 12,
    SITES = 5000,
    SITES_OF_ONE = 2000,
    PHASES = 2000,
    OWNERS = 1500,
    FRAMES = 60000,
    ITEMS = 200,
    ITEMS_IN_BRIEF = 8,
    NUMBERS = 180000,
    PIECES = 60000,
    LONG_TEXTS = 4000000,
    PAGES = 1000,
};

const char *vt_fmt_html_missing(void) {
    return vt_html_d3_size ? NULL : "this vramtrace was built without d3";
}

static struct vt_html_bounds bounds_of_process(uint32_t processes,
                                               const struct vt_format_options *options) {
    uint32_t count = processes < WHOLE ? processes : WHOLE;
    uint32_t sites = SITES / count;
    if (options->top && options->top < sites)
        sites = options->top;
    return (struct vt_html_bounds){.sites = sites < SITES_OF_ONE ? sites : SITES_OF_ONE,
                                   .phases = PHASES / count,
                                   .owners = OWNERS / count,
                                   .frames = FRAMES / count,
                                   .items = ITEMS,
                                   .numbers = NUMBERS / count,
                                   .pieces = PIECES / count};
}

static void write_data(const struct vt_model *model, const struct vt_format_options *options,
                       FILE *out) {
    size_t long_texts = LONG_TEXTS;
    struct vt_json j = {.out = out,
                        .first = true,
                        .in_one_line = true,
                        .inside_html = true,
                        .long_texts = &long_texts};
    struct vt_processes processes;
    vt_processes_choose(&processes, model, options, true);
    uint32_t count = processes.count < PAGES ? processes.count : PAGES;
    struct vt_html_bounds most = bounds_of_process(count ? count : 1, options);
    vt_json_open(&j, NULL, '{');
    vt_json_string(&j, "schema", "vramtrace-report/1");
    vt_json_number(&j, "id_digits", model->id_digits);
    vt_json_number(&j, "empty", processes.empty); /* processes without allocations */
    vt_json_string(&j, "site", options->site);
    vt_json_number(&j, "processes_left_out", processes.count - count);
    vt_json_part_ranks(&j, processes.many ? model->job : NULL);
    if (processes.many)
        vt_html_ranks(&j, model->job);
    for (uint32_t i = 0; vt_json_items(&j, "processes", i, count); i++) {
        struct vt_html h = {.json = &j,
                            .model = model,
                            .process = processes.list[i],
                            .in_job = processes.many ? processes.in_job[i] : VT_JOB_NONE,
                            .options = options,
                            .bounds = {.items = ITEMS_IN_BRIEF}};
        if (i < WHOLE)
            h.bounds = most;
        vt_html_process(&h);
    }
    vt_json_close(&j, '}');
    vt_processes_free(&processes);
}

int vt_fmt_html_write(const struct vt_model *model, const struct vt_format_options *options,
                      FILE *out) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n"
          "<title>vramtrace</title>\n<style>\n",
          out);
    fwrite(vt_html_style, 1, vt_html_style_size, out);
    fputs(
        "</style>\n</head>\n<body>\n<noscript>This page draws the report with JavaScript, which is "
        "turned off here.</noscript>\n<script type=\"application/json\" id=\"data\">",
        out);
    write_data(model, options, out);
    fputs("</script>\n<script>", out);
    fwrite(vt_html_d3, 1, vt_html_d3_size, out);
    fputs("</script>\n<script>\n", out);
    fwrite(vt_html_script, 1, vt_html_script_size, out);
    fputs("</script>\n</body>\n</html>\n", out);
    return 0;
}
