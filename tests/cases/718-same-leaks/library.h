/* SPDX-License-Identifier: MIT */
/* What stands in for CUDA's libraries: memory of theirs, and a call of the program's own function from inside. */
#ifndef LIBRARY_H
#define LIBRARY_H

void *library_create(unsigned long long bytes, int host);

#endif
