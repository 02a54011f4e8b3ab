/* SPDX-License-Identifier: MIT */
/* x86-64 (see machine.h). */
#ifndef VT_PRELOAD_MACHINE_X86_64_H
#define VT_PRELOAD_MACHINE_X86_64_H

#include <cpuid.h>
#include <setjmp.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

/* The kernel. */

static inline long vt_machine_call(long n, long a, long b, long c, long d, long e, long f) {
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long vt_machine_clone(long flags, void (*function)(void *), void *data,
                                    uint8_t *stack_end) {
    register long none4 __asm__("r10") = 0, none5 __asm__("r8") = 0;
    register void *called __asm__("r12") = __extension__(void *) function;
    register void *given __asm__("r13") = data;
    long pid;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "mov %%r13, %%rdi\n\t"
                     "call *%%r12\n\t"
                     "ud2\n"
                     "1:"
                     : "=a"(pid)
                     : "a"(SYS_clone), "D"(flags), "S"(stack_end), "d"(0l), "r"(none4), "r"(none5),
                       "r"(called), "r"(given)
                     : "rcx", "r11", "memory");
    return pid;
}

void vt_machine_restore(void); /* restore.S */
#define VT_MACHINE_RESTORER    vt_machine_restore
#define VT_MACHINE_SA_RESTORER 0x04000000u

static inline bool vt_machine_steady_ticks(void) {
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8);
}

static inline size_t vt_machine_page(void) {
    return 4096;
}

#define VT_MACHINE_ADDRESSES ((uintptr_t)1 << 47)
#define VT_MACHINE_MAPPINGS  0x700000000000u

/* Calls and stacks. */

struct vt_caller {
    const void *to;    /* the return address, in the caller */
    const void *frame; /* the function's frame: caller's frame pointer, return address */
};
#define VT_CALLER          ((struct vt_caller){__builtin_return_address(0), __builtin_frame_address(0)})
#define VT_MACHINE_CALLERS __builtin_frame_address(0)

static inline uintptr_t vt_caller_sp(const struct vt_caller *caller) {
    return (uintptr_t)caller->frame + 16;
}

#define VT_MACHINE_REGISTERS 6
static inline __attribute__((always_inline)) void
vt_machine_read_registers(uintptr_t r[VT_MACHINE_REGISTERS]) {
    __asm__ volatile("movq %%rbx, 0(%0)\n\tmovq %%rbp, 8(%0)\n\tmovq %%r12, 16(%0)\n\t"
                     "movq %%r13, 24(%0)\n\tmovq %%r14, 32(%0)\n\tmovq %%r15, 40(%0)"
                     :
                     : "r"(r)
                     : "memory");
}

#define VT_MACHINE_SAVE_REGISTERS() __asm__ volatile("" ::: "rbx", "r12", "r13", "r14", "r15")
#define VT_MACHINE_SAVED_BELOW      (5 * 8)

#define VT_DWARF_FP      6u
#define VT_DWARF_SP      7u
#define VT_DWARF_RA      16u
#define VT_DWARF_BREG_FP 0x76u

#define VT_RETURN_AT_CFA 8u
static inline uintptr_t vt_machine_return(uintptr_t word) {
    return word;
}

#define VT_CONTEXT_(r)     (offsetof(ucontext_t, uc_mcontext.gregs) + (r) * sizeof(greg_t))
#define VT_CONTEXT_PC      VT_CONTEXT_(REG_RIP)
#define VT_CONTEXT_SP      VT_CONTEXT_(REG_RSP)
#define VT_CONTEXT_FP      VT_CONTEXT_(REG_RBP)
#define VT_CONTEXT_LINK    0u
#define VT_CONTEXT_END     VT_CONTEXT_(NGREG)
#define VT_HANDLER_CONTEXT 0u

/* mov $15,%rax; syscall */
static const uint8_t vt_machine_sigreturn[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};

/* The mark is the context's pointer to its own floating-point state. */
#define VT_CONTEXT_MARK  offsetof(ucontext_t, uc_mcontext.fpregs)
#define VT_CONTEXT_BYTES offsetof(ucontext_t, __fpregs_mem)
static inline bool vt_machine_is_context_mark(uint64_t word, uintptr_t at) {
    return word == at - VT_CONTEXT_MARK + VT_CONTEXT_BYTES;
}

