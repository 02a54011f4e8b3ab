/* SPDX-License-Identifier: MIT */
/*
 * elsewhere WAY: one allocation, whose address is kept where a search for plain words in writable memory does not find it.
 * Exit status 77: the kernel refuses what the way is made of.
 */
#define _GNU_SOURCE
#include "../../cuda_case.h"

#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE ((size_t)4096)

uint64_t *mapping; /* the only variables; not static: they are written only */
uint64_t word, vector[3];
__attribute__((aligned(4096))) uint64_t data[512] = {1};
__attribute__((aligned(4096))) uint64_t bss[512];
uint64_t beside; /* what is not protected with them */

static const char *way;

static bool is(const char *name) {
    return strcmp(way, name) == 0;
}

static bool begins(const char *name) {
    return strncmp(way, name, strlen(name)) == 0;
}

static CUdeviceptr make(void) {
    CUdeviceptr made;
    CHECK(cuMemAlloc_v2(&made, 65536));
    return made;
}

static int holder(void) {
    char name[] = "held-XXXXXX";
    int fd = mkstemp(name);
    EXPECT(fd >= 0 && unlink(name) == 0 && ftruncate(fd, 2 * PAGE) == 0);
    return fd;
}

/* Where the address is written, before that is protected. */
static uint64_t *memory(void) {
    if (begins("data"))
        return data;
    if (begins("bss"))
        return bss;
    if (begins("heap")) {
        for (int i = 0; i < 50; i++) /* not at an end of the heap */
            memset(malloc(2000), 1, 2000);
        mapping = aligned_alloc(PAGE, 4 * PAGE);
        memset(malloc(2000), 1, 2000);
    } else if (begins("file")) {
        mapping = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, holder(), 0);
    } else if (begins("shared")) {
        mapping = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    } else if (begins("memfd")) {
        int fd = memfd_create("kept", 0);
        EXPECT(ftruncate(fd, PAGE) == 0);
        mapping = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    } else {
        mapping = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    EXPECT(mapping != MAP_FAILED);
    return mapping;
}

static void protect(void) {
    uint64_t *at = memory();
    memset(at, 0, PAGE);
    at[100] = make();
    EXPECT(mprotect(at, PAGE, strstr(way, "-none") ? PROT_NONE : PROT_READ) == 0);
}

/* The address in another form. */
static uint64_t form(uint64_t p) {
    return is("tag-high")      ? p | 0xbeefull << 48
           : is("tag-byte")    ? p | 0x2aull << 56
           : is("tag-nan")     ? p | 0x1fff2ull << 47 /* a double that is none, with 47 bits */
           : is("tag-low")     ? p | 7
           : is("tag-shifted") ? p << 16 | 0x1234
           : is("one-byte")    ? p - 1
           : is("one-float")   ? p - 4
           : is("one-double")  ? p - 8
           : is("one-complex") ? p - 16
           : is("past-end")    ? p + 65536
           : is("two-before")  ? p - 32
           : is("tag-inside")  ? (p + 4096) | 0xbeefull << 48
                               : p;
}

/* Blocks of the heap that a word in such a form leads to. */
static uint64_t block(void) {
    CUdeviceptr *b[3];
    for (int i = 0; i < 3; i++)
        memset(b[i] = malloc(200), 0, 200);
    b[1][3] = make();
    if (is("block-vector")) { /* the end of the one is one word before the next */
        EXPECT(b[0] + 26 == b[1]);
        vector[0] = (uint64_t)b[0];
        vector[1] = vector[2] = (uint64_t)(b[0] + 25);
        return 0;
    }
    return is("block-high")      ? (uint64_t)b[1] | 0xbeefull << 48
           : is("block-shifted") ? (uint64_t)b[1] << 16 | 0x1234
           : is("block-one")     ? (uint64_t)b[1] - 8
           : is("block-pair")    ? (uint64_t)b[1] - 16
                                 : (uint64_t)b[1] - 24;
}

