// libtorch_cuda_dnn: convolutions by cuDNN's backend API. An engine is chosen, and its execution plan made, once for
// each geometry.

#include <aten/native/cuda/dnn/Convolution.h>

#include <cudnn.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
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

// `number`: which attribute or descriptor of cudnn_graph.h `step` is about.
void check(cudnnStatus_t status, const char* step, int number = -1) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  char details[512] = "";
  cudnnGetLastErrorString(details, sizeof details);
  std::string what = step;
  if (number >= 0) what += ' ' + std::to_string(number);
  what += ": ";
  what += cudnnGetErrorString(status);
  if (details[0]) what.append(": ") += details;
  throw Failure{what};
}

void check(cudaError_t error) {
  if (error != cudaSuccess) throw Failure{cudaGetErrorString(error)};
}

class Descriptor;

// What cuDNN calls the type of an attribute's values.
cudnnBackendAttributeType_t type_of(const Descriptor*) { return CUDNN_TYPE_BACKEND_DESCRIPTOR; }
cudnnBackendAttributeType_t type_of(const cudnnHandle_t*) { return CUDNN_TYPE_HANDLE; }
cudnnBackendAttributeType_t type_of(const cudnnDataType_t*) { return CUDNN_TYPE_DATA_TYPE; }
cudnnBackendAttributeType_t type_of(const cudnnConvolutionMode_t*) { return CUDNN_TYPE_CONVOLUTION_MODE; }
cudnnBackendAttributeType_t type_of(const cudnnBackendHeurMode_t*) { return CUDNN_TYPE_HEUR_MODE; }
cudnnBackendAttributeType_t type_of(const cudnnBackendNumericalNote_t*) { return CUDNN_TYPE_NUMERICAL_NOTE; }
cudnnBackendAttributeType_t type_of(const int64_t*) { return CUDNN_TYPE_INT64; }
cudnnBackendAttributeType_t type_of(const float*) { return CUDNN_TYPE_FLOAT; }
cudnnBackendAttributeType_t type_of(const double*) { return CUDNN_TYPE_DOUBLE; }
cudnnBackendAttributeType_t type_of(void* const*) { return CUDNN_TYPE_VOID_PTR; }

class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    check(cudnnBackendCreateDescriptor(type, &descriptor_), "descriptor", type);
  }
  ~Descriptor() {
    if (descriptor_) cudnnBackendDestroyDescriptor(descriptor_);
  }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  template <typename Value>
  void set(cudnnBackendAttributeName_t name, const Value* values, int64_t count) {
    check(cudnnBackendSetAttribute(descriptor_, name, type_of(values), count, values), "attribute", name);
  }
  template <typename Value>
  void set(cudnnBackendAttributeName_t name, const Value& value) {
    set(name, &value, 1);
  }
  // How many there are; so many of them as are wanted are written to `values`.
  template <typename Value>
  int64_t get(cudnnBackendAttributeName_t name, Value* values, int64_t wanted) const {
    int64_t count = 0;
    check(cudnnBackendGetAttribute(descriptor_, name, type_of(values), wanted, &count, values), "attribute", name);
    return count;
  }
  // False: cuDNN does not do what it describes.
  bool finalize(const char* step) {
    const cudnnStatus_t status = cudnnBackendFinalize(descriptor_);
    if (is_unsupported(status)) return false;
    check(status, step);
    return true;
  }
  operator cudnnBackendDescriptor_t() const { return descriptor_; }

 private:
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};
static_assert(sizeof(Descriptor) == sizeof(cudnnBackendDescriptor_t), "an array of them is one of cuDNN's");

// The three tensors, in the order of the kinds of convolutions: which is computed.
constexpr int64_t kResult = 1, kImage = 2, kFilters = 3;
constexpr int64_t kTensors[] = {kResult, kImage, kFilters};
constexpr int64_t kAlignment = 16;

cudnnDataType_t data_type_of(const Geometry& geometry) {
  switch (geometry.type) {
    case kTorchCudaConvolutionHalf: return CUDNN_DATA_HALF;
    case kTorchCudaConvolutionBFloat16: return CUDNN_DATA_BFLOAT16;
    case kTorchCudaConvolutionDouble: return CUDNN_DATA_DOUBLE;
    default: return CUDNN_DATA_FLOAT;
  }
}

Descriptor describe_tensor(const Geometry& geometry, int64_t tensor, const int (&numbers)[5]) {
  int64_t sizes[5], strides[5];
  int64_t step = 1;
  const auto lay = [&](int dim) {
    sizes[dim] = numbers[dim];
    strides[dim] = step;
    step *= sizes[dim];
  };
  if (geometry.channels_last) lay(1);
  for (int dim = geometry.dims + 1; dim >= 2; --dim) lay(dim);
  if (!geometry.channels_last) lay(1);
  lay(0);
  Descriptor described(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  described.set(CUDNN_ATTR_TENSOR_DATA_TYPE, data_type_of(geometry));
  described.set(CUDNN_ATTR_TENSOR_DIMENSIONS, sizes, geometry.dims + 2);
  described.set(CUDNN_ATTR_TENSOR_STRIDES, strides, geometry.dims + 2);
  described.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, tensor);
  described.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment);
  check(cudnnBackendFinalize(described), "tensor", static_cast<int>(tensor));
  return described;
}

