/* SPDX-License-Identifier: MIT */
/*
 * The numb libraries: libcublas, libcudnn, libnccl ... of our own, so that programs linked with them perform their
 * allocations on the simulated GPU. Every function of the real ones exists and returns success; handles work, and
 * hold the device memory that the real ones allocate for them; nothing is computed.
 *
 * names/LIBRARY.def lists what the real library exports, one row a name (list-names writes it from the wheels).
 * stubs.c turns each row into a weak function; a function with more to do stands in LIBRARY.c and replaces it. Rows:
 *
 *   NUMB(name)                nothing but success
 *   NUMB_NEW(name, p)         a new handle goes where parameter p points
 *   NUMB_END(name, p)         parameter p is a handle that ends here
 *   NUMB_TEXT(name)           answers a text
 *   NUMB_SIZE4(name, p, q)    an int goes where parameters p and q point: room for a workspace, in elements
 *   NUMB_SIZE8(name, p, q)    likewise a size_t, in bytes
 *   NUMB_ZERO4(name, p, q)    0 goes there, as an int
 *   NUMB_ZERO8(name, p, q)    likewise as 64 bits
 *   NUMB_INFO(name, p)        parameter p points to LAPACK's info, which becomes 0: all went well
 *
 * Parameters are counted from 1, without those that travel in floating-point registers.
 */
#ifndef VRAMTRACE_SIM_NUMB_H
#define VRAMTRACE_SIM_NUMB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMB_API __attribute__((visibility("default")))

enum { NUMB_MEMORY = 4, NUMB_MODES = 8 };

/* What every handle and descriptor is. */
struct numb_handle {
    uint64_t mark;
    uint64_t memory[NUMB_MEMORY]; /* device memory that ends with it; 0: none */
    void *stream;
    int mode[NUMB_MODES]; /* settings that are read back */
    void (*end)(struct numb_handle *);
};

/* What the library has behind a handle. */
static inline void *numb_more(struct numb_handle *handle) {
    return handle + 1;
}

/* A new handle with `more` bytes of the library's own, all 0. NULL: no memory. */
struct numb_handle *numb_new(size_t more);
/* The handle behind what a program hands in; NULL: it is none of ours. */
struct numb_handle *numb_handle(void *handle);
void numb_end(void *handle);

/* Device memory, in the current context, or in device 0's primary context if there is none: as the CUDA
 * runtime inside the real library would allocate it. false: out of memory, or no driver. */
bool numb_allocate(struct numb_handle *handle, int slot, size_t bytes);
bool numb_device_allocate(uint64_t *address, size_t bytes);
void numb_device_free(uint64_t address);
/* Copies device memory in the stream's order. */
bool numb_copy(const void *from, void *to, size_t bytes, void *stream);
int numb_device(void); /* the current context's device; -1: none */

#endif
