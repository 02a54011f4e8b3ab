/* SPDX-License-Identifier: MIT */
/*
 * AArch64, little-endian, LP64 (see machine.h). A call leaves its return address in a register. A function that calls
 * others saves it somewhere in its frame, usually beside the frame pointer; it may be signed (pointer authentication).
 * The C library's struct pthread lies below the thread pointer, modules' storage above.
 */
#ifndef VT_PRELOAD_MACHINE_AARCH64_H
#define VT_PRELOAD_MACHINE_AARCH64_H

#include <setjmp.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <ucontext.h>

/* The kernel. */

static inline long vt_machine_call(long n, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

static inline long vt_machine_clone(long flags, void (*function)(void *), void *data,
                                    uint8_t *stack_end) {
    register long x8 __asm__("x8") = SYS_clone;
    register long x0 __asm__("x0") = flags;
    register void *x1 __asm__("x1") = stack_end;
    register long x2 __asm__("x2") = 0, x3 __asm__("x3") = 0, x4 __asm__("x4") = 0;
    register void *called __asm__("x9") = __extension__(void *) function;
    register void *given __asm__("x10") = data;
    __asm__ volatile("svc 0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t"
                     "mov x0, x10\n\t"
                     "blr x9\n\t"
                     "brk #1\n"
                     "1:"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(called), "r"(given)
                     : "memory");
    return x0;
}

/* The kernel provides its own restorer. */
#define VT_MACHINE_RESTORER    NULL
#define VT_MACHINE_SA_RESTORER 0u

static inline bool vt_machine_steady_ticks(void) {
    return true;
}

static inline size_t vt_machine_page(void) {
    static size_t page; /* 4, 16 or 64 KiB; all threads compute the same */
    if (__builtin_expect(!__atomic_load_n(&page, __ATOMIC_RELAXED), 0))
        __atomic_store_n(&page, getauxval(AT_PAGESZ), __ATOMIC_RELAXED);
    return __atomic_load_n(&page, __ATOMIC_RELAXED);
}

#define VT_MACHINE_ADDRESSES ((uintptr_t)1 << 48)
#define VT_MACHINE_MAPPINGS  0xf00000000000u

/* Calls and stacks. */

struct vt_caller {
    const void *to;    /* the return address, in the caller */
    const void *frame; /* the frame record: caller's frame pointer, return address */
    const void *sp;    /* the caller's stack pointer */
};
#define VT_CALLER                                                                                  \
    ((struct vt_caller){__builtin_return_address(0), __builtin_frame_address(0),                   \
                        __builtin_dwarf_cfa()})
#define VT_MACHINE_CALLERS __builtin_dwarf_cfa()

static inline uintptr_t vt_caller_sp(const struct vt_caller *caller) {
    return (uintptr_t)caller->sp;
}

#define VT_MACHINE_REGISTERS 11
static inline __attribute__((always_inline)) void
vt_machine_read_registers(uintptr_t r[VT_MACHINE_REGISTERS]) {
    __asm__ volatile("stp x19, x20, [%0]\n\tstp x21, x22, [%0, #16]\n\tstp x23, x24, [%0, #32]\n\t"
                     "stp x25, x26, [%0, #48]\n\tstp x27, x28, [%0, #64]\n\tstr x29, [%0, #80]"
                     :
                     : "r"(r)
                     : "memory");
}

#define VT_MACHINE_SAVE_REGISTERS()                                                                \
    __asm__ volatile("" ::: "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28")
#define VT_MACHINE_SAVED_BELOW 0

#define VT_DWARF_FP      29u
#define VT_DWARF_SP      31u
#define VT_DWARF_RA      30u
#define VT_DWARF_BREG_FP 0x8du

/* Removes the signature from a return address (XPACLRI, a no-op on older processors). */
#define VT_RETURN_AT_CFA 0u
static inline uintptr_t vt_machine_return(uintptr_t word) {
    register uintptr_t x30 __asm__("x30") = word;
    __asm__("hint #7" : "+r"(x30));
    return x30;
}

#define VT_CONTEXT_PC      offsetof(ucontext_t, uc_mcontext.pc)
#define VT_CONTEXT_SP      offsetof(ucontext_t, uc_mcontext.sp)
#define VT_CONTEXT_FP      (offsetof(ucontext_t, uc_mcontext.regs) + 29 * 8)
#define VT_CONTEXT_LINK    (offsetof(ucontext_t, uc_mcontext.regs) + 30 * 8)
#define VT_CONTEXT_END     (VT_CONTEXT_PC + 8)
#define VT_HANDLER_CONTEXT 128u /* follows the siginfo_t */

/* mov x8, #139; svc #0 */
static const uint8_t vt_machine_sigreturn[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};

/* The head of the floating-point registers: FPSIMD_MAGIC, and their size. */
#define VT_CONTEXT_MARK  offsetof(ucontext_t, uc_mcontext.__reserved)
#define VT_CONTEXT_BYTES (VT_CONTEXT_MARK + 528)
static inline bool vt_machine_is_context_mark(uint64_t word, uintptr_t at) {
    (void)at;
    return word == (528ull << 32 | 0x46508001u);
}

/* The fourteenth word, XORed with a word of the process, which our own buffer reveals. */
static __attribute__((noinline, unused)) uintptr_t
vt_machine_jump_target(const struct __jmp_buf_tag *to) {
    enum { SP = 13 };
    struct __jmp_buf_tag here;
    uintptr_t sp;
    __asm__ volatile("mov %0, sp" : "=r"(sp));
    _setjmp(&here);
    return to->__jmpbuf[SP] ^ here.__jmpbuf[SP] ^ sp;
}

/* libunwind defines it as a macro. */
#define VT_UNWINDER_HAS_GETCONTEXT                false
#define VT_UNWINDER_GETCONTEXT(function, context) unw_getcontext(context)

/* A C++ function stores a large result at the address in x8, which C cannot express: the exported entry passes x8 as
 * the first argument. */
#define VT_RESULT_ENTRY(name)                                                                      \
    __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n\t"                  \
            "mov x4, x3\n\tmov x3, x2\n\tmov x2, x1\n\tmov x1, x0\n\tmov x0, x8\n\t"               \
            "b vt_entered_" #name "\n.size " #name ", .-" #name "\n");                             \
    VT_RESULT_ENTERED(name);                                                                       \
    VT_RESULT_ENTERED(name)
#define VT_RESULT_ENTERED(name)                                                                    \
    __attribute__((used, visibility("hidden"))) void *vt_entered_##name(                           \
        void *result, void *engine, void *const *pass, void *root, void *inputs)

