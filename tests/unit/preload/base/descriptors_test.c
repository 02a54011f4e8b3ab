/* SPDX-License-Identifier: MIT */
/* With descriptors 0 to 2 closed: threads that open files at the same time never get one of these, and no child
 * inherits the placeholders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"
#include "life.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 2, OPENS = 100000, FORKS = 300 };

static int kept[3];
static uint32_t stop, filled, low; /* atomic */

/* Closes 0 to 2. Nothing can be asserted until they are back: cmocka writes. */
static void close_all(void) {
    for (int fd = 0; fd < 3; fd++) {
        kept[fd] = fcntl(fd, F_DUPFD, 10);
        close(fd);
    }
    vt_put(&stop, 0);
    vt_put(&filled, 0);
    vt_put(&low, 0);
}

static unsigned open_ones(void) {
    unsigned open = 0;
    for (int fd = 0; fd < 3; fd++)
        open |= (unsigned)(fcntl(fd, F_GETFD) >= 0) << fd;
    return open;
}

/* Returns which of them were open. */
static unsigned open_again(void) {
    unsigned open = open_ones();
    for (int fd = 0; fd < 3; fd++) {
        dup2(kept[fd], fd);
        close(kept[fd]);
    }
    return open;
}

static void *opens(void *most) {
    for (uintptr_t i = 0; i < (uintptr_t)most && !vt_get(&stop); i++) {
        int fd = (int)vt_descriptors_open("/dev/null", O_RDONLY, 0);
        if (fd < 3)
            vt_add(&low, 1);
        close(fd);
    }
    return NULL;
}

static void test_threads(void **state) {
    pthread_t threads[THREADS];
    (void)state;
    close_all();
    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, opens, (void *)(uintptr_t)OPENS) != 0)
            _exit(1);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(open_again(), 0);
    assert_int_equal(low, 0);
}

/* Which of 0 to 2 a child has. */
static unsigned forked(void) {
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit((int)open_ones());
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? (unsigned)WEXITSTATUS(status) : 9;
}

static void test_forks(void **state) {
    pthread_t thread;
    unsigned inherited = 0;
    (void)state;
    close_all();
    if (pthread_create(&thread, NULL, opens, (void *)UINTPTR_MAX) != 0)
        _exit(1);
    for (unsigned i = 0; i < FORKS; i++)
        inherited += forked() != 0;
    vt_put(&stop, 1);
    pthread_join(thread, NULL);
    assert_int_equal(open_again(), 0);
    assert_int_equal(inherited, 0);
}

static void *fills(void *arg) {
    unsigned which = vt_descriptors_fill();
    vt_put(&filled, 1);
    while (!vt_get(&stop))
        sched_yield();
    vt_descriptors_clear(which);
    return arg;
}

/* A fork does not wait for ever. */
static void test_patience(void **state) {
    pthread_t thread;
    (void)state;
    close_all();
    if (pthread_create(&thread, NULL, fills, NULL) != 0)
        _exit(1);
    while (!vt_get(&filled))
        sched_yield();
    unsigned inherited = forked(), ours = open_ones();
    vt_put(&stop, 1);
    pthread_join(thread, NULL);
    assert_int_equal(open_again(), 0);
    assert_int_equal(ours, 7);
    assert_int_equal(inherited, 0);
}

int main(void) {
    vt_fork_load();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_forks),
        cmocka_unit_test(test_patience),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
