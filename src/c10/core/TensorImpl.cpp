#include <c10/core/Extents.h>
#include <c10/core/GradMode.h>
#include <c10/core/KernelTable.h>
#include <c10/core/TensorImpl.h>

namespace c10 {

StorageImpl::~StorageImpl() = default;
AutogradMetaInterface::~AutogradMetaInterface() = default;

namespace {
thread_local bool grad_mode_enabled = true;
thread_local bool inference_mode_enabled = false;
std::atomic<void (*)(void*)> pyobj_release_hook{nullptr};
}  // namespace

bool GradMode::is_enabled() { return grad_mode_enabled; }
void GradMode::set_enabled(bool enabled) { grad_mode_enabled = enabled; }
bool InferenceMode::is_enabled() { return inference_mode_enabled; }
void InferenceMode::set_enabled(bool enabled) { inference_mode_enabled = enabled; }

void detail::throw_missing_kernel(const char* name, DeviceType type) {
  throw NotImplementedError(concatenate("Could not run '", name, "' with tensors on the ", device_type_name(type, true),
                                        " backend: it has no such kernel. Move the tensors to another device first, "
                                        "for example with .cpu()."));
}

TensorImpl::TensorImpl(Storage storage, ScalarType dtype, Device device)
    : storage_(std::move(storage)), device_(device), dtype_(dtype), is_inference_(inference_mode_enabled) {}

TensorImpl::TensorImpl(SparseParts parts, IntArrayRef sizes)
    : device_(parts.values->device()), dtype_(parts.values->dtype()), is_inference_(inference_mode_enabled) {
  set_sparse(std::move(parts), sizes);
}

TensorImpl::~TensorImpl() {
  if (pyobj_ && owns_pyobj_) {
    if (auto* hook = pyobj_release_hook.load()) hook(pyobj_);
  }
}

void TensorImpl::check_inference_write() const {
  TORCH_CHECK(inference_mode_enabled,
              "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
              "normal tensor before doing inplace update.");
}

void TensorImpl::set_pyobj_release_hook(void (*hook)(void*)) { pyobj_release_hook.store(hook); }

void TensorImpl::throw_no_storage() const {
  const char* what = layout() == kStrided ? "a tensor without memory, whose class answers for it"
                     : layout() == kSparse ? "SparseTensorImpl"
                                           : "SparseCsrTensorImpl";
  throw NotImplementedError(detail::concatenate("Cannot access storage of ", what));
}

void TensorImpl::throw_no_data() const {
  throw Error("Cannot access data pointer of Tensor that doesn't have storage");
}

void TensorImpl::set_sparse(SparseParts parts, IntArrayRef sizes) {
  checked_numel(sizes);
  if (parts.values) {  // the wrappers of torch/csrc/autograd/dispatch.h have none
    dtype_ = parts.values->dtype();
    device_ = parts.values->device();
  }
  sparse_ = std::make_unique<SparseParts>(std::move(parts));
  sizes_.assign(sizes);
  strides_.resize(sizes.size());
  for (int64_t& stride : strides_) stride = 0;
  refresh();
  is_contiguous_ = false;
}

void TensorImpl::set_sizes_contiguous(IntArrayRef sizes) {
  const int64_t numel = checked_numel(sizes);  // before anything is changed
  if (C10_UNLIKELY(numel == 0)) {
    // Strides go on as if there were elements, and may not fit where their number does.
    int64_t stride = 1;
    for (const int64_t size : sizes) {
      TORCH_CHECK(!__builtin_mul_overflow(stride, std::max<int64_t>(size, 1), &stride),
                  "Stride calculation overflowed");
    }
  }
  sizes_.assign(sizes);
  strides_.resize(sizes.size());
  int64_t* const strides = strides_.data();
  int64_t stride = 1;
  for (size_t i = sizes_.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(sizes_[i], 1);
  }
  storage_offset_ = 0;
  numel_ = numel;
  is_contiguous_ = true;
}

void TensorImpl::set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset) {
  TORCH_CHECK(sizes.size() == strides.size(), "mismatch in length of strides and shape: ", strides.size(),
              " strides for ", sizes.size(), " dimensions");
  checked_numel(sizes);  // before anything is changed
  sizes_.assign(sizes);
  strides_.assign(strides);
  storage_offset_ = storage_offset;
  refresh();
}

void TensorImpl::refresh() {
  numel_ = 1;
  for (const int64_t size : sizes_) numel_ *= size;
  is_contiguous_ = true;
  int64_t expected = 1;
  for (size_t i = sizes_.size(); i-- > 0;) {
    if (sizes_[i] == 1) continue;
    if (strides_[i] != expected) {
      is_contiguous_ = numel_ == 0;
      break;
    }
    expected *= sizes_[i];
  }
}

bool TensorImpl::is_contiguous(MemoryFormat format) const {
  const bool names_order = format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d;
  return names_order ? is_contiguous_in(format, sizes_, strides_) : is_contiguous_;
}

bool TensorImpl::is_non_overlapping_and_dense() const {
  if (is_contiguous_) return true;
  DimVector order;
  for (size_t i = 0; i < sizes_.size(); ++i) {
    if (sizes_[i] != 1) order.push_back(static_cast<int64_t>(i));
  }
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return strides_[a] < strides_[b]; });
  int64_t expected = 1;
  for (const int64_t dim : order) {
    if (strides_[dim] != expected) return false;
    expected *= sizes_[dim];
  }
  return true;
}

intrusive_ptr<TensorImpl> TensorImpl::shallow_copy(bool share_version) {
  auto copy = make_intrusive<TensorImpl>(storage_, dtype_, device_);
  copy->sizes_ = sizes_;
  copy->strides_ = strides_;
  copy->storage_offset_ = storage_offset_;
  copy->numel_ = numel_;
  copy->is_contiguous_ = is_contiguous_;
  copy->is_wrapped_number_ = is_wrapped_number_;
  copy->is_inference_ = is_inference_;
  if (sparse_) copy->sparse_ = std::make_unique<SparseParts>(*sparse_);
  if (share_version) copy->version_ = version_.shared();
  return copy;
}

void TensorImpl::shallow_assign(const TensorImpl& other) {
  storage_ = other.storage_;
  sizes_ = other.sizes_;
  strides_ = other.strides_;
  storage_offset_ = other.storage_offset_;
  numel_ = other.numel_;
  is_contiguous_ = other.is_contiguous_;
  sparse_ = other.sparse_ ? std::make_unique<SparseParts>(*other.sparse_) : nullptr;
  dtype_ = other.dtype_;
  device_ = other.device_;
}

}  // namespace c10
