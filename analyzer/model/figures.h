/* SPDX-License-Identifier: MIT */
/*
 * The structs of the figures in figures.def. Copy them by assignment and add them with the functions below, so that a
 * new row applies everywhere.
 */
#ifndef VRAMTRACE_ANALYZER_FIGURES_H
#define VRAMTRACE_ANALYZER_FIGURES_H

#include <stdint.h>

#define VT_UNKNOWN UINT64_MAX /* in a 64-bit field */
static inline uint64_t vt_known(uint64_t figure) {
    return figure == VT_UNKNOWN ? 0 : figure;
}

#include "figures.def"

#define VT_FIGURE_MEMBER(member, unit, merge, null, meaning) uint64_t member;

struct vt_site_figures {
    VT_SITE_FIGURES(VT_FIGURE_MEMBER)
};
struct vt_layer_figures {
    VT_LAYER_FIGURES(VT_FIGURE_MEMBER)
};
struct vt_device_figures {
    VT_DEVICE_FIGURES(VT_FIGURE_MEMBER)
};
struct vt_process_figures {
    VT_PROCESS_FIGURES(VT_FIGURE_MEMBER)
};

/* Embeds the figures both as one member and under their own names. */
#define VT_EMBED(type, member, ROWS)                                                               \
    union {                                                                                        \
        struct type member;                                                                        \
        struct {                                                                                   \
            ROWS(VT_FIGURE_MEMBER)                                                                 \
        };                                                                                         \
    }
#define VT_EMBED_SITE_FIGURES    VT_EMBED(vt_site_figures, figures, VT_SITE_FIGURES)
#define VT_EMBED_LAYER_FIGURES   VT_EMBED(vt_layer_figures, layer, VT_LAYER_FIGURES)
#define VT_EMBED_DEVICE_FIGURES  VT_EMBED(vt_device_figures, figures, VT_DEVICE_FIGURES)
#define VT_EMBED_PROCESS_FIGURES VT_EMBED(vt_process_figures, figures, VT_PROCESS_FIGURES)

/* The start of a sum: each figure 0 or VT_UNKNOWN. */
extern const struct vt_site_figures vt_site_no_figures;
extern const struct vt_device_figures vt_device_no_figures;
void vt_site_figures_add(struct vt_site_figures *to, const struct vt_site_figures *from);
void vt_layer_figures_add(struct vt_layer_figures *to, const struct vt_layer_figures *from);

/* Turns a replay's figures into a report's: in a replay, memory released with a context counts as freed. */
static inline void vt_site_figures_unfreed(struct vt_site_figures *f) {
    f->live_bytes += f->context_freed_bytes;
    f->live_count += f->context_freed_count;
    f->free_count -= f->context_freed_count;
}

/* Live at the very end, without memory released with its context. */
static inline uint64_t vt_site_still_bytes(const struct vt_site_figures *f) {
    return f->live_bytes - f->context_freed_bytes;
}
static inline uint64_t vt_site_still_count(const struct vt_site_figures *f) {
    return f->live_count - f->context_freed_count;
}

#endif
