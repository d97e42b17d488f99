#pragma once
// What libshm and torch_shm_manager say to one another: fixed messages over a stream socket, each answered by one byte.

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <unistd.h>

namespace libshm {

enum class Request : uint8_t {
  Use = 1,      // this process uses the name
  Release = 2,  // it does no more
  Hold = 3,     // the name is on its way to another process
  Take = 4,     // it has arrived: Use, and one hold less
};

constexpr size_t kNameSize = 63;
struct Message {
  Request request;
  char name[kNameSize];  // ends with a zero
};
static_assert(sizeof(Message) == 64, "both sides agree on 64 bytes");

constexpr char kDone = 'k';
constexpr char kUnknownName = 'u';

// Reads or writes all of it; false at the end of the stream or on an error.
inline bool read_all(int file, void* data, size_t bytes) {
  auto* position = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t count = ::read(file, position, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    position += count;
    bytes -= static_cast<size_t>(count);
  }
  return true;
}
inline bool write_all(int file, const void* data, size_t bytes) {
  const auto* position = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t count = ::write(file, position, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    position += count;
    bytes -= static_cast<size_t>(count);
  }
  return true;
}

}  // namespace libshm
