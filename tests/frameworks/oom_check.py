# SPDX-License-Identifier: MIT
"""Runs the scenes of oom_scenes.py traced, and checks what the report says of each: for tests/cases/522 (the stand-in)
and run_oom (PyTorch)."""

import concurrent.futures
import json
import os
import shutil
import subprocess
import sys

import lib
import oom_scenes

SCRIPT = "oom_scenes.py"


def prepare():
    os.makedirs("site-packages", exist_ok=True)
    for name in ("gpu.py", "standin.py"):
        shutil.copy(f"{lib.SRC}/tests/frameworks/{name}", "site-packages")
    shutil.copy(f"{lib.SRC}/tests/frameworks/oom_scenes.py", SCRIPT)  # without the others beside it


def plain(arguments, env, stdin=None):
    """Runs the scenes' script untraced on the simulated GPU."""
    return subprocess.run([lib.PYTHON, SCRIPT, *arguments], input=stdin, text=True, capture_output=True, check=False,
                          env=dict(os.environ, LD_PRELOAD=":".join(lib.SIM_LIBRARIES), PYTHONPATH="site-packages", **env))


def check(name, env):
    """One scene. Returns what is wrong."""
    wanted = oom_scenes.SCENES[name]
    env = {**env, **wanted["env"]}
    log, wrong = f"{name}.vtl", []
    done = lib.traced([lib.PYTHON, SCRIPT, name], log=log, status=None, PYTHONPATH="site-packages", **env)
    if done.returncode != 1:
        return [f"exit status {done.returncode}, no failure: {done.stderr[-300:]}"]
    process = lib.process(log)
    ooms = [oom for oom in process["ooms"] if oom["outcome"] != "recovered"]
    if len(ooms) != 1:
        return [f"{len(ooms)} failures"]
    oom, advice = ooms[0], ooms[0]["advice"] or ""
    sites = {site["site"]: site for site in process["sites"]}

    def expect(true, what):
        if not true:
            wrong.append(f"{what}: cause {oom['cause']}: {oom['why']} TRY {advice}")

    def function(site):
        return next((frame["function"] for frame in sites[site]["stack"] if frame["own"]), None)

    expect(oom["cause"] == wanted["cause"], f"not {wanted['cause']}")
    named = function(oom["holders"][0]) if oom["holders"] else None
    expect(named == wanted["first"], f"{named} is named first, not {wanted['first']}")
    expect(sum(oom["holder_bytes"]) <= oom["tracked_bytes"], "the holders hold more than the process")
    for words in wanted["says"]:
        expect(words in oom["why"], f"does not say {words!r}")
    for words in wanted["advice"]:
        expect(words in advice, f"does not advise {words!r}")
    for words in wanted["never"]:
        expect(words not in advice, f"advises {words!r}")
    expect(oom["setting"] == wanted["setting"], f"setting {oom['setting']}, not {wanted['setting']}")
    live = done.stdout.splitlines()[-1]
    if oom["setting"]:
        conf = advice.split("PYTORCH_CUDA_ALLOC_CONF=")[1].split(";")[0]
        again = plain([name], {**env, "PYTORCH_CUDA_ALLOC_CONF": conf})
        expect(again.returncode == 0, f"with {conf} it fails as well: {again.stdout[:80]} {again.stderr[-200:]}")
    if "empty_cache" in advice:
        expect(plain([name], {**env, "SCENE_EMPTY_CACHE": "1"}).returncode == 0, "empty_cache does not help")
    if wanted["fits"] is not None and wanted["cause"] in ("capacity", "fragmentation"):
        fits = plain(["--fresh"], env, live).returncode == 0
        expect(fits == wanted["fits"], f"in a fresh allocator it {'fits' if fits else 'does not fit'}")
    return wrong


def run(env, pattern=""):
    prepare()
    names = [name for name in oom_scenes.SCENES if pattern in name]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, wrong in zip(names, pool.map(lambda name: check(name, env), names)):
            failed += bool(wrong)
            for line in wrong:
                print(f"{name}: {line}", file=sys.stderr)
    print(f"{len(names) - failed} of {len(names)} scenes right")
    if failed:
        lib.fail(f"{failed} of {len(names)} scenes are wrong")
