// Convolutions by plain loops, in the stream's order.
//
// Engines of three algorithms are there. Which cases they take, and what memory they ask for, is such that the plug-in
// meets every answer that cuDNN may give, and is not what cuDNN takes:
//   0  needs no memory; gradients are summed by float32 in an order that chance decides. Only a fallback
//   1  needs memory for the windows of an image
//   5  of windows of three in each direction, at every place and without gaps; needs as much memory as all tensors,
//      refuses bfloat16 when it is run, and cannot be made ready for doubles
// Floats have further engines of 1 and 5, which come first, that drop bits of them. Dilated volumes with channels last,
// and doubles with channels last, are supported by none.
//
// Attributes that the real one has defaults for must be set here.

#include "cudnn_descriptors.h"
#include "graphs.h"
#include "memory.h"
#include "queue.h"
#include "random.h"
#include "tf32.h"

#include <c10/util/Half.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

namespace {

using namespace cuda_emulation::cudnn;

constexpr int kDirect = 0, kByWindows = 1, kFast = 5;

std::atomic<long> calls[8];  // the last: which algorithms there are

using Sizes = std::array<int, 5>;  // batch, channels, three of places; what is not there is 1
using Places = std::array<int, 3>;

template <typename Array>
Array read_last(const Descriptor& descriptor, int name, Array numbers, size_t kept) {
  const std::vector<int64_t> given = descriptor.numbers<int64_t>(name);
  for (size_t i = 0; i < given.size(); ++i)
    numbers[i < kept ? i : i + numbers.size() - given.size()] = static_cast<typename Array::value_type>(given[i]);
  return numbers;
}

// Images become volumes of one image.
struct Layout {
  size_t dims;
  cudnnDataType_t type;
  Sizes sizes;
  std::array<int64_t, 5> strides;
  int64_t id, alignment;

  explicit Layout(const Descriptor& tensor)
      : dims(tensor.numbers<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS).size()),
        type(tensor.number<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE)),
        sizes(read_last(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, Sizes{1, 1, 1, 1, 1}, 2)),
        strides(read_last(tensor, CUDNN_ATTR_TENSOR_STRIDES, std::array<int64_t, 5>{1, 1, 1, 1, 1}, 2)),
        id(tensor.number(CUDNN_ATTR_TENSOR_UNIQUE_ID)),
        alignment(tensor.number(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT)) {}

  int64_t count() const {
    int64_t result = 1;
    for (const int size : sizes) result *= size;
    return result;
  }
  size_t element() const { return type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_FLOAT ? 4 : 2; }
  bool has_channels_last() const { return strides[1] < strides[4]; }
};

// Whichever of the three is computed.
struct Problem {
  Kind kind;
  int first;  // of its attributes
  Layout filters, image, result;
  Places padding, stride, dilation;
  size_t dims;
  cudnnDataType_t sums;
  int groups;

  explicit Problem(const Descriptor& operation)
      : kind(static_cast<Kind>(std::find(kOperations, kOperations + 3, operation.type) - kOperations)),
        first(first_attribute(kind)),
        filters(operation.part(first + 3)),
        image(operation.part(first + 4)),
        result(operation.part(first + 5)) {
    const Descriptor& window = operation.part(first + 2);
    padding = read_last(window, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, Places{0, 0, 0}, 0);
    stride = read_last(window, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, Places{1, 1, 1}, 0);
    dilation = read_last(window, CUDNN_ATTR_CONVOLUTION_DILATIONS, Places{1, 1, 1}, 0);
    dims = static_cast<size_t>(window.number(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS));
    sums = window.number<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
    groups = image.sizes[1] / filters.sizes[1];
  }

  bool is_consistent() const {
    const cudnnDataType_t type = image.type;
    if (filters.dims != image.dims || result.dims != image.dims || dims + 2 != image.dims || filters.type != type ||
        result.type != type || (sums == CUDNN_DATA_DOUBLE) != (type == CUDNN_DATA_DOUBLE) || groups < 1 ||
        image.sizes[1] != filters.sizes[1] * groups || filters.sizes[0] % groups != 0 ||
        result.sizes[0] != image.sizes[0] || result.sizes[1] != filters.sizes[0])
      return false;
    for (int i = 0; i < 3; ++i) {
      const int free = image.sizes[i + 2] + 2 * padding[i] - dilation[i] * (filters.sizes[i + 2] - 1) - 1;
      if (free < 0 || free / stride[i] + 1 != result.sizes[i + 2]) return false;
    }
    return true;
  }

