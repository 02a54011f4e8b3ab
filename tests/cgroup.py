# SPDX-License-Identifier: MIT
"""A control group of version 1 or 2 with a memory limit, below this process's own, for tests as root. Also from a
shell: `tests/cgroup.py RUNS PERCENT COMMAND...` measures the peak memory of COMMAND in a group without a limit,
untraced, then runs it traced RUNS times with that percentage of it, and prints the outcomes and the snapshots,
taken and missed."""

import glob
import os
import signal
import subprocess
import sys


class Missing(Exception):
    """Control groups are missing or not writable."""


def _folder():
    with open("/proc/self/cgroup", encoding="ascii") as file:
        names = dict(line.rstrip("\n").split(":", 2)[1:] for line in file)
    mounts = []
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            words, kind = line.split(" - ")[0].split(), line.split(" - ")[1].split()
            mounts.append((kind[0], kind[2].split(","), words[3], words[4]))
    for second in (False, True):
        for kind, options, root, point in mounts:
            if kind != ("cgroup2" if second else "cgroup") or not (second or "memory" in options):
                continue
            name = next((names[key] for key in names if ("memory" in key.split(",") if not second else not key)), None)
            if name is None or (second and "memory" not in open(f"{point}/cgroup.controllers", encoding="ascii").read()):
                continue
            inside = name[len(root):] if root != "/" and name.startswith(root) else name if root == "/" else ""
            return second, point + inside.rstrip("/")
    raise Missing("no control groups for memory here")


class Group:
    """`limit`: bytes; 0: none. `nest`: number of groups around the one that programs run in; the outermost has the
    limit. With
    version 2, all processes of a group are killed together."""

    def __init__(self, name, limit=0, nest=1):
        self.second, above = _folder()
        self.limit, self.made = limit, []
        top = f"{above}/vt-{name}-{os.getpid()}"
        if self.second:  # a group that has processes cannot hand a controller on; the root can
            top = f"{above.rsplit('/', 1)[0]}/vt-{name}-{os.getpid()}"
        try:
            for i in range(nest):
                self.made.append(top + "/inner" * i)
                os.mkdir(self.made[-1])
                if self.second and i + 1 < nest:
                    self._put("cgroup.subtree_control", "+memory", i)
            if limit:
                self._put("memory.max" if self.second else "memory.limit_in_bytes", str(limit), 0)
            elif not os.path.exists(f"{top}/memory.max" if self.second else f"{top}/memory.limit_in_bytes"):
                raise OSError("the controller is not handed on")
            if self.second:
                self._put("memory.oom.group", "1", 0)
        except OSError as error:
            self.remove()
            raise Missing(f"no control group can be made: {error}") from None

    def _put(self, file, words, which=-1):
        with open(f"{self.made[which]}/{file}", "w", encoding="ascii") as to:
            to.write(words)

    def highest(self):
        with open(f"{self.made[0]}/{'memory.peak' if self.second else 'memory.max_usage_in_bytes'}", encoding="ascii") as file:
            return int(file.read())

    def enter(self):
        """For subprocess's preexec_fn."""
        self._put("cgroup.procs", str(os.getpid()))

    def remove(self):
        for folder in reversed(self.made):
            if os.path.isdir(folder):
                os.rmdir(folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


def run(group, command, env=None):
    done = subprocess.run(command, env=env, preexec_fn=group.enter, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout.strip(), done.stderr


def main():
    import lib
    import vtlog
    runs, percent, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    env = dict(os.environ, PYTHONPATH=f"{lib.SRC}/tests/scenarios/site-packages")
    load = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(int(os.environ.get("LOAD", 8)))]
    try:
        with Group("peak") as group:
            sim = dict(env, LD_PRELOAD=":".join(lib.SIM_LIBRARIES))
            said = run(group, command, sim)
            highest = group.highest()
        print(f"untraced: {said[1]}, highest {highest >> 20} MiB, limit {highest * percent // 100 >> 20} MiB", flush=True)
        killed = taken = missed = 0
        for _ in range(runs):
            for old in glob.glob("room.*.vtl"):
                os.unlink(old)
            with Group("limit", highest * percent // 100) as group:
                traced = dict(env, LD_PRELOAD=":".join([lib.TRACER, *lib.SIM_LIBRARIES]), VRAMTRACE_QUIET="1", VRAMTRACE_OUTPUT="room.%p.vtl")
                status, said, error = run(group, command, traced)
            log = vtlog.Log(glob.glob("room.*.vtl")[0])
            killed += status == -signal.SIGKILL
            taken += len(log.snapshots())
            missed += len(log.missed())
            reasons = [reason for _, reason, _, _ in log.missed()]
            print(f"status {status}, {said} {error.strip()[-200:]}: {len(log.snapshots())} taken, missed: "
                  f"{({r: reasons.count(r) for r in set(reasons)})}", flush=True)
        print(f"{runs} runs at {percent} %: {killed} killed, {taken} snapshots taken, {missed} not")
    finally:
        for process in load:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
