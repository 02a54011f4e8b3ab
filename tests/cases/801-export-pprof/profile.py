# SPDX-License-Identifier: MIT
"""Reads profile.proto, by the numbers of its published definition."""

import gzip


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if not byte & 128:
            return value, at


def fields(data):
    """{number: [int or bytes]}"""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        else:
            assert key & 7 == 0, f"wire type {key & 7}"
        found.setdefault(key >> 3, []).append(value)
    return found


def numbers(message, number):
    """A repeated number, packed or not."""
    found = []
    for value in message.get(number, []):
        if isinstance(value, int):
            found.append(value)
        at = 0
        while not isinstance(value, int) and at < len(value):
            one, at = varint(value, at)
            found.append(one)
    return found


class Profile:
    def __init__(self, path):
        m = fields(gzip.decompress(open(path, "rb").read()))
        self.texts = [text.decode() for text in m[6]]
        assert self.texts[0] == ""

        def text(message, number):
            return self.texts[message.get(number, [0])[0]]

        def table(number):
            rows = [fields(row) for row in m.get(number, [])]
            assert len({row[1][0] for row in rows}) == len(rows) and all(row[1][0] for row in rows), "ids"
            return {row[1][0]: row for row in rows}

        self.types = [(text(t, 1), text(t, 2)) for t in map(fields, m[1])]
        self.default = text(m, 14)
        self.comments = [self.texts[i] for i in numbers(m, 13)]
        self.time, self.duration = m[9][0], m[10][0]
        self.mappings = {id: (text(row, 5), text(row, 6), row[2][0], row[3][0]) for id, row in table(3).items()}
        functions = {id: (text(row, 2), text(row, 3), text(row, 4)) for id, row in table(5).items()}
        # id -> (mapping, address, [(function, line)])
        self.locations = {}
        for id, row in table(4).items():
            lines = [(functions[line[1][0]], line.get(2, [0])[0]) for line in map(fields, row[4])]
            self.locations[id] = (row.get(2, [0])[0], row.get(3, [0])[0], lines)
        # ([location, innermost first], {type: value}, {label: text})
        self.samples = []
        for row in map(fields, m.get(2, [])):
            values = numbers(row, 2)
            assert len(values) == len(self.types)
            labels = {text(label, 1): text(label, 2) for label in map(fields, row.get(3, []))}
            stack = [self.locations[id] for id in numbers(row, 1)]
            self.samples.append((stack, dict(zip([name for name, _ in self.types], values)), labels))

    def sum(self, name, **labels):
        return sum(values[name] for _, values, found in self.samples
                   if all(found.get(key) == value for key, value in labels.items()))


def names(stack):
    """All functions of a stack, innermost first, with inlined ones."""
    return [function[0] for _, _, lines in stack for function, _ in lines]
