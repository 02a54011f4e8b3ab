/* SPDX-License-Identifier: MIT */
/*
 * Keeps, or forgets, pointers to device memory in one way a time: places WAY [COUNT]. Each way says
 * on which lines what becomes of the pointer; `run` says the verdict. The allocations are made in
 * allocate(), deep below, and what is on the stack then is wiped.
 */
#ifndef _Static_assert
#define _Static_assert static_assert /* C's name of it */
#endif
#include "../tests/cuda_case.h"

#include <dlfcn.h>
#include <link.h>
#include <map>
#include <pthread.h>
#include <semaphore.h>
#include <string>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

extern "C" CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);

static unsigned count = 1;

/* Runs before any library's code: memory of the heap that malloc does not know. */
static void before_malloc(int, char **, char **environment) {
    for (; *environment; environment++)
        if (!strcmp(*environment, "IN_FRONT=1"))
            sbrk(100);
}
typedef void before(int, char **, char **);
__attribute__((used, section(".preinit_array"))) static before *const at_start = before_malloc;

#define NOINLINE __attribute__((noinline))

NOINLINE static CUdeviceptr allocate(void) {
    CUdeviceptr p = 0;
    CHECK(cuMemAlloc_v2(&p, 65536));
    CUdeviceptr out = p;
    __asm__ volatile("" : "+r"(out));
    memset(&p, 0, sizeof p);
    __asm__ volatile("" : : "r"(&p) : "memory");
    return out;
}

/* The dead part of the stack, so that no scan finds what happens to lie there. */
NOINLINE static void wipe_stack(void) {
    volatile char dead[65536];
    memset((void *)dead, 0, sizeof dead);
}

static CUcontext context;
CUdeviceptr kept[20000];
thread_local CUdeviceptr kept_by_thread;

/* ---- known at the end ---- */

NOINLINE static void in_global(void) {
    for (unsigned i = 0; i < count; i++)
        kept[i] = allocate();
}

CUdeviceptr *list;
NOINLINE static void in_heap(void) {
    list = (CUdeviceptr *)malloc(count * sizeof *list);
    for (unsigned i = 0; i < count; i++)
        list[i] = allocate();
}

struct node {
    struct node *next, *child;
    char text[40];
    CUdeviceptr memory;
};
struct node *nodes;
NOINLINE static void in_nested_heap(void) {
    for (unsigned i = 0; i < count; i++) {
        struct node *n = (struct node *)calloc(1, sizeof *n),
                    *c = (struct node *)calloc(1, sizeof *c);
        n->next = nodes;
        n->child = c;
        c->memory = allocate();
        nodes = n;
    }
}

NOINLINE static void in_thread_local(void) {
    kept_by_thread = allocate();
}

static sem_t ready, never;
static pid_t other; /* the thread that posts `ready`, and then waits for ever */
static void until_it_waits() {
    char path[64], state = 0;
    sem_wait(&ready);
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)other);
    while (state != 'S') {
        FILE *stat = fopen(path, "r");
        CHECK(!stat || fscanf(stat, "%*d (%*[^)]) %c", &state) != 1);
        fclose(stat);
        sched_yield();
    }
}
static void *holder(void *) {
    CHECK(cuCtxSetCurrent(context));
    volatile CUdeviceptr mine = allocate();
    for (int i = 0; i < 8; i++) /* no longer the thread's last allocations */
        CHECK(cuMemFree_v2(allocate()));
    other = gettid();
    sem_post(&ready);
    while (sem_wait(&never) != 0)
        ;
    return (void *)mine;
}
NOINLINE static void on_other_stack(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, holder, NULL);
    until_it_waits();
}

static void *own_stack_holder(void *) {
    CHECK(cuCtxSetCurrent(context));
    kept_by_thread = allocate();
    for (int i = 0; i < 8; i++)
        CHECK(cuMemFree_v2(allocate()));
    other = gettid();
    sem_post(&ready);
    while (sem_wait(&never) != 0)
        ;
    return NULL;
}
NOINLINE static void in_other_thread_local(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, own_stack_holder, NULL);
    until_it_waits();
}