  // What no engine does.
  cudnnStatus_t support() const {
    if (!image.has_channels_last()) return CUDNN_STATUS_SUCCESS;
    if (image.type == CUDNN_DATA_DOUBLE) return CUDNN_STATUS_NOT_SUPPORTED_LAYOUT;
    return dims == 3 && dilation != Places{1, 1, 1} ? CUDNN_STATUS_NOT_SUPPORTED_SHAPE : CUDNN_STATUS_SUCCESS;
  }

  bool has(int64_t algorithm) const {
    if (algorithm != kFast) return true;
    if (groups > 1) return false;
    for (size_t i = 3 - dims; i < 3; ++i) {
      if (filters.sizes[i + 2] != 3 || stride[i] != 1 || dilation[i] != 1) return false;
    }
    return true;
  }

  int64_t workspace(int64_t algorithm) const {
    const auto element = static_cast<int64_t>(image.element());
    if (algorithm == kFast) return (image.count() + filters.count() + result.count()) * element;
    if (algorithm == kDirect) return 0;
    // A row of places for each element of a window, as far apart as the elements are.
    int64_t count = filters.sizes[1];
    for (int i = 0; i < 3; ++i)
      count *= int64_t{result.sizes[i + 2]} * (dilation[i] * (filters.sizes[i + 2] - 1) + 1);
    return count * element;
  }

  const Layout& computed() const {
    return kind == kForward ? result : kind == kBackwardData ? image : filters;
  }
};

double read(const void* data, cudnnDataType_t type, int64_t index, bool drops_bits) {
  switch (type) {
    case CUDNN_DATA_DOUBLE: return static_cast<const double*>(data)[index];
    case CUDNN_DATA_HALF: return static_cast<float>(static_cast<const c10::Half*>(data)[index]);
    case CUDNN_DATA_BFLOAT16: return static_cast<float>(static_cast<const c10::BFloat16*>(data)[index]);
    case CUDNN_DATA_FLOAT: break;
  }
  const float value = static_cast<const float*>(data)[index];
  return drops_bits ? cuda_emulation::in_tf32(value) : value;
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
std::vector<double> read_all(const Layout& layout, const void* data, bool drops_bits) {
  std::vector<double> numbers(static_cast<size_t>(layout.count()));
  for_each_element(layout, [&](int64_t i, int64_t place) { numbers[i] = read(data, layout.type, place, drops_bits); });
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
  const Places &stride = p.stride, &padding = p.padding, &dilation = p.dilation;
  const int rows = filters[0] / p.groups;
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
void convolve(const Problem& p, bool drops_bits, int64_t first, const void* image_data, const void* filter_data,
              const void* result_data, void* target) {
  std::vector<Sum> sums(static_cast<size_t>(p.computed().count()));
  std::vector<double> image, filters, result;
  if (p.kind != kBackwardData) image = read_all(p.image, image_data, drops_bits);
  if (p.kind != kBackwardFilter) filters = read_all(p.filters, filter_data, drops_bits);
  if (p.kind != kForward) result = read_all(p.result, result_data, drops_bits);
  const auto add = p.kind == kForward        ? add_products<kForward, Sum>
                   : p.kind == kBackwardData ? add_products<kBackwardData, Sum>
                                             : add_products<kBackwardFilter, Sum>;
  add(p, first, image.data(), filters.data(), result.data(), sums.data());
  for_each_element(p.computed(), [&](int64_t i, int64_t place) { write(target, p.image.type, place, sums[i]); });
}

// An engine, and, as nothing is to choose of it, its configuration.
std::shared_ptr<const Descriptor> make_configuration(const std::shared_ptr<const Descriptor>& graph, int64_t algorithm,
                                                     const std::vector<cudnnBackendNumericalNote_t>& notes) {
  const auto engine = std::make_shared<Descriptor>(), configuration = std::make_shared<Descriptor>();
  *engine = {CUDNN_BACKEND_ENGINE_DESCRIPTOR, true, {}};
  engine->attributes[CUDNN_ATTR_ENGINE_OPERATION_GRAPH] = {CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, {}, {graph}};
  engine->put(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, std::vector<int64_t>{algorithm});
  engine->put(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, notes);
  *configuration = {CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, true, {}};
  configuration->attributes[CUDNN_ATTR_ENGINECFG_ENGINE] = {CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, {}, {engine}};
  return configuration;
}

cudnnStatus_t rank(Descriptor& heuristics) {
  const bool is_fallback =
      heuristics.number<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE) == CUDNN_HEUR_MODE_FALLBACK;
  if (!is_fallback) ++calls[7];
  const auto& graph = heuristics.attributes.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).descriptors[0];
  const Problem p(graph->part(CUDNN_ATTR_OPERATIONGRAPH_OPS));
  if (const cudnnStatus_t status = p.support(); status != CUDNN_STATUS_SUCCESS) return status;
  const cudnnBackendNumericalNote_t products = CUDNN_NUMERICAL_NOTE_TENSOR_CORE,
                                    halves = CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS,
                                    chance = CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
  Attribute found{CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, {}, {}};
  const auto add = [&](int algorithm, const std::vector<cudnnBackendNumericalNote_t>& notes) {
    found.descriptors.push_back(make_configuration(graph, algorithm, notes));
    ++found.count;
  };
  if (is_fallback) {
    add(kDirect, p.kind == kForward ? std::vector<cudnnBackendNumericalNote_t>{} : std::vector{chance});
  } else {
    for (const int algorithm : {kFast, kByWindows}) {
      if (p.image.type == CUDNN_DATA_FLOAT) add(algorithm, {halves});
      if (p.image.type != CUDNN_DATA_DOUBLE) add(algorithm, {products});
      if (p.image.element() > 2) add(algorithm, {});
    }
  }
  heuristics.attributes[CUDNN_ATTR_ENGINEHEUR_RESULTS] = found;
  return CUDNN_STATUS_SUCCESS;
}

