// The functions of torch_distributed.h on MPI. Every call is begun and then asked for until its time is over, because
// MPI itself waits for ever. Calls of one group have to come in the same order everywhere:
// MPI's collectives have no tags.
#include <torch/lib/libtorch_distributed/reductions.h>
#include <torch/lib/libtorch_distributed/status.h>

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace torch::distributed {

class Group {
 public:
  MPI_Comm communicator = MPI_COMM_NULL;
  int rank = 0;
  int size = 0;
};

class Transfer {
 public:
  MPI_Request request = MPI_REQUEST_NULL;
  int peer = -1;
};

namespace {

using Clock = std::chrono::steady_clock;

// Something ran into its time limit: what it had begun may still write into memory that is nobody's any more as soon as
// MPI gets a chance to. It gets none.
std::atomic<bool> given_up{false};
bool own_initialization = false;

void check(int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error("MPI: " + std::string(text, length));
}

void initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    int initialized = 0, level = MPI_THREAD_SINGLE;
    check(MPI_Initialized(&initialized));
    if (initialized != 0) {
      check(MPI_Query_thread(&level));
    } else {
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level));
      own_initialization = true;
    }
    if (level < MPI_THREAD_MULTIPLE) throw std::runtime_error("MPI was initialized without MPI_THREAD_MULTIPLE");
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  });
}

void check_usable() {
  if (given_up) throw std::runtime_error("MPI cannot be used any more: a call has timed out before");
}

// Asks for the end of what was begun: often at first, and then as often as the processors have nothing else to do.
void finish(MPI_Request* request, int64_t timeout_milliseconds, MPI_Status* status = MPI_STATUS_IGNORE) {
  const auto end = Clock::now() + std::chrono::milliseconds(timeout_milliseconds);
  for (int round = 0;; ++round) {
    int done = 0;
    check(MPI_Test(request, &done, status));
    if (done != 0) return;
    if (round < 1000) {
      std::this_thread::yield();
      continue;
    }
    if (Clock::now() > end) {
      given_up = true;
      throw TimedOut("timed out after " + std::to_string(timeout_milliseconds) + "ms");
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

int as_count(size_t size) {
  if (size > INT_MAX)
    throw std::invalid_argument("MPI takes at most 2 GiB at once, not " + std::to_string(size) + " bytes");
  return static_cast<int>(size);
}

// A type of MPI for each of ours, so that an operation knows what it gets: MPI has no bfloat16.
class Types {
 public:
  MPI_Datatype find(const std::string& dtype, size_t element_size) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [place, is_new] = by_name_.try_emplace(dtype, MPI_DATATYPE_NULL);
    if (is_new) {
      check(MPI_Type_contiguous(static_cast<int>(element_size), MPI_BYTE, &place->second));
      check(MPI_Type_commit(&place->second));
      names_[place->second] = dtype;
    }
    return place->second;
  }

  std::string name(MPI_Datatype type) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return names_.at(type);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, MPI_Datatype> by_name_;
  std::map<MPI_Datatype, std::string> names_;
};

Types types;

constexpr const char* kOperations[] = {"sum", "product", "min", "max", "band", "bor", "bxor"};

template <size_t number>
void reduce(void* input, void* result, int* count, MPI_Datatype* type) {
  find_reduction(types.name(*type).c_str(), kOperations[number]).reduce(result, result, input, *count);
}

template <size_t... numbers>
MPI_Op find_operation(const std::string& operation, std::index_sequence<numbers...>) {
  static const std::vector<MPI_Op> made = [] {
    std::vector<MPI_Op> operations(sizeof...(numbers));
    (check(MPI_Op_create(reduce<numbers>, 1, &operations[numbers])), ...);
    return operations;
  }();
  MPI_Op found = MPI_OP_NULL;
  ((operation == kOperations[numbers] ? void(found = made[numbers]) : void()), ...);
  return found;
}

MPI_Op find_operation(const char* operation) {
  return find_operation(operation, std::make_index_sequence<std::size(kOperations)>());
}

// Tags of messages are numbers up to a limit of MPI's.
int tag_of(uint64_t slot) {
  void* limit = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &found));
  return static_cast<int>((slot ^ slot >> 31) % static_cast<uint64_t>(*static_cast<int*>(limit)));
}

