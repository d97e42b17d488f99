#pragma once
// Reference counting inside the object: one pointer wide, one atomic per copy,
// and a raw pointer can become an owner again.

#include <c10/util/Exception.h>

#include <atomic>
#include <cstddef>
#include <utility>

namespace c10 {

// Base of what intrusive_ptr counts.
class C10_API intrusive_ptr_target {
 public:
  intrusive_ptr_target() = default;
  intrusive_ptr_target(const intrusive_ptr_target&) = delete;
  intrusive_ptr_target& operator=(const intrusive_ptr_target&) = delete;
  virtual ~intrusive_ptr_target();

  size_t use_count() const noexcept { return references_.load(std::memory_order_acquire); }

 private:
  template <typename T>
  friend class intrusive_ptr;
  mutable std::atomic<size_t> references_{0};
};

template <typename T>
class intrusive_ptr {
 public:
  intrusive_ptr() noexcept = default;
  intrusive_ptr(std::nullptr_t) noexcept {}  // NOLINT: implicit
  // Shares ownership of `target`, which may already be owned by others.
  explicit intrusive_ptr(T* target) noexcept : target_(target) { retain(); }
  intrusive_ptr(const intrusive_ptr& other) noexcept : target_(other.target_) { retain(); }
  intrusive_ptr(intrusive_ptr&& other) noexcept : target_(std::exchange(other.target_, nullptr)) {}
  template <typename Derived>
  intrusive_ptr(const intrusive_ptr<Derived>& other) noexcept : target_(other.get()) { retain(); }  // NOLINT
  template <typename Derived>
  intrusive_ptr(intrusive_ptr<Derived>&& other) noexcept : target_(other.release()) {}  // NOLINT
  ~intrusive_ptr() { reset(); }

  intrusive_ptr& operator=(intrusive_ptr other) noexcept {
    std::swap(target_, other.target_);
    return *this;
  }

  T* get() const noexcept { return target_; }
  T& operator*() const noexcept { return *target_; }
  T* operator->() const noexcept { return target_; }
  explicit operator bool() const noexcept { return target_ != nullptr; }
  size_t use_count() const noexcept { return target_ ? target_->use_count() : 0; }
  bool unique() const noexcept { return use_count() == 1; }

  void reset() noexcept {
    if (target_ && target_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete target_;
    target_ = nullptr;
  }
  // Gives up ownership without counting down; the caller owns one reference.
  T* release() noexcept { return std::exchange(target_, nullptr); }
  // Takes over a reference that release() gave out.
  static intrusive_ptr reclaim(T* target) noexcept {
    intrusive_ptr result;
    result.target_ = target;
    return result;
  }

  friend bool operator==(const intrusive_ptr& left, const intrusive_ptr& right) {
    return left.target_ == right.target_;
  }
  friend bool operator!=(const intrusive_ptr& left, const intrusive_ptr& right) {
    return left.target_ != right.target_;
  }

 private:
  void retain() noexcept {
    if (target_) target_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  T* target_ = nullptr;
};

template <typename T, typename... Args>
intrusive_ptr<T> make_intrusive(Args&&... args) {
  return intrusive_ptr<T>(new T(std::forward<Args>(args)...));
}

}  // namespace c10
