// Collectives of NCCL, for torch/distributed/_nccl.py: work on a stream, on memory of a device. Which device is the
// current one, streams and events are torch.cuda's business. A function that returns a Status does as
// torch_distributed.h says.
#include <torch/lib/libtorch_distributed/status.h>

#include <nccl.h>

#include <cstring>
#include <stdexcept>
#include <string>

using namespace torch::distributed;  // the functions below are C

static_assert(NCCL_UNIQUE_ID_BYTES == 128, "torch/distributed/_engine.py makes room for a unique id of 128 bytes");

namespace {

void check(ncclResult_t result, ncclComm_t communicator = nullptr) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  std::string text = std::string("NCCL: ") + ncclGetErrorString(result);
  const char* detail = ncclGetLastError(communicator);
  if (detail != nullptr && *detail != '\0') text += std::string(" (") + detail + ")";
  throw std::runtime_error(text);
}

// How elements of one of our types are reduced: as so many of NCCL's.
struct Type {
  const char* name;
  ncclDataType_t type;
  size_t parts;
};

constexpr Type kTypes[] = {
    {"bool", ncclUint8, 1},       {"uint8", ncclUint8, 1},       {"int8", ncclInt8, 1},
    {"int32", ncclInt32, 1},      {"uint32", ncclUint32, 1},     {"int64", ncclInt64, 1},
    {"uint64", ncclUint64, 1},    {"float16", ncclFloat16, 1},   {"bfloat16", ncclBfloat16, 1},
    {"float32", ncclFloat32, 1},  {"float64", ncclFloat64, 1},   {"complex64", ncclFloat32, 2},
    {"complex128", ncclFloat64, 2},
};

struct Reduction {
  ncclDataType_t type;
  ncclRedOp_t operation;
  size_t parts;
};

Reduction find_reduction(const char* dtype, const char* operation) {
  struct Operation {
    const char* name;
    ncclRedOp_t operation, of_booleans;
  };
  // A byte that is 0 or 1 stays one: the sum of booleans is their largest, the product their smallest.
  constexpr Operation operations[] = {
      {"sum", ncclSum, ncclMax}, {"product", ncclProd, ncclMin}, {"min", ncclMin, ncclMin}, {"max", ncclMax, ncclMax},
      {"avg", ncclAvg, ncclNumOps},
  };
  const bool is_bool = std::strcmp(dtype, "bool") == 0;
  for (const Type& type : kTypes) {
    if (std::strcmp(type.name, dtype) != 0) continue;
    for (const Operation& known : operations) {
      const ncclRedOp_t found = is_bool ? known.of_booleans : known.operation;
      if (std::strcmp(known.name, operation) != 0 || found == ncclNumOps) continue;
      if (type.parts == 2 && found != ncclSum && found != ncclAvg) continue;  // NCCL does not know that they are pairs
      return {type.type, found, type.parts};
    }
  }
  throw std::invalid_argument(std::string("tensors of ") + dtype + " cannot be reduced by " + operation);
}

}  // namespace

TORCH_DISTRIBUTED_API int torch_distributed_nccl_version(int* version) {
  return guarded([&] { check(ncclGetVersion(version)); });
}

// Whether there is such a reduction, which the members are asked before any of them waits for another.
TORCH_DISTRIBUTED_API int torch_distributed_nccl_takes(const char* dtype, const char* operation) {
  return guarded([&] { find_reduction(dtype, operation); });
}

TORCH_DISTRIBUTED_API int torch_distributed_nccl_unique_id(char* bytes) {
  return guarded([&] {
    ncclUniqueId id;
    check(ncclGetUniqueId(&id));
    std::memcpy(bytes, id.internal, sizeof id.internal);
  });
}