// Runs `begin(request)`, and waits for the end.
template <typename Begin>
int collective(Call call, Begin begin) {
  return guarded([&] {
    check_usable();
    MPI_Request request = MPI_REQUEST_NULL;
    check(begin(&request));
    finish(&request, call.timeout_milliseconds);
  });
}

}  // namespace
}  // namespace torch::distributed

using namespace torch::distributed;  // the functions below are C

int torch_distributed_world(int* rank, int* size) {
  return guarded([&] {
    initialize();
    check(MPI_Comm_rank(MPI_COMM_WORLD, rank));
    check(MPI_Comm_size(MPI_COMM_WORLD, size));
  });
}

int torch_distributed_share(char* data, size_t size, int64_t timeout_milliseconds) {
  return collective({0, timeout_milliseconds}, [&](MPI_Request* request) {
    return MPI_Ibcast(data, as_count(size), MPI_BYTE, 0, MPI_COMM_WORLD, request);
  });
}

void torch_distributed_finalize() {
  int finalized = 0;
  if (own_initialization && !given_up && MPI_Finalized(&finalized) == MPI_SUCCESS && finalized == 0) MPI_Finalize();
}

int torch_distributed_connect(
    int rank, int size, const char*, const char*, int64_t, StoreSet set, StoreGet get, Group** group) {
  return guarded([&] {
    int world_rank = 0, world_size = 0;
    if (torch_distributed_world(&world_rank, &world_size) != kDone) throw std::runtime_error(last_error);
    check_usable();
    const std::string own = std::to_string(world_rank);
    if (set(("mpi/" + std::to_string(rank)).c_str(), own.data(), own.size()) != 0) {
      throw std::runtime_error("the store did not take this member's number");
    }
    std::vector<int> members;
    for (int member = 0; member < size; ++member) {
      std::vector<char> bytes;
      if (get(("mpi/" + std::to_string(member)).c_str(), &bytes) != 0) {
        throw std::runtime_error("the store did not give the number of member " + std::to_string(member));
      }
      members.push_back(std::stoi(std::string(bytes.begin(), bytes.end())));
    }
    MPI_Group everybody = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
    check(MPI_Comm_group(MPI_COMM_WORLD, &everybody));
    check(MPI_Group_incl(everybody, size, members.data(), &some));
    auto made = std::make_unique<Group>();
    made->rank = rank;
    made->size = size;
    check(MPI_Comm_create_group(MPI_COMM_WORLD, some, 0, &made->communicator));
    check(MPI_Comm_set_errhandler(made->communicator, MPI_ERRORS_RETURN));
    MPI_Group_free(&some);
    MPI_Group_free(&everybody);
    *group = made.release();
  });
}

// Nobody can be called back from MPI: the others run into their time limits.
void torch_distributed_abort(Group*) { given_up = true; }

// Communicators are left to MPI_Finalize: to free one is a call of all members.
void torch_distributed_close(Group* group) { delete group; }

int torch_distributed_barrier(Group* group, Call call) {
  return collective(call, [&](MPI_Request* request) { return MPI_Ibarrier(group->communicator, request); });
}

int torch_distributed_broadcast(Group* group, Call call, char* data, size_t size, int root) {
  return collective(call, [&](MPI_Request* request) {
    return MPI_Ibcast(data, as_count(size), MPI_BYTE, root, group->communicator, request);
  });
}

int torch_distributed_allreduce(
    Group* group, Call call, char* data, size_t elements, const char* dtype, const char* operation) {
  return collective(call, [&](MPI_Request* request) {
    const MPI_Datatype type = types.find(dtype, find_reduction(dtype, operation).element_size);
    return MPI_Iallreduce(
        MPI_IN_PLACE, data, as_count(elements), type, find_operation(operation), group->communicator, request);
  });
}

