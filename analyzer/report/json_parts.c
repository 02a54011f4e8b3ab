/* SPDX-License-Identifier: MIT */
/*
 * Keys shared by several JSON outputs (see json_parts.h).
 */
#include "json_parts.h"

void vt_json_part_rank(struct vt_json *j, const char *name, int rank) {
    vt_json_number(j, name, vt_rank_number(rank));
}

void vt_json_part_ordinal(struct vt_json *j, const char *name, unsigned device) {
    vt_json_number(j, name, vt_device_number(device));
}

void vt_json_part_ending(struct vt_json *j, struct vt_ending ending) {
    vt_json_open(j, "exit", '{');
    vt_json_string(j, "kind", vt_end_names[ending.how]);
    vt_json_key(j, "status");
    if (ending.status == VT_NO_STATUS)
        fputs("null", j->out);
    else
        fprintf(j->out, "%d", ending.status);
    vt_json_close(j, '}');
}

void vt_json_part_inconclusive(struct vt_json *j, struct vt_inconclusive_sum sum) {
    vt_json_open(j, "unjudged", '{');
    vt_json_number(j, "sites", sum.sites);
    vt_json_number(j, "bytes", sum.bytes);
    vt_json_close(j, '}');
}

void vt_json_part_fingerprint(struct vt_json *j, uint64_t key) {
    char text[17];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)key);
    vt_json_string(j, "fingerprint", text);
}

void vt_json_part_frame(struct vt_json *j, const char *name, const struct vt_frame *f,
                        const char *file, bool stable) {
    if (!f) {
        vt_json_null(j, name);
        return;
    }
    vt_json_open_line(j, name, '{');
    vt_json_string(j, "function", f->function);
    vt_json_string(j, "file", file ? file : f->file);
    vt_json_number(j, "line", f->line ? f->line : VT_UNKNOWN);
    vt_json_string(j, "module", f->module);
    if (!stable)
        vt_json_number(j, "offset", f->offset);
    vt_json_string(j, "language", f->python ? "python" : "native");
    vt_json_boolean(j, "own", f->user_code);
    if (f->waiting)
        vt_json_boolean(j, "waiting", true); /* of the thread that called backward() */
    vt_json_close(j, '}');
}
