// SPDX-License-Identifier: MIT
//
// A training loop with NVTX ranges, as one has them for Nsight: epoch > step, and validate.
// `train --fixed` frees what the validation collects.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

static const std::size_t kBatch = 256, kFeatures = 4096, kClasses = 1000;
static const int kEpochs = 10, kSteps = 30, kValidationBatches = 8;

static void check(cudaError_t error) {
    if (error != cudaSuccess) {
        std::fprintf(stderr, "train: %s\n", cudaGetErrorString(error));
        std::exit(1);
    }
}

static float *new_floats(std::size_t count) {
    float *floats;
    check(cudaMalloc(&floats, count * sizeof(float)));
    return floats;
}

// A range as long as its scope.
struct Range {
    explicit Range(const char *name) {
        nvtxRangePushA(name);
    }
    ~Range() {
        nvtxRangePop();
    }
};

class Training {
  public:
    Training() : weights_(new_floats(kFeatures * kClasses)) {}
    ~Training() {
        cudaFree(weights_);
    }
    Training(const Training &) = delete;
    Training &operator=(const Training &) = delete;

    void step() {
        Range range("step");
        float *batch = new_floats(kBatch * kFeatures),
              *gradients = new_floats(kFeatures * kClasses);
        check(cudaMemset(batch, 0, kBatch * kFeatures * sizeof(float)));
        check(cudaFree(gradients));
        check(cudaFree(batch));
    }

    void validate(bool fixed) {
        Range range("validate");
        std::vector<float *> predictions; // of the whole set, for its accuracy
        for (int i = 0; i < kValidationBatches; i++) {
            float *batch = new_floats(kBatch * kFeatures);
            predictions.push_back(new_floats(kBatch * kClasses));
            check(cudaFree(batch));
        }
        if (fixed)
            for (float *scores : predictions)
                check(cudaFree(scores));
    }

  private:
    float *weights_;
};

int main(int argc, char **argv) {
    const bool fixed = argc > 1 && std::strcmp(argv[1], "--fixed") == 0;
    Training training;
    for (int epoch = 0; epoch < kEpochs; epoch++) {
        Range range("epoch");
        for (int i = 0; i < kSteps; i++)
            training.step();
        training.validate(fixed);
    }
    std::printf("%d epochs\n", kEpochs);
}
