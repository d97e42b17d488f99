#pragma once
// Who hands out memory, and a pointer that knows how to give it back.

#include <c10/core/Device.h>

#include <cstddef>
#include <utility>

namespace c10 {

// Memory with its own way to be released: deleter(context).
class DataPtr {
 public:
  using Deleter = void (*)(void* context);

  DataPtr() : device_(kCPU) {}
  DataPtr(void* data, void* context, Deleter deleter, Device device)
      : data_(data), context_(context), deleter_(deleter), device_(device) {}
  DataPtr(DataPtr&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        context_(std::exchange(other.context_, nullptr)),
        deleter_(std::exchange(other.deleter_, nullptr)),
        device_(other.device_) {}
  DataPtr& operator=(DataPtr&& other) noexcept {
    if (this != &other) {
      clear();
      data_ = std::exchange(other.data_, nullptr);
      context_ = std::exchange(other.context_, nullptr);
      deleter_ = std::exchange(other.deleter_, nullptr);
      device_ = other.device_;
    }
    return *this;
  }
  ~DataPtr() { clear(); }

  void* get() const { return data_; }
  Device device() const { return device_; }
  void clear() {
    if (deleter_) deleter_(context_);
    data_ = nullptr;
    context_ = nullptr;
    deleter_ = nullptr;
  }

 private:
  void* data_ = nullptr;
  void* context_ = nullptr;
  Deleter deleter_ = nullptr;
  Device device_;
};

class C10_API Allocator {
 public:
  virtual ~Allocator();
  // `bytes` bytes on the current device, aligned to 64; a null pointer for 0. Throws OutOfMemoryError.
  virtual DataPtr allocate(size_t bytes) = 0;
};

C10_API Allocator* cpu_allocator();

}  // namespace c10
