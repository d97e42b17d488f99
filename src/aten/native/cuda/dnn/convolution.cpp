// libtorch_cuda_dnn: convolutions by cuDNN, whose algorithms are chosen once for each geometry.

#include <aten/native/cuda/dnn/Convolution.h>

#include <cudnn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using Geometry = TorchCudaConvolutionGeometry;

// Within this library; its functions return the text.
struct Failure {
  std::string what;
};

// The two that are answers: the hundreds and tens of a status say more than a caller wants to know.
bool is_unsupported(cudnnStatus_t status) { return status / 1000 == CUDNN_STATUS_NOT_SUPPORTED / 1000; }
bool is_out_of_memory(cudnnStatus_t status) { return status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED; }

void check(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  char details[512] = "";
  cudnnGetLastErrorString(details, sizeof details);
  throw Failure{std::string(cudnnGetErrorString(status)) + (details[0] ? ": " : "") + details};
}

void check(cudaError_t error) {
  if (error != cudaSuccess) throw Failure{cudaGetErrorString(error)};
}

template <typename Handle, cudnnStatus_t (*kCreate)(Handle*), cudnnStatus_t (*kDestroy)(Handle)>
class Descriptor {
 public:
  Descriptor() { check(kCreate(&handle_)); }
  ~Descriptor() { kDestroy(handle_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator Handle() const { return handle_; }

 private:
  Handle handle_{};
};
using TensorDescriptor =
    Descriptor<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using FilterDescriptor =
    Descriptor<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using WindowDescriptor =
    Descriptor<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor, cudnnDestroyConvolutionDescriptor>;

cudnnDataType_t type_of(const Geometry& geometry) {
  switch (geometry.type) {
    case kTorchCudaConvolutionHalf: return CUDNN_DATA_HALF;
    case kTorchCudaConvolutionBFloat16: return CUDNN_DATA_BFLOAT16;
    case kTorchCudaConvolutionDouble: return CUDNN_DATA_DOUBLE;
    default: return CUDNN_DATA_FLOAT;
  }
}

// What cuDNN may do to operands to multiply them faster.
cudnnMathType_t math_of(const Geometry& geometry) {
  switch (geometry.type) {
    case kTorchCudaConvolutionHalf:
    case kTorchCudaConvolutionBFloat16: return CUDNN_TENSOR_OP_MATH;
    case kTorchCudaConvolutionFloat: return geometry.tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
    default: return CUDNN_DEFAULT_MATH;
  }
}

void describe(const TensorDescriptor& tensor, const Geometry& geometry, const int (&sizes)[5]) {
  int strides[5];
  int step = 1;
  const auto lay = [&](int dim) {
    strides[dim] = step;
    step *= sizes[dim];
  };
  if (geometry.channels_last) lay(1);
  for (int dim = geometry.dims + 1; dim >= 2; --dim) lay(dim);
  if (!geometry.channels_last) lay(1);
  lay(0);
  check(cudnnSetTensorNdDescriptor(tensor, type_of(geometry), geometry.dims + 2, sizes, strides));
}

void describe(const FilterDescriptor& filters, const Geometry& geometry) {
  const cudnnTensorFormat_t format = geometry.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
  check(cudnnSetFilterNdDescriptor(filters, type_of(geometry), format, geometry.dims + 2, geometry.filters));
}

void describe(const WindowDescriptor& window, const Geometry& geometry) {
  const cudnnDataType_t sums = geometry.type == kTorchCudaConvolutionDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  check(cudnnSetConvolutionNdDescriptor(window, geometry.dims, geometry.padding, geometry.stride, geometry.dilation,
                                        CUDNN_CROSS_CORRELATION, sums));
  check(cudnnSetConvolutionGroupCount(window, geometry.groups));
  check(cudnnSetConvolutionMathType(window, math_of(geometry)));
}

// The functions of one kind of convolution. They take the operands in the order in which `Call` gets them.
struct Forward {
  using Found = cudnnConvolutionFwdAlgoPerf_t;
  static constexpr int kAlgorithms = CUDNN_CONVOLUTION_FWD_ALGO_COUNT;
  static constexpr auto rank = cudnnGetConvolutionForwardAlgorithm_v7;
  static constexpr auto ask_size = cudnnGetConvolutionForwardWorkspaceSize;
  static constexpr auto compute = cudnnConvolutionForward;
};
struct BackwardData {
  using Found = cudnnConvolutionBwdDataAlgoPerf_t;
  static constexpr int kAlgorithms = CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT;
  static constexpr auto rank = cudnnGetConvolutionBackwardDataAlgorithm_v7;
  static constexpr auto ask_size = cudnnGetConvolutionBackwardDataWorkspaceSize;
  static constexpr auto compute = cudnnConvolutionBackwardData;
};
struct BackwardFilter {
  using Found = cudnnConvolutionBwdFilterAlgoPerf_t;
  static constexpr int kAlgorithms = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT;
  static constexpr auto rank = cudnnGetConvolutionBackwardFilterAlgorithm_v7;
  static constexpr auto ask_size = cudnnGetConvolutionBackwardFilterWorkspaceSize;
  static constexpr auto compute = cudnnConvolutionBackwardFilter;
};

struct Algorithm {
  int number;  // of the enumeration of its kind
  cudnnMathType_t math;
  size_t bytes;  // of memory to work in
};

template <typename Handle>
struct Operand {
  Handle descriptor;
  void* data;
};

class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDefault)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_{};
};

