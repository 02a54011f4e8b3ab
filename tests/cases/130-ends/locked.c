/* SPDX-License-Identifier: MIT */
/*
 * Ends by the call that it is told, while another thread holds the loader's lock: that one opens
 * this program's library, whose constructor waits for ever. _exit and the exec family may be called
 * in a signal handler, so they must not need that lock. One that does hangs; the alarm ends it then.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef LIBRARY
extern sem_t lock_is_held;

__attribute__((constructor)) static void hold(void) {
    sem_post(&lock_is_held);
    for (;;)
        pause();
}
#else
sem_t lock_is_held;

static void *open_library(void *unused) {
    dlopen("./liblocked.so", RTLD_NOW);
    return unused;
}

int main(int argc, char **argv) {
    pthread_t thread;
    char *next[] = {"true", NULL};
    alarm(20);
    sem_init(&lock_is_held, 0, 0);
    if (argc < 2 || pthread_create(&thread, NULL, open_library, NULL) != 0)
        return 1;
    sem_wait(&lock_is_held);
    if (strcmp(argv[1], "_exit") == 0)
        _exit(0);
    if (strcmp(argv[1], "_Exit") == 0)
        _Exit(0);
    if (strcmp(argv[1], "execv") == 0)
        execv("/bin/true", next);
    if (strcmp(argv[1], "execvp") == 0)
        execvp("true", next);
    if (strcmp(argv[1], "execle") == 0)
        execle("/bin/true", "true", NULL, environ);
    return 1;
}
#endif