Descriptor describe_window(const Geometry& geometry) {
  Descriptor window(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const auto set_numbers = [&](cudnnBackendAttributeName_t name, const int (&numbers)[3]) {
    const int64_t values[] = {numbers[0], numbers[1], numbers[2]};
    window.set(name, values, geometry.dims);
  };
  window.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE,
             geometry.type == kTorchCudaConvolutionDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
  window.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  window.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64_t{geometry.dims});
  set_numbers(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, geometry.stride);
  set_numbers(CUDNN_ATTR_CONVOLUTION_DILATIONS, geometry.dilation);
  set_numbers(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, geometry.padding);
  set_numbers(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, geometry.padding);
  check(cudnnBackendFinalize(window), "window");
  return window;
}

// Of a kind of convolution: what cuDNN calls it and its attributes.
struct Operation {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t result, image, filters, window, factor_of_products, factor_of_former;
};
constexpr Operation kOperations[] = {
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
};

// A graph of one operation; none where cuDNN has no such.
std::optional<Descriptor> describe_graph(const Geometry& geometry, cudnnHandle_t handle) {
  const Operation& names = kOperations[geometry.kind];
  Descriptor operation(names.type);
  operation.set(names.result, describe_tensor(geometry, kResult, geometry.result));
  operation.set(names.image, describe_tensor(geometry, kImage, geometry.image));
  operation.set(names.filters, describe_tensor(geometry, kFilters, geometry.filters));
  operation.set(names.window, describe_window(geometry));
  if (geometry.type == kTorchCudaConvolutionDouble) {
    operation.set(names.factor_of_products, 1.0);
    operation.set(names.factor_of_former, 0.0);
  } else {
    operation.set(names.factor_of_products, 1.0f);
    operation.set(names.factor_of_former, 0.0f);
  }
  if (!operation.finalize("operation")) return std::nullopt;
  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  if (!graph.finalize("graph of operations")) return std::nullopt;
  return graph;
}

// Engines and how they are set, the one that ought to be the fastest first. As cuDNN takes tenths of a millisecond for
// each, only few are asked for as long as no more are needed.
class Ranking {
 public:
  Ranking(const Descriptor& graph, cudnnBackendHeurMode_t mode) : heuristics_(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR) {
    heuristics_.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    heuristics_.set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
    if (heuristics_.finalize("heuristics"))
      count_ = heuristics_.get<Descriptor>(CUDNN_ATTR_ENGINEHEUR_RESULTS, nullptr, 0);
  }

  // Null: there are no more.
  const Descriptor* next() {
    if (next_ == size() && next_ < count_) ask(std::min(count_, 4 * next_ + 1));
    return next_ < size() ? &ranked_[next_++] : nullptr;
  }

 private:
  int64_t size() const { return static_cast<int64_t>(ranked_.size()); }

  void ask(int64_t wanted) {
    ranked_.clear();
    while (size() < wanted) ranked_.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    const int64_t written = heuristics_.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, ranked_.data(), wanted);
    if (written < wanted) count_ = written;
    while (size() > count_) ranked_.pop_back();
  }

  Descriptor heuristics_;
  int64_t count_ = 0, next_ = 0;
  std::vector<Descriptor> ranked_;
};

bool is_allowed(const Descriptor& configuration, const Geometry& geometry) {
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  configuration.get(CUDNN_ATTR_ENGINECFG_ENGINE, &engine, 1);
  cudnnBackendNumericalNote_t notes[64];
  const int64_t count = engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, notes, std::size(notes));
  for (int64_t i = 0; i < count; ++i) {
    if (notes[i] == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) return false;
    if (notes[i] == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC && geometry.deterministic) return false;
    // Of floats, they multiply the first 10 bits.
    if (notes[i] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE && geometry.type == kTorchCudaConvolutionFloat && !geometry.tf32)
      return false;
  }
  return true;
}

// An engine made ready for a geometry.
struct Plan {
  Descriptor descriptor;
  int64_t bytes;  // of memory to work in
};

std::optional<Plan> make_plan(const Descriptor& configuration, cudnnHandle_t handle) {
  Plan plan{Descriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR), 0};
  plan.descriptor.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle);
  plan.descriptor.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  if (!plan.descriptor.finalize("execution plan")) return std::nullopt;
  plan.descriptor.get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, &plan.bytes, 1);
  return plan;
}

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

