/* SPDX-License-Identifier: MIT */
/* OWNER scene in global: 3 x 64 KiB */
/* A vector of unique pointers to objects with virtual functions. */
#include "scene.h"

#include <memory>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual CUdeviceptr mesh() const = 0;
};
struct Sphere : Shape {
    CUdeviceptr triangles;
    Sphere() : triangles(ALLOC(64 * KIB)) {}
    CUdeviceptr mesh() const override {
        return triangles;
    }
};
struct Scene {
    std::vector<std::unique_ptr<Shape>> shapes;
};

static Scene *scene = new Scene;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 3; i++)
        scene->shapes.push_back(std::make_unique<Sphere>());
    return 0;
}
