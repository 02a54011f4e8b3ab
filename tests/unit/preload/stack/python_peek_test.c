/* SPDX-License-Identifier: MIT */
/* vt_python_peek must never fault, with process_vm_readv and, where a sandbox refuses that,
 * without. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mappings.h"
#include "stack/python_layout.h"

static void reads(void **state) {
    (void)state;
    const size_t page = 4096;
    char got[64],
        *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(two, MAP_FAILED);
    memset(two, 'x', 2 * page);
    assert_int_equal(munmap(two + page, page), 0);
    assert_true(vt_python_peek(got, (uintptr_t)two + page - 64, 64));
    assert_memory_equal(got, two, 64);
    assert_true(vt_python_peek(got, (uintptr_t)two + page - 1, 1));
    assert_true(vt_python_peek(got, (uintptr_t)two + page - 13, 13));
    assert_false(vt_python_peek(got, (uintptr_t)two + page - 13, 14));
    assert_false(vt_python_peek(got, (uintptr_t)two + page, 8));
    assert_false(vt_python_peek(got, 0, 8));
    assert_false(vt_python_peek(got, 8, 1));
    assert_false(vt_python_peek(got, 0xdead000000000000u, 8));
    assert_false(vt_python_peek(got, UINTPTR_MAX - 7, 8));
    assert_int_equal(munmap(two, page), 0);
}

/* From here on process_vm_readv answers EPERM, as in a container that forbids it. The last test: it
 * cannot be undone. */
static void reads_in_a_sandbox(void **state) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        skip();
    assert_false(vt_python_peek(&program, (uintptr_t)filter, 1)); /* seen: no system call is made */
    vt_sys_sealed = false;                                        /* as if it was not seen */
    char byte = 1, got = 0;
    struct iovec from = {&byte, 1}, to = {&got, 1};
    assert_int_equal(process_vm_readv(getpid(), &to, 1, &from, 1, 0), -1);
    reads(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(reads_in_a_sandbox),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
