// Convolutions by cuDNN: brings tensors into the form that it reads, and hands them to libtorch_cuda_dnn, which is
// loaded from beside this library with the first of them.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/Plugin.h>
#include <aten/native/cuda/Libraries.h>
#include <aten/native/cuda/cudnn.h>
#include <c10/core/Backend.h>
#include <c10/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace at::native::cuda {

namespace {

template <typename Function>
Function load(const char* function) {
  return load_function<Function>("libtorch_cuda_dnn.so", function, "convolutions", "libcudnn");
}

bool is_on(unsigned switches) { return (at::product_switches() & switches) != 0; }

std::optional<TorchCudaConvolutionType> type_of(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case kHalf: return kTorchCudaConvolutionHalf;
    case kBFloat16: return kTorchCudaConvolutionBFloat16;
    case kFloat: return kTorchCudaConvolutionFloat;
    case kDouble: return kTorchCudaConvolutionDouble;
    default: return std::nullopt;
  }
}

// Signals are images of one row.
Tensor with_rows(const Tensor& tensor) { return tensor.dim() == 3 ? tensor.unsqueeze(2) : tensor; }

bool has_channels_last(const Tensor& tensor) { return tensor.suggest_memory_format() != MemoryFormat::Contiguous; }

void write_numbers(int* to, IntArrayRef numbers) {
  std::transform(numbers.begin(), numbers.end(), to, [](int64_t number) { return static_cast<int>(number); });
}

// cuDNN counts elements by 32 bits, and its result is as large as the image and the window make it.
bool has_sizes_of_cudnn(const TorchCudaConvolutionGeometry& geometry, const Tensor (&tensors)[3]) {
  for (const Tensor& tensor : tensors) {
    if (tensor.numel() == 0 || tensor.numel() > std::numeric_limits<int>::max()) return false;
  }
  for (int i = 0; i < geometry.dims; ++i) {
    const int64_t reach = int64_t{geometry.dilation[i]} * (geometry.filters[i + 2] - 1) + 1;
    const int64_t padded = geometry.image[i + 2] + 2 * int64_t{geometry.padding[i]};
    if (padded < reach || (padded - reach) / geometry.stride[i] + 1 != geometry.result[i + 2]) return false;
  }
  return true;
}

// TorchCudaConvolution::allocate; `context` is what is held.
void* allocate_memory(void* context, size_t bytes) {
  auto& held = *static_cast<c10::DataPtr*>(context);
  held = {};
  try {
    held = c10::get_backend(c10::kCUDA).allocator()->allocate(bytes);
  } catch (const c10::OutOfMemoryError&) {
    return nullptr;
  }
  return held.get();
}

// Of filters of one channel each: what PyTorch has kernels of its own for, as have we.
bool is_left_to_own_kernels(const Tensor& filters, int64_t groups, bool channels_last) {
  if (groups == 1 || filters.size(1) != 1 || is_on(at::kCudnnDepthwise)) return false;
  return is_on(at::kNativeDepthwise) || !channels_last;
}

}  // namespace

bool convolve_by_cudnn(TorchCudaConvolutionKind kind, const Tensor& image, const Tensor& filters, const Tensor& result,
                       IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  const auto type = type_of(image);
  if (!is_on(at::kCudnn) || at::cuda_plugin_info()->cudnn_version == nullptr || !type) return false;
  // In the order of their kinds: given[kind] is computed.
  const Tensor given[] = {with_rows(result), with_rows(image), with_rows(filters)};
  // As in PyTorch, never of doubles.
  const bool channels_last = image.dtype() != kDouble && (has_channels_last(given[0]) || has_channels_last(given[1]));
  if (is_left_to_own_kernels(filters, groups, channels_last)) return false;

  TorchCudaConvolution convolution{};
  TorchCudaConvolutionGeometry& geometry = convolution.geometry;
  geometry.kind = kind;
  geometry.type = *type;
  geometry.channels_last = channels_last;
  geometry.tf32 = is_on(at::kConvolutionTF32);
  geometry.deterministic = is_on(at::kCudnnDeterministic | at::kDeterministicAlgorithms);
  geometry.benchmark = is_on(at::kCudnnBenchmark);
  geometry.benchmark_limit = geometry.benchmark ? at::cudnn_benchmark_limit() : 0;
  geometry.dims = static_cast<int>(given[0].dim() - 2);
  geometry.groups = static_cast<int>(groups);
  write_numbers(geometry.result, given[0].sizes());
  write_numbers(geometry.image, given[1].sizes());
  write_numbers(geometry.filters, given[2].sizes());
  const bool is_signal = image.dim() == 3;
  if (is_signal) geometry.stride[0] = geometry.dilation[0] = 1;
  write_numbers(geometry.stride + is_signal, stride);
  write_numbers(geometry.padding + is_signal, padding);
  write_numbers(geometry.dilation + is_signal, dilation);
  if (!has_sizes_of_cudnn(geometry, given)) return false;

  const MemoryFormat format = !channels_last     ? MemoryFormat::Contiguous
                              : image.dim() == 5 ? MemoryFormat::ChannelsLast3d
                                                 : MemoryFormat::ChannelsLast;
  Tensor placed[3];
  for (int i = 0; i < 3; ++i) {
    // Where whole packs are read from.
    const bool is_aligned = reinterpret_cast<uintptr_t>(given[i].data_ptr()) % 16 == 0;
    if (given[i].is_contiguous(format) && is_aligned) {
      placed[i] = given[i];
      continue;
    }
    placed[i] = detail::empty(given[i].sizes(), given[i].options(), format);
    if (i != kind) placed[i].copy_(given[i]);
  }
  convolution.result = placed[0].data_ptr();
  convolution.image = placed[1].data_ptr();
  convolution.filters = placed[2].data_ptr();
  convolution.stream = c10::cuda::current_stream();
  c10::DataPtr memory;  // what is queued on the stream is done before it is used again
  convolution.context = &memory;
  convolution.allocate = &allocate_memory;
  static const auto convolve = load<TorchCudaConvolutionFunction>("torch_cuda_convolution");
  const c10::cuda::RelaxedCapture relaxed;  // an engine's code may have to be loaded
  int done = 0;
  const char* error = convolve(&convolution, &done);
  TORCH_CHECK(error == nullptr, "cuDNN: ", error, " (image ", image.sizes(), ", filters ", filters.sizes(), ", result ",
              result.sizes(), ", stride ", stride, ", padding ", padding, ", dilation ", dilation, ", groups ", groups,
              "). With torch.backends.cudnn.enabled = False convolutions are computed without cuDNN.");
  if (done && placed[kind].data_ptr() != given[kind].data_ptr()) Tensor(given[kind]).copy_(placed[kind]);
  return done;
}

int64_t cudnn_version() {
  static const auto version = load<TorchCudaCudnnVersionFunction>("torch_cuda_cudnn_version");
  return version();
}

}  // namespace at::native::cuda
