/* SPDX-License-Identifier: MIT */
/* asks: asks for a snapshot, while another thread waits for a byte from stdin and then sets a seccomp filter that allows all. */
#include "../../../cuda_case.h"
#include "vramtrace.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *confines(void *unused) {
    struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {1, all};
    char byte;
    (void)unused;
    EXPECT(read(0, &byte, 1) == 1);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
    return NULL;
}

int main(void) {
    CUdeviceptr p;
    pthread_t thread;
    start_cuda();
    CHECK(cuMemAlloc_v2(&p, 4096));
    CHECK(pthread_create(&thread, NULL, confines, NULL));
    vramtrace_snapshot("held");
    CHECK(pthread_join(thread, NULL));
    CHECK(cuMemFree_v2(p));
    puts("done");
    return 3;
}
