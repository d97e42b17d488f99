#pragma once
// What torch/distributed/_engine.py calls, through ctypes, of the library of gloo or of MPI. Each function that returns
// a Status may be called by several threads at once, and blocks without Python's lock; what went wrong is told by
// torch_distributed_error().

#include <cstddef>
#include <cstdint>

#if defined(TORCH_DISTRIBUTED_BUILD)
#define TORCH_DISTRIBUTED_API extern "C" __attribute__((visibility("default")))
#else
#define TORCH_DISTRIBUTED_API extern "C"
#endif

namespace torch::distributed {

class Group;     // the processes of a process group, connected with one another
class Transfer;  // one message on its way

enum Status : int { kDone = 0, kFailed = 1, kTimedOut = 2 };

// A store of names and bytes that all processes see. Both give 0, or something else after an error; `get` waits for the
// name, and hands its bytes to torch_distributed_receive with the same `sink`.
using StoreSet = int (*)(const char* key, const void* bytes, size_t size);
using StoreGet = int (*)(const char* key, void* sink);

// What all members say alike about one call: messages of calls with other tags are never taken for this one's.
struct Call {
  uint32_t tag;
  int64_t timeout_milliseconds;
};

}  // namespace torch::distributed

TORCH_DISTRIBUTED_API const char* torch_distributed_version();
// Of the last call in this thread that did not return kDone. Addresses of members are followed by their rank.
TORCH_DISTRIBUTED_API const char* torch_distributed_error();

// `host` or `interface` is empty: the address to be reached at.
TORCH_DISTRIBUTED_API int torch_distributed_connect(
    int rank, int size, const char* host, const char* interface, int64_t timeout_milliseconds,
    torch::distributed::StoreSet set, torch::distributed::StoreGet get, torch::distributed::Group** group);
// MPI only: this process's number among all that mpirun has started;
// `size` bytes of process 0 for all of them; the end.
TORCH_DISTRIBUTED_API int torch_distributed_world(int* rank, int* size);
TORCH_DISTRIBUTED_API int torch_distributed_share(char* data, size_t size, int64_t timeout_milliseconds);
TORCH_DISTRIBUTED_API void torch_distributed_finalize();

TORCH_DISTRIBUTED_API void torch_distributed_receive(void* sink, const char* bytes, size_t size);
// Ends all that is on its way, here and at the other members; calls after it fail.
TORCH_DISTRIBUTED_API void torch_distributed_abort(torch::distributed::Group* group);
TORCH_DISTRIBUTED_API void torch_distributed_close(torch::distributed::Group* group);

TORCH_DISTRIBUTED_API int torch_distributed_barrier(torch::distributed::Group* group, torch::distributed::Call call);
TORCH_DISTRIBUTED_API int torch_distributed_broadcast(
    torch::distributed::Group* group, torch::distributed::Call call, char* data, size_t size, int root);
// `dtype` is a type's name in Python ("float32"), `operation` one of reductions.h.
TORCH_DISTRIBUTED_API int torch_distributed_allreduce(
    torch::distributed::Group* group, torch::distributed::Call call, char* data, size_t elements, const char* dtype,
    const char* operation);
TORCH_DISTRIBUTED_API int torch_distributed_reduce(
    torch::distributed::Group* group, torch::distributed::Call call, char* data, size_t elements, const char* dtype,
    const char* operation, int root);
// Within this process: `data` is reduced with `other`.
TORCH_DISTRIBUTED_API int torch_distributed_combine(
    char* data, const char* other, size_t elements, const char* dtype, const char* operation);
// `size` bytes of each member.
TORCH_DISTRIBUTED_API int torch_distributed_allgather(
    torch::distributed::Group* group, torch::distributed::Call call, char* input, char* output, size_t size);
TORCH_DISTRIBUTED_API int torch_distributed_gather(
    torch::distributed::Group* group, torch::distributed::Call call, char* input, char* output, size_t size, int root);
TORCH_DISTRIBUTED_API int torch_distributed_scatter(
    torch::distributed::Group* group, torch::distributed::Call call, char* input, char* output, size_t size, int root);
// `input_sizes` and `output_sizes`: bytes to and from each member.
TORCH_DISTRIBUTED_API int torch_distributed_alltoall(
    torch::distributed::Group* group, torch::distributed::Call call, char* input, const int64_t* input_sizes,
    char* output, const int64_t* output_sizes);

// Starts a message with a number of its own (`slot`); to, or from any of, `peers`.
TORCH_DISTRIBUTED_API int torch_distributed_send(
    torch::distributed::Group* group, char* data, size_t size, int peer, uint64_t slot,
    torch::distributed::Transfer** transfer);
TORCH_DISTRIBUTED_API int torch_distributed_receive_from(
    torch::distributed::Group* group, char* data, size_t size, const int* peers, size_t count, uint64_t slot,
    torch::distributed::Transfer** transfer);
// Waits until it has arrived; `peer` gets the rank at the other end.
TORCH_DISTRIBUTED_API int torch_distributed_wait(
    torch::distributed::Transfer* transfer, int64_t timeout_milliseconds, int* peer);
TORCH_DISTRIBUTED_API void torch_distributed_release(torch::distributed::Transfer* transfer);
