/* SPDX-License-Identifier: MIT */
/*
 * Walks of the stack, each compared with libunwind's: random chains of calls, frames of all kinds, one stack
 * repeatedly, old return addresses where new ones are expected, other stacks. The predicted stack is also compared
 * with each walk.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "stack/stack.h"
#include "stack/unwind_recall.h"
#include "stack/unwind_rules.h"
#include "stack/unwind_walk.h"

#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static struct vt_walks walks, threads_walks;
static struct vt_walks *mine = &walks;
static volatile unsigned unknown; /* a signal handler also counts */
static unsigned walked, again, seed = 1;
static struct vt_recall recall, threads_recall;
static struct vt_recall *my_recall = &recall;
static bool always = true; /* stacks are expected also where that does not pay */
static unsigned expected;
static unsigned kinds_of_frames = 8; /* the first 6 have their words at known places */

static unsigned chance(unsigned n) {
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % n;
}

/* The prediction is right. */
static void expect(const struct vt_walk *w, const struct vt_caller *caller) {
    if (always)
        my_recall->pausing = 0;
    struct vt_recalled *r = vt_recall_expected(my_recall, caller);
    if (r) {
        assert_non_null(w);
        assert_true(r->hash == vt_walk_hash(w->address, w->n) + w->n);
        vt_recall_was(my_recall, r);
        expected++;
    } else if (vt_recall_wants(my_recall, w)) {
        vt_recall_keep(my_recall, w, caller, vt_walk_hash(w->address, w->n) + w->n);
    }
}

/* Compares from this function's caller outwards. */
__attribute__((noinline)) static void compare(void) {
    const struct vt_caller from = VT_CALLER;
    void *found[VT_DEPTH_MAX + 8];
    const void *caller = from.to;
    bool same;
    const struct vt_walk *w = vt_unwind_walk(mine, &from, VT_DEPTH_MAX, &same);
    size_t n = vt_stack_raw(found, VT_DEPTH_MAX + 8), i = 0;
    expect(w, &from);
    if (!w) {
        unknown++;
        return;
    }
    walked++;
    again += same;
    while (i < n && found[i] != caller)
        i++;
    assert_true(i < n);
    if (w->guessed && n - i > w->n) /* libunwind 1.6 on AArch64 adds the same code once more */
        n = i + w->n;
    assert_int_equal(n - i, w->n);
    assert_memory_equal(found + i, w->address, (n - i) * sizeof *found);
    for (size_t k = 1; k < w->n; k++)
        assert_true(w->sp[k] > w->sp[k - 1]);
}

static void descend(unsigned depth);

__attribute__((noinline)) static void plain(unsigned depth) {
    descend(depth);
    __asm__ volatile("");
}

__attribute__((noinline)) static void with_room(unsigned depth) {
    volatile char room[200];
    room[depth] = 1;
    descend(depth);
    __asm__ volatile("" ::"r"(room));
}

__attribute__((noinline)) static void with_page(unsigned depth) {
    volatile char room[5000];
    room[depth] = 1;
    descend(depth);
    __asm__ volatile("" ::"r"(room));
}

/* Its frame is found by the frame pointer. */
__attribute__((noinline)) static void with_alloca(unsigned depth) {
    volatile char *room = alloca(16 + 16 * chance(8));
    room[0] = 1;
    descend(depth);
    __asm__ volatile("" ::"r"(room));
}

