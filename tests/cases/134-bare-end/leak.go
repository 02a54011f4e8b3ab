// SPDX-License-Identifier: MIT
package main

/*
typedef unsigned long long CUdeviceptr;
int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(CUdeviceptr *address, unsigned long bytes);
static CUdeviceptr kept;
static int keep(void) {
	void *context;
	return cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) || cuMemAlloc_v2(&kept, 1 << 20);
}
*/
import "C"
import "os"

func main() {
	if C.keep() != 0 {
		os.Exit(1)
	}
	os.Exit(3)
}
