// Convolutions by plain loops, in the stream's order.
//
// Three algorithms of each kind are there. Which cases they take, and what memory they ask for, is such that the
// plug-in meets every answer that cuDNN may give, and is not what cuDNN takes:
//   0  needs no memory; gradients are summed by float32 in an order that chance decides
//   1  needs memory for the windows of an image
//   5  of windows of three in each direction, at every place and without gaps; needs as much memory as all tensors, and
//      refuses bfloat16 when it is run
// Dilated volumes with channels last, and doubles with channels last, are supported by none.

#include "memory.h"
#include "queue.h"
#include "random.h"
#include "tf32.h"

#include <c10/util/Half.h>
#include <cudnn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

namespace {

using Sizes = std::array<int, 5>;  // batch, channels, three of places; what is not there is 1

// Of a tensor or of filters.
struct Layout {
  int dims = 0;  // 0: nobody has said
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  Sizes sizes{};
  std::array<int64_t, 5> strides{};

  int64_t count() const {
    int64_t result = 1;
    for (const int size : sizes) result *= size;
    return result;
  }
};

size_t bytes_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_FLOAT ? 4 : 2;
}

std::array<int64_t, 5> packed_strides(const Sizes& sizes, bool channels_last) {
  std::array<int64_t, 5> strides{};
  int64_t step = 1;
  for (const int dim : channels_last ? std::array<int, 5>{1, 4, 3, 2, 0} : std::array<int, 5>{4, 3, 2, 1, 0}) {
    strides[dim] = step;
    step *= sizes[dim];
  }
  return strides;
}

// Dimensions of size 1 may lie as they like.
bool is_packed(const Layout& layout, bool channels_last) {
  const auto strides = packed_strides(layout.sizes, channels_last);
  for (int dim = 0; dim < 5; ++dim) {
    if (layout.sizes[dim] > 1 && layout.strides[dim] != strides[dim]) return false;
  }
  return true;
}

// Images become volumes of one image.
cudnnStatus_t describe(Layout& layout, cudnnDataType_t type, int dims, const int sizes[], const int strides[]) {
  if (dims != 4 && dims != 5) return CUDNN_STATUS_BAD_PARAM;
  Layout made{dims, type, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}};
  for (int dim = 0; dim < dims; ++dim) {
    if (sizes[dim] <= 0 || (strides && strides[dim] <= 0)) return CUDNN_STATUS_BAD_PARAM;
    const int place = dim < 2 ? dim : dim + 5 - dims;
    made.sizes[place] = sizes[dim];
    if (strides) made.strides[place] = strides[dim];
  }
  layout = made;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

struct cudnnTensorStruct {
  Layout layout;
};
struct cudnnFilterStruct {
  Layout layout;
  bool channels_last = false;
};
struct cudnnConvolutionStruct {
  int dims = 0;
  std::array<int, 3> padding{}, stride{1, 1, 1}, dilation{1, 1, 1};
  cudnnDataType_t sums = CUDNN_DATA_FLOAT;
  int groups = 1;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

namespace {

constexpr int kDirect = 0, kByWindows = 1, kFast = 5;

std::atomic<long> calls[8];  // the last: which algorithms there are

enum Kind { kForward, kBackwardData, kBackwardFilter };

// Whichever of the three is computed.
struct Problem {
  Kind kind;
  Layout image, filters, result;
  bool channels_last;
  cudnnConvolutionStruct window;

  Problem(Kind kind, cudnnTensorDescriptor_t image, cudnnFilterDescriptor_t filters, cudnnTensorDescriptor_t result,
          cudnnConvolutionDescriptor_t window)
      : kind(kind),
        image(image->layout),
        filters(filters->layout),
        result(result->layout),
        channels_last(filters->channels_last),
        window(*window) {}

