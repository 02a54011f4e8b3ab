/* SPDX-License-Identifier: MIT */
/* Opened by seen_in_library.py and library_thread_local.c. */
static struct {
    int count;
    unsigned long long memory[4];
} seen_state;
static __thread unsigned long long seen_scratch[6];

void seen_keep(unsigned long long memory) {
    seen_state.memory[seen_state.count++] = memory;
    __asm__ volatile("" : : "r"(&seen_state) : "memory"); /* optimized code keeps it */
}

void seen_keep_in_thread(unsigned long long memory) {
    seen_scratch[3] = memory;
    __asm__ volatile("" : : "r"(seen_scratch) : "memory");
}
