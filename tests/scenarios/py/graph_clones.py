# SPDX-License-Identifier: MIT
"""A graph is launched for each request, and nothing is freed. A copy of its output is kept for each of the last requests, or
there is a buffer for each kind of request from the start, with one launch to warm up."""

from simgpu import KIB, Buffer, Graph, leaking

graph, answers = Graph(), []
for request in range(60):
    if leaking or request < 20:
        answers.append(Buffer(256 * KIB))  # LEAK
    graph.launch()
for request in range(0 if leaking else 500):
    graph.launch()