const Descriptor& engine_of(const Descriptor& plan) {
  return plan.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).part(CUDNN_ATTR_ENGINECFG_ENGINE);
}

// What an engine does.
struct Work {
  Problem problem;
  int64_t algorithm;
  bool drops_bits, by_chance;

  explicit Work(const Descriptor& engine)
      : problem(engine.part(CUDNN_ATTR_ENGINE_OPERATION_GRAPH).part(CUDNN_ATTR_OPERATIONGRAPH_OPS)),
        algorithm(engine.number(CUDNN_ATTR_ENGINE_GLOBAL_INDEX)) {
    const auto notes = engine.numbers<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
    const auto has = [&](auto note) { return std::find(notes.begin(), notes.end(), note) != notes.end(); };
    drops_bits = has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) || has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
    by_chance = has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
  }
};

int64_t least_of(const std::vector<int64_t>& numbers) { return *std::min_element(numbers.begin(), numbers.end()); }

bool has_twice(std::vector<int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return std::adjacent_find(numbers.begin(), numbers.end()) != numbers.end();
}

bool is_tensor(const Descriptor& tensor) {
  const auto sizes = tensor.numbers<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS),
             strides = tensor.numbers<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  if (sizes.size() != strides.size() || least_of(sizes) < 1 || least_of(strides) < 1) return false;
  const Layout layout(tensor);
  return layout.alignment > 0 && layout.alignment % static_cast<int64_t>(layout.element()) == 0;
}

bool is_window(const Descriptor& window) {
  const auto dims = static_cast<size_t>(window.number(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS));
  const auto has = [&](int name, int64_t least) {
    const auto numbers = window.numbers<int64_t>(name);
    return numbers.size() == dims && least_of(numbers) >= least;
  };
  return has(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 1) && has(CUDNN_ATTR_CONVOLUTION_DILATIONS, 1) &&
         has(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 0) && has(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 0) &&
         window.numbers<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS) ==
             window.numbers<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS) &&
         window.number<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) == CUDNN_CROSS_CORRELATION;
}

bool is_operation(const Descriptor& operation) {
  const Problem p(operation);
  const auto has_factor = [&](int name, double factor) {
    if (operation.attributes.at(name).type == CUDNN_TYPE_DOUBLE)
      return p.sums == CUDNN_DATA_DOUBLE && operation.number<double>(name) == factor;
    return p.sums == CUDNN_DATA_FLOAT && operation.number<float>(name) == static_cast<float>(factor);
  };
  return has_factor(p.first, 1) && has_factor(p.first + 1, 0) && p.is_consistent();
}

cudnnStatus_t complete_plan(Descriptor& plan) {
  const Work work(engine_of(plan));
  // Its code is loaded.
  if (cuda_emulation::refuse_while_recorded() != cudaSuccess) return CUDNN_STATUS_EXECUTION_FAILED;
  if (!work.problem.has(work.algorithm)) return CUDNN_STATUS_NOT_SUPPORTED_SHAPE;
  if (work.algorithm == kFast && work.problem.sums == CUDNN_DATA_DOUBLE)
    return CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED;
  plan.put(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64,
           std::vector<int64_t>{work.problem.workspace(work.algorithm)});
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t complete(Descriptor& descriptor) {
  const auto state = [](bool is_good) { return is_good ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM; };
  if (!is_complete(descriptor)) return CUDNN_STATUS_BAD_PARAM;
  switch (descriptor.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR: return state(is_tensor(descriptor));
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR: return state(is_window(descriptor));
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR: {
      const Descriptor& operation = descriptor.part(CUDNN_ATTR_OPERATIONGRAPH_OPS);
      if (std::find(kOperations, kOperations + 3, operation.type) == kOperations + 3)
        return CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE;
      const Problem p(operation);
      return has_twice({p.image.id, p.filters.id, p.result.id}) ? CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES
                                                               : CUDNN_STATUS_SUCCESS;
    }
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR: return rank(descriptor);
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: return complete_plan(descriptor);
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      return state(!has_twice(descriptor.numbers<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS)));
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR: return CUDNN_STATUS_NOT_SUPPORTED;  // they are asked for
    default: return state(is_operation(descriptor));
  }
}