/* The seventh word, XORed with a word of the thread and rotated (glibc 2.4 or later). */
static inline uintptr_t vt_machine_jump_target(const struct __jmp_buf_tag *to) {
    uintptr_t sp = (uintptr_t)to->__jmpbuf[6];
    __asm__("ror $17, %0\n\txor %%fs:0x30, %0" : "+r"(sp) : : "cc");
    return sp;
}

#define VT_UNWINDER_GETCONTEXT(function, context) function(context)
#define VT_UNWINDER_HAS_GETCONTEXT                true

/* The result's address is the first argument. */
#define VT_RESULT_ENTRY(name)                                                                      \
    __attribute__((visibility("default"))) void *name(void *result, void *engine,                  \
                                                      void *const *pass, void *root, void *inputs)

static inline void *vt_machine_call_for_result(void *function, void *result, void *a,
                                               void *const *b, void *c, void *d) {
    void *(*called)(void *, void *, void *const *, void *, void *) =
        __extension__(void *(*)(void *, void *, void *const *, void *, void *)) function;
    return called(result, a, b, c, d);
}

/* The C library's data for a thread: the modules' storage lies below the block. */

static inline uintptr_t vt_machine_thread_block(void) {
    uintptr_t block;
    __asm__("mov %%fs:0, %0" : "=r"(block));
    return block;
}

#define VT_THREAD_ALIGN   64u
#define VT_THREAD_SELF    0u
#define VT_THREAD_SELF_2  16u
#define VT_THREAD_SELF_IS 0u
#define VT_THREAD_TID     0x2d0u

static inline uintptr_t vt_machine_thread_bytes(void) {
    return 0;
}

static inline uintptr_t vt_machine_thread_below(uintptr_t storage) {
    return storage;
}

static inline uintptr_t vt_machine_thread_above(uintptr_t storage) {
    (void)storage;
    return 0;
}

#define VT_THREAD_HEAD 3 /* words: the block, the table, the block */
static inline uintptr_t vt_machine_thread_table(const uint64_t head[VT_THREAD_HEAD],
                                                uintptr_t block) {
    return head[0] == block && head[2] == block ? head[1] : 0;
}

static inline uintptr_t vt_machine_thread_data(uintptr_t block, uintptr_t offset) {
    return block - offset;
}

/* Memory. */

static inline void vt_machine_copy(void *to, const void *from, size_t n) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static inline void vt_machine_fill(void *to, int byte, size_t n) {
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(byte) : "memory");
}

#define VT_COPY_LOOP                                                                               \
    "0:\tcmp $32, %0\n\tjb 1f\n\t"                                                                 \
    "movups (%2), %%xmm0\n\tmovups 16(%2), %%xmm1\n\t"                                             \
    "movups %%xmm0, (%1)\n\tmovups %%xmm1, 16(%1)\n\t"                                             \
    "add $32, %2\n\tadd $32, %1\n\tsub $32, %0\n\tjmp 0b\n"                                        \
    "1:\tcmp $8, %0\n\tjb 2f\n\t"                                                                  \
    "mov (%2), %3\n\tmov %3, (%1)\n\t"                                                             \
    "add $8, %2\n\tadd $8, %1\n\tsub $8, %0\n\tjmp 1b\n"                                           \
    "2:\ttest %0, %0\n\tjz 3f\n\t"                                                                 \
    "movb (%2), %b3\n\tmovb %b3, (%1)\n\t"                                                         \
    "inc %2\n\tinc %1\n\tdec %0\n\tjmp 2b\n3:"
#define VT_COPY_LOOP_USES "xmm0", "xmm1"
#define VT_LOAD_WORD      "mov (%2), %1\n\txor %k0, %k0\n"

#define vt_machine_fetch_to_write(p) __asm__ volatile("prefetchw %0" : : "m"(*(const char *)(p)))

#define VT_WIDE      __attribute__((target("avx2")))
#define VT_WIDE_HERE __builtin_cpu_supports("avx2")
typedef double vt_doubles4 __attribute__((vector_size(32)));
#define VT_ANY_OF(four) ((unsigned)__builtin_ia32_movmskpd256((vt_doubles4)(four)))

static inline bool vt_machine_ask_valgrind(void) {
    uint64_t request[6] = {0x1001}, answer = 0;
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(request)
                     : "cc", "memory");
    return answer != 0;
}

#define VT_RELOCATE_CALL R_X86_64_JUMP_SLOT
#define VT_RELOCATE_DATA R_X86_64_GLOB_DAT

#endif