// One call: result = first * second, in the sense of `Functions`.
template <typename Functions, typename First, typename Second, typename Result>
class Call {
 public:
  Call(Functions, const TorchCudaConvolution& given, cudnnHandle_t handle, cudnnConvolutionDescriptor_t window,
       Operand<First> first, Operand<Second> second, Operand<Result> result)
      : given_(given), handle_(handle), window_(window), first_(first), second_(second), result_(result) {}

  // What computes it, the one that ought to be the fastest first.
  std::vector<Algorithm> rank() const {
    const Geometry& geometry = given_.geometry;
    std::array<typename Functions::Found, Functions::kAlgorithms> found;
    int count = 0;
    const cudnnStatus_t status = Functions::rank(handle_, first_.descriptor, second_.descriptor, window_,
                                                 result_.descriptor, Functions::kAlgorithms, &count, found.data());
    if (is_unsupported(status)) return {};
    check(status);
    std::vector<Algorithm> algorithms;
    for (int i = 0; i < count; ++i) {
      if (found[i].status != CUDNN_STATUS_SUCCESS) continue;
      if (geometry.deterministic && found[i].determinism != CUDNN_DETERMINISTIC) continue;
      // What was found with other operations than were allowed would be computed as allowed.
      const cudnnMathType_t allowed = math_of(geometry);
      Algorithm algorithm{found[i].algo, allowed == CUDNN_FMA_MATH ? allowed : found[i].mathType, 0};
      check(cudnnSetConvolutionMathType(window_, algorithm.math));
      const cudnnStatus_t sized = Functions::ask_size(handle_, first_.descriptor, second_.descriptor, window_,
                                                      result_.descriptor, found[i].algo, &algorithm.bytes);
      if (is_unsupported(sized)) continue;
      check(sized);
      algorithms.push_back(algorithm);
    }
    return algorithms;
  }

  // False: there is no memory for it, or cuDNN does not do it after all.
  bool run(const Algorithm& algorithm) const {
    void* memory = nullptr;
    if (algorithm.bytes > 0 && (memory = given_.allocate(given_.context, algorithm.bytes)) == nullptr) return false;
    check(cudnnSetConvolutionMathType(window_, algorithm.math));
    const cudnnStatus_t status =
        given_.geometry.type == kTorchCudaConvolutionDouble ? compute<double>(algorithm, memory)
                                                            : compute<float>(algorithm, memory);
    if (is_unsupported(status) || is_out_of_memory(status)) return false;
    check(status);
    return true;
  }

