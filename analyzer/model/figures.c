/* SPDX-License-Identifier: MIT */
/*
 * The sums of figures (see figures.h).
 */
#include "figures.h"

static uint64_t sum(uint64_t a, uint64_t b) {
    return a == VT_UNKNOWN ? b : a + vt_known(b);
}

static uint64_t max(uint64_t a, uint64_t b) {
    return b == VT_UNKNOWN || (a != VT_UNKNOWN && a > b) ? a : b;
}

#define ALWAYS                                   0
#define MAYBE                                    VT_UNKNOWN
#define NONE(member, unit, merge, null, meaning) .member = null,
const struct vt_site_figures vt_site_no_figures = {VT_SITE_FIGURES(NONE)};
const struct vt_device_figures vt_device_no_figures = {VT_DEVICE_FIGURES(NONE)};

#define SUM(a, b)                               sum(a, b)
#define MAX(a, b)                               max(a, b)
#define ADD(member, unit, merge, null, meaning) to->member = merge(to->member, from->member);

void vt_site_figures_add(struct vt_site_figures *to, const struct vt_site_figures *from) {
    VT_SITE_FIGURES(ADD)
}

void vt_layer_figures_add(struct vt_layer_figures *to, const struct vt_layer_figures *from) {
    VT_LAYER_FIGURES(ADD)
}