static inline void *vt_machine_call_for_result(void *function, void *result, void *a,
                                               void *const *b, void *c, void *d) {
    register void *x8 __asm__("x8") = result;
    register void *x0 __asm__("x0") = a;
    register void *const *x1 __asm__("x1") = b;
    register void *x2 __asm__("x2") = c;
    register void *x3 __asm__("x3") = d;
    register void *x16 __asm__("x16") = function;
    __asm__ volatile("blr %5"
                     : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3), "+r"(x8), "+r"(x16)
                     :
                     : "x4", "x5", "x6", "x7", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
                       "x17", "x18", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8",
                       "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19",
                       "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30",
                       "v31", "cc", "memory");
    return result;
}

/* The C library's data for a thread. */

static inline uintptr_t vt_machine_thread_block(void) {
    return (uintptr_t)__builtin_thread_pointer();
}

/* The list of robust mutexes, which is almost always empty and then points to itself. */
#define VT_THREAD_ALIGN   16u
#define VT_THREAD_SELF    0xd8u
#define VT_THREAD_SELF_2  0xe0u
#define VT_THREAD_SELF_IS 0xe0u
#define VT_THREAD_TID     0xd0u

/* sizeof(struct pthread), which differs between C libraries. Found by searching the calling thread's struct for the
 * list's constant. */
static inline uintptr_t vt_machine_thread_bytes(void) {
    enum { LEAST = 1024, MOST = 4096, CONSTANT = 0xe8 };
    static uintptr_t known;
    uintptr_t block = vt_machine_thread_block();
    for (uintptr_t bytes = LEAST; !known && bytes <= MOST; bytes += 16)
        if (*(const int64_t *)(block - bytes + CONSTANT) == -32 &&
            *(const int32_t *)(block - bytes + VT_THREAD_TID) > 0)
            known = bytes;
    return known;
}

