#include <torch/lib/libshm/libshm.h>

#include <torch/lib/libshm/manager_client.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace libshm {

namespace {

// One mapping in this process.
struct Mapping {
  Handle handle;
  void* data;
  pid_t owner;
};

// By address, so that find() knows shared memory when it sees it.
struct Mappings {
  std::mutex mutex;
  std::map<const void*, Mapping*> by_address;
};
Mappings& mappings() {
  static auto* instance = new Mappings();  // never destroyed: memory is released until the very end
  return *instance;
}

std::string reason() { return std::strerror(errno); }

// The object is at least one byte long: no mapping is empty.
size_t mapped_bytes(size_t bytes) { return bytes ? bytes : 1; }

void release(void* context) {
  const std::unique_ptr<Mapping> mapping(static_cast<Mapping*>(context));
  {
    Mappings& all = mappings();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.by_address.erase(mapping->data);
  }
  ::munmap(mapping->data, mapped_bytes(mapping->handle.bytes));
  // A child made by fork() has the mapping, but was never counted.
  if (mapping->owner != getpid()) return;
  try {
    tell_manager(mapping->handle.manager, Request::Release, mapping->handle.name);
  } catch (const c10::Error&) {
    // The manager has gone, and with it the name: there is nothing left to release.
  }
}

c10::DataPtr map(int file, const Handle& handle) {
  void* data = ::mmap(nullptr, mapped_bytes(handle.bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const std::string why = reason();
  ::close(file);
  TORCH_CHECK(data != MAP_FAILED, "cannot map ", handle.bytes, " bytes of shared memory ", handle.name, ": ", why);
  auto* mapping = new Mapping{handle, data, getpid()};
  Mappings& all = mappings();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.by_address[data] = mapping;
  return c10::DataPtr(data, mapping, &release, c10::kCPU);
}

std::string new_name() {
  static std::atomic<uint64_t> count{0};
  static const uint64_t process_tag = (static_cast<uint64_t>(std::random_device{}()) << 32) | std::random_device{}();
  return "/torch_" + std::to_string(getpid()) + "_" + std::to_string(process_tag) + "_" + std::to_string(count++);
}

}  // namespace

c10::DataPtr allocate(size_t bytes) {
  Handle handle{default_manager(), new_name(), bytes};
  // Counted before it exists: whenever this process dies, the name goes.
  tell_manager(handle.manager, Request::Use, handle.name);
  const int file = ::shm_open(handle.name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  std::string why = file < 0 ? reason() : "";
  if (file >= 0) {
    // Reserves the pages now: writing to memory that a full /dev/shm cannot give is a SIGBUS.
#if defined(__linux__)
    const int status = ::posix_fallocate(file, 0, static_cast<off_t>(mapped_bytes(bytes)));
    if (status != 0) why = std::strerror(status);
#else
    if (::ftruncate(file, static_cast<off_t>(mapped_bytes(bytes))) != 0) why = reason();
#endif
  }
  if (!why.empty()) {
    if (file >= 0) ::close(file);
    tell_manager(handle.manager, Request::Release, handle.name);
    throw c10::Error("cannot allocate " + std::to_string(bytes) + " bytes of shared memory: " + why +
                     ". Is /dev/shm large enough?");
  }
  return map(file, handle);
}

std::optional<Handle> find(const void* data) {
  Mappings& all = mappings();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto entry = all.by_address.find(data);
  if (entry == all.by_address.end()) return std::nullopt;
  return entry->second->handle;
}

void hold(const Handle& handle) { tell_manager(handle.manager, Request::Hold, handle.name); }

c10::DataPtr open(const Handle& handle) {
  tell_manager(handle.manager, Request::Take, handle.name);
  const int file = ::shm_open(handle.name.c_str(), O_RDWR, 0600);
  struct stat facts{};
  if (file < 0 || ::fstat(file, &facts) != 0 || static_cast<size_t>(facts.st_size) < handle.bytes) {
    const std::string why = file < 0 ? reason() : "it is smaller than " + std::to_string(handle.bytes) + " bytes";
    if (file >= 0) ::close(file);
    tell_manager(handle.manager, Request::Release, handle.name);
    throw c10::Error("cannot open shared memory " + handle.name + ": " + why);
  }
  return map(file, handle);
}

}  // namespace libshm
