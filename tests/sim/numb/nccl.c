/* SPDX-License-Identifier: MIT */
/*
 * libnccl: communicators, their buffers, and collectives (see numb.h). Ranks do not meet: a communicator
 * is ready at once, and a collective acts as if all ranks had sent what this one sends, without the
 * arithmetic. So every output is written that the real one writes.
 */
#include "numb.h"

#include <stdlib.h>
#include <string.h>

enum { CUDA_ERROR = 1, INVALID_ARGUMENT = 4, RANKS = 0, RANK, DEVICE };
enum { LIBRARY_VERSION = 23203, CHANNELS = 2, GROUP = 64 };

struct received {
    void *to;
    size_t bytes;
    void *stream;
};

/* The thread's open group: what its broadcasts from this rank sent last, and where those of other ranks
 * arrive. */
static __thread struct {
    int depth, count;
    const void *sent;
    size_t bytes;
    struct received received[GROUP];
} group;

struct unique_id {
    char bytes[128];
};

NUMB_API int ncclGetVersion(int *version);
NUMB_API int ncclGetUniqueId(struct unique_id *id);
NUMB_API const char *ncclGetLastError(void *comm);
NUMB_API int ncclCommInitRank(void **out, int ranks, struct unique_id id, int rank);
NUMB_API int ncclCommInitRankConfig(void **out, int ranks, struct unique_id id, int rank,
                                    void *config);
NUMB_API int ncclCommInitRankScalable(void **out, int ranks, int rank, int count,
                                      struct unique_id *ids, void *config);
NUMB_API int ncclCommInitAll(void **out, int count, const int *devices);
NUMB_API int ncclCommSplit(void *comm, int color, int key, void **out, void *config);
NUMB_API int ncclCommShrink(void *comm, int *excluded, int count, void **out, void *config,
                            int flags);
NUMB_API int ncclCommGrow(void *comm, int ranks, const struct unique_id *id, int rank, void **out,
                          void *config);
NUMB_API int ncclCommGetUniqueId(void *comm, struct unique_id *id);
NUMB_API int ncclCommCount(void *comm, int *count);
NUMB_API int ncclCommUserRank(void *comm, int *rank);
NUMB_API int ncclCommCuDevice(void *comm, int *device);
NUMB_API int ncclCommMemStats(void *comm, int which, uint64_t *value);
NUMB_API int ncclMemAlloc(void **address, size_t bytes);
NUMB_API int ncclMemFree(void *address);
NUMB_API int ncclCommRegister(void *comm, void *buffer, size_t bytes, void **out);
NUMB_API int ncclCommWindowRegister(void *comm, void *buffer, size_t bytes, void **out, int flags);
NUMB_API int ncclWinGetUserPtr(void *comm, void *window, void **buffer);
NUMB_API int ncclRedOpCreatePreMulSum(int *operation, void *scalar, int type, int residence,
                                      void *comm);
NUMB_API int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation,
                           void *comm, void *stream);
NUMB_API int ncclReduce(const void *from, void *to, size_t count, int type, int operation, int root,
                        void *comm, void *stream);
NUMB_API int ncclGroupStart(void);
NUMB_API int ncclGroupEnd(void);
NUMB_API int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, void *comm,
                           void *stream);
NUMB_API int ncclReduceScatter(const void *from, void *to, size_t count, int type, int operation,
                               void *comm, void *stream);
NUMB_API int ncclAllGather(const void *from, void *to, size_t count, int type, void *comm,
                           void *stream);
NUMB_API int ncclAlltoAll(const void *from, void *to, size_t count, int type, void *comm,
                          void *stream);
NUMB_API int ncclGather(const void *from, void *to, size_t count, int type, int root, void *comm,
                        void *stream);
NUMB_API int ncclScatter(const void *from, void *to, size_t count, int type, int root, void *comm,
                         void *stream);

int ncclGetVersion(int *version) {
    *version = LIBRARY_VERSION;
    return 0;
}

int ncclGetUniqueId(struct unique_id *id) {
    memset(id, 0, sizeof *id);
    strcpy(id->bytes, "vramtrace simulated GPU");
    return 0;
}

const char *ncclGetLastError(void *comm) {
    (void)comm;
    return "";
}

/* The buffer of one channel: NCCL_BUFFSIZE, 4 MiB unless the user says otherwise. */
static size_t channel_bytes(void) {
    const char *text = getenv("NCCL_BUFFSIZE");
    long long bytes = text != NULL ? atoll(text) : 0;
    return bytes > 0 ? (size_t)bytes : 4 << 20;
}