  // What every function asks of its arguments.
  cudnnStatus_t check() const {
    const cudnnDataType_t type = image.type;
    if (image.dims == 0 || filters.dims != image.dims || result.dims != image.dims || window.dims != image.dims - 2 ||
        filters.type != type || result.type != type ||
        (window.sums == CUDNN_DATA_DOUBLE) != (type == CUDNN_DATA_DOUBLE) || window.groups < 1 ||
        image.sizes[1] != filters.sizes[1] * window.groups || filters.sizes[0] % window.groups != 0 ||
        result.sizes[0] != image.sizes[0] || result.sizes[1] != filters.sizes[0] || !is_packed(image, channels_last) ||
        !is_packed(result, channels_last)) {
      return CUDNN_STATUS_BAD_PARAM;
    }
    for (int i = 0; i < 3; ++i) {
      const int free = image.sizes[i + 2] + 2 * window.padding[i] - window.dilation[i] * (filters.sizes[i + 2] - 1) - 1;
      if (free < 0 || free / window.stride[i] + 1 != result.sizes[i + 2]) return CUDNN_STATUS_BAD_PARAM;
    }
    if (channels_last && type == CUDNN_DATA_DOUBLE) return CUDNN_STATUS_NOT_SUPPORTED_LAYOUT;
    if (channels_last && image.dims == 5 && window.dilation != std::array<int, 3>{1, 1, 1})
      return CUDNN_STATUS_NOT_SUPPORTED_SHAPE;
    return CUDNN_STATUS_SUCCESS;
  }

  bool has(int algorithm) const {
    if (algorithm == kDirect || algorithm == kByWindows) return true;
    if (algorithm != kFast || window.groups > 1) return false;
    for (int i = 5 - image.dims; i < 3; ++i) {
      if (filters.sizes[i + 2] != 3 || window.stride[i] != 1 || window.dilation[i] != 1) return false;
    }
    return true;
  }

  size_t workspace(int algorithm) const {
    if (algorithm == kFast)
      return static_cast<size_t>(image.count() + filters.count() + result.count()) * bytes_of(image.type);
    if (algorithm == kDirect) return 0;
    // A row of places for each element of a window, as far apart as the elements are.
    int64_t count = filters.sizes[1];
    for (int i = 0; i < 3; ++i)
      count *= int64_t{result.sizes[i + 2]} * (window.dilation[i] * (filters.sizes[i + 2] - 1) + 1);
    return static_cast<size_t>(count) * bytes_of(image.type);
  }

  bool is_deterministic(int algorithm) const { return algorithm != kDirect || kind == kForward; }