static void need(bool done) {
    if (!done)
        _exit(77);
}

static void *twice(void) { /* for what must not be the address itself */
    static uint64_t many[2];
    return many;
}

static void to_kernel(void) {
    uint64_t p = make();
    int pair[2], events;
    timer_t timer;
    struct itimerspec later = {.it_value = {.tv_sec = 100000}};
    if (begins("epoll")) {
        struct epoll_event e = {.events = EPOLLIN, .data.u64 = p};
        need(pipe(pair) == 0 && (events = epoll_create1(0)) >= 0 &&
             epoll_ctl(events, EPOLL_CTL_ADD, pair[0], &e) == 0);
        if (is("epoll-closed"))
            close(events);
    } else if (is("timer")) {
        struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
        e.sigev_value.sival_ptr = (void *)p;
        need(timer_create(CLOCK_MONOTONIC, &e, &timer) == 0 &&
             timer_settime(timer, 0, &later, NULL) == 0);
    } else if (is("eventfd")) {
        need(write(eventfd(0, 0), &p, sizeof p) == sizeof p);
    } else if (is("memory-file")) {
        need(write(memfd_create("kept", 0), &p, sizeof p) == sizeof p);
    } else if (begins("pipe")) {
        need(pipe(pair) == 0 && write(pair[1], &p, sizeof p) == sizeof p);
        if (is("pipe-read"))
            need(read(pair[0], twice(), sizeof p) == sizeof p);
        memset(twice(), 0, sizeof p);
    } else if (begins("socket")) {
        int type = is("socket-datagram") ? SOCK_DGRAM : SOCK_STREAM;
        need(socketpair(AF_UNIX, type, 0, pair) == 0 && write(pair[1], &p, sizeof p) == sizeof p);
    } else if (is("queue")) {
        struct mq_attr a = {.mq_maxmsg = 2, .mq_msgsize = sizeof p};
        mqd_t queue = mq_open("/vramtrace-case-626", O_CREAT | O_RDWR, 0600, &a);
        need(queue >= 0);
        mq_unlink("/vramtrace-case-626");
        need(mq_send(queue, (char *)&p, sizeof p, 0) == 0);
    } else if (is("signal")) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGRTMIN + 3);
        sigprocmask(SIG_BLOCK, &set, NULL);
        need(sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_ptr = (void *)p}) == 0);
    } else if (is("ring")) { /* io_uring: a poll that is not over yet */
        struct {
            uint32_t entries, cq_entries, flags, cpu, idle, features, wq, resv[3];
            uint32_t sq[10], cq[10];
        } params = {0};
        int fd = (int)syscall(425, 4, &params);
        need(fd >= 0 && pipe(pair) == 0);
        char *sq = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        struct sqe {
            uint8_t op, flags;
            uint16_t prio;
            int fd;
            uint64_t off, addr;
            uint32_t len, events;
            uint64_t user, pad[3];
        } *sqe = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0x10000000);
        need(sq != MAP_FAILED && sqe != MAP_FAILED);
        *sqe = (struct sqe){.op = 6, .fd = pair[0], .events = 1, .user = p};
        *(uint32_t *)(sq + params.sq[6]) = 0;
        *(uint32_t *)(sq + params.sq[1]) = 1;
        need(syscall(426, fd, 1, 0, 0, NULL, 0) == 1);
        memset(sqe, 0, sizeof *sqe);
    }
}

static __attribute__((noinline)) void keep(void) {
    if (begins("tag-") || begins("one-") || is("past-end") || is("two-before"))
        word = form(make());
    else if (begins("block-"))
        word = block();
    else if (begins("data") || begins("bss") || begins("heap") || begins("file") ||
             begins("shared") || begins("memfd") || begins("anonymous"))
        protect();
    else
        to_kernel();
}

int main(int argc, char **argv) {
    way = argc > 1 ? argv[1] : "";
    start_cuda();
    keep();
    volatile char over[8192];
    memset((char *)over, 0, sizeof over);
    return over[100];
}
