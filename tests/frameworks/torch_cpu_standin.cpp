// SPDX-License-Identifier: MIT
// A stand-in for libtorch_cpu.so: an autograd engine whose threads run the nodes of a pass while the
// thread that called backward() waits, with the two functions that the tracer stands in front of, under
// the same mangled names (execute_with_graph_task as PyTorch 1.8 had it, and as 2.15 has it).
//
//   - Nodes have a device: -1 is run by the thread that waits, others by that device's engine thread.
//   - The engine goes through its vtable for one pass in two, as C++ programs and Python's engine do.
//   - A node of the kind PYTHON calls a function of the program's, on the engine's thread.
//   - A node that fails ends its pass: the exception leaves execute_with_graph_task.
#include "c10_standin.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

STANDIN_API void *standin_malloc(size_t size, int device);

#define API   __attribute__((visibility("default")))
#define FRAME __attribute__((noinline, noclone))

extern "C" {
// As the program describes a node. `address`: what it allocated.
struct standin_node {
    int kind, device;
    size_t size;
    void (*function)(void);
    void *address;
};
}
enum { ADDMM, MUL, PYTHON, FAIL };

namespace c10 {
namespace detail {
template <class T> struct intrusive_target_default_null_type {};
} // namespace detail
template <class T, class Null = detail::intrusive_target_default_null_type<T>>
struct intrusive_ptr {
    T *target = nullptr;
    intrusive_ptr() = default;
    intrusive_ptr(const intrusive_ptr &other) : target(other.target) {}
    ~intrusive_ptr() {
        target = nullptr;
    }
};
} // namespace c10

namespace at {
namespace detail {
static FRAME void *empty_cuda(size_t size) {
    void *address = standin_malloc(size, 0);
    __asm__ volatile("" ::: "memory");
    return address;
}
} // namespace detail
namespace _ops {
struct mm {
    static FRAME void *call(size_t size) {
        void *address = detail::empty_cuda(size);
        __asm__ volatile("" ::: "memory");
        return address;
    }
};
} // namespace _ops
} // namespace at

namespace torch {
namespace autograd {

struct InputBuffer {};

struct Node {
    standin_node *what = nullptr;
    virtual void apply(InputBuffer &&) = 0;
    virtual ~Node() = default;
};

namespace generated {
struct AddmmBackward0 : Node {
    FRAME void apply(InputBuffer &&) override {
        what->address = at::_ops::mm::call(what->size);
    }
};
struct MulBackward0 : Node {
    FRAME void apply(InputBuffer &&) override {
        what->address = at::_ops::mm::call(what->size);
    }
};
} // namespace generated

struct PyNode : Node {
    FRAME void apply(InputBuffer &&) override {
        what->function();
        __asm__ volatile("" ::: "memory");
    }
};
struct Failing : Node {
    FRAME void apply(InputBuffer &&) override {
        throw std::runtime_error("a node failed");
    }
};

static std::shared_ptr<Node> make(standin_node *what) {
    std::shared_ptr<Node> node;
    if (what->kind == ADDMM)
        node = std::make_shared<generated::AddmmBackward0>();
    else if (what->kind == MUL)
        node = std::make_shared<generated::MulBackward0>();
    else if (what->kind == PYTHON)
        node = std::make_shared<PyNode>();
    else
        node = std::make_shared<Failing>();
    node->what = what;
    return node;
}

struct GraphTask {
    std::deque<std::shared_ptr<Node>> nodes; // in the order in which they run
    std::mutex mutex;
    std::condition_variable changed;
    size_t done = 0;
    std::exception_ptr error;
};

struct Future {
    int value = 0;
    ~Future() { // so that it is returned through an address, as PyTorch's is
        value = -1;
    }
};

struct Task {
    std::shared_ptr<GraphTask> pass;
    std::shared_ptr<Node> node;
};

struct ReadyQueue {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Task> tasks;