  const Layout& computed() const {
    return kind == kForward ? result : kind == kBackwardData ? image : filters;
  }
};

double read(const void* data, cudnnDataType_t type, int64_t index, bool tf32) {
  switch (type) {
    case CUDNN_DATA_DOUBLE: return static_cast<const double*>(data)[index];
    case CUDNN_DATA_HALF: return static_cast<float>(static_cast<const c10::Half*>(data)[index]);
    case CUDNN_DATA_BFLOAT16: return static_cast<float>(static_cast<const c10::BFloat16*>(data)[index]);
    case CUDNN_DATA_FLOAT: break;
  }
  const float value = static_cast<const float*>(data)[index];
  return tf32 ? cuda_emulation::in_tf32(value) : value;
}

void write(void* data, cudnnDataType_t type, int64_t index, double value) {
  switch (type) {
    case CUDNN_DATA_DOUBLE: static_cast<double*>(data)[index] = value; return;
    case CUDNN_DATA_HALF: static_cast<c10::Half*>(data)[index] = static_cast<float>(value); return;
    case CUDNN_DATA_BFLOAT16: static_cast<c10::BFloat16*>(data)[index] = static_cast<float>(value); return;
    case CUDNN_DATA_FLOAT: static_cast<float*>(data)[index] = static_cast<float>(value); return;
  }
}

// body(index in row-major order, place in memory)
template <typename Body>
void for_each_element(const Layout& layout, Body&& body) {
  int64_t index = 0;
  const auto& [s0, s1, s2, s3, s4] = layout.strides;
  for (int a = 0; a < layout.sizes[0]; ++a)
    for (int b = 0; b < layout.sizes[1]; ++b)
      for (int c = 0; c < layout.sizes[2]; ++c)
        for (int d = 0; d < layout.sizes[3]; ++d)
          for (int e = 0; e < layout.sizes[4]; ++e) body(index++, a * s0 + b * s1 + c * s2 + d * s3 + e * s4);
}

// Numbers in row-major order.
std::vector<double> read_all(const Layout& layout, const void* data, bool tf32) {
  std::vector<double> numbers(static_cast<size_t>(layout.count()));
  for_each_element(layout, [&](int64_t i, int64_t place) { numbers[i] = read(data, layout.type, place, tf32); });
  return numbers;
}

// Adds up the products of an element of the image, one of the filters and one of the result, of which two are given
// and one is computed, begun at number `first`. All are in row-major order. AddressSanitizer does not watch it, for the
// time that takes: the sizes are those that `Problem::check` has seen.
template <Kind kKind, typename Sum>
__attribute__((no_sanitize("address", "undefined"))) void add_products(const Problem& p, int64_t first,
                                                                       const double* images, const double* kernels,
                                                                       const double* results, Sum* sums) {
  const Sizes &image = p.image.sizes, &filters = p.filters.sizes, &result = p.result.sizes;
  const std::array<int, 3>&stride = p.window.stride, &padding = p.window.padding, &dilation = p.window.dilation;
  const int rows = filters[0] / p.window.groups;
  const int64_t count = p.result.count() * filters[1];
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = (first + i) % count;
    const auto next = [&rest](int size) {
      const auto digit = static_cast<int>(rest % size);
      rest /= size;
      return digit;
    };
    const int x = next(result[4]), y = next(result[3]), z = next(result[2]);
    const int channel = next(filters[1]), row = next(filters[0]), batch = next(result[0]);
    const int64_t out = (((int64_t{batch} * result[1] + row) * result[2] + z) * result[3] + y) * result[4] + x;
    const int64_t plane = int64_t{batch} * image[1] + row / rows * filters[1] + channel;
    const int64_t kernel = int64_t{row} * filters[1] + channel;
    for (int a = 0; a < filters[2]; ++a) {
      const int image_z = z * stride[0] - padding[0] + a * dilation[0];
      if (image_z < 0 || image_z >= image[2]) continue;
      for (int b = 0; b < filters[3]; ++b) {
        const int image_y = y * stride[1] - padding[1] + b * dilation[1];
        if (image_y < 0 || image_y >= image[3]) continue;
        const int64_t pixels = ((plane * image[2] + image_z) * image[3] + image_y) * image[4];
        const int64_t elements = ((kernel * filters[2] + a) * filters[3] + b) * filters[4];
        int image_x = x * stride[2] - padding[2];
        for (int c = 0; c < filters[4]; ++c, image_x += dilation[2]) {
          if (image_x < 0 || image_x >= image[4]) continue;
          const int64_t pixel = pixels + image_x, element = elements + c;
          if constexpr (kKind == kForward) sums[out] += static_cast<Sum>(images[pixel] * kernels[element]);
          if constexpr (kKind == kBackwardData) sums[pixel] += static_cast<Sum>(results[out] * kernels[element]);
          if constexpr (kKind == kBackwardFilter) sums[element] += static_cast<Sum>(results[out] * images[pixel]);
        }
      }
    }
  }
}

template <typename Sum>
void convolve(const Problem& p, int64_t first, const void* image_data, const void* filter_data,
              const void* result_data, void* target) {
  const bool tf32 = p.window.math != CUDNN_FMA_MATH;
  std::vector<Sum> sums(static_cast<size_t>(p.computed().count()));
  std::vector<double> image, filters, result;
  if (p.kind != kBackwardData) image = read_all(p.image, image_data, tf32);
  if (p.kind != kBackwardFilter) filters = read_all(p.filters, filter_data, tf32);
  if (p.kind != kForward) result = read_all(p.result, result_data, tf32);
  const auto add = p.kind == kForward        ? add_products<kForward, Sum>
                   : p.kind == kBackwardData ? add_products<kBackwardData, Sum>
                                             : add_products<kBackwardFilter, Sum>;
  add(p, first, image.data(), filters.data(), result.data(), sums.data());
  for_each_element(p.computed(), [&](int64_t i, int64_t place) { write(target, p.image.type, place, sums[i]); });
}

bool is_aligned(const void* data) { return reinterpret_cast<uintptr_t>(data) % 16 == 0; }

cudnnStatus_t run(cudnnHandle_t handle, const Problem& p, int algorithm, void* workspace, size_t bytes,
                  const void* image, const void* filters, const void* result, const void* alpha, const void* beta) {
  if (const cudnnStatus_t status = p.check(); status != CUDNN_STATUS_SUCCESS) return status;
  const bool is_double = p.image.type == CUDNN_DATA_DOUBLE;
  const auto factor = [&](const void* place) {
    return is_double ? *static_cast<const double*>(place) : *static_cast<const float*>(place);
  };
  if (factor(alpha) != 1 || factor(beta) != 0) return CUDNN_STATUS_BAD_PARAM;
  if (!p.has(algorithm)) return CUDNN_STATUS_NOT_SUPPORTED;
  if (bytes < p.workspace(algorithm)) return CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT;
  if (!is_aligned(image) || !is_aligned(filters) || !is_aligned(result) || !is_aligned(workspace))
    return CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER;
  const auto holds = [&](const void* data, size_t all) {
    return all == 0 || cuda_emulation::is_device_memory(data, all, cuda_emulation::current_device());
  };
  const size_t element = bytes_of(p.image.type);
  if (!holds(workspace, bytes) || !holds(image, static_cast<size_t>(p.image.count()) * element) ||
      !holds(filters, static_cast<size_t>(p.filters.count()) * element) ||
      !holds(result, static_cast<size_t>(p.result.count()) * element))
    return CUDNN_STATUS_EXECUTION_FAILED;
  if (algorithm == kFast && p.image.type == CUDNN_DATA_BFLOAT16) return CUDNN_STATUS_NOT_SUPPORTED;
  ++calls[algorithm];
  const bool by_chance = !p.is_deterministic(algorithm);
  const auto first = by_chance ? static_cast<int64_t>(cuda_emulation::random_below(1u << 20)) : 0;
  const void* target = p.kind == kForward ? result : p.kind == kBackwardData ? image : filters;
  const cudaError_t error = cuda_emulation::enqueue(handle->stream, [=] {
    if (bytes > 0) std::memset(workspace, 0xff, bytes);
    if (by_chance && !is_double) convolve<float>(p, first, image, filters, result, const_cast<void*>(target));
    else convolve<double>(p, first, image, filters, result, const_cast<void*>(target));
    return cudaSuccess;
  });
  return error == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

template <typename Found>
cudnnStatus_t rank(const Problem& p, int requested, int* returned, Found* found) {
  *returned = 0;
  if (const cudnnStatus_t status = p.check(); status != CUDNN_STATUS_SUCCESS) return status;
  ++calls[7];
  for (const int algorithm : {kFast, kByWindows, kDirect}) {
    if (*returned == requested) break;
    Found& entry = found[(*returned)++];
    entry = {};
    entry.algo = static_cast<decltype(entry.algo)>(algorithm);
    entry.status = p.has(algorithm) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
    entry.memory = p.workspace(algorithm);
    entry.determinism = p.is_deterministic(algorithm) ? CUDNN_DETERMINISTIC : CUDNN_NON_DETERMINISTIC;
    entry.mathType = p.window.math;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t ask_size(const Problem& p, int algorithm, size_t* bytes) {
  if (const cudnnStatus_t status = p.check(); status != CUDNN_STATUS_SUCCESS) return status;
  if (!p.has(algorithm)) return CUDNN_STATUS_NOT_SUPPORTED;
  *bytes = p.workspace(algorithm);
  return CUDNN_STATUS_SUCCESS;
}

template <typename Descriptor>
cudnnStatus_t create(Descriptor** made) {
  *made = new Descriptor();
  return CUDNN_STATUS_SUCCESS;
}

template <typename Descriptor>
cudnnStatus_t destroy(Descriptor* descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

size_t cudnnGetVersion() { return CUDNN_VERSION; }

const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
    case CUDNN_STATUS_SUCCESS: return "no error";
    case CUDNN_STATUS_BAD_PARAM: return "an argument that does not go with the others";
    case CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER: return "a pointer at no multiple of 16 bytes";
    case CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT: return "too small a workspace";
    case CUDNN_STATUS_EXECUTION_FAILED: return "the work failed on the device";
    default: return "an error of cuDNN";
  }
}

void cudnnGetLastErrorString(char* message, size_t max_size) {
  if (max_size > 0) message[0] = '\0';
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) { return create(handle); }
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* tensor) { return create(tensor); }
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) { return destroy(tensor); }
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor, cudnnDataType_t type, int dims,
                                         const int sizes[], const int strides[]) {
  return describe(tensor->layout, type, dims, sizes, strides);
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* filters) { return create(filters); }
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filters) { return destroy(filters); }
cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filters, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int dims, const int sizes[]) {
  const cudnnStatus_t status = describe(filters->layout, type, dims, sizes, nullptr);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  filters->channels_last = format == CUDNN_TENSOR_NHWC;
  filters->layout.strides = packed_strides(filters->layout.sizes, filters->channels_last);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* window) { return create(window); }
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t window) { return destroy(window); }
cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t window, int dims, const int padding[],
                                              const int stride[], const int dilation[], cudnnConvolutionMode_t mode,
                                              cudnnDataType_t sums) {
  if ((dims != 2 && dims != 3) || mode != CUDNN_CROSS_CORRELATION) return CUDNN_STATUS_BAD_PARAM;
  cudnnConvolutionStruct made;
  made.dims = dims;
  made.sums = sums;
  for (int i = 0; i < dims; ++i) {
    if (padding[i] < 0 || stride[i] < 1 || dilation[i] < 1) return CUDNN_STATUS_BAD_PARAM;
    const int place = i + 3 - dims;
    made.padding[place] = padding[i];
    made.stride[place] = stride[i];
    made.dilation[place] = dilation[i];
  }
  *window = made;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t window, int groups) {
  window->groups = groups;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t window, cudnnMathType_t math) {
  window->math = math;
  return CUDNN_STATUS_SUCCESS;
}

