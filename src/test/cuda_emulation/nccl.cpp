// NCCL between processes of this machine. The members of a communicator are connected with one another by sockets; each
// of them sends what it has to all who need it, and computes alone. A call is two pieces of its stream's work, one that
// reads the device's memory and one that writes it, and the communicator's thread talks to the others between them,
// after a while. What goes wrong ends as with a device: the stream stands still, and only ncclCommAbort helps.

#include "memory.h"
#include "nccl_communicator.h"
#include "queue.h"
#include "report.h"

#include <nccl.h>
#include <c10/util/Half.h>
#include <torch/lib/libtorch_distributed/reductions.h>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace cuda_emulation;

namespace {

constexpr int kVersion = 22707;
constexpr auto kConnecting = std::chrono::seconds(60);

struct Type {
  const char* name;
  size_t size;
};
constexpr Type kTypes[] = {{"int8", 1},  {"uint8", 1},   {"int32", 4},   {"uint32", 4},  {"int64", 8},
                           {"uint64", 8}, {"float16", 2}, {"float32", 4}, {"float64", 8}, {"bfloat16", 2}};
constexpr const char* kOperations[] = {"sum", "product", "max", "min", "sum"};

thread_local int group_depth = 0;
struct Begun {
  ncclComm_t communicator;
  cudaStream_t stream;
  Call call;
};
thread_local std::vector<Begun> begun;
thread_local std::string last_error;

ncclResult_t refuse(ncclResult_t code, const std::string& text) {
  last_error = text;
  return code;
}

class DeviceScope {
 public:
  explicit DeviceScope(int device) : before_(current_device()) { set_current_device(device); }
  ~DeviceScope() { set_current_device(before_); }

 private:
  int before_;
};

ncclResult_t enqueue_batch(ncclComm_t communicator, cudaStream_t stream, const std::shared_ptr<Batch>& batch) {
  const DeviceScope scope(communicator->device);
  const cudaError_t read = enqueue_when(
      stream, [] { return true; },
      [batch] {
        for (Call& call : batch->calls) {
          const auto* from = static_cast<const char*>(call.input);
          call.own.assign(from, from + call.input_bytes);
        }
        return cudaSuccess;
      },
      &batch->wait_for_read);
  if (read != cudaSuccess) return refuse(ncclUnhandledCudaError, cudaGetErrorString(read));
  const cudaError_t written = enqueue_when(
      stream, [batch] { return batch->arrived.load(); },
      [batch] {
        if (batch->aborted) return cudaSuccess;
        for (Call& call : batch->calls) {
          if (!call.compute) continue;
          const std::vector<char> result = call.compute(call);
          std::memcpy(call.output, result.data(), result.size());
        }
        return cudaSuccess;
      },
      &batch->wait_for_end);
  if (written != cudaSuccess) return refuse(ncclUnhandledCudaError, cudaGetErrorString(written));
  const std::lock_guard<std::mutex> lock(communicator->mutex);
  communicator->batches.push_back(batch);
  communicator->changed.notify_all();
  return ncclSuccess;
}

ncclResult_t start(ncclComm_t communicator, cudaStream_t stream, Call call) {
  for (const auto& [data, bytes] :
       {std::pair<const void*, size_t>{call.input, call.input_bytes}, {call.output, call.output_bytes}}) {
    if (bytes > 0 && !is_device_memory(data, bytes, communicator->device)) {
      return refuse(ncclInvalidArgument,
                    std::to_string(bytes) + " bytes are not memory of device " + std::to_string(communicator->device));
    }
  }
  if (communicator->aborted) return refuse(ncclInvalidUsage, "the communicator was aborted");
  begun.push_back({communicator, stream, std::move(call)});
  return group_depth > 0 ? ncclSuccess : (++group_depth, ncclGroupEnd());
}

Header header_of(const char* call, size_t bytes, int type, int operation = 0, int root = 0) {
  Header header;
  std::snprintf(header.call, sizeof header.call, "%s", call);
  header.type = type;
  header.operation = operation;
  header.root = root;
  header.bytes = bytes;
  return header;
}

template <typename T>
void divide(std::vector<char>& data, size_t elements, int by) {
  auto* values = reinterpret_cast<T*>(data.data());
  for (size_t i = 0; i < elements; ++i) values[i] = static_cast<T>(values[i] / static_cast<T>(by));
}

// The rows of all members in order, of which this one's is in `own` at `offset`, become one.
std::vector<char> reduce_rows(Call& call, int rank, int size, size_t offset, size_t bytes, ncclDataType_t type,
                              ncclRedOp_t operation) {
  const size_t elements = bytes / kTypes[type].size;
  const auto entry = torch::distributed::find_reduction(kTypes[type].name, kOperations[operation]);
  std::vector<char> result;
  size_t next = 0;
  for (int member = 0; member < size; ++member) {
    const char* row = member == rank ? call.own.data() + offset : call.receives[next++].data.data();
    if (member == 0) result.assign(row, row + bytes);
    else entry.reduce(result.data(), result.data(), row, elements);
  }
  if (operation == ncclAvg) {
    switch (type) {
      case ncclInt8: divide<int8_t>(result, elements, size); break;
      case ncclUint8: divide<uint8_t>(result, elements, size); break;
      case ncclInt32: divide<int32_t>(result, elements, size); break;
      case ncclUint32: divide<uint32_t>(result, elements, size); break;
      case ncclInt64: divide<int64_t>(result, elements, size); break;
      case ncclUint64: divide<uint64_t>(result, elements, size); break;
      case ncclFloat16: divide<c10::Half>(result, elements, size); break;
      case ncclBfloat16: divide<c10::BFloat16>(result, elements, size); break;
      case ncclFloat32: divide<float>(result, elements, size); break;
      case ncclFloat64: divide<double>(result, elements, size); break;
    }
  }
  return result;
}

void send_all(Call& call) {
  for (Message& message : call.sends) message.data = call.own;
}

sockaddr_un address_of(const ncclUniqueId& id, int rank, socklen_t* length) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;  // in the namespace that is no file system's: the name starts with a zero
  const int size = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s-%d", id.internal, rank);
  *length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  return address;
}