int torch_distributed_reduce(
    Group* group, Call call, char* data, size_t elements, const char* dtype, const char* operation, int root) {
  return collective(call, [&](MPI_Request* request) {
    const MPI_Datatype type = types.find(dtype, find_reduction(dtype, operation).element_size);
    const void* input = group->rank == root ? MPI_IN_PLACE : data;
    return MPI_Ireduce(
        input, data, as_count(elements), type, find_operation(operation), root, group->communicator, request);
  });
}

int torch_distributed_allgather(Group* group, Call call, char* input, char* output, size_t size) {
  return collective(call, [&](MPI_Request* request) {
    const int count = as_count(size);
    return MPI_Iallgather(input, count, MPI_BYTE, output, count, MPI_BYTE, group->communicator, request);
  });
}

int torch_distributed_gather(Group* group, Call call, char* input, char* output, size_t size, int root) {
  return collective(call, [&](MPI_Request* request) {
    const int count = as_count(size);
    return MPI_Igather(input, count, MPI_BYTE, output, count, MPI_BYTE, root, group->communicator, request);
  });
}

int torch_distributed_scatter(Group* group, Call call, char* input, char* output, size_t size, int root) {
  return collective(call, [&](MPI_Request* request) {
    const int count = as_count(size);
    return MPI_Iscatter(input, count, MPI_BYTE, output, count, MPI_BYTE, root, group->communicator, request);
  });
}

int torch_distributed_alltoall(
    Group* group, Call call, char* input, const int64_t* input_sizes, char* output, const int64_t* output_sizes) {
  // Until the end of the call: MPI reads them when it likes.
  std::vector<int> counts[2], places[2];
  return collective(call, [&](MPI_Request* request) {
    for (const int side : {0, 1}) {
      const int64_t* sizes = side == 0 ? input_sizes : output_sizes;
      size_t total = 0;
      for (int member = 0; member < group->size; ++member) {
        places[side].push_back(as_count(total));
        counts[side].push_back(as_count(sizes[member]));
        total += sizes[member];
      }
    }
    return MPI_Ialltoallv(
        input, counts[0].data(), places[0].data(), MPI_BYTE, output, counts[1].data(), places[1].data(), MPI_BYTE,
        group->communicator, request);
  });
}

int torch_distributed_send(Group* group, char* data, size_t size, int peer, uint64_t slot, Transfer** transfer) {
  return guarded([&] {
    check_usable();
    auto made = std::make_unique<Transfer>();
    made->peer = peer;
    check(MPI_Isend(data, as_count(size), MPI_BYTE, peer, tag_of(slot), group->communicator, &made->request));
    *transfer = made.release();
  });
}

int torch_distributed_receive_from(
    Group* group, char* data, size_t size, const int* peers, size_t count, uint64_t slot, Transfer** transfer) {
  return guarded([&] {
    check_usable();
    auto made = std::make_unique<Transfer>();
    const int peer = count == 1 ? peers[0] : MPI_ANY_SOURCE;  // one, or all others
    check(MPI_Irecv(data, as_count(size), MPI_BYTE, peer, tag_of(slot), group->communicator, &made->request));
    *transfer = made.release();
  });
}

int torch_distributed_wait(Transfer* transfer, int64_t timeout_milliseconds, int* peer) {
  return guarded([&] {
    check_usable();
    MPI_Status status;
    finish(&transfer->request, timeout_milliseconds, &status);
    *peer = transfer->peer >= 0 ? transfer->peer : status.MPI_SOURCE;
  });
}

void torch_distributed_release(Transfer* transfer) {
  if (transfer->request != MPI_REQUEST_NULL && !given_up) {
    if (transfer->peer < 0) MPI_Cancel(&transfer->request);  // a message that nobody waits for is not received
    MPI_Request_free(&transfer->request);
  }
  delete transfer;
}
