/* SPDX-License-Identifier: MIT */
/*
 * A device's memory over the run as a line of characters, with its axis below: for the text report
 * and the markdown format (see text_page.h).
 */
#include "text_page.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 9 }; /* heights: empty, and eighths of the peak */

/* The maximum within a column's time. */
static uint64_t level_of(const struct vt_levels *levels, unsigned column, unsigned columns) {
    uint32_t first = (uint32_t)((uint64_t)column * levels->count / columns);
    uint32_t end = (uint32_t)((uint64_t)(column + 1) * levels->count / columns);
    uint64_t most = 0;
    for (uint32_t i = first; i < end || i == first; i++)
        most = levels->bytes[i] > most ? levels->bytes[i] : most;
    return most;
}

/* Without trailing blanks. */
static char *trimmed(char *text) {
    size_t length = strlen(text);
    while (length && text[length - 1] == ' ')
        text[--length] = 0;
    return text;
}

char *vt_text_line_draw(const struct vt_levels *levels, unsigned columns, uint64_t scale,
                        bool blocks) {
    static const char *const high[STEPS] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[STEPS] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    struct vt_string line = {0};
    for (unsigned c = 0; c < columns; c++) {
        uint64_t level = level_of(levels, c, columns);
        /* a level above the peak is of a summary that was changed */
        unsigned step = !level ? 0
                        : level >= scale
                            ? STEPS - 1
                            : 1 + (unsigned)((double)level / (double)scale * (STEPS - 2));
        vt_string_add(&line, (blocks ? high : plain)[step]);
    }
    return trimmed(line.text);
}

static void put_on_axis(char *axis, size_t at, const char *text) {
    memcpy(axis + at, text, strlen(text));
}

/* The axis: start and end times, and the peak's time below its column. The peak takes precedence. */
static char *draw_axis(const struct vt_levels *levels, unsigned columns) {
    enum { GAP = 2 };
    const char *from = VT_DURATION(levels->from), *to = VT_DURATION(levels->to);
    size_t at = 0, start, column = (((size_t)levels->peak + 1) * columns - 1) / levels->count;
    char *axis = vt_alloc(columns + 1, 1);
    VT_SCOPED char *right = vt_formatted("^ peak %s", VT_BYTES(levels->bytes[levels->peak]));
    VT_SCOPED char *left = vt_formatted("peak %s ^", VT_BYTES(levels->bytes[levels->peak]));
    size_t length = strlen(right);
    memset(axis, ' ', columns);
    /* left of its column if it would overlap the end time */
    bool leftward = column + length + GAP + strlen(to) > columns && column + 1 >= length;
    start = leftward ? column + 1 - length : column;
    if (start + length > columns)
        start = columns - length;
    if (start >= strlen(from) + GAP)
        put_on_axis(axis, at, from);
    if (start + length + GAP + strlen(to) <= columns)
        put_on_axis(axis, columns - strlen(to), to);
    put_on_axis(axis, start, leftward ? left : right);
    return trimmed(axis);
}

bool vt_text_line_make(const struct vt_device *d, unsigned columns, bool blocks,
                       struct vt_text_line *line) {
    enum { LEAST = 32 };
    *line = (struct vt_text_line){0};
    if (!d->levels.count || columns < LEAST || !d->levels.bytes[d->levels.peak])
        return false;
    line->line = vt_text_line_draw(&d->levels, columns, d->levels.bytes[d->levels.peak], blocks);
    line->axis = draw_axis(&d->levels, columns);
    return true;
}

void vt_text_line_free(struct vt_text_line *line) {
    free(line->line);
    free(line->axis);
    *line = (struct vt_text_line){0};
}