int connect_to(const ncclUniqueId& id, int peer, int rank) {
  const auto end = std::chrono::steady_clock::now() + kConnecting;
  socklen_t length = 0;
  const sockaddr_un address = address_of(id, peer, &length);
  while (std::chrono::steady_clock::now() < end) {
    const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(made, reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
        write(made, &rank, sizeof rank) == sizeof rank)
      return made;
    close(made);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return -1;
}

}  // namespace

ncclResult_t ncclGetVersion(int* version) {
  *version = kVersion;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  constexpr const char* texts[] = {"no error",
                                   "unhandled cuda error",
                                   "unhandled system error",
                                   "internal error",
                                   "invalid argument",
                                   "invalid usage",
                                   "remote process exited or there was a network error",
                                   "NCCL operation in progress"};
  return texts[result];
}

const char* ncclGetLastError(ncclComm_t) { return last_error.c_str(); }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  *id = {};
  std::snprintf(id->internal, sizeof id->internal, "nccl-emulation-%d-%08x%08x", getpid(), std::random_device()(),
                std::random_device()());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int size, ncclUniqueId id, int rank) {
  if (rank < 0 || rank >= size)
    return refuse(ncclInvalidArgument, "rank " + std::to_string(rank) + " of " + std::to_string(size));
  if (const cudaError_t error = device_error(current_device()))
    return refuse(ncclUnhandledCudaError, cudaGetErrorString(error));
  auto made = std::make_unique<ncclComm>();
  made->rank = rank;
  made->size = size;
  made->device = current_device();
  made->connections.resize(size);
  socklen_t length = 0;
  const sockaddr_un own = address_of(id, rank, &length);
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool is_connected =
      bind(listener, reinterpret_cast<const sockaddr*>(&own), length) == 0 && listen(listener, size) == 0;
  for (int peer = 0; is_connected && peer < rank; ++peer) {
    made->connections[peer].socket = connect_to(id, peer, rank);
    is_connected = made->connections[peer].socket >= 0;
  }
  for (int left = size - rank - 1; is_connected && left > 0; --left) {
    pollfd waiting{listener, POLLIN, 0};
    int peer = -1;
    const int milliseconds = std::chrono::milliseconds(kConnecting).count();
    const int accepted = poll(&waiting, 1, milliseconds) == 1 ? accept4(listener, nullptr, nullptr, SOCK_CLOEXEC) : -1;
    is_connected = accepted >= 0 && read(accepted, &peer, sizeof peer) == sizeof peer && peer > rank && peer < size;
    if (is_connected) made->connections[peer].socket = accepted;
  }
  close(listener);
  if (!is_connected) return refuse(ncclSystemError, "not all members have come");
  made->thread = std::thread(&ncclComm::serve, made.get());
  *communicator = made.release();
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* error) {
  *error = communicator->error;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  {
    const std::lock_guard<std::mutex> lock(communicator->mutex);
    communicator->aborted = communicator->closing = true;
    communicator->changed.notify_all();
  }
  communicator->thread.join();
  delete communicator;
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  {
    const std::lock_guard<std::mutex> lock(communicator->mutex);
    communicator->closing = true;
    communicator->changed.notify_all();
  }
  communicator->thread.join();
  delete communicator;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++group_depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (group_depth == 0) return refuse(ncclInvalidUsage, "the end of a group that was not begun");
  if (--group_depth > 0) return ncclSuccess;
  std::vector<Begun> calls;
  calls.swap(begun);
  std::vector<std::pair<Begun*, std::shared_ptr<Batch>>> batches;
  for (Begun& one : calls) {
    std::shared_ptr<Batch> batch;
    for (const auto& [first, known] : batches) {
      if (first->communicator == one.communicator && first->stream == one.stream) batch = known;
    }
    if (!batch) batches.emplace_back(&one, batch = std::make_shared<Batch>());
    batch->calls.push_back(std::move(one.call));
  }
  for (const auto& [first, batch] : batches) {
    const ncclResult_t result = enqueue_batch(first->communicator, first->stream, batch);
    if (result != ncclSuccess) return result;
  }
  return ncclSuccess;
}

