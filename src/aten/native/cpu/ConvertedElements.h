#pragma once
// Elements of a dense tensor in the type that is computed in, whatever type they have in memory.

#include <aten/Tensor.h>
#include <aten/native/cpu/Conversion.h>

#include <vector>

namespace at::native::cpu {

// As T: where they lie, or through a buffer of `at_most` elements if they are of another type.
template <typename T>
class ConvertedElements {
 public:
  ConvertedElements(const Tensor& tensor, int64_t at_most)
      : data_(static_cast<char*>(tensor.data_ptr())),
        size_(static_cast<int64_t>(c10::element_size(tensor.dtype()))),
        converts_(tensor.dtype() != kComputed),
        widen_(kComputed, tensor.dtype()),
        round_(tensor.dtype(), kComputed) {
    if (converts_) buffer_.resize(static_cast<size_t>(at_most));
  }
  // `count` elements from `begin` on.
  const T* read(int64_t begin, int64_t count) {
    const char* from = data_ + begin * size_;
    if (!converts_) return reinterpret_cast<const T*>(from);
    widen_(reinterpret_cast<char*>(buffer_.data()), sizeof(T), from, size_, count);
    return buffer_.data();
  }
  // Where to write elements from `begin` on; finish() brings them to their place.
  T* start(int64_t begin) { return converts_ ? buffer_.data() : reinterpret_cast<T*>(data_ + begin * size_); }
  void finish(int64_t begin, int64_t count) {
    if (!converts_) return;
    round_(data_ + begin * size_, size_, reinterpret_cast<const char*>(buffer_.data()), sizeof(T), count);
  }

 private:
  static constexpr ScalarType kComputed = c10::CppTypeToScalarType<T>::value;
  char* data_;
  int64_t size_;
  bool converts_;
  Conversion widen_, round_;
  std::vector<T> buffer_;
};

}  // namespace at::native::cpu
