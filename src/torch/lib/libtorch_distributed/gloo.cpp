#include <torch/lib/libtorch_distributed/reductions.h>
#include <torch/lib/libtorch_distributed/status.h>

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/scatter.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>

#include <chrono>
#include <complex>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace torch::distributed {
namespace {

using std::chrono::milliseconds;

// The store of the process group, as gloo asks for it.
class Rendezvous : public gloo::rendezvous::Store {
 public:
  Rendezvous(StoreSet set, StoreGet get) : set_(set), get_(get) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    if (set_(key.c_str(), data.data(), data.size()) != 0) throw std::runtime_error("the store did not take " + key);
  }

  std::vector<char> get(const std::string& key) override {
    const auto known = values_.find(key);
    if (known != values_.end()) return known->second;
    std::vector<char> bytes;
    if (get_(key.c_str(), &bytes) != 0) throw std::runtime_error("the store did not give " + key);
    return values_[key] = bytes;
  }

  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) get(key);
  }
  // How long `get` waits is the store's own business.
  void wait(const std::vector<std::string>& keys, const milliseconds&) override { wait(keys); }

 private:
  StoreSet set_;
  StoreGet get_;
  std::map<std::string, std::vector<char>> values_;
};

// The ends of the connections to the other members as gloo's messages write them: "[127.0.0.1]:4711". Each member tells
// the others its own ends.
std::map<int, std::string> peer_addresses(gloo::rendezvous::Context& context, Rendezvous& store) {
  std::string own;
  for (int peer = 0; peer < context.size; ++peer) {
    if (peer != context.rank) own += context.getPair(peer)->address().str();
    own += '\n';
  }
  store.set("ends/" + std::to_string(context.rank), std::vector<char>(own.begin(), own.end()));
  std::map<int, std::string> addresses;
  for (int peer = 0; peer < context.size; ++peer) {
    if (peer == context.rank) continue;
    const std::vector<char> ends = store.get("ends/" + std::to_string(peer));
    std::istringstream lines(std::string(ends.begin(), ends.end()));
    for (int member = 0; member <= context.rank; ++member) std::getline(lines, addresses[peer]);
  }
  return addresses;
}

}  // namespace

class Group {
 public:
  std::shared_ptr<gloo::rendezvous::Context> context;
  std::map<int, std::string> addresses;

  // "[127.0.0.1]:4711" becomes "[127.0.0.1]:4711 (rank 2)".
  std::string name_ranks(std::string text) const {
    for (const auto& [rank, address] : addresses) {
      const size_t at = text.find(address);
      if (at != std::string::npos && !address.empty())
        text.insert(at + address.size(), " (rank " + std::to_string(rank) + ")");
    }
    return text;
  }
};

class Transfer {
 public:
  Group* group;
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer;
  bool is_send;
};

namespace {

// Runs `work`; what it throws names ranks.
template <typename Work>
int guarded_in(const Group* group, Work work) noexcept {
  return guarded(work, [group](std::string text) { return group->name_ranks(text); });
}

template <typename Options>
Options options_of(Group* group, Call call) {
  Options options(group->context);
  options.setTag(call.tag);
  options.setTimeout(milliseconds(call.timeout_milliseconds));
  return options;
}

// Reduces `data` where it lies. gloo takes an element's size from a pointer's type, and needs no more of it.
template <typename Options>
void describe(Options& options, char* data, size_t elements, size_t element_size) {
  const auto as = [&](auto* typed) {
    options.setInput(typed, elements);
    options.setOutput(typed, elements);
  };
  switch (element_size) {
    case 1: return as(reinterpret_cast<uint8_t*>(data));
    case 2: return as(reinterpret_cast<uint16_t*>(data));
    case 4: return as(reinterpret_cast<uint32_t*>(data));
    case 8: return as(reinterpret_cast<uint64_t*>(data));
    default: return as(reinterpret_cast<std::complex<double>*>(data));
  }
}

// Up to this many bytes of all members together, one of them computes the sum and tells it to the others. gloo's ring
// cuts a tensor into two parts for each member, all of which go around twice: that pays for large ones only.
constexpr size_t kGatheredBytes = 1 << 19;

void gather_to(Group* group, Call call, char* input, char* output, size_t size, int root) {
  auto options = options_of<gloo::GatherOptions>(group, call);
  options.setInput(input, size);
  if (group->context->rank == root) options.setOutput(output, size * group->context->size);
  options.setRoot(root);
  gloo::gather(options);
}

void broadcast_from(Group* group, Call call, char* data, size_t size, int root) {
  auto options = options_of<gloo::BroadcastOptions>(group, call);
  options.setOutput(data, size);
  options.setRoot(root);
  gloo::broadcast(options);
}

void allreduce_by_one(Group* group, Call call, char* data, size_t elements, const ReductionEntry& reduction) {
  const size_t size = elements * reduction.element_size;
  std::vector<char> rows(group->context->rank == 0 ? size * group->context->size : 0);
  gather_to(group, call, data, rows.data(), size, 0);
  for (size_t row = size; row < rows.size(); row += size) {
    reduction.reduce(data, row == size ? rows.data() : data, rows.data() + row, elements);
  }
  broadcast_from(group, call, data, size, 0);
}

}  // namespace
}  // namespace torch::distributed

