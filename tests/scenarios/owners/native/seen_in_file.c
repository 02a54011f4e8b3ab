/* SPDX-License-Identifier: MIT */
/* OWNER nobody: 64 KiB */
/* LAST a mapping of /dev/shm/vramtrace-seen-in-file (deleted) */
/* A file that is mapped, at an address that is stored with a key. */
#include "scene.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static uintptr_t secret;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    int fd = open("/dev/shm/vramtrace-seen-in-file", O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096))
        return 97;
    CUdeviceptr *table = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    unlink("/dev/shm/vramtrace-seen-in-file");
    table[7] = ALLOC(64 * KIB);
    secret = (uintptr_t)table ^ 0x5a5a5a5a5a5a5a5a;
    KEEP(secret);
    return 0;
}