/* A thread that is on a coroutine's stack: its own waits meanwhile. */
static ucontext_t outside, inside;
static void coroutine(void) {
    other = gettid();
    sem_post(&ready);
    while (sem_wait(&never) != 0)
        ;
}
static void *switches(void *) {
    CHECK(cuCtxSetCurrent(context));
    volatile CUdeviceptr mine = allocate();
    for (int i = 0; i < 8; i++) /* no longer the thread's last allocations */
        CHECK(cuMemFree_v2(allocate()));
    getcontext(&inside);
    inside.uc_stack.ss_size = 65536;
    inside.uc_stack.ss_sp =
        mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    makecontext(&inside, coroutine, 0);
    swapcontext(&outside, &inside);
    return (void *)mine;
}
NOINLINE static void on_suspended_stack(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, switches, NULL);
    until_it_waits();
}

NOINLINE static void interior(void) {
    for (unsigned i = 0; i < count; i++)
        kept[i] = allocate() + 65535;
}

CUdeviceptr *managed;
NOINLINE static void in_managed(void) {
    CUdeviceptr m;
    CHECK(cuMemAllocManaged(&m, 4096, 1));
    managed = (CUdeviceptr *)m;
    managed[3] = allocate();
}

CUdeviceptr *pinned;
NOINLINE static void in_pinned(void) {
    CHECK(cuMemAllocHost_v2((void **)&pinned, 4096));
    pinned[3] = allocate();
}

std::map<int, std::vector<CUdeviceptr>> *container;
NOINLINE static void in_container(void) {
    container = new std::map<int, std::vector<CUdeviceptr>>;
    for (unsigned i = 0; i < count; i++)
        (*container)[i % 7].push_back(allocate());
}

/* Objects in vectors that grow. The driver's records get the vectors' former memory, in which words
 * stay that point to these objects. */
struct mesh {
    long kind;
    CUdeviceptr memory;
};
struct branch {
    long more[5];
    CUcontext context;
    branch *parent;
    std::vector<branch *> children;
    mesh *shape;
};
branch *tree;
NOINLINE static void grow_tree(unsigned fan, bool linked) {
    tree = new branch();
    for (unsigned i = 0; i < fan; i++)
        tree->children.push_back(new branch());
    for (unsigned i = 0; i < count; i++) {
        branch *b = new branch(), *on = tree->children[i % fan];
        b->shape = new mesh();
        b->shape->memory = allocate();
        on->children.push_back(b);
        if (linked) {
            b->parent = on;
            on->parent = tree;
        }
    }
}
NOINLINE static void in_tree(void) {
    grow_tree(20, false);
}
NOINLINE static void in_linked_tree(void) {
    grow_tree(20, true);
    tree->context = context;
}

CUdeviceptr *mapped;
NOINLINE static void in_mapping(void) {
    mapped = (CUdeviceptr *)mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                 -1, 0);
    mapped[1000] = allocate();
}

/* Larger than what is searched. */
NOINLINE static void in_vast_mapping(void) {
    mapped = (CUdeviceptr *)mmap(NULL, (size_t)2 << 40, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT(mapped != MAP_FAILED);
    mapped[1000] = allocate();
}

NOINLINE static void in_shared_mapping(void) {
    mapped = (CUdeviceptr *)mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                                 -1, 0);
    mapped[1000] = allocate();
}

CUdeviceptr *large;
NOINLINE static void in_large_heap(void) {
    large = (CUdeviceptr *)malloc(8 << 20); /* a mapping of its own */
    memset(large, 1, 8 << 20);
    large[500000] = allocate();
}

/* Two digits of 30 bits, as a Python integer has them, in a block of an integer's shape. */
uint64_t *digits;
NOINLINE static void in_digits(void) {
    digits = (uint64_t *)calloc(4, sizeof *digits);
    CUdeviceptr p = allocate();
    digits[3] = (p >> 30) << 32 | (p & 0x3fffffff);
}

static void at_exit_frees(void) {
    CHECK(cuMemFree_v2(kept[0]));
}
NOINLINE static void freed_at_exit(void) {
    kept[0] = allocate();
    atexit(at_exit_frees);
}

/* A handle to the driver's own memory is no pointer to the rest of it, and does not hide what the
 * program keeps beside it. */
