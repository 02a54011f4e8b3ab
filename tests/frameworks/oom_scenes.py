# SPDX-License-Identifier: MIT
"""Scenes of running out of memory inside a caching allocator, made so that the cause is known.

    oom_scenes.py NAME       runs a scene; out of memory: exit status 1, and what was live, as JSON
    oom_scenes.py --fresh    reads that JSON: takes the same blocks in a fresh allocator, the largest first, and then
                             what was asked for; exit status 0: it fits
    oom_scenes.py --random SEED   random requests; prints what is reserved after each

Each scene says what the report must say: `cause`; `first`, the function that is named first among the holders; words
that the advice has; and `fits`, whether the request fits in a fresh allocator. `setting` is the advised one, under which
the scene must pass.
"""

import json
import os
import random
import sys

MIB = 1 << 20
KIB = 1 << 10
SCENES = {}
NO_SETTING = ("expandable_segments", "max_split_size_mb")

if __name__ == "__main__":
    from gpu import OutOfMemory, empty_cache, limit, live, raw, reserved, stream, take
    asked = {}


def scene(cause, first=None, memory="512M", conf="", fits=False, setting=None, advice=(), never=(), says=(), **env):
    def add(function):
        SCENES[function.__name__] = {
            "cause": cause, "first": first, "fits": fits, "setting": setting, "advice": advice,
            "never": tuple(never) + (() if setting else NO_SETTING), "says": says, "run": function,
            "env": {"VRAMTRACE_SIM_MEMORY": memory, **({"PYTORCH_CUDA_ALLOC_CONF": conf} if conf else {}), **env}}
        return function
    return add


# --- what a program does