using namespace torch::distributed;  // the functions below are C

int torch_distributed_connect(
    int rank, int size, const char* host, const char* interface, int64_t timeout_milliseconds, StoreSet set,
    StoreGet get, Group** group) {
  return guarded([&] {
    gloo::transport::tcp::attr where;
    where.hostname = host;
    where.iface = interface;
    std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(where);
    auto made = std::make_unique<Group>();
    made->context = std::make_shared<gloo::rendezvous::Context>(rank, size);
    made->context->setTimeout(milliseconds(timeout_milliseconds));
    Rendezvous store(set, get);
    made->context->connectFullMesh(store, device);
    made->addresses = peer_addresses(*made->context, store);
    *group = made.release();
  });
}

void torch_distributed_abort(Group* group) {
  guarded_in(group, [&] { group->context->closeConnections(); });
}

void torch_distributed_close(Group* group) { delete group; }

int torch_distributed_barrier(Group* group, Call call) {
  return guarded_in(group, [&] {
    auto options = options_of<gloo::BarrierOptions>(group, call);
    gloo::barrier(options);
  });
}

int torch_distributed_broadcast(Group* group, Call call, char* data, size_t size, int root) {
  return guarded_in(group, [&] { broadcast_from(group, call, data, size, root); });
}

int torch_distributed_allreduce(
    Group* group, Call call, char* data, size_t elements, const char* dtype, const char* operation) {
  return guarded_in(group, [&] {
    const ReductionEntry reduction = find_reduction(dtype, operation);
    if (elements * reduction.element_size * group->context->size <= kGatheredBytes) {
      return allreduce_by_one(group, call, data, elements, reduction);
    }
    auto options = options_of<gloo::AllreduceOptions>(group, call);
    options.setReduceFunction(reduction.reduce);
    describe(options, data, elements, reduction.element_size);
    gloo::allreduce(options);
  });
}

int torch_distributed_reduce(
    Group* group, Call call, char* data, size_t elements, const char* dtype, const char* operation, int root) {
  return guarded_in(group, [&] {
    const ReductionEntry reduction = find_reduction(dtype, operation);
    auto options = options_of<gloo::ReduceOptions>(group, call);
    options.setReduceFunction(reduction.reduce);
    options.setRoot(root);
    describe(options, data, elements, reduction.element_size);
    gloo::reduce(options);
  });
}

int torch_distributed_allgather(Group* group, Call call, char* input, char* output, size_t size) {
  return guarded_in(group, [&] {
    auto options = options_of<gloo::AllgatherOptions>(group, call);
    options.setInput(input, size);
    options.setOutput(output, size * group->context->size);
    gloo::allgather(options);
  });
}

int torch_distributed_gather(Group* group, Call call, char* input, char* output, size_t size, int root) {
  return guarded_in(group, [&] { gather_to(group, call, input, output, size, root); });
}

int torch_distributed_scatter(Group* group, Call call, char* input, char* output, size_t size, int root) {
  return guarded_in(group, [&] {
    auto options = options_of<gloo::ScatterOptions>(group, call);
    if (group->context->rank == root) {
      std::vector<char*> inputs;
      for (int peer = 0; peer < group->context->size; ++peer) inputs.push_back(input + peer * size);
      options.setInputs(inputs, size);
    }
    options.setOutput(output, size);
    options.setRoot(root);
    gloo::scatter(options);
  });
}

int torch_distributed_alltoall(
    Group* group, Call call, char* input, const int64_t* input_sizes, char* output, const int64_t* output_sizes) {
  return guarded_in(group, [&] {
    const int members = group->context->size;
    auto options = options_of<gloo::AlltoallvOptions>(group, call);
    options.setInput(input, std::vector<int64_t>(input_sizes, input_sizes + members));
    options.setOutput(output, std::vector<int64_t>(output_sizes, output_sizes + members));
    gloo::alltoallv(options);
  });
}

int torch_distributed_send(Group* group, char* data, size_t size, int peer, uint64_t slot, Transfer** transfer) {
  return guarded_in(group, [&] {
    auto made = std::make_unique<Transfer>(Transfer{group, group->context->createUnboundBuffer(data, size), true});
    made->buffer->send(peer, slot);
    *transfer = made.release();
  });
}

int torch_distributed_receive_from(
    Group* group, char* data, size_t size, const int* peers, size_t count, uint64_t slot, Transfer** transfer) {
  return guarded_in(group, [&] {
    auto made = std::make_unique<Transfer>(Transfer{group, group->context->createUnboundBuffer(data, size), false});
    made->buffer->recv(std::vector<int>(peers, peers + count), slot);
    *transfer = made.release();
  });
}

int torch_distributed_wait(Transfer* transfer, int64_t timeout_milliseconds, int* peer) {
  return guarded_in(transfer->group, [&] {
    const milliseconds timeout(timeout_milliseconds);
    const bool arrived =
        transfer->is_send ? transfer->buffer->waitSend(peer, timeout) : transfer->buffer->waitRecv(peer, timeout);
    if (!arrived) throw std::runtime_error("the transfer was aborted");
  });
}

void torch_distributed_release(Transfer* transfer) { delete transfer; }
