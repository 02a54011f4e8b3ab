/* SPDX-License-Identifier: MIT */
/* Opened by plug_in.c and callback.c. */
#include <stddef.h>

struct {
    int ready;
    unsigned long long input, output;
} plug_in_state;

static struct callback {
    void (*call)(void *);
    void *data;
} callbacks[4];
static size_t callback_count;

void plug_in_start(unsigned long long input, unsigned long long output) {
    plug_in_state.input = input;
    plug_in_state.output = output;
    plug_in_state.ready = 1;
}

void plug_in_call_back(void (*call)(void *), void *data) {
    callbacks[callback_count++] = (struct callback){call, data};
    __asm__ volatile("" : : "r"(callbacks) : "memory"); /* optimized code keeps it */
}