static int create(void **out, int ranks, int rank) {
    struct numb_handle *comm = numb_new(0);
    *out = NULL;
    if (comm == NULL || ranks < 1 || rank < 0 || rank >= ranks) {
        numb_end(comm);
        return INVALID_ARGUMENT;
    }
    comm->mode[RANKS] = ranks;
    comm->mode[RANK] = rank;
    comm->mode[DEVICE] = numb_device();
    for (int i = 0; i < CHANNELS; i++)
        if (!numb_allocate(comm, i, channel_bytes())) {
            numb_end(comm);
            return CUDA_ERROR;
        }
    *out = comm;
    return 0;
}

int ncclCommInitRank(void **out, int ranks, struct unique_id id, int rank) {
    (void)id;
    return create(out, ranks, rank);
}

int ncclCommInitRankConfig(void **out, int ranks, struct unique_id id, int rank, void *config) {
    (void)id, (void)config;
    return create(out, ranks, rank);
}

int ncclCommInitRankScalable(void **out, int ranks, int rank, int count, struct unique_id *ids,
                             void *config) {
    (void)count, (void)ids, (void)config;
    return create(out, ranks, rank);
}

int ncclCommInitAll(void **out, int count, const int *devices) {
    int result = 0;
    (void)devices;
    for (int i = 0; i < count && result == 0; i++)
        result = create(&out[i], count, i);
    return result;
}

/* How many ranks chose this color is not known here: all. */
int ncclCommSplit(void *comm, int color, int key, void **out, void *config) {
    struct numb_handle *known = numb_handle(comm);
    (void)key, (void)config;
    *out = NULL;
    if (known == NULL)
        return INVALID_ARGUMENT;
    return color < 0 ? 0 : create(out, known->mode[RANKS], known->mode[RANK]);
}

int ncclCommShrink(void *comm, int *excluded, int count, void **out, void *config, int flags) {
    struct numb_handle *known = numb_handle(comm);
    (void)config, (void)flags;
    if (known == NULL)
        return INVALID_ARGUMENT;
    int before = 0;
    for (int i = 0; i < count; i++)
        before += excluded[i] < known->mode[RANK];
    return create(out, known->mode[RANKS] - count, known->mode[RANK] - before);
}

int ncclCommGrow(void *comm, int ranks, const struct unique_id *id, int rank, void **out,
                 void *config) {
    struct numb_handle *known = numb_handle(comm);
    (void)id, (void)config;
    return create(out, ranks, known != NULL ? known->mode[RANK] : rank);
}

int ncclCommGetUniqueId(void *comm, struct unique_id *id) {
    (void)comm;
    return ncclGetUniqueId(id);
}

static int read_back(void *comm, int which, int *value) {
    struct numb_handle *known = numb_handle(comm);
    if (known == NULL)
        return INVALID_ARGUMENT;
    *value = known->mode[which];
    return 0;
}

int ncclCommCount(void *comm, int *count) {
    return read_back(comm, RANKS, count);
}

int ncclCommUserRank(void *comm, int *rank) {
    return read_back(comm, RANK, rank);
}

int ncclCommCuDevice(void *comm, int *device) {
    return read_back(comm, DEVICE, device);
}

int ncclCommMemStats(void *comm, int which, uint64_t *value) {
    (void)which;
    *value = numb_handle(comm) != NULL ? CHANNELS * channel_bytes() : 0;
    return 0;
}

int ncclMemAlloc(void **address, size_t bytes) {
    uint64_t got = 0;
    if (!numb_device_allocate(&got, bytes))
        return CUDA_ERROR;
    *address = (void *)(uintptr_t)got;
    return 0;
}

int ncclMemFree(void *address) {
    numb_device_free((uintptr_t)address);
    return 0;
}

/* A registration is named by the buffer that it registers. */
int ncclCommRegister(void *comm, void *buffer, size_t bytes, void **out) {
    (void)comm, (void)bytes;
    *out = buffer;
    return 0;
}

int ncclCommWindowRegister(void *comm, void *buffer, size_t bytes, void **out, int flags) {
    (void)flags;
    return ncclCommRegister(comm, buffer, bytes, out);
}

int ncclWinGetUserPtr(void *comm, void *window, void **buffer) {
    (void)comm;
    *buffer = window;
    return 0;
}

