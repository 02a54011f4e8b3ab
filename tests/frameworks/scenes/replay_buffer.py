# SPDX-License-Identifier: MIT
"""A replay buffer on the device that forgets nothing, or the oldest transitions."""
# leaky: fails at KEPT; verdict growing; kept by buffer.memory (list) in main()
# clean: passes
import collections
import random
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"
device = torch.device("cuda")
Transition = collections.namedtuple("Transition", "state action reward next_state")


class Environment:
    def reset(self):
        return torch.rand(4, 84, 84)

    def step(self, action):
        return torch.rand(4, 84, 84), 1.0


class ReplayBuffer:
    def __init__(self, capacity):
        self.memory = [] if LEAKY else collections.deque(maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, count):
        return Transition(*zip(*random.sample(self.memory, count)))


def main():
    env = Environment()
    policy = nn.Sequential(nn.Conv2d(4, 16, 8, stride=4), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 20 * 20, 6)).to(device)
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-4)
    buffer = ReplayBuffer(40)
    state = env.reset().to(device)
    for step in range(200):
        frame, reward = env.step(step % 6)
        next_state = frame.to(device)  # KEPT
        buffer.push(state, step % 6, reward, next_state)
        state = next_state
        if len(buffer.memory) >= 16 and step % 4 == 0:
            batch = buffer.sample(16)
            loss = policy(torch.stack(batch.state)).mean() - policy(torch.stack(batch.next_state)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


main()