/* Uses the frame pointer's register for a number of its own, where there is no frame pointer. */
#ifdef __clang__
#define NO_FRAME_POINTER __attribute__((noinline))
#else
#define NO_FRAME_POINTER __attribute__((noinline, optimize("omit-frame-pointer")))
#endif
NO_FRAME_POINTER static void with_numbers(unsigned depth) {
    unsigned a = chance(100), b = chance(100), c = chance(100), d = chance(100), e = chance(100),
             f = chance(100);
    descend(depth);
    descend(depth ? chance(depth) : 0);
    __asm__ volatile("" ::"r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f));
}

/* Its frame is aligned, by code that the tables describe with an expression. */
__attribute__((noinline)) static void aligned(unsigned depth) {
    _Alignas(64) volatile char room[64];
    volatile char *more = alloca(16 + chance(64));
    room[0] = more[0] = 1;
    descend(depth);
    __asm__ volatile("" ::"r"(room), "r"(more));
}

/* Its table has an expression that is not known. */
void odd_frame(void (*next)(unsigned), unsigned depth);
#ifdef __aarch64__
__asm__(".text\n"
        ".type odd_frame, %function\n"
        "odd_frame: .cfi_startproc\n"
        "stp x29, x30, [sp, #-32]!\n"
        ".cfi_escape 0x0f, 0x03, 0x8f, 0x20, 0x96\n" /* CFA = sp + 32, and DW_OP_nop */
        ".cfi_offset x29, -32\n"
        ".cfi_offset x30, -24\n"
        "mov x2, x0\n"
        "mov w0, w1\n"
        "blr x2\n"
        "ldp x29, x30, [sp], #32\n"
        ".cfi_def_cfa sp, 0\n"
        "ret\n"
        ".cfi_endproc\n");
#else
__asm__(".text\n"
        ".type odd_frame, @function\n"
        "odd_frame: .cfi_startproc\n"
        "subq $24, %rsp\n"
        ".cfi_escape 0x0f, 0x03, 0x77, 0x20, 0x96\n" /* CFA = rsp + 32, and DW_OP_nop */
        "movq %rdi, %rax\n"
        "movl %esi, %edi\n"
        "callq *%rax\n"
        "addq $24, %rsp\n"
        ".cfi_def_cfa rsp, 8\n"
        "retq\n"
        ".cfi_endproc\n");
#endif

/* Calls with that in the frame pointer; no table tells of it. */
void no_table(void (*next)(void), uintptr_t rbp);
#ifdef __aarch64__
__asm__(".text\n"
        ".type no_table, %function\n"
        "no_table: stp x29, x30, [sp, #-16]!\n"
        "mov x29, x1\n"
        "blr x0\n"
        "ldp x29, x30, [sp], #16\n"
        "ret\n");
#else
__asm__(".text\n"
        ".type no_table, @function\n"
        "no_table: pushq %rbp\n"
        "subq $16, %rsp\n"
        "movq %rsi, %rbp\n"
        "callq *%rdi\n"
        "addq $16, %rsp\n"
        "popq %rbp\n"
        "retq\n");
#endif

static int by_library(const void *a, const void *b) {
    (void)b;
    if (*(const unsigned *)a)
        descend(*(const unsigned *)a - 1);
    return 0;
}

__attribute__((noinline)) static void through_qsort(unsigned depth) {
    unsigned two[2] = {depth, 0};
    qsort(two, 2, sizeof *two, by_library);
    __asm__ volatile("");
}

__attribute__((noinline)) static void descend(unsigned depth) {
    static void (*const kinds[])(unsigned) = {plain,        with_room, with_page, with_alloca,
                                              with_numbers, plain,     aligned,   through_qsort};
    if (!depth) {
        for (unsigned i = chance(3); i < 3; i++)
            compare();
        return;
    }
    kinds[chance(kinds_of_frames)](depth - 1);
    if (chance(3) == 0)
        kinds[chance(kinds_of_frames)](depth - 1);
}

static void chains(void **state) {
    (void)state;
    walked = again = 0;
    unknown = 0;
    while (walked < 20000)
        descend(chance(14));
    assert_true(again > 1000);
    assert_int_equal(unknown, 0);
}

static void frames_that_are_not_known(void **state) {
    (void)state;
    unknown = 0;
    for (int i = 0; i < 100; i++)
        odd_frame(descend, chance(4));
    assert_true(unknown > 0);
    for (int i = 0; i < 1000; i++)
        descend(chance(8));
}

static const struct vt_walk *guessed;
static const void *guessed_by;
static void walk_only(void) {
    bool same;
    guessed_by = __builtin_return_address(0);
    guessed = vt_unwind_walk(mine, &VT_CALLER, VT_DEPTH_MAX, &same);
    assert_false(same);
}

static uint32_t frames_beyond(const struct vt_walk *w, const void *address) {
    uint32_t i = 0;
    while (i < w->n && w->address[i] != (uintptr_t)address)
        i++;
    assert_true(i < w->n);
    return w->n - i - 1;
}

/* libunwind would read what the frame pointer points to. */
static void code_without_a_table(void **state) {
    const uintptr_t odd[] = {0,
                             1,
                             8,
                             4096,
                             (uintptr_t)state,
                             (uintptr_t)&odd + (1u << 20),
                             0x14057b7ef7678147,
                             ~(uintptr_t)7};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof odd / sizeof *odd; i++) {
        no_table(walk_only, odd[i % (sizeof odd / sizeof *odd)]);
        assert_true(guessed->guessed);
        assert_int_equal(frames_beyond(guessed, guessed_by), 0);
    }
    for (int i = 0; i < 3; i++) {
        no_table(walk_only, (uintptr_t)__builtin_frame_address(0)); /* a good one */
        assert_int_equal(guessed->address[guessed->n - frames_beyond(guessed, guessed_by)],
                         __builtin_return_address(0));
        for (int j = 0; j < 10; j++)
            descend(chance(5));
    }
}

