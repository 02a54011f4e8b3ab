/* SPDX-License-Identifier: MIT */
/* ends own|wild: see `run`. Prints how many were allocated. */
#define _GNU_SOURCE
#include "../../cuda_case.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define STACK ((size_t)256 << 10)
#define PAGE  ((size_t)65536) /* the largest of any machine */

static CUcontext context;
static int made;

__attribute__((noinline)) static void allocate(void) {
    CUdeviceptr p;
    CHECK(cuMemAlloc_v2(&p, 4096));
    CHECK(cuMemFree_v2(p));
    made++;
}

__attribute__((noinline)) static void work(void) {
    for (int i = 0; i < 2; i++)
        allocate();
}

/* A stack with a page on both sides that cannot be read; the one behind it can, if it is `open`. */
static char *new_stack(int open) {
    char *m = mmap(NULL, STACK + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(m != MAP_FAILED);
    CHECK(mprotect(m + PAGE, STACK + (open ? PAGE : 0), PROT_READ | PROT_WRITE));
    return m + PAGE;
}

/* The tables say that this function's frame is on the stack that it has left. */
__attribute__((noinline)) void on_stack(char *top, void (*function)(void)) {
#ifdef __aarch64__
    __asm__ volatile("mov x19, sp\n\tmov sp, %0\n\tblr %1\n\tmov sp, x19" ::"r"(top), "r"(function)
                     : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
                       "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x30", "memory",
                       "cc");
#else
    __asm__ volatile("mov %%rsp, %%rbx\n\tmov %0, %%rsp\n\tcall *%1\n\tmov %%rbx, %%rsp" ::"r"(top),
                     "r"(function)
                     : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory",
                       "cc");
#endif
}

/* void code(void (*function)(void), void *frame_pointer)
 * Global labels: of local ones AArch64's linker makes one entry in the table of addresses. */
extern char code[], code_end[];
__asm__(".globl code, code_end\n"
#ifdef __aarch64__
        "code: stp x29, x30, [sp, #-16]!\n mov x29, x1\n blr x0\n"
        "ldp x29, x30, [sp], #16\n ret\n"
#else
        "code: push %rbp\n mov %rsi, %rbp\n call *%rdi\n pop %rbp\n ret\n"
#endif
        "code_end:");

static void (*copied)(void (*)(void), void *);

static void *wild(void *behind) {
    CHECK(cuCtxSetCurrent(context));
    copied(work, behind);
    return NULL;
}

/* What lies behind the stack can be read by the first thread, and not by the next ones. */
static void in_thread(void) {
    static char *stack;
    if (stack)
        CHECK(mprotect(stack + STACK, PAGE, PROT_NONE));
    else
        stack = new_stack(1);
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK(pthread_attr_init(&attributes));
    CHECK(pthread_attr_setstack(&attributes, stack, STACK));
    CHECK(pthread_create(&thread, &attributes, wild, stack + STACK + 64));
    CHECK(pthread_join(thread, NULL));
}

int main(int argc, char **argv) {
    context = start_cuda();
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(page != MAP_FAILED);
    memcpy(page, code, (size_t)(code_end - code));
    CHECK(mprotect(page, PAGE, PROT_READ | PROT_EXEC));
    __builtin___clear_cache(page, (char *)page + PAGE);
    copied = (void (*)(void (*)(void), void *))page;
    for (int i = 0; i < 3; i++) {
        if (argc > 1 && !strcmp(argv[1], "own"))
            on_stack(new_stack(i == 0) + STACK, work);
        else
            in_thread();
    }
    printf("%d\n", made);
    return 0;
}