static inline uintptr_t vt_machine_thread_below(uintptr_t storage) {
    (void)storage;
    return vt_machine_thread_bytes();
}

static inline uintptr_t vt_machine_thread_above(uintptr_t storage) {
    return 16 + storage;
}

#define VT_THREAD_HEAD 1 /* words: the table */
static inline uintptr_t vt_machine_thread_table(const uint64_t head[VT_THREAD_HEAD],
                                                uintptr_t block) {
    (void)block;
    return head[0];
}

static inline uintptr_t vt_machine_thread_data(uintptr_t block, uintptr_t offset) {
    return block + offset;
}

/* Memory. */

static inline void vt_machine_copy(void *to, const void *from, size_t n) {
    uint64_t a, b;
    __asm__ volatile("1:\tcmp %2, #16\n\tb.lo 2f\n\t"
                     "ldp %3, %4, [%1], #16\n\tstp %3, %4, [%0], #16\n\tsub %2, %2, #16\n\tb 1b\n"
                     "2:\tcbz %2, 3f\n\t"
                     "ldrb %w3, [%1], #1\n\tstrb %w3, [%0], #1\n\tsub %2, %2, #1\n\tb 2b\n3:"
                     : "+r"(to), "+r"(from), "+r"(n), "=&r"(a), "=&r"(b)
                     :
                     : "memory", "cc");
}

static inline void vt_machine_fill(void *to, int byte, size_t n) {
    uint64_t word = (uint8_t)byte * 0x0101010101010101u;
    __asm__ volatile("1:\tcmp %1, #16\n\tb.lo 2f\n\t"
                     "stp %2, %2, [%0], #16\n\tsub %1, %1, #16\n\tb 1b\n"
                     "2:\tcbz %1, 3f\n\tstrb %w2, [%0], #1\n\tsub %1, %1, #1\n\tb 2b\n3:"
                     : "+&r"(to), "+&r"(n)
                     : "r"(word)
                     : "memory", "cc");
}

#define VT_COPY_LOOP                                                                               \
    "0:\tcmp %0, #32\n\tb.lo 1f\n\t"                                                               \
    "ldp q0, q1, [%2], #32\n\tstp q0, q1, [%1], #32\n\tsub %0, %0, #32\n\tb 0b\n"                  \
    "1:\tcmp %0, #8\n\tb.lo 2f\n\t"                                                                \
    "ldr %3, [%2], #8\n\tstr %3, [%1], #8\n\tsub %0, %0, #8\n\tb 1b\n"                             \
    "2:\tcbz %0, 3f\n\t"                                                                           \
    "ldrb %w3, [%2], #1\n\tstrb %w3, [%1], #1\n\tsub %0, %0, #1\n\tb 2b\n3:"
#define VT_COPY_LOOP_USES "v0", "v1"
#define VT_LOAD_WORD      "ldr %1, [%2]\n\tmov %0, xzr\n"

#define vt_machine_fetch_to_write(p) __builtin_prefetch((const void *)(p), 1)

#define VT_WIDE
#define VT_WIDE_HERE true
#define VT_ANY_OF(four)                                                                            \
    __extension__({                                                                                \
        const vt_words4 four_ = (four);                                                            \
        four_[0] | four_[1] | four_[2] | four_[3]                                                  \
            ? (unsigned)(-four_[0] | -four_[1] << 1 | -four_[2] << 2 | -four_[3] << 3)             \
            : 0u;                                                                                  \
    })

static inline bool vt_machine_ask_valgrind(void) {
    const uint64_t request[6] = {0x1001};
    register uint64_t answer __asm__("x3") = 0;
    register const uint64_t *asked __asm__("x4") = request;
    __asm__ volatile("ror x12, x12, #3\n\tror x12, x12, #13\n\tror x12, x12, #51\n\t"
                     "ror x12, x12, #61\n\torr x10, x10, x10"
                     : "+r"(answer)
                     : "r"(asked)
                     : "cc", "memory", "x12");
    return answer != 0;
}

#define VT_RELOCATE_CALL R_AARCH64_JUMP_SLOT
#define VT_RELOCATE_DATA R_AARCH64_GLOB_DAT

#endif
