// SPDX-License-Identifier: MIT
//
// An inference server that captures a CUDA graph for each batch size it meets, keeps the four that
// were used last, and destroys the others. `serve --fixed` captures the free as well.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <vector>

#include <cuda_runtime.h>

static const std::size_t kClasses = 32768, kLargestBatch = 32, kGraphsKept = 4;

static void check(cudaError_t error) {
    if (error != cudaSuccess) {
        std::fprintf(stderr, "serve: %s\n", cudaGetErrorString(error));
        std::exit(1);
    }
}

// The model for one batch size, captured once and launched for every batch of that size.
class BatchGraph {
  public:
    BatchGraph(std::size_t batch, int *answers, cudaStream_t stream, bool free_inside)
        : batch(batch) {
        const std::size_t bytes = batch * kClasses * sizeof(float);
        cudaGraph_t graph;
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        float *scores; // lives in the graph's memory pool
        check(cudaMallocAsync(&scores, bytes, stream));
        check(cudaMemsetAsync(scores, 0, bytes, stream)); // here kernels would compute them ...
        check(cudaMemsetAsync(answers, 0, batch * sizeof *answers, stream)); // ... and choose
        if (free_inside)
            check(cudaFreeAsync(scores, stream));
        check(cudaStreamEndCapture(stream, &graph));
        // A launch frees what the launch before it has left. But nothing frees what the last one
        // leaves: not cudaGraphExecDestroy(), with this flag or without.
        check(
            cudaGraphInstantiateWithFlags(&exec_, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
        check(cudaGraphDestroy(graph));
    }
    ~BatchGraph() {
        cudaGraphExecDestroy(exec_);
    }
    BatchGraph(const BatchGraph &) = delete;
    BatchGraph &operator=(const BatchGraph &) = delete;

    void launch(cudaStream_t stream) {
        check(cudaGraphLaunch(exec_, stream));
    }

    const std::size_t batch;

  private:
    cudaGraphExec_t exec_;
};

class Server {
  public:
    explicit Server(bool free_inside) : free_inside_(free_inside) {
        check(cudaStreamCreate(&stream_));
        check(cudaMalloc(&answers_, kLargestBatch * sizeof *answers_));
    }
    ~Server() {
        graphs_.clear();
        cudaFree(answers_);
        cudaStreamDestroy(stream_);
    }
    Server(const Server &) = delete;
    Server &operator=(const Server &) = delete;

    std::vector<int> serve(std::size_t batch) {
        std::vector<int> answers(batch);
        graph_for(batch).launch(stream_);
        check(cudaMemcpyAsync(answers.data(), answers_, batch * sizeof *answers_,
                              cudaMemcpyDeviceToHost, stream_));
        check(cudaStreamSynchronize(stream_));
        return answers;
    }

  private:
    // The graph used last comes first.
    BatchGraph &graph_for(std::size_t batch) {
        for (auto graph = graphs_.begin(); graph != graphs_.end(); ++graph)
            if (graph->batch == batch) {
                graphs_.splice(graphs_.begin(), graphs_, graph);
                return graphs_.front();
            }
        if (graphs_.size() == kGraphsKept)
            graphs_.pop_back();
        return graphs_.emplace_front(batch, answers_, stream_, free_inside_);
    }

    std::list<BatchGraph> graphs_;
    int *answers_;
    cudaStream_t stream_;
    bool free_inside_;
};

int main(int argc, char **argv) {
    Server server(argc > 1 && std::strcmp(argv[1], "--fixed") == 0);
    for (unsigned batches = 0, random = 1; batches < 300; batches++) {
        random = random * 1103515245 + 12345; // how many requests wait just now
        server.serve(1 + (random >> 16) % kLargestBatch);
    }
    std::printf("300 batches\n");
}