/* Two callers with equal addresses and stack pointers further in; the old return addresses stay in memory that is not
 * overwritten. */
__attribute__((noinline)) static void leaf(void) {
    compare();
    __asm__ volatile("");
}

__attribute__((noinline)) static void stale(unsigned bytes) {
    volatile char *room = alloca(bytes);
    __asm__ volatile("" ::"r"(room));
    leaf();
    __asm__ volatile("");
}

__attribute__((noinline)) static void one_way(void) {
    stale(256);
    __asm__ volatile("");
}

__attribute__((noinline)) static void other_way(void) {
    stale(256);
    __asm__ volatile("nop");
}

__attribute__((noinline)) static void deeper(void) {
    one_way();
    __asm__ volatile("");
}

static void old_addresses(void **state) {
    (void)state;
    for (int i = 0; i < 1000; i++) {
        switch (chance(3)) {
        case 0:
            one_way();
            break;
        case 1:
            other_way();
            break;
        default:
            deeper();
        }
    }
}

/* Twenty stacks or more, in the same order each time. */
static void a_loop(void **state) {
    (void)state;
    always = false;
    kinds_of_frames = 6;
    my_recall->pausing = 0;
    for (int i = 0; i < 100; i++) {
        if (i == 50)
            expected = walked = 0;
        seed = 12345;
        for (int j = 0; j < 20; j++)
            descend(chance(8));
    }
    assert_true(walked > 1000);
    assert_true(expected > walked * 9 / 10);
    kinds_of_frames = 8;
}

static void stacks_by_chance(void **state) {
    (void)state;
    my_recall->pausing = 0;
    expected = walked = 0;
    while (walked < 20000)
        descend(chance(14));
    assert_true(my_recall->pause > 0);
    assert_true(expected < walked / 8);
    always = true;
}

static ucontext_t here, there;

static void on_another_stack(void) {
    for (int i = 0; i < 200; i++) {
        descend(chance(6));
        swapcontext(&there, &here);
    }
}

static void other_stacks(void **state) {
    static char stack[256 * 1024];
    (void)state;
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &here;
    makecontext(&there, on_another_stack, 0);
    for (int i = 0; i < 200; i++) {
        swapcontext(&here, &there);
        descend(chance(6));
    }
}

/* A smaller stack where a larger one was, whose outer part is gone: from the innermost frames, which
 * begin where the others did, nothing may be read that follows from a word that has changed. */
static uintptr_t place;
__attribute__((noinline)) static void down_to_place(void) {
    volatile char *room = alloca((uintptr_t)__builtin_frame_address(0) - place);
    room[0] = 1;
    leaf();
    __asm__ volatile("" ::"r"(room));
}

