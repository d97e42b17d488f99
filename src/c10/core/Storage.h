#pragma once
// A run of bytes that tensors share.

#include <c10/core/Allocator.h>
#include <c10/util/intrusive_ptr.h>

namespace c10 {

class C10_API StorageImpl : public intrusive_ptr_target {
 public:
  StorageImpl(DataPtr data, size_t bytes, Allocator* allocator)
      : data_(std::move(data)), bytes_(bytes), allocator_(allocator) {}
  ~StorageImpl() override;

  void* data() const { return data_.get(); }
  size_t nbytes() const { return bytes_; }
  Device device() const { return data_.device(); }
  Allocator* allocator() const { return allocator_; }
  // Gives the memory away; the storage is empty afterwards.
  DataPtr take_data() {
    bytes_ = 0;
    return std::move(data_);
  }
  // Replaces the memory, for resizing and for moving into shared memory.
  void set_data(DataPtr data, size_t bytes) {
    data_ = std::move(data);
    bytes_ = bytes;
  }

 private:
  DataPtr data_;
  size_t bytes_;
  Allocator* allocator_;  // null: memory that came from elsewhere (NumPy, a file)
};

class Storage {
 public:
  Storage() = default;
  explicit Storage(intrusive_ptr<StorageImpl> impl) : impl_(std::move(impl)) {}
  Storage(size_t bytes, Allocator* allocator)
      : impl_(make_intrusive<StorageImpl>(allocator->allocate(bytes), bytes, allocator)) {}
  Storage(DataPtr data, size_t bytes) : impl_(make_intrusive<StorageImpl>(std::move(data), bytes, nullptr)) {}

  explicit operator bool() const { return static_cast<bool>(impl_); }
  void* data() const { return impl_ ? impl_->data() : nullptr; }
  size_t nbytes() const { return impl_ ? impl_->nbytes() : 0; }
  Device device() const { return impl_->device(); }
  StorageImpl* impl() const { return impl_.get(); }
  size_t use_count() const { return impl_.use_count(); }
  bool is_alias_of(const Storage& other) const { return impl_ == other.impl_; }

 private:
  intrusive_ptr<StorageImpl> impl_;
};

}  // namespace c10
