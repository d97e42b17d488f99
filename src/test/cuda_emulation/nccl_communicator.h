// What the members of a communicator send to one another, and who sends it.

#pragma once

#include <nccl.h>

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace cuda_emulation {

// What both ends of a message must say alike.
struct Header {
  char call[16] = {};
  int32_t type = 0, operation = 0, root = 0, unused = 0;  // no gap: compared as bytes
  uint64_t bytes = 0;
};

struct Message {
  int peer;
  Header header;
  std::vector<char> data;
};

// One call: bytes of the device, messages, and what becomes of them.
struct Call {
  const void* input = nullptr;
  void* output = nullptr;
  std::vector<char> own;  // what was read from `input`
  size_t input_bytes = 0, output_bytes = 0;
  std::vector<Message> sends, receives;  // a send's data is made by `fill`
  std::function<void(Call&)> fill;
  std::function<std::vector<char>(Call&)> compute;  // the output; none: there is none here
};

// Calls of one group on one stream, which go together.
struct Batch {
  std::vector<Call> calls;
  std::atomic<bool> read{false}, arrived{false};
  bool aborted = false;
  std::function<void()> wait_for_read, wait_for_end;
};

struct Connection {
  int socket = -1;
  std::vector<char> going;
  size_t gone = 0;
  std::deque<Message*> coming;
  Header header;
  size_t header_read = 0, data_read = 0;
};

}  // namespace cuda_emulation

// A member's side of a communicator: connections to the others, and a thread that works off its batches.
struct ncclComm {
  int rank = 0, size = 0, device = 0;
  std::vector<cuda_emulation::Connection> connections;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<cuda_emulation::Batch>> batches;
  std::atomic<bool> aborted{false};
  bool closing = false;
  std::atomic<ncclResult_t> error{ncclSuccess};
  std::thread thread;

  void serve();
  bool exchange(cuda_emulation::Batch& batch);
  void fail(ncclResult_t code, const std::string& text) {
    std::fprintf(stderr, "CUDA emulation: NCCL of rank %d: %s; a device would wait for ever\n", rank, text.c_str());
    error = code;
  }
  ~ncclComm() {
    for (const cuda_emulation::Connection& connection : connections) {
      if (connection.socket >= 0) close(connection.socket);
    }
  }
};
