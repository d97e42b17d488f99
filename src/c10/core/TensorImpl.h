#pragma once
// What a tensor is: a shape over a storage, an element type, a device, a version,
// and what autograd and Python hang on it.

#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>
#include <c10/core/Storage.h>
#include <c10/util/InlineVector.h>
#include <c10/util/intrusive_ptr.h>

#include <atomic>
#include <memory>

namespace c10 {

// What the autograd library attaches to a tensor; see torch/csrc/autograd/variable.h.
struct C10_API AutogradMetaInterface {
  virtual ~AutogradMetaInterface();
  // True for leaves that ask for a gradient and for results that have a history.
  virtual bool requires_grad() const = 0;
  // Or moves along a tangent that this thread follows (forward mode).
  virtual bool is_tracked() const = 0;
};

// Counts in-place writes; shared by a tensor and its views.
class VersionCounter {
 public:
  uint32_t current() const { return counter_ ? counter_->value.load(std::memory_order_relaxed) : 0; }
  void bump() {
    if (!counter_) counter_ = make_intrusive<Counter>();
    counter_->value.fetch_add(1, std::memory_order_relaxed);
  }
  // A counter to share with a view: made now, so that both see later writes.
  const VersionCounter& shared() {
    if (!counter_) counter_ = make_intrusive<Counter>();
    return *this;
  }

 private:
  struct Counter : intrusive_ptr_target {
    std::atomic<uint32_t> value{0};
  };
  intrusive_ptr<Counter> counter_;
};

class TensorImpl;

// What a sparse tensor consists of. `indices`, int64 of (sparse dimensions, n), says where each of the n values is; in
// the compressed layouts it has the columns (CSR) or rows (CSC) alone, and `compressed` where each row or column
// begins. A value may itself have dimensions, which are then the tensor's last ones: `values` is (n,
// dense dimensions...).
struct SparseParts {
  Layout layout;
  intrusive_ptr<TensorImpl> compressed;  // null in COO
  intrusive_ptr<TensorImpl> indices;
  intrusive_ptr<TensorImpl> values;
  bool is_coalesced;  // COO: every place once, in order
};

class C10_API TensorImpl : public intrusive_ptr_target {
 public:
  TensorImpl(Storage storage, ScalarType dtype, Device device);
  // A sparse tensor, which has no storage of its own; dtype and device are those of the values.
  TensorImpl(SparseParts parts, IntArrayRef sizes);
  ~TensorImpl() override;

  // Shape in elements. Strides count elements too.
  IntArrayRef sizes() const { return sizes_; }
  IntArrayRef strides() const { return strides_; }
  int64_t dim() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t numel() const { return numel_; }
  int64_t storage_offset() const { return storage_offset_; }
  bool is_contiguous() const { return is_contiguous_; }
  bool is_contiguous(MemoryFormat format) const;
  // Every element of the storage span is used once, in some order of dimensions.
  bool is_non_overlapping_and_dense() const;

  ScalarType dtype() const { return dtype_; }
  size_t element_size() const { return c10::element_size(dtype_); }
  Device device() const { return device_; }
  // Both throw for a sparse tensor: whoever reaches for its memory has not asked what it is.
  const Storage& storage() const {
    if (__builtin_expect(sparse_ != nullptr, 0)) throw_no_storage();
    return storage_;
  }
  void set_storage(Storage storage) { storage_ = std::move(storage); }
  void* data() const {
    if (__builtin_expect(sparse_ != nullptr, 0)) throw_no_data();
    return static_cast<char*>(storage_.data()) + storage_offset_ * static_cast<int64_t>(element_size());
  }

  // Null for a strided tensor.
  const SparseParts* sparse() const { return sparse_.get(); }
  Layout layout() const { return sparse_ ? sparse_->layout : Layout::Strided; }
  // `this`, a sparse tensor, consists of these from now on; strides of a sparse tensor are zeros.
  void set_sparse(SparseParts parts, IntArrayRef sizes);

  void set_sizes_contiguous(IntArrayRef sizes);
  void set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset);

  // The same storage (or parts), shape and dtype in a new TensorImpl without history,
  // sharing the version counter if asked.
  intrusive_ptr<TensorImpl> shallow_copy(bool share_version);
  // Takes over storage, shape and dtype of `other` (what `x.data = y` does).
  void shallow_assign(const TensorImpl& other);

  bool requires_grad() const { return autograd_meta_ && autograd_meta_->requires_grad(); }
  // Whether backward or forward mode has to know what is done with it.
  bool is_tracked() const { return autograd_meta_ && autograd_meta_->is_tracked(); }
  AutogradMetaInterface* autograd_meta() const { return autograd_meta_.get(); }
  void set_autograd_meta(std::unique_ptr<AutogradMetaInterface> meta) { autograd_meta_ = std::move(meta); }

  VersionCounter& version_counter() { return version_; }
  void set_version_counter(const VersionCounter& version) { version_ = version; }
  // Throws Error for an inference tensor, unless the thread is in inference mode.
  void bump_version() {
    if (C10_UNLIKELY(is_inference_)) return check_inference_write();
    version_.bump();
  }

  // Whether it was made in inference mode: such a tensor has no version, and cannot be saved for backward.
  bool is_inference() const { return is_inference_; }

  // A number that Python or C++ code wrote: it takes part in type promotion by category only.
  bool is_wrapped_number() const { return is_wrapped_number_; }
  void set_wrapped_number(bool value) { is_wrapped_number_ = value; }

  // Python's side: the one PyObject of this tensor. Usually it owns the tensor; when Python has let go of it while C++
  // still holds the tensor, the tensor owns it instead (owns_pyobj) and gives it back through the release hook.
  void* pyobj() const { return pyobj_; }
  void set_pyobj(void* object, bool owned) {
    pyobj_ = object;
    owns_pyobj_ = owned;
  }
  bool owns_pyobj() const { return owns_pyobj_; }
  static void set_pyobj_release_hook(void (*hook)(void* object));

 private:
  void refresh();
  void check_inference_write() const;
  [[noreturn]] void throw_no_storage() const;
  [[noreturn]] void throw_no_data() const;

  Storage storage_;
  std::unique_ptr<SparseParts> sparse_;
  DimVector sizes_;
  DimVector strides_;
  int64_t storage_offset_ = 0;
  int64_t numel_ = 1;
  std::unique_ptr<AutogradMetaInterface> autograd_meta_;
  VersionCounter version_;
  void* pyobj_ = nullptr;
  Device device_;
  ScalarType dtype_;
  bool is_contiguous_ = true;
  bool is_wrapped_number_ = false;
  bool owns_pyobj_ = false;
  bool is_inference_;
};

}  // namespace c10
