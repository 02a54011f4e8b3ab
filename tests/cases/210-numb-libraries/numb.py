# SPDX-License-Identifier: MIT
"""numb.py names | hold | end | cycle | ranks N R: uses the numb libraries as programs do; run under `vramtrace run --sim`.

names: every library is found by its SONAME alone, and exports every name of its list. hold: makes handles and keeps
them. end: makes them and ends them. cycle: ten of each in turn. ranks: one rank of N in a collective.
"""
import ctypes
import os
import pathlib
import re
import sys

NAMES = pathlib.Path(os.environ["SRC"]) / "tests/sim/numb/names"
# As tests/sim/sim.mk builds them: list, file names, and whether the real names carry the file's name as a version.
LIBRARIES = [("cublas", ("libcublas.so.12", "libcublas.so.13"), True),
             ("cublaslt", ("libcublasLt.so.12", "libcublasLt.so.13"), True),
             ("cudnn", ("libcudnn.so.9",), True), ("cufft", ("libcufft.so.11", "libcufft.so.12"), True),
             ("curand", ("libcurand.so.10",), True), ("cusolver", ("libcusolver.so.11", "libcusolver.so.12"), True),
             ("cusparse", ("libcusparse.so.12",), True), ("cusparselt", ("libcusparseLt.so.0",), False),
             ("nccl", ("libnccl.so.2",), False), ("cupti", ("libcupti.so.12", "libcupti.so.13"), True)]
libc = ctypes.CDLL(None)
libc.dlvsym.restype = ctypes.c_void_p
libc.dlvsym.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
libc.dlsym.restype = ctypes.c_void_p
libc.dlsym.argtypes = [ctypes.c_void_p, ctypes.c_char_p]


def check_names():
    files = {file for _, files, _ in LIBRARIES for file in files}
    built = {path.name for path in (pathlib.Path(os.environ["SIM"]) / "numb").iterdir()} - {"libsimload.so"}
    assert built == files, f"built {sorted(built - files)}, listed {sorted(files - built)}"
    for short, files, versioned in LIBRARIES:
        rows = re.findall(r"^NUMB\w*\((\w+)", (NAMES / f"{short}.def").read_text(), re.M)
        assert len(rows) > 20, f"{short}: {len(rows)} names"
        assert len(rows) == len(set(rows)), f"{short}: a name twice"
        for file in files:
            handle = ctypes.CDLL(file)._handle
            for name in rows:
                found = libc.dlvsym(handle, name.encode(), file.encode()) if versioned else libc.dlsym(handle, name.encode())
                assert found, f"{file}: {name} is missing"
            print(file, len(rows))


def call(library, name, *args):
    status = getattr(ctypes.CDLL(library), name)(*args)
    assert status == 0, f"{name}: {status}"


# What creates a handle, what ends it, and the device memory that it holds meanwhile.
def handles():
    nccl = (ctypes.c_char * 128)

    class Id(ctypes.Structure):
        _fields_ = [("bytes", nccl)]

    handle = ctypes.c_void_p()
    plan = ctypes.c_int()
    yield "libcublas.so.13", ("cublasCreate_v2", ctypes.byref(handle)), "cublasDestroy_v2", handle, 1024 + (128 << 10) + (8 << 20)
    yield "libcublas.so.12", ("cublasCreate_v2", ctypes.byref(handle)), "cublasDestroy_v2", handle, 1024 + (128 << 10) + (8 << 20)
    yield "libcublasLt.so.13", ("cublasLtCreate", ctypes.byref(handle)), "cublasLtDestroy", handle, 0
    yield "libcudnn.so.9", ("cudnnCreate", ctypes.byref(handle)), "cudnnDestroy", handle, 1 << 20
    yield "libcusparse.so.12", ("cusparseCreate", ctypes.byref(handle)), "cusparseDestroy", handle, 64 << 10
    yield "libcusolver.so.12", ("cusolverDnCreate", ctypes.byref(handle)), "cusolverDnDestroy", handle, 128 << 10
    yield "libcufft.so.12", ("cufftPlan1d", ctypes.byref(plan), 4096, 0x29, 16), "cufftDestroy", plan, 4096 * 16 * 8
    yield "libnccl.so.2", ("ncclCommInitRank", ctypes.byref(handle), 2, Id(), 1), "ncclCommDestroy", handle, 8 << 20


