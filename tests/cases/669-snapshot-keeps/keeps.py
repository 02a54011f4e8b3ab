# SPDX-License-Identifier: MIT
"""keeps.py SCENE: has something when a phase ends, with which a copy of the process begins, and gives it up while the copy lives. Prints
how often something still had it then, and how often there was a copy."""

import ctypes
import fcntl
import glob
import mmap
import os
import shutil
import struct
import subprocess
import sys

from simgpu import KIB, Buffer

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.shmdt.argtypes = [ctypes.c_void_p]
PAGE = mmap.PAGESIZE
ADD_SEALS, SEAL_WRITE, IPC_STAT, IPC_RMID = 1033, 8, 2, 0
ATTACHED = 88  # where struct shmid_ds has shm_nattch


def check(what, status):
    if status < 0:
        sys.exit(f"{what}: {os.strerror(ctypes.get_errno())}")
    return status


def file_of(path, size=PAGE):
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    os.ftruncate(fd, size)
    return fd


# Each yields when it has it, and then says whether it is free.


def lock():
    fd = file_of("lock")
    fcntl.flock(fd, fcntl.LOCK_EX)
    yield
    os.close(fd)
    fd = file_of("lock")
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    os.close(fd)


def pipe():
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    yield
    os.close(writer)
    try:
        yield os.read(reader, 1) == b""
    except BlockingIOError:
        yield False
    os.close(reader)


def program():
    """A program that was just written, and is started."""
    shutil.copy("/bin/true", "program")
    fd = os.open("program", os.O_RDWR)
    yield
    os.close(fd)
    try:
        subprocess.run(["./program"], check=True)
        yield True
    except OSError:
        yield False


def seal():
    fd = os.memfd_create("sealed", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, PAGE)
    mapped = mmap.mmap(fd, PAGE)
    yield
    mapped.close()
    yield libc.fcntl(fd, ADD_SEALS, SEAL_WRITE) == 0
    os.close(fd)


def segment():
    number = check("shmget", libc.shmget(0, PAGE, 0o1600))
    at = libc.shmat(number, None, 0)
    yield
    check("shmdt", libc.shmdt(at))
    state = ctypes.create_string_buffer(512)
    check("shmctl", libc.shmctl(number, IPC_STAT, state))
    yield struct.unpack_from("<Q", state, ATTACHED)[0] == 0
    libc.shmctl(number, IPC_RMID, None)


def mounted(use):
    """A file system that the program used so."""
    os.makedirs("mounted", exist_ok=True)
    check("mount", libc.mount(b"none", b"mounted", b"tmpfs", 0, None))
    home = os.getcwd()
    end = use()
    yield
    end()
    os.chdir(home)
    free = libc.umount2(b"mounted", 0) == 0
    yield free
    if not free:
        check("umount", libc.umount2(b"mounted", 2))


def mapping(**how):
    fd = file_of("mounted/file")
    mapped = mmap.mmap(fd, PAGE, **how)
    os.close(fd)
    return mapped.close


def opened():
    fd = file_of("mounted/file")
    return lambda: os.close(fd)


def folder():
    os.chdir("mounted")
    return int


SCENES = {"lock": lock, "pipe": pipe, "program": program, "seal": seal, "segment": segment, "file": lambda: mounted(opened),
          "folder": lambda: mounted(folder), "shared": lambda: mounted(mapping),
          "read-only": lambda: mounted(lambda: mapping(flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)),
          "private": lambda: mounted(lambda: mapping(flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ))}


def copies():
    return any(open(path).read() for path in glob.glob("/proc/self/task/*/children"))


def main():
    kept.append(Buffer(64 * KIB))
    kept.append([[str(i)] for i in range(20000)])  # to be looked through
    held = beside = 0
    traced = "libvramtrace" in os.environ["LD_PRELOAD"]
    for _ in range(8):
        scene = SCENES[sys.argv[1]]()
        next(scene)
        if traced:
            libc.vramtrace_v1_push(b"step")
            libc.vramtrace_v1_pop()
        kept.append(Buffer(64 * KIB))
        held += not next(scene)
        beside += copies()
        next(scene, None)
    print(held, beside)


kept = []
main()
