# SPDX-License-Identifier: MIT
"""Exceptions are logged with their tracebacks, whose frames hold what was local."""

from simgpu import KIB, Buffer, leaking, work

log = []


def handle(request):
    answer = Buffer(192 * KIB)  # LEAK
    work()
    if request % 3 == 0:
        raise ValueError(request, id(answer))


for request in range(240):
    try:
        handle(request)
    except ValueError as error:
        log.append(error if leaking else str(error))
