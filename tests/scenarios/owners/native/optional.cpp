/* SPDX-License-Identifier: MIT */
/* OWNER last_frame in global: 64 KiB */
/* OWNER source in global: 32 KiB */
/* OWNER anything in global: 16 KiB */
/* An optional, a variant and an any. */
#include "scene.h"

#include <any>
#include <optional>
#include <string>
#include <unistd.h>
#include <variant>

struct Frame {
    int number;
    CUdeviceptr pixels;
};

static std::optional<Frame> last_frame;
static std::variant<std::string, Frame> source;
static std::any anything;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    last_frame = Frame{1, ALLOC(64 * KIB)};
    source = Frame{2, ALLOC(32 * KIB)};
    anything = Frame{3, ALLOC(16 * KIB)};
    KEEP(last_frame);
    KEEP(source);
    _exit(0);
}
