/* SPDX-License-Identifier: MIT */
/*
 * lines BYTES: two threads allocate BYTES and free them, one thread after the other, a few rounds. Before each
 * thread's turn, all that the tracer can write is made read-only; a page is made writable again at the first write
 * to it. Prints the address of the first write in each page that both threads wrote to in every round, and how many
 * pages one of them wrote to.
 */
#define _GNU_SOURCE
#include "../../../cuda_case.h"

#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 6, PAIRS = 40, KNOWN = 2048, MAPPINGS = 512, PAGE = 4096 };

extern __thread CUdeviceptr wanted;

struct mapping {
    uintptr_t start, end;
};
static struct mapping before[MAPPINGS], ours[MAPPINGS];
static size_t n_before, n_ours;

/* A page that was written to: where first, and by which threads in this round; in how many rounds by both. */
static struct page {
    uintptr_t first;
    unsigned by, rounds;
} pages[KNOWN];
static size_t n_pages;

static size_t bytes;
enum { MAIN = -1, NOBODY = -2 /* the threads end */ };
static int turn = MAIN; /* atomic: whose it is */

static __attribute__((noinline)) void pair(void) {
    CUdeviceptr p;
    CHECK(cuMemAlloc_v2(&p, bytes));
    CHECK(cuMemFree_v2(p));
}

static __attribute__((noinline)) void one_way(void) {
    pair();
    __asm__ volatile("");
}

static __attribute__((noinline)) void other_way(void) {
    pair();
    __asm__ volatile("nop");
}

static void *work(void *arg) {
    int me = (int)(intptr_t)arg;
    wanted = 0x7000000 + 0x200000ull * (unsigned)me;
    for (int whose; (whose = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) != NOBODY;) {
        if (whose != me) {
            sched_yield();
            continue;
        }
        for (int i = 0; i < PAIRS; i++)
            i % 2 ? one_way() : other_way();
        __atomic_store_n(&turn, MAIN, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void on_write(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    uintptr_t at = (uintptr_t)info->si_addr, start = at & ~(uintptr_t)(PAGE - 1);
    size_t i = 0;
    while (i < n_pages && (pages[i].first & ~(uintptr_t)(PAGE - 1)) != start)
        i++;
    if (i == KNOWN || mprotect((void *)start, PAGE, PROT_READ | PROT_WRITE) != 0)
        _exit(98); /* a fault of another kind */
    if (i == n_pages)
        pages[n_pages++].first = at;
    pages[i].by |= 1u << turn;
}

/* The writable mappings, but for the stacks and the heap. */
static size_t read_mappings(struct mapping *to) {
    char line[1024], mode[8];
    size_t n = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    EXPECT(maps != NULL);
    while (fgets(line, sizeof line, maps)) {
        EXPECT(n < MAPPINGS && sscanf(line, "%lx-%lx %7s", &to[n].start, &to[n].end, mode) == 3);
        n += mode[1] == 'w' && !strchr(line, '[');
    }
    fclose(maps);
    return n;
}

static bool is_new(const struct mapping *m) {
    for (size_t i = 0; i < n_before; i++)
        if (m->start < before[i].end && before[i].start < m->end)
            return false;
    return true;
}

static int add_library(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size, (void)data;
    if (!strstr(info->dlpi_name, "libvramtrace"))
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr, end = start + p->p_memsz;
        if (p->p_type == PT_LOAD && p->p_flags & PF_W) {
            ours[n_ours++] = (struct mapping){start & ~(uintptr_t)(PAGE - 1),
                                              (end + PAGE - 1) & ~(uintptr_t)(PAGE - 1)};
            fprintf(stderr, "library %#lx\n", (unsigned long)info->dlpi_addr);
        }
    }
    return 1;
}

static void protect(int mode) {
    for (size_t i = 0; i < n_ours; i++)
        CHECK(mprotect((void *)ours[i].start, ours[i].end - ours[i].start, mode));
}

static void let(int thread) {
    __atomic_store_n(&turn, thread, __ATOMIC_RELEASE);
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != MAIN)
        sched_yield();
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    CUcontext context;
    unsigned both = 0, one = 0;
    EXPECT(argc == 2);
    bytes = strtoul(argv[1], NULL, 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i));
    n_before = read_mappings(before);
    CHECK(cuInit(0));
    CHECK(cuCtxCreate_v2(&context, 0, 0));
    let(0); /* what is done once */
    let(1);
    static struct mapping now[MAPPINGS];
    size_t n = read_mappings(now);
    for (size_t i = 0; i < n; i++)
        if (is_new(&now[i]))
            ours[n_ours++] = now[i];
    EXPECT(dl_iterate_phdr(add_library, NULL) == 1);
    struct sigaction action = {.sa_sigaction = on_write, .sa_flags = SA_SIGINFO};
    CHECK(sigaction(SIGSEGV, &action, NULL));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 2; i++) {
            protect(PROT_READ);
            let(i);
        }
        for (size_t i = 0; i < n_pages; i++) {
            pages[i].rounds += pages[i].by == 3;
            one += pages[i].by == 1 || pages[i].by == 2;
            pages[i].by = 0;
        }
    }
    protect(PROT_READ | PROT_WRITE);
    __atomic_store_n(&turn, NOBODY, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL));
    for (size_t i = 0; i < n_pages; i++)
        if (pages[i].rounds == ROUNDS) {
            both++;
            printf("%#lx\n", (unsigned long)pages[i].first);
        }
    printf("%u %u\n", both, one);
    return 0;
}
