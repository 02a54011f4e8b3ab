// SPDX-License-Identifier: MIT
//
// A service that decodes pictures on the GPU. Now and then one is broken: its decoder throws, and the
// caller goes on with the next. `decode --fixed` uses the class that survives this.

#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>

static void check(cudaError_t error) {
    if (error != cudaSuccess)
        throw std::runtime_error(cudaGetErrorString(error));
}

struct Picture {
    std::string name, header;
    std::size_t width, height;
    std::vector<unsigned char> bytes;
};

static void parse_header(const Picture &picture) {
    if (picture.header.compare(0, 4, "JFIF") != 0)
        throw std::runtime_error(picture.name + ": not a JPEG file");
}

// Owns its buffers by bare pointers. When parse_header() throws, the object does not exist yet, so
// its destructor does not run, and nobody frees what the constructor has allocated so far.
class Decoder {
  public:
    explicit Decoder(const Picture &picture) {
        check(cudaMalloc(&coefficients_, picture.width * picture.height * sizeof(short) * 3));
        parse_header(picture);
        check(cudaMalloc(&pixels_, picture.width * picture.height * 4));
        check(cudaMemcpy(coefficients_, picture.bytes.data(), picture.bytes.size(),
                         cudaMemcpyHostToDevice));
    }
    ~Decoder() {
        cudaFree(coefficients_);
        cudaFree(pixels_);
    }
    Decoder(const Decoder &) = delete;
    Decoder &operator=(const Decoder &) = delete;

  private:
    short *coefficients_ = nullptr;
    unsigned char *pixels_ = nullptr;
};

// The fix: each buffer is an object. The members that are complete are destroyed when the
// constructor throws.
struct CudaFree {
    void operator()(void *pointer) const {
        cudaFree(pointer);
    }
};
using DeviceBuffer = std::unique_ptr<void, CudaFree>;

static DeviceBuffer device_buffer(std::size_t bytes) {
    void *pointer = nullptr;
    check(cudaMalloc(&pointer, bytes));
    return DeviceBuffer(pointer);
}

class SafeDecoder {
  public:
    explicit SafeDecoder(const Picture &picture)
        : coefficients_(device_buffer(picture.width * picture.height * sizeof(short) * 3)),
          pixels_(device_buffer(picture.width * picture.height * 4)) {
        parse_header(picture);
        check(cudaMemcpy(coefficients_.get(), picture.bytes.data(), picture.bytes.size(),
                         cudaMemcpyHostToDevice));
    }

  private:
    DeviceBuffer coefficients_, pixels_;
};

// What came over the network: one picture in eight is broken.
static Picture receive(int number) {
    const bool broken = number % 8 == 5;
    return {"picture-" + std::to_string(number) + ".jpg", broken ? "<html>" : "JFIF", 1280, 720,
            std::vector<unsigned char>(200000)};
}

template <class D> static void serve(int requests) {
    int failed = 0;
    for (int i = 0; i < requests; i++) {
        try {
            D decoder(receive(i));
        } catch (const std::exception &e) {
            failed++; // skipped: the service must go on
        }
    }
    std::printf("%d pictures decoded, %d broken\n", requests - failed, failed);
}

int main(int argc, char **argv) {
    const bool fixed = argc > 1 && std::strcmp(argv[1], "--fixed") == 0;
    if (fixed)
        serve<SafeDecoder>(200);
    else
        serve<Decoder>(200);
}