cudnnStatus_t run(cudnnHandle_t handle, const Descriptor& plan, const Descriptor& pack) {
  const Work work(engine_of(plan));
  const Problem& p = work.problem;
  const auto ids = pack.numbers<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto places = pack.numbers<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  const auto workspace = pack.number<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  const auto bytes = static_cast<size_t>(plan.number(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE));
  const auto holds = [](const void* data, size_t all) {
    return cuda_emulation::is_device_memory(data, all, cuda_emulation::current_device());
  };
  void* tensors[3];
  for (int i = 0; i < 3; ++i) {
    const Layout& layout = *std::array{&p.image, &p.filters, &p.result}[i];
    const auto found = std::find(ids.begin(), ids.end(), layout.id);
    if (found == ids.end()) return CUDNN_STATUS_BAD_PARAM;
    tensors[i] = places[found - ids.begin()];
    if (reinterpret_cast<intptr_t>(tensors[i]) % layout.alignment != 0)
      return CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER;
    if (!holds(tensors[i], static_cast<size_t>(layout.count()) * layout.element()))
      return CUDNN_STATUS_EXECUTION_FAILED;
  }
  if (bytes > 0 && !holds(workspace, bytes)) return CUDNN_STATUS_EXECUTION_FAILED;
  if (work.algorithm == kFast && p.image.type == CUDNN_DATA_BFLOAT16) return CUDNN_STATUS_NOT_SUPPORTED;
  ++calls[work.algorithm];
  const auto first = work.by_chance ? static_cast<int64_t>(cuda_emulation::random_below(1u << 20)) : 0;
  const auto [image, filters, result] = tensors;
  void* const target = p.kind == kForward ? result : p.kind == kBackwardData ? image : filters;
  const auto compute = work.by_chance && p.sums == CUDNN_DATA_FLOAT ? convolve<float> : convolve<double>;
  const cudaError_t error = cuda_emulation::enqueue(
      handle->stream, [=, image = image, filters = filters, result = result] {
        if (bytes > 0) std::memset(workspace, 0xff, bytes);
        compute(work.problem, work.drops_bits, first, image, filters, result, target);
        return cudaSuccess;
      });
  return error == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

}  // namespace

size_t cudnnGetVersion() { return CUDNN_VERSION; }

const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
    case CUDNN_STATUS_SUCCESS: return "no error";
    case CUDNN_STATUS_BAD_PARAM: return "an argument that does not go with the others";
    case CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER: return "a pointer at no multiple of its alignment";
    case CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED: return "a descriptor that is not finalized";
    case CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES: return "a number twice";
    case CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE: return "an attribute of another descriptor or of another type";
    case CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE: return "a descriptor of another type";
    case CUDNN_STATUS_EXECUTION_FAILED: return "the work failed on the device";
    default: return "an error of cuDNN";
  }
}

void cudnnGetLastErrorString(char* message, size_t max_size) {
  if (max_size > 0) message[0] = '\0';
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  *handle = new cudnnContext();
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  auto& finished = *static_cast<Descriptor*>(descriptor);
  const cudnnStatus_t status = finished.is_finalized ? CUDNN_STATUS_BAD_PARAM : complete(finished);
  finished.is_finalized = finished.is_finalized || status == CUDNN_STATUS_SUCCESS;
  return status;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack) {
  const auto &chosen = *static_cast<const Descriptor*>(plan), &given = *static_cast<const Descriptor*>(pack);
  if (!chosen.is_finalized || !given.is_finalized) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  if (chosen.type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR || given.type != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
    return CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE;
  if (handle != chosen.number<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE)) return CUDNN_STATUS_BAD_PARAM;
  return run(handle, chosen, given);
}

long cuda_emulation_cudnn_calls(int algorithm) { return calls[algorithm < 0 ? 7 : algorithm]; }
