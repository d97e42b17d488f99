#pragma once
// Device memory: host pages of their own. What lies around an allocation cannot be touched, what was freed neither, and
// while no kernel runs nothing of it can: a host that follows a device pointer crashes here as it would with a device.

#include <cstddef>
#include <cstdint>

namespace cuda_emulation {

void* allocate_device_memory(int device, size_t bytes);  // null: the device is full
// False: not the begin of an allocation.
bool free_device_memory(void* data);
// Bytes of a device in use, and in all.
size_t device_bytes_used(int device);
size_t device_bytes();
// Whether all `bytes` from `data` on lie in one allocation of `device` (-1: of any).
bool is_device_memory(const void* data, size_t bytes, int device);
// The same for the executor alone, which asks of a few allocations again and again, without a lock.
class DeviceMemoryFinder {
 public:
  bool holds(const void* data, size_t bytes, int device);

 private:
  struct Found {
    const char* data = nullptr;
    size_t bytes = 0;
  };
  static constexpr size_t kRemembered = 4;
  Found found_[kRemembered];
  size_t next_ = 0;
  int device_ = -1;
  uint64_t changes_ = 0;  // of all allocations, when these were found
};
// Opens or closes all device memory for this process.
void open_device_memory(bool open);

void* allocate_pinned_memory(size_t bytes);
bool free_pinned_memory(void* data);
bool is_pinned_memory(const void* data);

}  // namespace cuda_emulation