    void push(Task task) {
        std::lock_guard<std::mutex> lock(mutex);
        tasks.push_back(std::move(task));
        changed.notify_one();
    }
    Task pop() {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [this] { return !tasks.empty(); });
        Task task = std::move(tasks.front());
        tasks.pop_front();
        return task;
    }
};

class API Engine {
  public:
    virtual ~Engine() = default;
    virtual Future execute_with_graph_task(const std::shared_ptr<GraphTask> &pass,
                                           std::shared_ptr<Node> root, InputBuffer &&inputs);
    virtual Future execute_with_graph_task(const std::shared_ptr<GraphTask> &pass,
                                           c10::intrusive_ptr<Node> root, InputBuffer &&inputs);
    void evaluate_function(std::shared_ptr<GraphTask> &pass, Node *node, InputBuffer &inputs,
                           const std::shared_ptr<ReadyQueue> &queue);
    void thread_main(int device);
    void run(const std::shared_ptr<GraphTask> &pass);

  private:
    std::shared_ptr<ReadyQueue> queues[4];
    std::once_flag started;
};

FRAME void Engine::evaluate_function(std::shared_ptr<GraphTask> &, Node *node, InputBuffer &inputs,
                                     const std::shared_ptr<ReadyQueue> &) {
    node->apply(std::move(inputs));
    __asm__ volatile("" ::: "memory");
}

FRAME void Engine::thread_main(int device) {
    for (;;) {
        Task task = queues[device]->pop();
        InputBuffer inputs;
        try {
            evaluate_function(task.pass, task.node.get(), inputs, queues[device]);
        } catch (...) {
            std::lock_guard<std::mutex> lock(task.pass->mutex);
            task.pass->error = std::current_exception();
        }
        std::lock_guard<std::mutex> lock(task.pass->mutex);
        task.pass->done++;
        task.pass->changed.notify_all();
    }
}

// The nodes one by one; those of device -1 on this thread, which is the one that waits.
FRAME void Engine::run(const std::shared_ptr<GraphTask> &pass) {
    std::call_once(started, [this] {
        for (int device = 0; device < 4; device++) {
            queues[device] = std::make_shared<ReadyQueue>();
            std::thread(&Engine::thread_main, this, device).detach();
        }
    });
    std::shared_ptr<GraphTask> own = pass;
    for (const auto &node : pass->nodes) {
        if (node->what->device < 0) {
            InputBuffer inputs;
            evaluate_function(own, node.get(), inputs, queues[0]);
            continue;
        }
        std::unique_lock<std::mutex> lock(pass->mutex);
        size_t before = pass->done;
        queues[node->what->device]->push({pass, node});
        pass->changed.wait(lock, [&] { return pass->done != before; });
        if (pass->error)
            std::rethrow_exception(pass->error);
    }
}

FRAME Future Engine::execute_with_graph_task(const std::shared_ptr<GraphTask> &pass,
                                             std::shared_ptr<Node>, InputBuffer &&) {
    run(pass);
    return {7};
}

FRAME Future Engine::execute_with_graph_task(const std::shared_ptr<GraphTask> &pass,
                                             c10::intrusive_ptr<Node>, InputBuffer &&) {
    run(pass);
    return {15};
}

} // namespace autograd
} // namespace torch

using namespace torch::autograd;
static Engine engine;
static std::mutex last_mutex;
static std::shared_ptr<GraphTask> last; // the pass that began last, also when it is over

// Runs the nodes as one pass. `version`: 2, or 1 for PyTorch 1.8's function. Returns what that function
// returned (15, 7), or -1 where a node failed.
STANDIN_API API int standin_backward(standin_node *nodes, size_t count, int version) {
    auto pass = std::make_shared<GraphTask>();
    for (size_t i = 0; i < count; i++)
        pass->nodes.push_back(make(&nodes[i]));
    {
        std::lock_guard<std::mutex> lock(last_mutex);
        last = pass;
    }
    try {
        Engine *volatile by_vtable = &engine;
        InputBuffer inputs;
        if (version == 1)
            return engine
                .Engine::execute_with_graph_task(pass, std::shared_ptr<Node>(), std::move(inputs))
                .value;
        return by_vtable
            ->execute_with_graph_task(pass, c10::intrusive_ptr<Node>(), std::move(inputs))
            .value;
    } catch (const std::runtime_error &) {
        return -1;
    }
}

// Runs nodes of the pass that began last, which is over, as torch.distributed's engine runs its own:
// nobody waits in execute_with_graph_task.
STANDIN_API API void standin_backward_unseen(standin_node *nodes, size_t count) {
    std::shared_ptr<GraphTask> pass = last;
    pass->error = nullptr;
    pass->nodes.clear();
    for (size_t i = 0; i < count; i++)
        pass->nodes.push_back(make(&nodes[i]));
    engine.run(pass);
}