CUstream stream;
NOINLINE static void with_handles(void) {
    CHECK(cuStreamCreate(&stream, 0));
    list = (CUdeviceptr *)malloc(sizeof *list);
    *list = allocate();
}

/* ---- known no more ---- */

NOINLINE static void overwritten(void) {
    for (unsigned i = 0; i < count; i++) {
        volatile CUdeviceptr p = allocate();
        p = 0;
        (void)p;
    }
}

NOINLINE static void in_freed_heap(void) {
    for (unsigned i = 0; i < count; i++) {
        struct node *n = (struct node *)calloc(1, sizeof *n);
        n->memory = allocate();
        __asm__ volatile("" : : "r"(n) : "memory");
        free(n);
    }
}

NOINLINE static void in_freed_list(void) { /* the first seven wait in the thread's cache, the rest
                                              in a fast bin or merged */
    struct node *all[40];
    for (unsigned i = 0; i < 40; i++) {
        all[i] = (struct node *)calloc(1, sizeof *all[i]);
        all[i]->memory = allocate();
        __asm__ volatile("" : : "r"(all[i]) : "memory");
    }
    for (unsigned i = 0; i < 40; i++)
        free(all[i]);
    memset(all, 0, sizeof all);
    __asm__ volatile("" : : "r"(all) : "memory");
}

NOINLINE static void in_freed_large_heap(void) {
    CUdeviceptr *block = (CUdeviceptr *)malloc(100000);
    block[5000] = allocate();
    void *behind = malloc(100); /* so that it is not given back */
    __asm__ volatile("" : : "r"(block), "r"(behind) : "memory");
    free(block);
}

NOINLINE static CUdeviceptr deep(unsigned n) {
    volatile CUdeviceptr here = n ? deep(n - 1) : allocate();
    return here;
}
NOINLINE static void on_dead_stack(void) {
    (void)deep(20);
}

static void *forgets(void *) {
    CHECK(cuCtxSetCurrent(context));
    volatile CUdeviceptr mine = allocate();
    return (void *)(mine & 0);
}
NOINLINE static void on_dead_threads_stack(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, forgets, NULL);
    pthread_join(thread, &result);
}

NOINLINE static void hidden(void) {
    for (unsigned i = 0; i < count; i++)
        kept[i] = allocate() ^ 0xa5a5a5a5a5a5a5a5;
}

NOINLINE static void lost_structure(void) { /* what points to it is itself forgotten */
    in_nested_heap();
    nodes = NULL;
}

NOINLINE static void lost_tree(void) {
    in_linked_tree();
    tree = NULL;
}

NOINLINE static void lost_cycle(void) {
    struct node *a = (struct node *)calloc(1, sizeof *a), *b = (struct node *)calloc(1, sizeof *b);
    a->next = b;
    b->next = a;
    a->memory = allocate();
    __asm__ volatile("" : : "r"(a), "r"(b) : "memory");
}

NOINLINE static void lost_pinned(void) { /* a pinned block that only it itself points to */
    CUdeviceptr *p;
    CHECK(cuMemAllocHost_v2((void **)&p, 4096));
    p[0] = (CUdeviceptr)p;
    p[1] = allocate();
    p = NULL;
    __asm__ volatile("" : : "r"(&p) : "memory");
}

/* A word of the dynamic loader's that names a page which is not mapped any more: its cache of
 * libraries. */
static int find_stale(struct dl_phdr_info *module, size_t, void *data) {
    for (int i = 0; strstr(module->dlpi_name, "/ld-") && i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *s = &module->dlpi_phdr[i];
        if (s->p_type != PT_LOAD || !(s->p_flags & PF_W))
            continue;
        uintptr_t start = (module->dlpi_addr + s->p_vaddr + 7) & ~(uintptr_t)7,
                  end = module->dlpi_addr + s->p_vaddr + s->p_memsz;
        for (; start + 8 <= end; start += 8) {
            uintptr_t page = *(uintptr_t *)start;
            unsigned char resident;
            if (page % 4096 == 0 && page >> 40 == (uintptr_t)module->dlpi_addr >> 40 &&
                mincore((void *)page, 4096, &resident) != 0)
                *(void **)data = (void *)page;
        }
    }
    return 0;
}

