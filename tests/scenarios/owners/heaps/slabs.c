/* SPDX-License-Identifier: MIT */
/*
 * An allocator of our own, in the place of the C library's: cells of one size side by side in slabs of 1 MiB, freed
 * cells in lists, larger blocks in whole pages of a region of 64 MiB. Its books lie elsewhere, so nothing in its memory
 * tells where a cell begins. A freed cell keeps all but its first word.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define SLAB    ((size_t)1 << 20)
#define REGION  ((size_t)64 << 20)
#define CLASSES 12 /* 16, 32, ... 32 KiB */
#define SLABS   (REGION / SLAB)
#define REGIONS 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { char *freed, *next, *end; } cells[CLASSES];
static char *regions[REGIONS];
static size_t used = REGION, count;
static unsigned char class_of[REGIONS][SLABS]; /* of a slab; 0: it is part of a large block */
static size_t large[REGIONS][SLABS];           /* bytes of the large block that begins there */

static char *take_slabs(size_t bytes, unsigned class) {
    bytes = (bytes + SLAB - 1) & ~(SLAB - 1);
    if (bytes > REGION - used) {
        size_t room = bytes > REGION ? bytes : REGION;
        char *at = mmap(NULL, room + SLAB, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED || count == REGIONS)
            return NULL;
        regions[count++] = (char *)(((uintptr_t)at + SLAB - 1) & ~(uintptr_t)(SLAB - 1));
        used = 0;
    }
    char *at = regions[count - 1] + used;
    class_of[count - 1][used / SLAB] = (unsigned char)class;
    large[count - 1][used / SLAB] = class ? 0 : bytes;
    used = bytes > REGION ? REGION : used + bytes;
    return at;
}

/* The bytes of the cell or large block at an address; its class. */
static size_t size_at(const char *at, unsigned *class) {
    for (size_t i = 0; i < count; i++)
        if (at >= regions[i] && at < regions[i] + REGION) {
            size_t slab = (size_t)(at - regions[i]) / SLAB;
            *class = class_of[i][slab];
            return *class ? (size_t)8 << *class : large[i][slab];
        }
    return 0;
}

static void *take(size_t bytes) {
    unsigned class = 1;
    char *at;
    while (class <= CLASSES && (size_t)8 << class < bytes)
        class ++;
    pthread_mutex_lock(&lock);
    if (class > CLASSES) {
        at = take_slabs(bytes, 0);
    } else {
        size_t size = (size_t)8 << class, i = class - 1;
        at = cells[i].freed;
        if (at) {
            memcpy(&cells[i].freed, at, sizeof(char *));
        } else {
            if (cells[i].end - cells[i].next < (ptrdiff_t)size) {
                cells[i].next = take_slabs(SLAB, class);
                cells[i].end = cells[i].next ? cells[i].next + SLAB : NULL;
            }
            at = cells[i].next;
            cells[i].next += at ? size : 0;
        }
    }
    pthread_mutex_unlock(&lock);
    if (!at)
        errno = ENOMEM;
    return at;
}

void *malloc(size_t bytes) {
    return take(bytes ? bytes : 1);
}

void free(void *memory) {
    unsigned class;
    if (!memory || !size_at(memory, &class) || !class)
        return;
    pthread_mutex_lock(&lock);
    memcpy(memory, &cells[class - 1].freed, sizeof(char *));
    cells[class - 1].freed = memory;
    pthread_mutex_unlock(&lock);
}

void *calloc(size_t number, size_t bytes) {
    void *memory = bytes && number > SIZE_MAX / bytes ? NULL : malloc(number * bytes);
    return memory ? memset(memory, 0, number * bytes) : NULL;
}

void *realloc(void *memory, size_t bytes) {
    unsigned class;
    size_t before = memory ? size_at(memory, &class) : 0;
    if (before >= bytes && bytes)
        return memory;
    void *larger = malloc(bytes);
    if (larger && memory) {
        memcpy(larger, memory, before < bytes ? before : bytes);
        free(memory);
    }
    return larger;
}

/* Every cell is aligned to its size, up to a page. */
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
    *memory = malloc(bytes > alignment ? bytes : alignment);
    return *memory ? 0 : ENOMEM;
}

void *memalign(size_t alignment, size_t bytes) {
    void *memory;
    return posix_memalign(&memory, alignment, bytes) ? NULL : memory;
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    return memalign(alignment, bytes);
}

size_t malloc_usable_size(void *memory) {
    unsigned class;
    return memory ? size_at(memory, &class) : 0;
}
