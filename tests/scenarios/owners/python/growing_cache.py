# SPDX-License-Identifier: MIT
# OWNER Service.cache[*] in module __main__: 200 x 8 KiB
"""A cache of a class, with a key a request, of which each has a name."""

from simgpu import KIB, Buffer


class Service:
    cache = {}

    def answer(self, request):
        if request not in self.cache:
            self.cache[request] = Buffer(8 * KIB)
        return self.cache[request]


service = Service()
for number in range(200):
    service.answer(f"user-{number}@example.org")
