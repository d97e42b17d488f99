// Batches of calls between processes: the messages of each go over sockets, to and from all others at the same time.

#include "nccl_communicator.h"

#include "queue.h"
#include "random.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>

using namespace cuda_emulation;

namespace {

constexpr int kDelay = 3;  // milliseconds, at most, until a device begins

std::string describe(const Header& header) {
  return std::string(header.call) + " of " + std::to_string(header.bytes) + " bytes, type " +
         std::to_string(header.type) + ", operation " + std::to_string(header.operation) + ", root " +
         std::to_string(header.root);
}

bool same(const Header& a, const Header& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// Reads and writes what can be; false: the other end is gone, or says something else.
bool progress(ncclComm& communicator, int peer) {
  Connection& connection = communicator.connections[peer];
  while (connection.gone < connection.going.size()) {
    const ssize_t sent = send(
        connection.socket, connection.going.data() + connection.gone, connection.going.size() - connection.gone,
        MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (sent < 0) {
      communicator.fail(ncclRemoteError, "rank " + std::to_string(peer) + " is gone");
      return false;
    }
    connection.gone += sent;
  }
  while (!connection.coming.empty()) {
    Message& message = *connection.coming.front();
    const bool in_header = connection.header_read < sizeof(Header);
    char* place = in_header ? reinterpret_cast<char*>(&connection.header) + connection.header_read
                            : message.data.data() + connection.data_read;
    const size_t left =
        in_header ? sizeof(Header) - connection.header_read : message.data.size() - connection.data_read;
    if (left > 0) {
      const ssize_t read = recv(connection.socket, place, left, MSG_DONTWAIT);
      if (read < 0 && (errno == EAGAIN || errno == EINTR)) return true;
      if (read <= 0) {
        communicator.fail(ncclRemoteError, "rank " + std::to_string(peer) + " is gone");
        return false;
      }
      (in_header ? connection.header_read : connection.data_read) += read;
    }
    if (in_header && connection.header_read == sizeof(Header) && !same(connection.header, message.header)) {
      communicator.fail(
          ncclSuccess, "expects from rank " + std::to_string(peer) + " " + describe(message.header) + ", gets " +
                           describe(connection.header));
      return false;
    }
    if (connection.header_read == sizeof(Header) && connection.data_read == message.data.size()) {
      connection.coming.pop_front();
      connection.header_read = connection.data_read = 0;
    }
  }
  return true;
}

}  // namespace

// False: it did not come to an end.
bool ncclComm::exchange(Batch& batch) {
  std::deque<std::vector<char>> to_self;
  for (Call& call : batch.calls) {
    call.fill(call);
    for (const Message& message : call.sends) {
      if (message.peer == rank) {
        to_self.push_back(message.data);
        continue;
      }
      std::vector<char>& going = connections[message.peer].going;
      const auto* header = reinterpret_cast<const char*>(&message.header);
      going.insert(going.end(), header, header + sizeof(Header));
      going.insert(going.end(), message.data.begin(), message.data.end());
    }
  }
  for (Call& call : batch.calls) {
    for (Message& message : call.receives) {
      message.data.resize(message.header.bytes);
      if (message.peer != rank) connections[message.peer].coming.push_back(&message);
      else if (!to_self.empty()) {
        message.data = to_self.front();
        to_self.pop_front();
      }
    }
  }
  while (!aborted) {
    std::vector<pollfd> waiting;
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      if (!progress(*this, peer)) return false;
      const Connection& connection = connections[peer];
      short events = 0;
      if (connection.gone < connection.going.size()) events |= POLLOUT;
      if (!connection.coming.empty()) events |= POLLIN;
      if (events != 0) waiting.push_back({connection.socket, events, 0});
    }
    if (waiting.empty()) break;
    poll(waiting.data(), waiting.size(), 10);
  }
  for (Connection& connection : connections) {
    connection.going.clear();
    connection.gone = 0;
  }
  return !aborted;
}

void ncclComm::serve() {
  set_current_device(device);
  while (true) {
    std::shared_ptr<Batch> batch;
    {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [this] { return closing || !batches.empty(); });
      if (batches.empty()) return;
      batch = batches.front();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(random_below(kDelay + 1)));
    batch->wait_for_read();
    if (aborted || !exchange(*batch)) {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [this] { return aborted.load(); });
      batch->aborted = true;
    }
    batch->arrived = true;
    wake_executor();
    batch->wait_for_end();
    const std::lock_guard<std::mutex> lock(mutex);
    batches.pop_front();
  }
}
