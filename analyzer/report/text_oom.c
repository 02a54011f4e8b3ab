/* SPDX-License-Identifier: MIT */
/*
 * The text report's OUT OF MEMORY block: the last failure without a recovery, which most likely
 * mattered; of the others only their number.
 */
#include "fmt_text.h"
#include "words.h"

enum { LABEL = 11 };

void vt_text_ooms(const struct vt_text *t) {
    const struct vt_process *p = t->process;
    const struct vt_oom *last = vt_process_oom(p);
    struct vt_words oom = {0}, others = {0};
    if (last) {
        vt_words_oom(t, last, &oom);
        vt_text_heading(t, vt_words_oom_survived(p, last) ? VT_STYLE_WARN : VT_STYLE_BAD,
                        "OUT OF MEMORY", oom.headline);
        for (uint32_t i = 0; i < oom.count; i++)
            vt_text_row(t, &oom.rows[i], LABEL);
    }
    vt_words_oom_others(p, &others);
    if (others.count && !last)
        fputc('\n', t->out);
    for (uint32_t i = 0; i < others.count; i++)
        fprintf(t->out, "%s%s\n", last ? "  " : "", others.rows[i].text);
    vt_words_free(&oom);
    vt_words_free(&others);
}