def use(rounds, end):
    held = 0
    for library, (make, *args), destroy, handle, size in handles():
        for _ in range(rounds):
            call(library, make, *args)
            held += size
            if end:
                call(library, destroy, handle)
                held -= size
    # A generator allocates when it first generates.
    generator = ctypes.c_void_p()
    call("libcurand.so.10", "curandCreateGenerator", ctypes.byref(generator), 100)
    call("libcurand.so.10", "curandGenerateUniform", generator, None, ctypes.c_size_t(0))
    call("libcurand.so.10", "curandGenerateUniform", generator, None, ctypes.c_size_t(0))
    held += 48 * 4096
    if end:
        call("libcurand.so.10", "curandDestroyGenerator", generator)
        held -= 48 * 4096
    driver = ctypes.CDLL("libcuda.so.1")
    driver.vramtrace_sim_live_bytes.restype = ctypes.c_uint64
    own = driver.vramtrace_sim_live_bytes(-1)
    assert own == held, f"the driver holds {own}, the handles {held}"
    print(held)


# The texts, sizes and outputs that programs rely on.
def check_answers():
    text = ctypes.CDLL("libcublas.so.13").cublasGetStatusString
    text.restype = ctypes.c_char_p
    assert text(0) == b"success" and text(7) == b"simulated error"
    length = ctypes.c_int(-1)
    call("libcusolver.so.12", "cusolverDnSgetrf_bufferSize", None, 8, 8, None, 8, ctypes.byref(length))
    assert length.value == 4096, length
    sizes = ctypes.c_size_t(), ctypes.c_size_t()
    call("libcusolver.so.12", "cusolverDnXgeqrf_bufferSize", None, None, ctypes.c_int64(8), ctypes.c_int64(8), 0, None,
         ctypes.c_int64(8), 0, None, 0, ctypes.byref(sizes[0]), ctypes.byref(sizes[1]))
    assert [s.value for s in sizes] == [65536, 65536], sizes
    info = ctypes.c_int(-1)
    call("libcusolver.so.12", "cusolverDnSgetrf", None, 8, 8, None, 8, None, None, ctypes.byref(info))
    assert info.value == 0, info
    handle, found = ctypes.c_void_p(), ctypes.c_int()
    result = (ctypes.c_char * 96)(*b"x" * 96)
    call("libcublasLt.so.13", "cublasLtCreate", ctypes.byref(handle))
    call("libcublasLt.so.13", "cublasLtMatmulAlgoGetHeuristic", handle, None, None, None, None, None, None, 4,
         result, ctypes.byref(found))
    assert found.value == 1 and bytes(result[:76]) == b"\0" * 76, (found, bytes(result))
    check_weights()


