#pragma once
// Streams and events. Work waits in its stream's queue until somebody waits for it, or chance lets some of it run;
// which stream goes next is chance, too. So an operation that nothing orders
// after another may run before it, as on a device.

#include <cuda_runtime_api.h>

#include <functional>

namespace cuda_emulation {

// What a piece of work says when it is done. An error breaks the device.
using Work = std::function<cudaError_t()>;

cudaError_t enqueue(cudaStream_t stream, Work work);
// Work that is not begun before `is_ready()`, which has to do with what happens outside of this process: who makes it
// true says so by `wake_executor()`. `wait` becomes a function that waits for the end of the work,
// and so has the device get there.
cudaError_t enqueue_when(cudaStream_t stream, std::function<bool()> is_ready, Work work, std::function<void()>* wait);
void wake_executor();
// Runs everything that is queued on a device.
cudaError_t finish_device(int device);
cudaError_t finish_stream(cudaStream_t stream);

// The error that broke a device, which no call clears.
cudaError_t device_error(int device);
void break_device(int device, cudaError_t error);
// Whether the calling thread is the one that runs all work.
bool on_executor();

// `error`, which cudaGetLastError then tells the calling thread, too.
cudaError_t fail_call(cudaError_t error);

// The calling thread's device.
int current_device();
void set_current_device(int device);
int device_count();

}  // namespace cuda_emulation
