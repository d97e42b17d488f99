#pragma once
// at::Tensor: a counted handle on a TensorImpl. Copying it is copying a pointer; an undefined tensor holds none.
// The operators' methods are generated into aten/TensorMethods.inc and defined in aten/Functions.h: include
// <aten/ATen.h> to call them.

#include <aten/Generator.h>
#include <aten/OptionalIntArrayRef.h>
#include <c10/core/Backend.h>
#include <c10/core/GradMode.h>
#include <c10/core/Scalar.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/TensorOptions.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace torch::autograd {
class Node;
}

namespace at {

using c10::ArrayRef;
using c10::Device;
using c10::DeviceType;
using c10::DimVector;
using c10::IntArrayRef;
using c10::Layout;
using c10::MemoryFormat;
using c10::Scalar;
using c10::ScalarType;
using c10::Storage;
using c10::TensorImpl;
using c10::TensorOptions;
using c10::kCPU;
using c10::kCUDA;
using c10::kMeta;
#define AT_USING(cpp_type, name, ...) using c10::k##name;
C10_FORALL_SCALAR_TYPES(AT_USING)
#undef AT_USING
using c10::NoGradGuard;

class Tensor;
using TensorList = ArrayRef<Tensor>;

class TORCH_API Tensor {
 public:
  Tensor() = default;
  explicit Tensor(c10::intrusive_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return static_cast<bool>(impl_); }
  TensorImpl* impl() const { return impl_.get(); }
  const c10::intrusive_ptr<TensorImpl>& impl_ptr() const { return impl_; }
  TensorImpl* release_impl() { return impl_.release(); }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
  size_t use_count() const { return impl_.use_count(); }
  void reset() { impl_.reset(); }

  IntArrayRef sizes() const { return impl_->sizes(); }
  IntArrayRef strides() const { return impl_->strides(); }
  // `dim` may be negative. Throws IndexError when out of range.
  int64_t size(int64_t dim) const;
  int64_t stride(int64_t dim) const;
  int64_t dim() const { return impl_->dim(); }
  int64_t numel() const { return impl_->numel(); }
  size_t nbytes() const { return static_cast<size_t>(numel()) * element_size(); }
  size_t element_size() const { return impl_->element_size(); }
  int64_t storage_offset() const { return impl_->storage_offset(); }
  bool is_contiguous() const { return impl_->is_contiguous(); }
  bool is_contiguous(MemoryFormat format) const { return impl_->is_contiguous(format); }
  // ChannelsLast or ChannelsLast3d when the tensor lies so, else Contiguous: what results that follow it are to have.
  MemoryFormat suggest_memory_format() const { return c10::suggested_memory_format(sizes(), strides()); }
  bool is_non_overlapping_and_dense() const { return impl_->is_non_overlapping_and_dense(); }
  const Storage& storage() const { return impl_->storage(); }
  bool is_alias_of(const Tensor& other) const { return storage().is_alias_of(other.storage()); }

  ScalarType scalar_type() const { return impl_->dtype(); }
  ScalarType dtype() const { return impl_->dtype(); }
  Device device() const { return impl_->device(); }
  DeviceType device_type() const { return impl_->device().type(); }
  Layout layout() const { return impl_->layout(); }
  bool is_sparse() const { return layout() == c10::kSparse; }
  bool is_sparse_csr() const { return layout() == c10::kSparseCsr; }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_meta() const { return device().is_meta(); }
  bool is_floating_point() const { return c10::is_floating_type(dtype()); }
  bool is_complex() const { return c10::is_complex_type(dtype()); }
  bool is_wrapped_number() const { return impl_->is_wrapped_number(); }
  TensorOptions options() const { return TensorOptions(dtype()).device(device()); }

  // The first element. The typed form checks the dtype. Of a tensor on Meta, which has no data, NotImplementedError.
  void* data_ptr() const {
    if (C10_UNLIKELY(is_meta() && numel() != 0)) throw_no_data();
    return impl_->data();
  }
  template <typename T>
  T* data_ptr() const {
    TORCH_CHECK(dtype() == c10::CppTypeToScalarType<T>::value, "expected scalar type ",
                c10::CppTypeToScalarType<T>::value, " but found ", dtype());
    return static_cast<T*>(data_ptr());
  }
  // The value of a one-element tensor, converted.
  template <typename T>
  T item() const;

  uint32_t _version() const { return impl_->version_counter().current(); }

  // Autograd (torch/csrc/autograd/variable.cpp).
  bool requires_grad() const { return impl_->requires_grad(); }
  const Tensor& requires_grad_(bool requires_grad = true) const;
  bool is_leaf() const;
  int64_t output_nr() const;
  void retain_grad() const;
  bool retains_grad() const;
  // Undefined until backward() has filled it.
  const Tensor& grad() const;
  void set_grad(const Tensor& grad) const;
  std::shared_ptr<torch::autograd::Node> grad_fn() const;
  // Accumulates d(self)/d(leaf) into every leaf's grad(). `gradient` may be undefined for a one-element tensor.
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt,
                bool create_graph = false) const;
  bool is_view() const;
  const Tensor& _base() const;
  // The same data without history; in-place changes of it are not seen by autograd (`x.data`).
  Tensor variable_data() const;

  // to(dtype), to(device), to(other) are operators.
  Tensor cpu() const { return to(Device(kCPU)); }

  // One index in the first dimension: a view.
  Tensor operator[](int64_t index) const;
  Tensor operator-() const;
  Tensor& operator+=(const Tensor& other);
  Tensor& operator-=(const Tensor& other);
  Tensor& operator*=(const Tensor& other);
  Tensor& operator/=(const Tensor& other);

#include <aten/TensorMethods.inc>  // generated

 private:
  [[noreturn]] static void throw_no_data();
  c10::intrusive_ptr<TensorImpl> impl_;
};

// Prints as the Python package does, shortened.
TORCH_API std::ostream& operator<<(std::ostream& stream, const Tensor& tensor);

}  // namespace at
