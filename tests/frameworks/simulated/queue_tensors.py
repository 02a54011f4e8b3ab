# SPDX-License-Identifier: MIT
"""Sends tensors to another process through a queue: CUDA IPC. (On the simulated GPU, what they hold does not arrive.)"""

import torch
import torch.multiprocessing as mp


def receive(queue, done):
    for i in range(5):
        tensor = queue.get()
        assert tensor.shape == (1 << 18,) and tensor.is_cuda, f"tensor {i}: {tensor}"
        del tensor
    done.put(True)


def main():
    mp.set_start_method("spawn")
    queue, done = mp.Queue(), mp.Queue()
    child = mp.Process(target=receive, args=(queue, done))
    child.start()
    kept = [torch.full((1 << 18,), i).cuda() for i in range(5)]
    for tensor in kept:
        queue.put(tensor)
    assert done.get(timeout=120)
    child.join()
    assert child.exitcode == 0


if __name__ == "__main__":
    main()
