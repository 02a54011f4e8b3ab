/* SPDX-License-Identifier: MIT */
/*
 * Gives chunks back (see give_back.h).
 */
#define _GNU_SOURCE
#include "give_back.h"

#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HEAD = sizeof(struct vt_chunk_header) };

static const uint8_t nothing[VT_CHUNK_BYTES];

/* The state of a chunk that the summary covers. */
enum fate { TAKEN, EMPTY, FULL };

/* The generation is read last: a thread that takes the chunk raises it before it writes. Pairs with claim() in the tracer's
 * log_free.c; model: GENERATION_LAST. */
static int look(const struct vt_log *log, int fd, uint32_t number, uint32_t generation,
                enum fate *fate, struct vt_string *message) {
    uint8_t bytes[VT_CHUNK_BYTES] = {0};
    uint64_t now, at = (uint64_t)number * VT_CHUNK_BYTES;
    uint32_t got;
    int error = vt_log_read_at(fd, log->path, bytes, sizeof bytes, at, &got, message);
    if (!error)
        error = vt_log_read_at(fd, log->path, &now, sizeof now,
                               at + offsetof(struct vt_chunk_header, generation), &got, message);
    if (error)
        return error;
    *fate = got < sizeof now || now != generation                  ? TAKEN
            : memcmp(bytes + HEAD, nothing, VT_CHUNK_BYTES - HEAD) ? FULL
                                                                   : EMPTY;
    return 0;
}

static int empty(const struct vt_log *log, int fd, uint32_t number, bool cut,
                 struct vt_string *message) {
    off_t at = (off_t)number * VT_CHUNK_BYTES + HEAD;
    if (cut &&
        !fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, VT_CHUNK_BYTES - HEAD))
        return 0;
    for (size_t done = 0; done < VT_CHUNK_BYTES - HEAD;) {
        ssize_t n = pwrite(fd, nothing, VT_CHUNK_BYTES - HEAD - done, at + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            int error = n < 0 ? errno : EIO;
            vt_string_format(message, "%s: offset %lld: cannot be written: %s", log->path,
                             (long long)at, strerror(error));
            return -error;
        }
        done += (size_t)n;
    }
    return 0;
}

/* Without this sync, after a power cut, a recycled chunk could have old pages after its new records, and readers
 * would read both. Also needed for chunks that were already empty: the process that emptied them may have died
 * before syncing. */
static int sync_empty(const struct vt_log *log, int fd, struct vt_string *message) {
    if (!fdatasync(fd))
        return 0;
    int error = errno;
    vt_string_format(message, "%s: cannot be written: %s", log->path, strerror(error));
    return -error;
}

int vt_free_chunks_empty(const struct vt_log *log, int fd, bool ended, struct vt_free_chunks *found,
                         struct vt_string *message) {
    for (uint32_t number = vt_log_chunks(log); number-- > 1;) {
        uint32_t generation;
        enum fate fate;
        if (!vt_log_is_covered(log, number, &generation))
            continue;
        int error = look(log, fd, number, generation, &fate, message);
        if (!error && fate == FULL) {
            error = empty(log, fd, number, ended, message);
            found->emptied++;
        }
        if (error)
            return error;
        if (fate != TAKEN)
            *VT_ADD(found->words, found->count, found->room) = vt_free_chunk(generation, number);
    }
    return ended || !found->count ? 0 : sync_empty(log, fd, message);
}

/* --- the offer --- */

#define OFFER_MS 5 /* refills all 128 slots: 1.6 GB per second */

struct vt_free_offer {
    pthread_t thread;
    pthread_mutex_t lock; /* for all fields below */
    pthread_cond_t more;  /* chunks to offer, or a request to stop */
    uint64_t *places;
    struct vt_free_chunks chunks;
    uint64_t there[VT_FREE_CHUNKS]; /* the contents of the slots */
    uint64_t taken;
    bool stop;
};

static bool is_offered(const struct vt_free_offer *offer, uint64_t word) {
    for (size_t i = 0; i < VT_FREE_CHUNKS; i++)
        if (offer->there[i] == word)
            return true;
    return false;
}

static void fill_places(struct vt_free_offer *offer) {
    for (size_t i = 0; i < VT_FREE_CHUNKS; i++) {
        uint64_t there = __atomic_load_n(&offer->places[i], __ATOMIC_ACQUIRE);
        offer->taken += offer->there[i] && offer->there[i] != there;
        offer->there[i] = there;
        while (!there && offer->chunks.count) {
            uint64_t word = offer->chunks.words[--offer->chunks.count];
            if (is_offered(offer, word))
                continue;
            /* After the chunk's zeroes are written. Pairs with vt_log_free_take in the tracer; model: GIVE_BACK. */
            if (__atomic_compare_exchange_n(&offer->places[i], &there, word, false,
                                            __ATOMIC_RELEASE, __ATOMIC_RELAXED))
                there = word;
            offer->there[i] = there;
        }
    }
}

/* The thread. It sleeps while there is nothing to offer. */
static void *go_on(void *of) {
    struct vt_free_offer *offer = of;
    pthread_mutex_lock(&offer->lock);
    while (!offer->stop) {
        fill_places(offer);
        if (!offer->chunks.count) {
            pthread_cond_wait(&offer->more, &offer->lock);
            continue;
        }
        pthread_mutex_unlock(&offer->lock);
        nanosleep(&(struct timespec){0, OFFER_MS * 1000000l}, NULL);
        pthread_mutex_lock(&offer->lock);
    }
    pthread_mutex_unlock(&offer->lock);
    return NULL;
}

struct vt_free_offer *vt_free_offer_start(uint64_t *places) {
    struct vt_free_offer *offer = vt_alloc(1, sizeof *offer);
    offer->places = places;
    pthread_mutex_init(&offer->lock, NULL);
    pthread_cond_init(&offer->more, NULL);
    if (!pthread_create(&offer->thread, NULL, go_on, offer))
        return offer;
    free(offer);
    return NULL;
}

void vt_free_offer_put(struct vt_free_offer *offer, struct vt_free_chunks *chunks) {
    pthread_mutex_lock(&offer->lock);
    free(offer->chunks.words);
    offer->chunks = *chunks;
    pthread_cond_signal(&offer->more);
    pthread_mutex_unlock(&offer->lock);
}

uint64_t vt_free_offer_taken(struct vt_free_offer *offer) {
    pthread_mutex_lock(&offer->lock);
    fill_places(offer);
    uint64_t taken = offer->taken;
    pthread_mutex_unlock(&offer->lock);
    return taken;
}

uint32_t vt_free_offer_left(struct vt_free_offer *offer) {
    if (!offer)
        return 0;
    pthread_mutex_lock(&offer->lock);
    fill_places(offer);
    uint32_t left = (uint32_t)offer->chunks.count;
    for (size_t i = 0; i < VT_FREE_CHUNKS; i++)
        left += offer->there[i] != 0;
    pthread_mutex_unlock(&offer->lock);
    return left;
}

void vt_free_offer_stop(struct vt_free_offer *offer) {
    if (!offer)
        return;
    pthread_mutex_lock(&offer->lock);
    fill_places(offer);
    offer->stop = true;
    pthread_cond_signal(&offer->more);
    pthread_mutex_unlock(&offer->lock);
    pthread_join(offer->thread, NULL);
    pthread_cond_destroy(&offer->more);
    pthread_mutex_destroy(&offer->lock);
    free(offer->chunks.words);
    free(offer);
}
