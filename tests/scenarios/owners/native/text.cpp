/* SPDX-License-Identifier: MIT */
/* TYPES */
/* OWNER names in global: 16 KiB */
/* OWNER nobody: 64 KiB, 32 KiB, 8 KiB */
/* The bytes of an address in a string are text, as the key of a map: short, long, or left over. */
#include "scene.h"

#include <map>
#include <string>
#include <unistd.h>

template class std::basic_string<char>; /* clang describes the class where it is made */

static std::string key, rest;
static std::map<std::string, CUdeviceptr> names;

static std::string __attribute__((noinline)) bytes_of(CUdeviceptr memory) {
    return std::string((const char *)&memory, sizeof memory);
}

static void __attribute__((noinline)) fill() {
    key = bytes_of(ALLOC(64 * KIB));
    rest = bytes_of(ALLOC(32 * KIB));
    rest = "";
    names[bytes_of(ALLOC(8 * KIB)) + " is the name of what follows"] = ALLOC(16 * KIB);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    volatile char over[8192];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    KEEP(key);
    KEEP(rest);
    KEEP(names);
    _exit(over[100]);
}
