/* SPDX-License-Identifier: MIT */
/* Addresses that the kernel holds for the process are found, or leave a doubt, and the program's later reads are
 * unaffected. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scan/flood.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define ADDRESS 0x7f1234567890u
#define LARGE   (200u << 10)

static unsigned seen;

void vt_scan_follow(struct flood *f, uint64_t word) {
    (void)f;
    seen += word == ADDRESS;
}

/* Whether the address is found, or in doubt; 0: it would be lost. */
enum { LOST, FOUND, DOUBT };
static int ask(void) {
    static struct vt_scan scan;
    memset(&scan, 0, sizeof scan);
    scan.pid = (uint32_t)getpid();
    scan.most_work = UINT64_MAX;
    seen = 0;
    vt_scan_follow_kernel(&scan, NULL);
    vt_scan_release(&scan);
    assert_null(scan.stop);
    return scan.in_doubt ? DOUBT : seen ? FOUND : LOST;
}

static void send_address(int fd, size_t before) {
    uint64_t address = ADDRESS;
    char *zeroes = calloc(1, before + sizeof address);
    memcpy(zeroes + before, &address, sizeof address);
    assert_int_equal(write(fd, zeroes, before + sizeof address), before + sizeof address);
    free(zeroes);
}

static void close_both(const int *pair) {
    close(pair[0]);
    close(pair[1]);
}

/* Connected to each other, over the network. */
static void connect_pair(int type, int *pair) {
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof name;
    int first = socket(AF_INET, type, 0);
    assert_int_equal(bind(first, (void *)&name, sizeof name), 0);
    assert_int_equal(getsockname(first, (void *)&name, &size), 0);
    pair[1] = socket(AF_INET, type, 0);
    if (type == SOCK_STREAM)
        assert_int_equal(listen(first, 1), 0);
    assert_int_equal(connect(pair[1], (void *)&name, sizeof name), 0);
    pair[0] = first;
    if (type == SOCK_STREAM) {
        assert_int_equal(ask(), LOST); /* one that listens, with a connection to accept */
        pair[0] = accept(first, NULL, NULL);
        assert_true(pair[0] >= 0);
        close(first);
    }
}

static void test_streams(void **state) {
    int pair[2];
    char text[16];
    (void)state;
    assert_int_equal(ask(), LOST);
    for (int network = 0; network < 2; network++)
        for (unsigned before = 3; before <= 100003; before += 100000) {
            if (network)
                connect_pair(SOCK_STREAM, pair);
            else
                assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
            send_address(pair[1], before);
            assert_int_equal(ask(), FOUND);
            assert_int_equal(read(pair[0], text, 3), 3);
            assert_int_equal(ask(), FOUND);
            int offset = 8;
            if (setsockopt(pair[0], SOL_SOCKET, SO_PEEK_OFF, &offset, sizeof offset) == 0) {
                assert_int_equal(ask(), DOUBT);
                socklen_t size = sizeof offset;
                getsockopt(pair[0], SOL_SOCKET, SO_PEEK_OFF, &offset, &size);
                assert_int_equal(offset, 8);
            }
            close_both(pair);
        }
}

/* The other end closes with something unread: the program's read tells. */
static void test_resets(void **state) {
    int pair[2];
    char text[16];
    (void)state;
    for (int network = 0; network < 2; network++)
        for (int held = 0; held < 2; held++) {
            if (network)
                connect_pair(SOCK_STREAM, pair);
            else
                assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
            send_address(pair[0], 0);
            if (held)
                send_address(pair[1], 0);
            close(pair[1]);
            int found = ask();
            if (held && read(pair[0], text, 8) == 8) /* TCP may drop it */
                assert_int_not_equal(found, LOST);
            errno = 0;
            assert_int_equal(recv(pair[0], text, 8, MSG_DONTWAIT), -1);
            assert_int_equal(errno, ECONNRESET);
            close(pair[0]);
        }
}

static void test_datagrams(void **state) {
    int pair[2];
    char text[16];
    (void)state;
    for (int type = SOCK_DGRAM;; type = SOCK_SEQPACKET) {
        assert_int_equal(socketpair(AF_UNIX, type, 0, pair), 0);
        assert_int_equal(ask(), LOST);
        assert_int_equal(write(pair[1], "few", 3), 3);
        send_address(pair[1], 0);
        assert_int_equal(ask(), DOUBT);
        close_both(pair);
        if (type == SOCK_SEQPACKET)
            break;
    }
    connect_pair(SOCK_DGRAM, pair);
    send_address(pair[1], 0);
    assert_int_equal(ask(), FOUND);
    assert_int_equal(read(pair[0], text, 16), 8);
    /* It is refused: an error waits. */
    close(pair[0]);
    send_address(pair[1], 0);
    assert_int_equal(ask(), LOST);
    assert_int_equal(recv(pair[1], text, 8, MSG_DONTWAIT), -1);
    assert_int_equal(errno, ECONNREFUSED);
    close(pair[1]);
}

static void test_pipes(void **state) {
    int pair[2];
    char *bytes = calloc(1, LARGE + 8);
    (void)state;
    for (unsigned before = 0; before <= LARGE; before += LARGE) {
        assert_int_equal(pipe(pair), 0);
        if (fcntl(pair[1], F_SETPIPE_SZ, 1 << 20) < 0)
            break;
        send_address(pair[1], before);
        assert_int_equal(ask(), FOUND);
        assert_int_equal(read(pair[0], bytes, before + 8), before + 8);
        assert_int_equal(ask(), LOST);
        close_both(pair);
    }
    free(bytes);
}

static void test_files(void **state) {
    char name[] = "/tmp/vt_kernel_test.XXXXXX";
    int file = mkstemp(name);
    (void)state;
    assert_true(file >= 0);
    assert_int_equal(unlink(name), 0);
    for (unsigned before = 0; before <= 5u << 20; before = before ? before * 8 : 72) {
        assert_int_equal(ftruncate(file, 0), 0);
        assert_int_equal(lseek(file, 0, SEEK_SET), 0);
        send_address(file, before);
        assert_int_equal(ask(), FOUND);
        assert_int_equal(lseek(file, 0, SEEK_CUR), before + 8);
    }
    /* Holes are skipped, and do not count. */
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(ftruncate(file, 1ll << 36), 0);
    assert_int_equal(ask(), LOST);
    assert_int_equal(lseek(file, 1ll << 35, SEEK_SET), 1ll << 35);
    send_address(file, 8);
    assert_int_equal(ask(), FOUND);
    assert_int_equal(lseek(file, 0, SEEK_CUR), (1ll << 35) + 16);
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    send_address(file, 128 << 20); /* data beyond the limit is not read */
    assert_int_equal(ask(), DOUBT);
    void *all = mmap(NULL, (128 << 20) + 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_ptr_not_equal(all, MAP_FAILED);
    assert_int_equal(ask(), LOST); /* it is memory, which is read elsewhere */
    munmap(all, (128 << 20) + 8);
    close(file);
    const char *not_read[] = {VT_SCAN_MEMFD, "vramtrace-sim-device"};
    for (int i = 0; i < 2; i++) {
        file = memfd_create(not_read[i], 0);
        send_address(file, 0);
        assert_int_equal(ask(), LOST);
        close(file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams),   cmocka_unit_test(test_resets),
        cmocka_unit_test(test_datagrams), cmocka_unit_test(test_pipes),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