// ---------------------------------------------------------------------------------------------------- calls

namespace {

// A call in which every member whom `sends_to` names gets all of this one's input,
// and `takes_from` says whose comes here.
Call among_all(ncclComm_t communicator, const void* input, size_t input_bytes, void* output, size_t output_bytes,
               const Header& header, bool sends(int rank, int peer, int root)) {
  Call call;
  call.input = input;
  call.output = output;
  call.input_bytes = input_bytes;
  call.output_bytes = output_bytes;
  for (int peer = 0; peer < communicator->size; ++peer) {
    if (peer == communicator->rank) continue;
    // Who has nothing to say still says what it calls: so that calls that differ are seen.
    Header theirs = header, own = header;
    own.bytes = sends(communicator->rank, peer, header.root) ? header.bytes : 0;
    theirs.bytes = sends(peer, communicator->rank, header.root) ? header.bytes : 0;
    call.sends.push_back({peer, own, {}});
    call.receives.push_back({peer, theirs, {}});
  }
  call.fill = [](Call& made) {
    for (Message& message : made.sends) {
      if (message.header.bytes > 0) message.data = made.own;
    }
  };
  return call;
}

bool always(int, int, int) { return true; }
bool from_root(int rank, int, int root) { return rank == root; }
bool to_root(int, int peer, int root) { return peer == root; }

}  // namespace

