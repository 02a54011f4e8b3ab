/* SPDX-License-Identifier: MIT */
/* OWNER buckets in global: 40 x 8 KiB */
/* A hash table with chains. */
#include "scene.h"

struct entry {
    unsigned key;
    CUdeviceptr value;
    struct entry *next;
};

static struct entry *buckets[16];

int main(int argc, char **argv) {
    SCENE(argc, argv);
    unsigned state = 1;
    for (int i = 0; i < 40; i++) {
        struct entry *entry = malloc(sizeof *entry);
        entry->key = dice(&state);
        entry->value = ALLOC(8 * KIB);
        entry->next = buckets[entry->key % 16];
        buckets[entry->key % 16] = entry;
    }
    return 0;
}
