/* SPDX-License-Identifier: MIT */
/*
 * The devices on the live view's screen: bars, their legend, and the last minutes (see view.h).
 */
#include "view.h"

#include "screen.h"
#include "watch_words.h"

#include <stdlib.h>
#include <string.h>

static void draw_bar(const struct vt_watch_device *s, int y, int x, int width) {
    unsigned widths[VT_STRIPS];
    if (width < 3)
        return;
    vt_screen_put(y, x, 1, VT_SCREEN_DIM, "[");
    vt_strips_bar(s, (unsigned)width - 2, widths);
    int at = x + 1;
    for (unsigned i = 0; i < VT_STRIPS; i++) {
        vt_screen_strip(y, at, (int)widths[i], i);
        at += (int)widths[i];
    }
    vt_screen_put(y, x + width - 1, 1, VT_SCREEN_DIM, "]");
}

enum { COLUMNS_SIZE = 32 }; /* from this width on, a compact row also shows the device's size */

static int draw_compact(const struct vt_watch_device *s, int y, int columns) {
    const struct vt_device *d = s->device;
    int x = vt_screen_format(y, 0, columns, VT_SCREEN_HEAD, "%s ", VT_GPU(d->ordinal));
    VT_SCOPED char *right =
        d->total_bytes == VT_UNKNOWN || columns < COLUMNS_SIZE
            ? vt_formatted("%s", VT_BYTES(d->live_bytes))
            : vt_formatted("%s/%s", VT_BYTES(d->live_bytes), VT_BYTES(d->total_bytes));
    int length = (int)strlen(right);
    draw_bar(s, y, x, columns - x - length - 1);
    vt_screen_put(y, columns - length, length, VT_SCREEN_NORMAL, right);
    return y + 1;
}

static void draw_headline(const struct vt_watch_device *s, int y, int columns) {
    const struct vt_device *d = s->device;
    VT_SCOPED_STRING right = {0};
    VT_SCOPED char *rate = vt_watch_words_rate(s->rate);
    vt_string_add(&right, VT_BYTES(d->live_bytes));
    if (d->total_bytes != VT_UNKNOWN)
        vt_string_format(&right, " of %s, %.0f %%", VT_BYTES(d->total_bytes),
                         100.0 * (double)d->live_bytes / (double)d->total_bytes);
    vt_string_format(&right, "   peak %s", VT_BYTES(d->peak_bytes));
    if (rate[0])
        vt_string_format(&right, "   %s/s", rate);
    int length = (int)right.length;
    int x = vt_screen_format(y, 0, columns, VT_SCREEN_HEAD, "%s  ", VT_GPU(d->ordinal));
    if (d->name)
        vt_screen_put(y, x, columns - x - length - 1, VT_SCREEN_NORMAL, d->name);
    vt_screen_put(y, columns - length, length, VT_SCREEN_NORMAL, right.text);
}

static void draw_legend(const struct vt_watch_device *s, int y, int columns) {
    int x = 1;
    for (unsigned i = 0; i < VT_STRIPS; i++) {
        VT_SCOPED char *text =
            vt_formatted(" %s %s   ", vt_strip_looks[i].name, VT_BYTES(vt_strip_bytes(s, i)));
        bool known = vt_strip_bytes(s, i) || i == VT_STRIP_IN_USE;
        if (known && x + 1 + (int)strlen(text) - 3 <= columns) {
            vt_screen_strip(y, x, 1, i);
            x += 1 + vt_screen_put(y, x + 1, columns - x, VT_SCREEN_NORMAL, text);
        }
    }
}

/* The height in eighths of a cell, at least one if there is memory. */
static uint64_t eighths_of(uint64_t bytes, uint64_t highest, int height) {
    uint64_t eighths = (uint64_t)((double)bytes * height * 8 / (double)highest + 0.5);
    return eighths + (bytes && !eighths);
}

/* Draws memory in use, and above it the idle memory of caching allocators. */
static void draw_course(const struct vt_watch_process *w, const struct vt_watch_device *s, int y,
                        int height, int columns) {
    int width = columns - 2;
    struct vt_strip_course course;
    VT_SCOPED struct vt_strip_level *levels = vt_strips_course(s, w->now, (unsigned)width, &course);
    for (int i = 0; i < width && course.highest; i++) {
        uint64_t live = eighths_of(levels[i].live, course.highest, height);
        uint64_t in_use = eighths_of(levels[i].in_use, course.highest, height);
        for (int row = 0; row < height; row++) {
            uint64_t below = (uint64_t)(height - 1 - row) * 8;
            uint64_t here = live > below ? live - below : 0;
            vt_screen_level(y + row, 1 + i, here > 8 ? 8 : (unsigned)here, in_use > below);
        }
    }
    if (height > 1)
        vt_screen_format(y, 1, width, VT_SCREEN_DIM, " last %s, up to %s ",
                         VT_DURATION(course.span), VT_BYTES(course.highest));
}

/* How much of a device is shown. */
enum detail { COMPACT, BARS, FULL };

static enum detail choose_detail(uint32_t count, int rows, int course) {
    if (rows >= ROWS_FULL && (int)count * (3 + course) <= rows / 2)
        return FULL;
    return rows >= ROWS_FULL && (int)count * 2 <= rows * 2 / 5 ? BARS : COMPACT;
}

static int draw_device(const struct vt_watch_process *w, const struct vt_watch_device *s,
                       enum detail detail, int course, int y, int rows, int columns) {
    if (detail == COMPACT)
        return draw_compact(s, y, columns);
    draw_headline(s, y++, columns);
    draw_bar(s, y++, 0, columns);
    if (detail == FULL && rows >= ROWS_LEGEND)
        draw_legend(s, y++, columns);
    if (detail == FULL && rows >= ROWS_LEGEND + 2) {
        draw_course(w, s, y, course, columns);
        y += course;
    }
    return y;
}

int vt_view_devices_draw(const struct vt_watch_process *w, int y, int rows, int columns) {
    uint32_t all = w->process->device_count, count = 0, shown = 0;
    for (uint32_t i = 0; i < all; i++)
        count += vt_frame_shows(w, i);
    int course = count > 1 ? 1 : rows >= ROWS_HIGH ? 5 : rows >= ROWS_TALL ? 3 : 2;
    enum detail detail = choose_detail(count, rows, course);
    int end = rows < ROWS_FULL ? y + rows / 4 : y + rows / 2;
    for (uint32_t i = 0; i < all; i++) {
        if (!vt_frame_shows(w, i))
            continue;
        if (y + 1 >= end && shown + 1 < count) {
            vt_screen_format(y++, 0, columns, VT_SCREEN_DIM, "and %u more GPUs", count - shown);
            break;
        }
        y = draw_device(w, &w->devices[i], detail, course, y, rows, columns);
        shown++;
    }
    return y;
}