class Call {
 public:
  Call(const TorchCudaConvolution& given, cudnnHandle_t handle) : given_(given), handle_(handle) {}

  // False: there is no memory for it, or cuDNN does not do it after all.
  bool run(const Plan& plan) {
    void* memory = nullptr;
    if (plan.bytes > 0 && (memory = given_.allocate(given_.context, static_cast<size_t>(plan.bytes))) == nullptr) {
      lacked_memory_ = true;
      return false;
    }
    void* const places[] = {given_.result, given_.image, given_.filters};
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);  // those that are finalized cannot be set anew
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, kTensors, 3);
    pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, places, 3);
    pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, memory);
    check(cudnnBackendFinalize(pack), "variant pack");
    const cudnnStatus_t status = cudnnBackendExecute(handle_, plan.descriptor, pack);
    if (is_unsupported(status)) return false;
    if (is_out_of_memory(status)) {
      lacked_memory_ = true;
      return false;
    }
    check(status, "execution");
    return true;
  }

  // The plan that has computed it: the first that can be run, or, of as many as may be tried, the fastest.
  std::optional<Plan> find_plan(bool by_time) {
    const Geometry& geometry = given_.geometry;
    const std::optional<Descriptor> graph = describe_graph(geometry, handle_);
    if (!graph) return std::nullopt;
    std::optional<Plan> fastest;
    std::optional<Failure> failure;
    float least = 0;
    for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
      int tries = 0;
      for (Ranking ranking(*graph, mode); const Descriptor* configuration = ranking.next();) {
        if (by_time && geometry.benchmark_limit > 0 && tries == geometry.benchmark_limit) break;
        if (!is_allowed(*configuration, geometry)) continue;
        try {
          std::optional<Plan> plan = make_plan(*configuration, handle_);
          if (!plan || !run(*plan)) continue;  // its code is loaded now
          if (!by_time) return plan;
          const std::optional<float> time = measure(*plan);
          if (!time) continue;
          ++tries;
          if (fastest && least <= *time) continue;
          fastest = std::move(plan);
          least = *time;
        } catch (const Failure& met) {  // told if no other engine does it
          if (!failure) failure = met;
        }
      }
      if (fastest) break;
    }
    if (fastest && run(*fastest)) return fastest;
    if (failure && !lacked_memory_) throw *failure;
    return std::nullopt;
  }

  // Of a plan that was not run: with more, it could be.
  bool lacked_memory() const { return lacked_memory_; }

 private:
  // Milliseconds; none if it cannot be run.
  std::optional<float> measure(const Plan& plan) {
    const Event start, end;
    check(cudaEventRecord(start, given_.stream));
    if (!run(plan)) return std::nullopt;
    check(cudaEventRecord(end, given_.stream));
    check(cudaEventSynchronize(end));
    float time = 0;
    check(cudaEventElapsedTime(&time, start, end));
    return time;
  }

  const TorchCudaConvolution& given_;
  cudnnHandle_t handle_;
  bool lacked_memory_ = false;
};

std::string_view content_of(const Geometry& geometry) {
  return {reinterpret_cast<const char*>(&geometry), sizeof geometry};
}
struct HashContent {
  size_t operator()(const Geometry& geometry) const { return std::hash<std::string_view>()(content_of(geometry)); }
};
struct EqualContent {
  bool operator()(const Geometry& a, const Geometry& b) const { return content_of(a) == content_of(b); }
};

// Of one thread and device, as a handle must not be used by two threads at once.
struct Device {
  cudnnHandle_t handle = nullptr;
  std::unordered_map<Geometry, std::optional<Plan>, HashContent, EqualContent> plans;  // none: cuDNN does not do it
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
    check(cudnnCreate(&device.handle), "handle");
  }
  return device;
}

bool is_recorded(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  check(cudaStreamIsCapturing(stream, &status));
  return status != cudaStreamCaptureStatusNone;
}

bool convolve(const TorchCudaConvolution& given) {
  Device& device = current_device();
  check(cudnnSetStream(device.handle, given.stream), "stream");
  Call call(given, device.handle);
  Geometry geometry = given.geometry;
  auto found = device.plans.find(geometry);
  if (found == device.plans.end() && geometry.benchmark && is_recorded(given.stream)) {
    // Work that is recorded in a graph cannot be timed.
    geometry.benchmark = geometry.benchmark_limit = 0;
    found = device.plans.find(geometry);
  }
  if (found != device.plans.end()) {
    if (!found->second) return false;
    if (call.run(*found->second)) return true;
  }
  std::optional<Plan> plan = call.find_plan(geometry.benchmark);
  const bool done = plan.has_value();
  if (!done && call.lacked_memory()) return false;  // there may be more the next time
  constexpr size_t kKept = 4096;
  if (device.plans.size() >= kKept) device.plans.clear();
  device.plans.insert_or_assign(geometry, std::move(plan));
  return done;
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
