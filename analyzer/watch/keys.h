/* SPDX-License-Identifier: MIT */
/*
 * What keys do: those of top, htop and less. For live.c.
 */
#ifndef VRAMTRACE_ANALYZER_WATCH_KEYS_H
#define VRAMTRACE_ANALYZER_WATCH_KEYS_H

#include "view.h"

enum vt_keys_wish { VT_KEYS_NOTHING, VT_KEYS_QUIT, VT_KEYS_ASK, VT_KEYS_REFRESH };

/* Changes the view by a key. Returns what is left to the caller: to quit, to ask for owners, or to
 * refresh at another pace (view->interval) or at once. */
enum vt_keys_wish vt_keys_press(struct vt_view *view, const struct vt_watch_frame *frame, int key);

#endif