/* The same, at a place that the loader still has a pointer to. */
NOINLINE static void lost_pinned_at_stale(void) {
    void *p, *stale = NULL;
    CHECK(cuMemAllocHost_v2(&p, 4096)); /* whatever the first one maps besides is mapped */
    CHECK(cuMemFreeHost(p));
    EXPECT(dlopen("libof-no-such-name.so.1", RTLD_LAZY) == NULL); /* maps and unmaps the cache */
    dl_iterate_phdr(find_stale, &stale);
    EXPECT(stale != NULL);
    for (int i = 0; i < 100000 && p != stale; i++) /* the kernel gives the highest place first */
        p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(p == stale);
    munmap(p, 4096);
    CHECK(cuMemAllocHost_v2(&p, 4096));
    EXPECT(p == stale);
    ((CUdeviceptr *)p)[1] = allocate();
    stale = p = NULL;
    __asm__ volatile("" : : "r"(&p), "r"(&stale) : "memory");
}

NOINLINE static void only_in_books(void) {
    for (unsigned i = 0; i < count; i++)
        (void)allocate();
}

NOINLINE static void only_behind_handles(void) {
    CHECK(cuStreamCreate(&stream, 0));
    for (unsigned i = 0; i < count; i++)
        (void)allocate();
}

NOINLINE static void in_device_memory(void) { /* a program cannot follow that */
    CUdeviceptr p = allocate(), q = allocate();
    CHECK(cuMemcpyHtoD_v2(p, &q, sizeof q));
    kept[0] = p;
    p = q = 0;
    __asm__ volatile("" : : "r"(&p), "r"(&q) : "memory");
}

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {
    {"in_global", in_global},
    {"in_heap", in_heap},
    {"in_nested_heap", in_nested_heap},
    {"in_thread_local", in_thread_local},
    {"on_other_stack", on_other_stack},
    {"in_other_thread_local", in_other_thread_local},
    {"on_suspended_stack", on_suspended_stack},
    {"interior", interior},
    {"in_managed", in_managed},
    {"in_pinned", in_pinned},
    {"in_container", in_container},
    {"in_tree", in_tree},
    {"in_linked_tree", in_linked_tree},
    {"in_mapping", in_mapping},
    {"in_shared_mapping", in_shared_mapping},
    {"in_vast_mapping", in_vast_mapping},
    {"in_large_heap", in_large_heap},
    {"in_digits", in_digits},
    {"freed_at_exit", freed_at_exit},
    {"with_handles", with_handles},
    {"overwritten", overwritten},
    {"in_freed_heap", in_freed_heap},
    {"in_freed_list", in_freed_list},
    {"in_freed_large_heap", in_freed_large_heap},
    {"on_dead_stack", on_dead_stack},
    {"on_dead_threads_stack", on_dead_threads_stack},
    {"hidden", hidden},
    {"lost_structure", lost_structure},
    {"lost_cycle", lost_cycle},
    {"lost_tree", lost_tree},
    {"lost_pinned", lost_pinned},
    {"lost_pinned_at_stale", lost_pinned_at_stale},
    {"only_in_books", only_in_books},
    {"only_behind_handles", only_behind_handles},
    {"in_device_memory", in_device_memory},
};

static void *idle(void *) {
    for (;;)
        pause();
    return NULL;
}

int main(int argc, char **argv) {
    context = start_cuda();
    pthread_t thread;
    if (getenv("IDLE") != NULL) /* memory is then read in another way */
        pthread_create(&thread, NULL, idle, NULL);
    count = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    EXPECT(count <= sizeof kept / sizeof kept[0]);
    for (const auto &way : ways)
        if (argc > 1 && strcmp(way.name, argv[1]) == 0) {
            way.run();
            wipe_stack();
            const char *end = getenv("END");
            if (end && strcmp(end, "_exit") == 0)
                _exit(0);
            if (end && strcmp(end, "quick_exit") == 0)
                quick_exit(0);
            if (end && strcmp(end, "abort") == 0)
                abort();
            return 0;
        }
    fprintf(stderr, "places: no such way\n");
    return 2;
}
