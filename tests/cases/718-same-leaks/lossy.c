/* SPDX-License-Identifier: MIT */
#include "../157-lost-events/lossy.c"