// All members call it, with the id that one of them has made; on the current device.
TORCH_DISTRIBUTED_API int torch_distributed_nccl_connect(const char* bytes, int rank, int size,
                                                         ncclComm_t* communicator) {
  return guarded([&] {
    ncclUniqueId id;
    std::memcpy(id.internal, bytes, sizeof id.internal);
    check(ncclCommInitRank(communicator, size, id, rank));
  });
}

// What has gone wrong with work that was begun.
TORCH_DISTRIBUTED_API int torch_distributed_nccl_state(ncclComm_t communicator) {
  return guarded([&] {
    ncclResult_t state = ncclSuccess;
    check(ncclCommGetAsyncError(communicator, &state));
    check(state, communicator);
  });
}

// Ends all work of the communicator, whatever it waits for, and the communicator.
TORCH_DISTRIBUTED_API int torch_distributed_nccl_abort(ncclComm_t communicator) {
  return guarded([&] { check(ncclCommAbort(communicator)); });
}

// Ends it when its work is done.
TORCH_DISTRIBUTED_API int torch_distributed_nccl_close(ncclComm_t communicator) {
  return guarded([&] { check(ncclCommDestroy(communicator)); });
}

// Calls between these two are one: their order does not matter.
TORCH_DISTRIBUTED_API int torch_distributed_nccl_begin() {
  return guarded([] { check(ncclGroupStart()); });
}

TORCH_DISTRIBUTED_API int torch_distributed_nccl_end() {
  return guarded([] { check(ncclGroupEnd()); });
}

TORCH_DISTRIBUTED_API int torch_distributed_nccl_broadcast(
    ncclComm_t communicator, cudaStream_t stream, void* data, size_t size, int root) {
  return guarded([&] { check(ncclBroadcast(data, data, size, ncclUint8, root, communicator, stream), communicator); });
}

TORCH_DISTRIBUTED_API int torch_distributed_nccl_allreduce(
    ncclComm_t communicator, cudaStream_t stream, void* data, size_t elements, const char* dtype,
    const char* operation) {
  return guarded([&] {
    const Reduction by = find_reduction(dtype, operation);
    check(
        ncclAllReduce(data, data, elements * by.parts, by.type, by.operation, communicator, stream), communicator);
  });
}

TORCH_DISTRIBUTED_API int torch_distributed_nccl_reduce(
    ncclComm_t communicator, cudaStream_t stream, void* data, size_t elements, const char* dtype,
    const char* operation, int root) {
  return guarded([&] {
    const Reduction by = find_reduction(dtype, operation);
    check(
        ncclReduce(data, data, elements * by.parts, by.type, by.operation, root, communicator, stream), communicator);
  });
}

// `elements` of the result; `input` has as many for each member.
TORCH_DISTRIBUTED_API int torch_distributed_nccl_reduce_scatter(
    ncclComm_t communicator, cudaStream_t stream, const void* input, void* output, size_t elements, const char* dtype,
    const char* operation) {
  return guarded([&] {
    const Reduction by = find_reduction(dtype, operation);
    check(
        ncclReduceScatter(input, output, elements * by.parts, by.type, by.operation, communicator, stream),
        communicator);
  });
}

// `size` bytes of each member.
TORCH_DISTRIBUTED_API int torch_distributed_nccl_allgather(
    ncclComm_t communicator, cudaStream_t stream, const void* input, void* output, size_t size) {
  return guarded([&] { check(ncclAllGather(input, output, size, ncclUint8, communicator, stream), communicator); });
}

TORCH_DISTRIBUTED_API int torch_distributed_nccl_send(
    ncclComm_t communicator, cudaStream_t stream, const void* data, size_t size, int peer) {
  return guarded([&] { check(ncclSend(data, size, ncclUint8, peer, communicator, stream), communicator); });
}

TORCH_DISTRIBUTED_API int torch_distributed_nccl_receive(
    ncclComm_t communicator, cudaStream_t stream, void* data, size_t size, int peer) {
  return guarded([&] { check(ncclRecv(data, size, ncclUint8, peer, communicator, stream), communicator); });
}