# Two layers, both directions: torch's own sizes of the parameters of nn.LSTM(3, 5, 2, bidirectional=True).
def check_weights():
    handle, rnn, matrix, bias = (ctypes.c_void_p() for _ in range(4))
    library = "libcudnn.so.9"
    call(library, "cudnnCreate", ctypes.byref(handle))
    call(library, "cudnnCreateRNNDescriptor", ctypes.byref(rnn))
    call(library, "cudnnSetRNNDescriptor_v8", rnn, 0, 2, 2, 1, 0, 0, 0, 0, 3, 5, 5, 2, None, 0)
    size = ctypes.c_size_t()
    call(library, "cudnnGetRNNWeightSpaceSize", handle, rnn, ctypes.byref(size))
    first, second = 20 * 3 + 20 * 5, 20 * 10 + 20 * 5
    assert size.value == 4 * (2 * first + 2 * second + 4 * 2 * 20), size
    for descriptor in matrix, bias:
        call(library, "cudnnCreateTensorDescriptor", ctypes.byref(descriptor))
    at, bias_at = ctypes.c_void_p(), ctypes.c_void_p()
    call(library, "cudnnGetRNNWeightParams", handle, rnn, 2, size, ctypes.c_void_p(1 << 20), 1, matrix, ctypes.byref(at),
         bias, ctypes.byref(bias_at))
    assert at.value == (1 << 20) + 4 * (2 * first + 5 * 10), at
    assert bias_at.value == (1 << 20) + 4 * (2 * first + 2 * second + 2 * 40 + 5), bias_at
    kind, count, dims, strides = ctypes.c_int(), ctypes.c_int(), (ctypes.c_int * 3)(), (ctypes.c_int * 3)()
    call(library, "cudnnGetTensorNdDescriptor", matrix, 3, ctypes.byref(kind), ctypes.byref(count), dims, strides)
    assert (count.value, list(dims), list(strides)) == (3, [1, 5, 10], [50, 10, 1]), (count, list(dims), list(strides))


# A rank's collective, on device memory: what it sends is what it gets, as if all ranks sent the same.
def ranks(count, rank):
    class Id(ctypes.Structure):
        _fields_ = [("bytes", ctypes.c_char * 128)]

    comm, unique, stream = ctypes.c_void_p(), Id(), None
    driver = ctypes.CDLL("libcuda.so.1")
    call("libnccl.so.2", "ncclGetUniqueId", ctypes.byref(unique))
    call("libnccl.so.2", "ncclCommInitRank", ctypes.byref(comm), count, unique, rank)
    send, receive = ctypes.c_uint64(), ctypes.c_uint64()
    assert driver.cuMemAlloc_v2(ctypes.byref(send), ctypes.c_size_t(4)) == 0
    assert driver.cuMemAlloc_v2(ctypes.byref(receive), ctypes.c_size_t(4 * count)) == 0
    assert driver.cuMemsetD8_v2(send, 7, ctypes.c_size_t(4)) == 0
    call("libnccl.so.2", "ncclAllGather", send, receive, ctypes.c_size_t(1), 2, comm, stream)
    seen = (ctypes.c_uint32 * count)()
    assert driver.cuMemcpyDtoH_v2(seen, receive, ctypes.c_size_t(4 * count)) == 0
    assert list(seen) == [0x07070707] * count, list(seen)
    # PyTorch gathers a list of tensors by a group of broadcasts, one from each rank.
    assert driver.cuMemsetD8_v2(receive, 0, ctypes.c_size_t(4 * count)) == 0
    call("libnccl.so.2", "ncclGroupStart")
    for root in range(count):
        to = ctypes.c_uint64(receive.value + 4 * root)
        call("libnccl.so.2", "ncclBroadcast", send if root == rank else to, to, ctypes.c_size_t(1), 2, root, comm, stream)
    call("libnccl.so.2", "ncclGroupEnd")
    assert driver.cuMemcpyDtoH_v2(seen, receive, ctypes.c_size_t(4 * count)) == 0
    assert list(seen) == [0x07070707] * count, list(seen)
    number = ctypes.c_int()
    call("libnccl.so.2", "ncclCommUserRank", comm, ctypes.byref(number))
    assert number.value == rank
    call("libnccl.so.2", "ncclCommDestroy", comm)


if __name__ == "__main__":
    match sys.argv[1]:
        case "names":
            check_names()
        case "answers":
            check_answers()
        case "hold":
            use(1, False)
        case "end":
            use(1, True)
        case "cycle":
            use(10, True)
        case "ranks":
            ranks(int(sys.argv[2]), int(sys.argv[3]))