  // The fastest first, as they were seen to be; those that were not tried, or cannot be run now, are left out.
  std::vector<Algorithm> rank_by_time(const std::vector<Algorithm>& algorithms) const {
    const int limit = given_.geometry.benchmark_limit;
    std::vector<std::pair<float, Algorithm>> timed;
    const Event start, end;
    for (const Algorithm& algorithm : algorithms) {
      if (limit > 0 && static_cast<int>(timed.size()) == limit) break;
      if (!run(algorithm)) continue;  // its code is loaded now
      check(cudaEventRecord(start, given_.stream));
      if (!run(algorithm)) continue;
      check(cudaEventRecord(end, given_.stream));
      check(cudaEventSynchronize(end));
      timed.emplace_back(0.0f, algorithm);
      check(cudaEventElapsedTime(&timed.back().first, start, end));
    }
    std::stable_sort(timed.begin(), timed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Algorithm> result;
    for (const auto& [time, algorithm] : timed) result.push_back(algorithm);
    return result;
  }

 private:
  template <typename Factor>
  cudnnStatus_t compute(const Algorithm& algorithm, void* memory) const {
    const Factor one = 1, zero = 0;
    return Functions::compute(handle_, &one, first_.descriptor, first_.data, second_.descriptor, second_.data, window_,
                              static_cast<decltype(Functions::Found::algo)>(algorithm.number), memory, algorithm.bytes,
                              &zero, result_.descriptor, result_.data);
  }

  const TorchCudaConvolution& given_;
  cudnnHandle_t handle_;
  cudnnConvolutionDescriptor_t window_;
  Operand<First> first_;
  Operand<Second> second_;
  Operand<Result> result_;
};

struct ByContent {
  bool operator()(const Geometry& a, const Geometry& b) const { return std::memcmp(&a, &b, sizeof(Geometry)) < 0; }
};

// Of one thread and device, as a handle must not be used by two threads at once.
struct Device {
  cudnnHandle_t handle = nullptr;
  std::map<Geometry, std::vector<Algorithm>, ByContent> algorithms;
};

// They are not destroyed, because the driver may be gone when thread-local destructors run.
Device& current_device() {
  thread_local auto* devices = new std::map<int, Device>();
  int index = 0;
  check(cudaGetDevice(&index));
  Device& device = (*devices)[index];
  if (device.handle == nullptr) {
    if (cudnnGetVersion() / 100 < CUDNN_VERSION / 100)
      throw Failure{"version " + std::to_string(cudnnGetVersion()) + " is older than " + std::to_string(CUDNN_VERSION) +
                    ", which this plug-in was built with"};
    check(cudnnCreate(&device.handle));
  }
  return device;
}

template <typename OneCall>
bool run(const TorchCudaConvolution& given, Device& device, const OneCall& call) {
  Geometry geometry = given.geometry;
  auto found = device.algorithms.find(geometry);
  if (found == device.algorithms.end() && geometry.benchmark) {
    // Work that is recorded in a graph cannot be timed.
    cudaStreamCaptureStatus status{};
    check(cudaStreamIsCapturing(given.stream, &status));
    if (status != cudaStreamCaptureStatusNone) {
      geometry.benchmark = geometry.benchmark_limit = 0;
      found = device.algorithms.find(geometry);
    }
  }
  if (found == device.algorithms.end()) {
    constexpr size_t kKept = 4096;
    if (device.algorithms.size() >= kKept) device.algorithms.clear();
    std::vector<Algorithm> algorithms = call.rank();
    if (geometry.benchmark) {
      std::vector<Algorithm> timed = call.rank_by_time(algorithms);
      if (!timed.empty()) algorithms = std::move(timed);
    }
    found = device.algorithms.emplace(geometry, std::move(algorithms)).first;
  }
  // One that cannot be run now is tried again when no other can.
  std::vector<Algorithm>& algorithms = found->second;
  for (size_t tries = algorithms.size(); tries > 0; --tries) {
    if (call.run(algorithms.front())) return true;
    std::rotate(algorithms.begin(), algorithms.begin() + 1, algorithms.end());
  }
  return false;
}

bool convolve(const TorchCudaConvolution& given) {
  const Geometry& geometry = given.geometry;
  Device& device = current_device();
  check(cudnnSetStream(device.handle, given.stream));
  const TensorDescriptor image_descriptor, result_descriptor;
  const FilterDescriptor filter_descriptor;
  const WindowDescriptor window;
  describe(image_descriptor, geometry, geometry.image);
  describe(result_descriptor, geometry, geometry.result);
  describe(filter_descriptor, geometry);
  describe(window, geometry);
  const Operand<cudnnTensorDescriptor_t> image{image_descriptor, given.image}, result{result_descriptor, given.result};
  const Operand<cudnnFilterDescriptor_t> filters{filter_descriptor, given.filters};
  const auto run_by = [&](auto functions, auto first, auto second, auto target) {
    return run(given, device, Call(functions, given, device.handle, window, first, second, target));
  };
  switch (geometry.kind) {
    case kTorchCudaImageGradient: return run_by(BackwardData{}, filters, result, image);
    case kTorchCudaFilterGradient: return run_by(BackwardFilter{}, image, result, filters);
    default: return run_by(Forward{}, image, filters, result);
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* torch_cuda_convolution(
    const TorchCudaConvolution* convolution, int* done) {
  thread_local std::string error;
  try {
    *done = convolve(*convolution);
    return nullptr;
  } catch (const Failure& failure) {
    error = failure.what;
    return error.c_str();
  }
}

extern "C" __attribute__((visibility("default"))) int64_t torch_cuda_cudnn_version() {
  return static_cast<int64_t>(cudnnGetVersion());
}
