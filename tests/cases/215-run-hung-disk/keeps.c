/* SPDX-License-Identifier: MIT */
#include "../214-run-remote/keeps.c"