static void *on_larger_stack(void *data) {
    volatile char room[30000];
    room[0] = 1;
    for (int i = 0; i < 3; i++)
        down_to_place();
    __asm__ volatile("" ::"r"(room));
    return data;
}

static void *on_smaller_stack(void *data) {
    for (int i = 0; i < 3; i++)
        down_to_place();
    return data;
}

static void run_on(char *stack, size_t bytes, void *(*function)(void *)) {
    pthread_t thread;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    assert_int_equal(pthread_attr_setstack(&attr, stack, bytes), 0);
    assert_int_equal(pthread_create(&thread, &attr, function, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
}

static void smaller_stack_in_its_place(void **state) {
    enum { LARGER = 256 * 1024, SMALLER = 128 * 1024 }; /* AArch64 takes no smaller ones */
    (void)state;
    for (int i = 0; i < 2; i++) {
        char *stack =
            mmap(NULL, LARGER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(stack != MAP_FAILED);
        place = (uintptr_t)stack + SMALLER - 12000;
        run_on(stack, LARGER, on_larger_stack);
        assert_int_equal(munmap(stack + SMALLER, LARGER - SMALLER), 0);
        run_on(stack, SMALLER, on_smaller_stack);
        assert_int_equal(munmap(stack, SMALLER), 0);
    }
}

static void *in_thread(void *data) {
    (void)data;
    for (int i = 0; i < 500; i++)
        descend(chance(10));
    return NULL;
}

static void threads_one_after_the_other(void **state) {
    (void)state;
    mine = &threads_walks;
    my_recall = &threads_recall;
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        pthread_attr_t attr;
        pthread_attr_init(&attr);
        pthread_attr_setstacksize(&attr, (i % 3 + 4) * 65536u);
        assert_int_equal(pthread_create(&thread, &attr, in_thread, NULL), 0);
        pthread_join(thread, NULL);
        pthread_attr_destroy(&attr);
    }
    mine = &walks;
    my_recall = &recall;
}

static void on_signal(int n) {
    (void)n;
    compare();
}

static void signals(void **state) {
    (void)state;
    signal(SIGUSR1, on_signal);
    walked = unknown = 0;
    for (int i = 0; i < 20; i++) {
        raise(SIGUSR1);
        descend(chance(5));
    }
    assert_true(walked >= 20);
    assert_int_equal(unknown, 0);
}

static void after_a_dlclose(void **state) {
    (void)state;
    uint32_t before = vt_unwind_epoch();
    for (int i = 0; i < 50; i++) {
        vt_stack_modules_changed();
        descend(chance(8));
    }
    assert_int_equal(vt_unwind_epoch(), before + 50);
}

static void a_limit(void **state) {
    (void)state;
    for (uint32_t most = 1; most < 40; most++) {
        const struct vt_caller caller = VT_CALLER;
        bool same;
        const struct vt_walk *w = vt_unwind_walk(&walks, &caller, most, &same);
        assert_non_null(w);
        assert_false(same);
        uint32_t n = w->n;
        bool cut = w->cut;
        assert_true(cut ? n == most : n <= most);
        w = vt_unwind_walk(&walks, &caller, most, &same);
        assert_true(same);
        assert_int_equal(w->n, n);
        assert_int_equal(w->cut, cut);
    }
}

static int arm(void **state) {
    (void)state;
    vt_stack_arm();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains),
        cmocka_unit_test(frames_that_are_not_known),
        cmocka_unit_test(code_without_a_table),
        cmocka_unit_test(old_addresses),
        cmocka_unit_test(a_loop),
        cmocka_unit_test(stacks_by_chance),
        cmocka_unit_test(other_stacks),
        cmocka_unit_test(smaller_stack_in_its_place),
        cmocka_unit_test(signals),
        cmocka_unit_test(threads_one_after_the_other),
        cmocka_unit_test(after_a_dlclose),
        cmocka_unit_test(a_limit),
    };
    return cmocka_run_group_tests_name("unwind_walk", tests, arm, NULL);
}
