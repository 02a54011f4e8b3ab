/* SPDX-License-Identifier: MIT */
/* OWNER nobody: 3 x 64 KiB */
/* LAST 3 objects of class net::Pool<net::Image> | an object of class net::Pool<net::Image> */
/* Objects whose addresses are stored with a key. */
#include "scene.h"

namespace net {
struct Image {
    virtual ~Image() = default;
    int number;
};
template <class T> struct Pool : T {
    CUdeviceptr memory;
    Pool() : memory(ALLOC(64 * KIB)) {}
};
} // namespace net

static uintptr_t secrets[3];

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 3; i++)
        secrets[i] = reinterpret_cast<uintptr_t>(new net::Pool<net::Image>) ^ 0x5a5a5a5a5a5a5a5a;
    KEEP(secrets);
    return 0;
}
