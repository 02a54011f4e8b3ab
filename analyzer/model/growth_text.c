/* SPDX-License-Identifier: MIT */
/*
 * Fills the sentences of growth_rules.def (see growth_text.h).
 */
#include "model.h"

#include <string.h>

const struct vt_growth_words vt_growth_rules[VT_GROWTH_RULES] = {
    [VT_RULE_NONE] = {"", ""},
#define VT_GROWTH_RULE(NAME, stage, applies, test, sentence, in_short)                             \
    [VT_RULE_##NAME] = {sentence, in_short},
#define VT_GROWTH_FINDING(NAME, sentence) [VT_RULE_##NAME] = {sentence, ""},
#include "growth_rules.def"
};

/* Adds the value of a placeholder in a sentence. */
static void add_figure(const struct vt_growth *g, const char *name, size_t length,
                       struct vt_string *text) {
    static const struct {
        const char *name, *word;
    } counted[] = {{"rises", "rise"}, {"steps", "step"}, {"iterations", "long iteration"}};
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        if (strlen(counted[i].name) == length && !memcmp(counted[i].name, name, length))
            vt_string_format(text, "%s %s%s", VT_NUMBER(g->rises), counted[i].word,
                             vt_plural(g->rises));
    if (*name == 'p') /* a bound of the probability that the trend is random */
        vt_string_add(text, g->chance < 0.001 ? "0.001" : g->chance < 0.01 ? "0.01" : "0.02");
    if (*name == 'o')
        vt_string_add(text, g->operation);
}

void vt_growth_evidence(const struct vt_growth *g, struct vt_string *text) {
    for (const char *at = vt_growth_rules[g->rule].sentence; *at;) {
        size_t plain = strcspn(at, "{");
        vt_string_format(text, "%.*s", (int)plain, at);
        at += plain;
        if (!*at)
            return;
        size_t length = strcspn(++at, "}");
        add_figure(g, at, length, text);
        at += length + 1;
    }
}

void vt_growth_pace(const struct vt_growth *g, struct vt_string *text) {
    vt_string_format(text, "%s per %s", VT_BYTES(vt_growth_bytes(g)), vt_growth_unit(g));
}
