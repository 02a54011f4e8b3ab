/* SPDX-License-Identifier: MIT */
/* A library whose constructor opens the program's data file: it takes the lowest free descriptor. */
#include <fcntl.h>

int data_file = -1;

__attribute__((constructor)) static void early(void) {
    data_file = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
}
