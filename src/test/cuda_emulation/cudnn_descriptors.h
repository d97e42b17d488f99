#pragma once
// Descriptors of the emulated cuDNN's backend API: attributes by name, which nobody can change once it is finalized.

#include <cudnn.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace cuda_emulation::cudnn {

struct Descriptor;

struct Attribute {
  cudnnBackendAttributeType_t type = CUDNN_TYPE_INT64;
  int64_t count = 0;
  std::vector<char> bytes;
  std::vector<std::shared_ptr<const Descriptor>> descriptors;  // as they were
};

struct Descriptor {
  cudnnBackendDescriptorType_t type{};
  bool is_finalized = false;
  std::map<int, Attribute> attributes;

  template <typename Value>
  std::vector<Value> numbers(int name) const {
    const Attribute& attribute = attributes.at(name);
    std::vector<Value> result(static_cast<size_t>(attribute.count));
    std::copy(attribute.bytes.begin(), attribute.bytes.end(), reinterpret_cast<char*>(result.data()));
    return result;
  }
  template <typename Value = int64_t>
  Value number(int name) const {
    return numbers<Value>(name).at(0);
  }
  const Descriptor& part(int name) const { return *attributes.at(name).descriptors.at(0); }

  template <typename Value>
  void put(int name, cudnnBackendAttributeType_t type, const std::vector<Value>& values) {
    const auto* bytes = reinterpret_cast<const char*>(values.data());
    attributes[name] = {type, static_cast<int64_t>(values.size()), {bytes, bytes + values.size() * sizeof(Value)}, {}};
  }
};

// Whether all is set that has to be.
bool is_complete(const Descriptor& descriptor);

// In cuDNN's order of attributes.
enum Kind { kForward, kBackwardData, kBackwardFilter };
inline constexpr cudnnBackendDescriptorType_t kOperations[] = {
    CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
};
// It and those that follow: two factors, the window, filters, image and result.
constexpr int first_attribute(int kind) { return CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA + 6 * kind; }

}  // namespace cuda_emulation::cudnn