int ncclRedOpCreatePreMulSum(int *operation, void *scalar, int type, int residence, void *comm) {
    (void)scalar, (void)type, (void)residence, (void)comm;
    *operation = 5; /* the first after the built-in ones */
    return 0;
}

/* ---- collectives ---- */

static size_t bytes_of(size_t count, int type) {
    static const unsigned char sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return type >= 0 && type < (int)sizeof sizes ? count * sizes[type] : 0;
}

/* `times` pieces, from one rank's piece or from as many, one after another. */
static int copy(const void *from, void *to, size_t bytes, int times, bool same, void *stream) {
    for (int i = 0; i < times; i++)
        if (!numb_copy((const char *)from + (same ? 0 : (size_t)i * bytes),
                       (char *)to + (size_t)i * bytes, bytes, stream))
            return CUDA_ERROR;
    return 0;
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation, void *comm,
                  void *stream) {
    (void)operation;
    return numb_handle(comm) == NULL ? INVALID_ARGUMENT
                                     : copy(from, to, bytes_of(count, type), 1, true, stream);
}

int ncclReduce(const void *from, void *to, size_t count, int type, int operation, int root,
               void *comm, void *stream) {
    struct numb_handle *known = numb_handle(comm);
    if (known == NULL)
        return INVALID_ARGUMENT;
    return known->mode[RANK] != root
               ? 0
               : ncclAllReduce(from, to, count, type, operation, comm, stream);
}

int ncclGroupStart(void) {
    group.depth++;
    return 0;
}

/* A group in which every rank broadcasts is a gather (PyTorch's all_gather of a list): what this rank sent is
 * what the others sent. */
int ncclGroupEnd(void) {
    int result = 0;
    if (group.depth == 0 || --group.depth > 0)
        return 0;
    for (int i = 0; i < group.count && result == 0; i++)
        if (group.sent != NULL && group.received[i].bytes == group.bytes)
            result = copy(group.sent, group.received[i].to, group.bytes, 1, true,
                          group.received[i].stream);
    group.count = 0;
    group.sent = NULL;
    return result;
}

/* Data of another root is unknown: the buffer stays unchanged, unless the group has more information. */
int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, void *comm,
                  void *stream) {
    struct numb_handle *known = numb_handle(comm);
    size_t bytes = bytes_of(count, type);
    if (known == NULL)
        return INVALID_ARGUMENT;
    if (known->mode[RANK] != root) {
        if (group.depth > 0 && group.count < GROUP)
            group.received[group.count++] = (struct received){to, bytes, stream};
        return 0;
    }
    if (group.depth > 0)
        group.sent = to, group.bytes = bytes;
    return copy(from, to, bytes, 1, true, stream);
}

int ncclReduceScatter(const void *from, void *to, size_t count, int type, int operation, void *comm,
                      void *stream) {
    struct numb_handle *known = numb_handle(comm);
    size_t bytes = bytes_of(count, type);
    (void)operation;
    if (known == NULL)
        return INVALID_ARGUMENT;
    return copy((const char *)from + (size_t)known->mode[RANK] * bytes, to, bytes, 1, true, stream);
}

int ncclAllGather(const void *from, void *to, size_t count, int type, void *comm, void *stream) {
    struct numb_handle *known = numb_handle(comm);
    if (known == NULL)
        return INVALID_ARGUMENT;
    return copy(from, to, bytes_of(count, type), known->mode[RANKS], true, stream);
}

int ncclAlltoAll(const void *from, void *to, size_t count, int type, void *comm, void *stream) {
    struct numb_handle *known = numb_handle(comm);
    if (known == NULL)
        return INVALID_ARGUMENT;
    return copy(from, to, bytes_of(count, type), known->mode[RANKS], false, stream);
}

int ncclGather(const void *from, void *to, size_t count, int type, int root, void *comm,
               void *stream) {
    struct numb_handle *known = numb_handle(comm);
    if (known == NULL)
        return INVALID_ARGUMENT;
    return known->mode[RANK] != root ? 0 : ncclAllGather(from, to, count, type, comm, stream);
}

int ncclScatter(const void *from, void *to, size_t count, int type, int root, void *comm,
                void *stream) {
    struct numb_handle *known = numb_handle(comm);
    if (known == NULL)
        return INVALID_ARGUMENT;
    return known->mode[RANK] != root ? 0
                                     : ncclReduceScatter(from, to, count, type, 0, comm, stream);
}
