/* SPDX-License-Identifier: MIT */
/* The program of 331: holds memory and does what its arguments say, one after the other. */
#include "../331-nvml/hold.c"