def model(mib, each=20):
    kept = []
    for _ in range(int(mib // each)):
        kept.append(take(each * MIB))
    return kept


def activations(count, size):
    kept = []
    for _ in range(count):
        kept.append(take(size))
    return kept


def steps(count, size=1 * MIB):
    """Steps that keep nothing: what was live before does not grow any more."""
    for _ in range(count):
        batch = take(size)
        del batch


def leak(kept, size):
    kept.append(take(size))


def request(size):
    """The request that fails, from the default stream."""
    asked["size"] = int(size)
    return take(size)


def train(kept, size, temporary=0, rounds=1000):
    for _ in range(rounds):
        if temporary:
            batch = request(temporary)
        asked["size"] = int(size)
        leak(kept, size)
        if temporary:
            del batch


def pin_every(count, each, every):
    """Takes blocks and keeps one of `every`."""
    kept, gone = [], []
    for n in range(count):
        (kept if n % every == 0 else gone).append(pin(each))
    return kept


def pin(size):
    return take(size)


# --- a leak

@scene("capacity", "leak", advice=["stop the leak"], says=["the leak held", "Not fragmentation", "no limit set"])
def leak_of_small_blocks():
    weights = take(3.4 * MIB)
    train([], 1 * MIB, temporary=10 * MIB)
    return weights


@scene("capacity", "leak", advice=["stop the leak"], says=["the leak held"])
def leak_of_large_blocks():
    train([], 2.5 * MIB, temporary=30 * MIB)


@scene("capacity", "leak", memory="1G", advice=["stop the leak"], says=["the leak held"])
def leak_and_a_big_temporary():
    train([], 4 * MIB, temporary=200 * MIB)


@scene("capacity", "leak", fits=True, advice=["stop the leak"], says=["the leak held"])
def leak_beside_holes():
    pins, kept = pin_every(40, 2 * MIB, 10), []
    train(kept, 1 * MIB, temporary=10 * MIB, rounds=400)
    request(78 * MIB)
    return pins


@scene("capacity", "leak", conf="expandable_segments:True", advice=["stop the leak"], says=["the leak held"])
def leak_expandable():
    train([], 3 * MIB, temporary=1 * MIB)


@scene("capacity", "leak", advice=["stop the leak"], says=["the leak held", "live memory"])
def leak_beside_a_model():
    weights = model(200)
    train([], 1 * MIB, temporary=10 * MIB)
    return weights


@scene("capacity", "leak", advice=["stop the leak"], VRAMTRACE_SIM_OTHER="100M", says=["the leak held", "other processes"])
def leak_beside_another_process():
    train([], 2 * MIB, temporary=512 * KIB)


@scene("capacity", "leak_past_the_allocator", advice=["stop the leak"], says=["the leak held"], fits=None)
def leak_by_cudamalloc():
    for _ in range(200):
        batch = take(30 * MIB)
        leak_past_the_allocator()
        del batch


def leak_past_the_allocator():
    raw(3 * MIB)


# --- live memory

@scene("capacity", "model", advice=["free, or shrink"], says=["live memory held"])
def live_model():
    weights = model(400)
    acts = activations(3, 30 * MIB)
    request(60 * MIB)
    return weights, acts


@scene("capacity", "activations", says=["live memory held"])
def live_many_small():
    acts = activations(7900, 64 * KIB)
    steps(2000)
    request(20 * MIB)
    return acts


@scene("capacity", "activations", says=["live memory held"])
def live_blocks_of_5_mib():
    acts = activations(100, 5 * MIB)
    steps(200)
    request(5 * MIB)
    return acts


@scene("capacity", "activations", setting="expandable_segments:True", says=["live memory held"])
def live_rounded_up():
    acts = activations(42, 10.5 * MIB)
    request(10.5 * MIB)
    return acts


@scene("capacity", "activations", conf="expandable_segments:True", says=["live memory held"])
def live_expandable():
    acts = activations(45, 11 * MIB)
    request(30 * MIB)
    return acts


@scene("capacity", "model", conf="max_split_size_mb:32", says=["live memory held"])
def live_with_max_split():
    weights = model(480, 40)
    request(60 * MIB)
    return weights


@scene("capacity", "model", setting="expandable_segments:True", says=["live memory held"])
def live_and_one_idle_piece():
    weights = model(492, 12)
    block = take(3 * MIB)
    request(1 * MIB)
    return block, weights


# --- one big request

@scene("capacity", advice=["larger device"], says=["more than the whole device"])
def big_more_than_the_device():
    request(600 * MIB)


@scene("capacity", "model", advice=["free, or shrink", "at most 312 MiB"])
def big_more_than_is_free():
    weights = model(200)
    request(400 * MIB)
    return weights


@scene("capacity", "model")
def big_after_a_cache():
    weights = model(60)
    model(300)
    request(460 * MIB)
    return weights


@scene("capacity", "model", conf="expandable_segments:True")
def big_expandable():
    weights = model(200)
    model(200)
    request(400 * MIB)
    return weights


# --- fragmentation

@scene("fragmentation", "pin", memory="256M", fits=True, advice=["ask for at most"])
def holes_of_18_mib():
    pins = pin_every(96, 2 * MIB, 10)
    request(120 * MIB)
    return pins


@scene("fragmentation", "pin", fits=True, setting="expandable_segments:True")
def holes_in_large_segments():
    batches = activations(8, 60 * MIB)
    batches.clear()
    pins = pin_every(8, 35 * MIB, 1)
    request(60 * MIB)
    return pins


@scene("fragmentation", "pin", fits=True)
def holes_in_the_small_pool():
    pins = pin_every(240 * 32, 64 * KIB, 32)
    request(100 * MIB)
    return pins


@scene("fragmentation", "pin", fits=True)
def holes_in_the_small_pool_half_full():
    pins = pin_every(480, 1 * MIB, 2)
    request(40 * MIB)
    return pins


@scene("fragmentation", "pin", fits=True)
def holes_in_the_large_pool_for_a_small_request():
    pins = pin_every(250, 2 * MIB, 10)
    smalls = activations(24, 512 * KIB)
    request(1 * MIB)
    return pins, smalls


@scene("fragmentation", "pin", fits=True, setting="expandable_segments:True")
def holes_by_sizes_that_grow():
    pins = []
    for n in range(7):
        size = (40 + 8 * n) * MIB
        batch = take(size)
        del batch
        pins.append(pin(0.55 * size))
    request(90 * MIB)
    return pins


@scene("fragmentation", "pin", memory="256M", fits=True, conf="expandable_segments:True", advice=["already"])
def holes_expandable():
    pins = pin_every(96, 2 * MIB, 10)
    request(120 * MIB)
    return pins


@scene("fragmentation", "pin", fits=True, conf="garbage_collection_threshold:0.9", setting="expandable_segments:True",
       advice=["garbage_collection_threshold:0.9,expandable_segments:True"])
def holes_with_another_setting():
    holes_in_large_segments()


@scene("capacity", "activations", fits=False)
def holes_of_another_stream():
    acts = activations(40, 12 * MIB)
    with stream(1):
        other = [take(2 * MIB)]
    request(15 * MIB)
    return acts, other


@scene("fragmentation", "pin", fits=True)
def holes_in_both_streams():
    pins = pin_every(110, 2 * MIB, 10)
    with stream(1):
        more = pin_every(110, 2 * MIB, 10)
    request(90 * MIB)
    return pins, more


# --- another process

@scene("other-process", "model", VRAMTRACE_SIM_OTHER="300M", advice=["nvidia-smi", "112 MiB"])
def other_holds_most():
    weights = model(100)
    request(150 * MIB)
    return weights


@scene("other-process", "model", VRAMTRACE_SIM_OTHER="100M", advice=["nvidia-smi"])
def other_holds_some():
    weights = model(340)
    request(150 * MIB)
    return weights


@scene("capacity", "model", VRAMTRACE_SIM_OTHER="50M", says=["another process (50.0 MiB"])
def other_is_not_why():
    weights = model(400)
    request(150 * MIB)
    return weights


@scene("other-process", "model", VRAMTRACE_SIM_OTHER="300M", conf="expandable_segments:True", advice=["nvidia-smi"])
def other_expandable():
    weights = model(100)
    request(150 * MIB)
    return weights


# --- a limit

@scene("limit", "model", VRAMTRACE_LIMIT="256M", advice=["raise VRAMTRACE_LIMIT"])
def limit_by_us():
    weights = model(200)
    request(100 * MIB)
    return weights


@scene("limit", "model", advice=["set_per_process_memory_fraction"])
def limit_by_the_framework():
    limit(256 * MIB)
    weights = model(200)
    request(100 * MIB)
    return weights


@scene("limit", "leak", VRAMTRACE_LIMIT="256M", says=["leaked"])
def limit_and_a_leak():
    train([], 1 * MIB, temporary=5 * MIB)


@scene("limit", "model", VRAMTRACE_LIMIT="256M", conf="expandable_segments:True")
def limit_expandable():
    weights = model(200)
    request(100 * MIB)
    return weights


# --- a share of a device

@scene("capacity", "model", memory="304M", VRAMTRACE_SIM_NAME="NVIDIA A100-SXM4-40GB MIG 1g.5gb")
def share_live():
    weights = model(240)
    request(100 * MIB)
    return weights


@scene("fragmentation", "pin", memory="304M", fits=True, VRAMTRACE_SIM_NAME="NVIDIA A100-SXM4-40GB MIG 1g.5gb")
def share_holes():
    pins = pin_every(120, 2 * MIB, 10)
    request(120 * MIB)
    return pins


@scene("capacity", "leak", memory="304M", VRAMTRACE_SIM_NAME="NVIDIA A100-SXM4-40GB MIG 1g.5gb", advice=["stop the leak"])
def share_leak():
    train([], 3 * MIB, temporary=1 * MIB)


# --- past the allocator

@scene("capacity", advice=["torch.cuda.empty_cache()"], says=["idle memory in PyTorch's segments held"], fits=None)
def cache_in_the_way():
    model(400, 50)
    if os.environ.get("SCENE_EMPTY_CACHE"):
        empty_cache()
    raw(200 * MIB)


@scene("capacity", "pin", never=["empty_cache"], fits=None)
def pinned_cache_in_the_way():
    pins = pin_every(200, 2 * MIB, 10)
    if os.environ.get("SCENE_EMPTY_CACHE"):
        empty_cache()
    raw(200 * MIB)
    return pins


def fresh(found):
    kept = []
    for size, number in sorted(found["live"], reverse=True) + [[found["size"], 0]]:
        with stream(number):
            kept.append(take(size))


def random_requests(seed):
    chance, kept = random.Random(seed), []
    sizes = (512, 3000, 60000, 1 << 20, 3 << 20, 9 << 20, 11 << 20, 35 << 20, 60 << 20)
    for _ in range(3000):
        if kept and chance.random() < 0.5:
            kept.pop(chance.randrange(len(kept)))
        else:
            size, number = int(chance.choice(sizes) * chance.uniform(0.3, 1)) + 1, chance.randrange(2)
            try:
                with stream(number):
                    kept.append(take(size))
            except OutOfMemory:
                print("out of memory", end=" ")
                del kept[::2]
        print(reserved())


def main():
    try:
        if sys.argv[1] == "--random":
            random_requests(sys.argv[2])
        elif sys.argv[1] == "--fresh":
            fresh(json.load(sys.stdin))
        else:
            SCENES[sys.argv[1]]["run"]()
    except OutOfMemory:
        print(json.dumps({**asked, "live": live()}))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
