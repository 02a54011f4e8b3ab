/* SPDX-License-Identifier: MIT */
/* Linked with same_name.c. */
static unsigned long long cache[3];

void library_keep(unsigned long long memory) {
    cache[1] = memory;
    __asm__ volatile("" : : "r"(cache) : "memory"); /* optimized code keeps it */
}