// `image`, `filters` and `result` stand for two of `first`, `second` and `target`, and what is computed.
#define DEFINE_CONVOLUTION(Name, kind, Algorithm, Found, F, S, R, image, filters, result)                             \
  cudnnStatus_t cudnnGet##Name##Algorithm_v7(cudnnHandle_t, F first, S second, cudnnConvolutionDescriptor_t window,   \
                                             R target, int requested, int* returned, Found* found) {                  \
    return rank(Problem(kind, image, filters, result, window), requested, returned, found);                           \
  }                                                                                                                   \
  cudnnStatus_t cudnnGet##Name##WorkspaceSize(cudnnHandle_t, F first, S second, cudnnConvolutionDescriptor_t window,  \
                                              R target, Algorithm algorithm, size_t* bytes) {                         \
    return ask_size(Problem(kind, image, filters, result, window), algorithm, bytes);                                 \
  }                                                                                                                   \
  cudnnStatus_t cudnn##Name(cudnnHandle_t handle, const void* alpha, F first, const void* first_data, S second,       \
                            const void* second_data, cudnnConvolutionDescriptor_t window, Algorithm algorithm,        \
                            void* workspace, size_t bytes, const void* beta, R target, void* target_data) {           \
    return run(handle, Problem(kind, image, filters, result, window), algorithm, workspace, bytes, image##_data,      \
               filters##_data, result##_data, alpha, beta);                                                           \
  }
DEFINE_CONVOLUTION(ConvolutionForward, kForward, cudnnConvolutionFwdAlgo_t, cudnnConvolutionFwdAlgoPerf_t,
                   cudnnTensorDescriptor_t, cudnnFilterDescriptor_t, cudnnTensorDescriptor_t, first, second, target)
DEFINE_CONVOLUTION(ConvolutionBackwardData, kBackwardData, cudnnConvolutionBwdDataAlgo_t,
                   cudnnConvolutionBwdDataAlgoPerf_t, cudnnFilterDescriptor_t, cudnnTensorDescriptor_t,
                   cudnnTensorDescriptor_t, target, first, second)
DEFINE_CONVOLUTION(ConvolutionBackwardFilter, kBackwardFilter, cudnnConvolutionBwdFilterAlgo_t,
                   cudnnConvolutionBwdFilterAlgoPerf_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t,
                   cudnnFilterDescriptor_t, first, target, second)

long cuda_emulation_cudnn_calls(int algorithm) { return calls[algorithm < 0 ? 7 : algorithm]; }
