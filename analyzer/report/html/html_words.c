/* SPDX-License-Identifier: MIT */
/*
 * The answer in words, for the HTML page: the sentences of words.h in the text report's order, as blocks
 * of a heading and rows.
 */
#include "html.h"

enum { LEAKS_SHOWN = 20, BRIEF = 3, SITES_OF_BLOCK = 64 };

/* Opens a block; its tone is "bad", "warn", "good", or "" for neither. */
static void open_block(const struct vt_html *h, const char *kind, const char *tone,
                       const char *title, const char *headline) {
    struct vt_json *j = h->json;
    vt_json_open(j, NULL, '{');
    vt_json_string(j, "kind", kind);
    vt_json_string(j, "tone", tone);
    vt_json_string(j, "title", title);
    vt_html_text(h, "headline", headline);
}

/* [kind, label, text, line of code, bytes, site] each. */
static void rows(struct vt_html *h, const struct vt_words *words) {
    static const char *const kinds[] = {"text",   "place", "source", "holder",
                                        "caller", "more",  "peak",   "alarm"};
    struct vt_json *j = h->json;
    vt_json_open(j, "rows", '[');
    for (uint32_t i = 0; i < words->count; i++) {
        const struct vt_words_row *row = &words->rows[i];
        bool is_holder = row->kind == VT_WORDS_HOLDER || row->kind == VT_WORDS_PEAK;
        vt_json_open(j, NULL, '[');
        vt_json_string(j, NULL, kinds[row->kind]);
        vt_json_string(j, NULL, row->label);
        vt_html_text(h, NULL, row->text);
        vt_html_text(h, NULL, row->source);
        vt_json_number(j, NULL, is_holder ? row->bytes : VT_UNKNOWN);
        vt_html_site(h, NULL, row->site ? (uint32_t)(row->site - h->process->sites) : VT_NO_SITE);
        vt_json_close(j, ']');
    }
    vt_json_close(j, ']');
    vt_html_text(h, "remark", words->remark);
}

static void leaks(struct vt_html *h, const struct vt_text *t) {
    const struct vt_process *p = h->process;
    uint32_t most = h->bounds.sites ? LEAKS_SHOWN : BRIEF;
    for (uint32_t i = 0; i < p->leak_count && i < most; i++) {
        const struct vt_leak *leak = &p->leaks[i];
        struct vt_words words = {0};
        vt_words_leak(t, leak, &words);
        open_block(h, "leak", "bad", "LEAK", words.headline);
        rows(h, &words);
        vt_html_site_list(h, "sites", leak->sites,
                          leak->site_count < SITES_OF_BLOCK ? leak->site_count : SITES_OF_BLOCK);
        vt_json_number(h->json, "site_count", leak->site_count);
        vt_json_close(h->json, '}');
        vt_words_free(&words);
    }
}

static void ooms(struct vt_html *h, const struct vt_text *t) {
    const struct vt_process *p = h->process;
    const struct vt_oom *oom = vt_process_oom(p);
    struct vt_words words = {0}, others = {0};
    if (oom) {
        vt_words_oom(t, oom, &words);
        open_block(h, "oom", vt_words_oom_survived(p, oom) ? "warn" : "bad", "OUT OF MEMORY",
                   words.headline);
        rows(h, &words);
        vt_json_number(h->json, "at", oom->at);
        vt_html_site_list(h, "sites", oom->holders, oom->holder_count);
        vt_json_close(h->json, '}');
        vt_words_free(&words);
    }
    vt_words_oom_others(p, &others);
    if (others.count) {
        open_block(h, "note", "", oom ? "" : "OUT OF MEMORY", NULL);
        rows(h, &others);
        vt_json_close(h->json, '}');
    }
    vt_words_free(&others);
}

/* Without a leak: what is held, or that nothing is. */
static void held(struct vt_html *h, const struct vt_text *t) {
    struct vt_words_held held = {0};
    struct vt_words late = {0};
    vt_words_held(t, &held);
    open_block(h, "held",
               held.bad > 0   ? "warn"
               : held.bad < 0 ? "good"
                              : "",
               held.heading, held.headline);
    rows(h, &(struct vt_words){.remark = held.remark});
    vt_json_close(h->json, '}');
    if (held.freed && vt_words_late(t, &late)) {
        open_block(h, "held", "", "FREED ONLY AT EXIT", late.headline);
        rows(h, &late);
        vt_json_close(h->json, '}');
    }
    vt_words_free(&late);
    vt_words_held_free(&held);
}

static void device(struct vt_html *h, const struct vt_text *t, const struct vt_device *d) {
    struct vt_json *j = h->json;
    struct vt_words_device words = {0};
    vt_words_device(t, d, &words);
    open_block(h, "device", "", words.title, words.words.headline);
    rows(h, &words.words);
    vt_html_device(j, "device", d->ordinal);
    vt_json_open(j, "parts", '['); /* [letter, name, bytes, text, what it is for] each */
    for (unsigned i = 0; i < words.part_count; i++) {
        const struct vt_words_part *part = &words.parts[i];
        vt_json_open(j, NULL, '[');
        vt_json_string(j, NULL, (char[]){part->letter, 0});
        vt_json_string(j, NULL, part->name);
        vt_json_number(j, NULL, part->bytes);
        vt_html_text(h, NULL, part->text);
        vt_html_text(h, NULL, part->purposes);
        vt_json_close(j, ']');
    }
    vt_json_close(j, ']');
    vt_json_number(j, "whole", words.whole);
    vt_json_close(j, '}');
    vt_words_device_free(&words);
}

/* Those that were not used share a card, the last. */
static void devices(struct vt_html *h, const struct vt_text *t) {
    const struct vt_process *p = h->process;
    struct vt_words_device unused = {0};
    bool apart = vt_words_devices_unused(p, &unused);
    for (uint32_t i = 0; i < p->device_count; i++)
        if (!apart || vt_words_device_used(&p->devices[i]))
            device(h, t, &p->devices[i]);
    if (apart) {
        open_block(h, "device", "", unused.title, unused.words.headline);
        rows(h, &unused.words);
        vt_json_close(h->json, '}');
    }
    vt_words_device_free(&unused);
}

static void next(struct vt_html *h, const struct vt_text *t) {
    struct vt_words words = {0};
    vt_words_next(t, &words);
    if (words.count) {
        open_block(h, "next", "", "NEXT", NULL);
        rows(h, &words);
        vt_json_close(h->json, '}');
    }
    vt_words_free(&words);
}

void vt_html_words(struct vt_html *h) {
    const struct vt_process *p = h->process;
    struct vt_format_options options = *h->options;
    options.by = VT_BY_LINE;
    struct vt_text t = {.model = h->model,
                        .process = p,
                        .options = &options,
                        .digits = h->model->id_digits,
                        .width = VT_WORDS_WHOLE};
    bool oom_first = vt_words_oom_first(p);
    vt_json_open(h->json, "words", '[');
    if (oom_first)
        ooms(h, &t);
    leaks(h, &t);
    if (!oom_first)
        ooms(h, &t);
    if (!p->leak_count)
        held(h, &t);
    if (h->bounds.sites)
        devices(h, &t);
    if (h->bounds.sites)
        next(h, &t);
    vt_json_close(h->json, ']');
}