ncclResult_t ncclBroadcast(const void* input, void* output, size_t count, ncclDataType_t type, int root,
                           ncclComm_t communicator, cudaStream_t stream) {
  const size_t bytes = count * kTypes[type].size;
  const bool is_root = communicator->rank == root;
  Call call = among_all(
      communicator, input, is_root ? bytes : 0, output, bytes, header_of("Broadcast", bytes, type, 0, root), from_root);
  call.compute = [=, rank = communicator->rank](Call& made) {
    return is_root ? made.own : made.receives[root > rank ? root - 1 : root].data;
  };
  return start(communicator, stream, std::move(call));
}

ncclResult_t ncclAllReduce(
    const void* input, void* output, size_t count, ncclDataType_t type, ncclRedOp_t operation, ncclComm_t communicator,
    cudaStream_t stream) {
  const size_t bytes = count * kTypes[type].size;
  Call call =
      among_all(communicator, input, bytes, output, bytes, header_of("AllReduce", bytes, type, operation), always);
  call.compute = [=, rank = communicator->rank, size = communicator->size](Call& made) {
    return reduce_rows(made, rank, size, 0, bytes, type, operation);
  };
  return start(communicator, stream, std::move(call));
}

ncclResult_t ncclReduce(
    const void* input, void* output, size_t count, ncclDataType_t type, ncclRedOp_t operation, int root,
    ncclComm_t communicator, cudaStream_t stream) {
  const size_t bytes = count * kTypes[type].size;
  const bool is_root = communicator->rank == root;
  Call call = among_all(communicator, input, bytes, output, is_root ? bytes : 0,
                        header_of("Reduce", bytes, type, operation, root), to_root);
  if (is_root) {
    call.compute = [=, rank = communicator->rank, size = communicator->size](Call& made) {
      return reduce_rows(made, rank, size, 0, bytes, type, operation);
    };
  }
  return start(communicator, stream, std::move(call));
}

ncclResult_t ncclReduceScatter(
    const void* input, void* output, size_t count, ncclDataType_t type, ncclRedOp_t operation, ncclComm_t communicator,
    cudaStream_t stream) {
  const size_t bytes = count * kTypes[type].size;
  Call call = among_all(communicator, input, bytes * communicator->size, output, bytes,
                        header_of("ReduceScatter", bytes, type, operation), always);
  call.fill = [bytes](Call& made) {
    for (Message& message : made.sends) {
      const char* row = made.own.data() + bytes * message.peer;
      message.data.assign(row, row + bytes);
    }
  };
  call.compute = [=, rank = communicator->rank, size = communicator->size](Call& made) {
    return reduce_rows(made, rank, size, bytes * rank, bytes, type, operation);
  };
  return start(communicator, stream, std::move(call));
}

ncclResult_t ncclAllGather(
    const void* input, void* output, size_t count, ncclDataType_t type, ncclComm_t communicator, cudaStream_t stream) {
  const size_t bytes = count * kTypes[type].size;
  Call call = among_all(
      communicator, input, bytes, output, bytes * communicator->size, header_of("AllGather", bytes, type), always);
  call.compute = [=, rank = communicator->rank, size = communicator->size](Call& made) {
    std::vector<char> all;
    size_t next = 0;
    for (int member = 0; member < size; ++member) {
      const std::vector<char>& row = member == rank ? made.own : made.receives[next++].data;
      all.insert(all.end(), row.begin(), row.end());
    }
    return all;
  };
  return start(communicator, stream, std::move(call));
}

ncclResult_t ncclSend(
    const void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t communicator, cudaStream_t stream) {
  Call call;
  call.input = data;
  call.input_bytes = count * kTypes[type].size;
  call.sends.push_back({peer, header_of("Send", call.input_bytes, type), {}});
  call.fill = send_all;
  return start(communicator, stream, std::move(call));
}

ncclResult_t ncclRecv(void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t communicator,
                      cudaStream_t stream) {
  Call call;
  call.output = data;
  call.output_bytes = count * kTypes[type].size;
  call.receives.push_back({peer, header_of("Send", call.output_bytes, type), {}});
  call.fill = [](Call&) {};
  call.compute = [](Call& made) { return made.receives[0].data; };
  return start(communicator, stream, std::move(call));
}
