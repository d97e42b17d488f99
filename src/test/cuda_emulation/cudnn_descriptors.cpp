#include "cudnn_descriptors.h"

#include <algorithm>

namespace cuda_emulation::cudnn {

namespace {

size_t bytes_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR: return 8;
    case CUDNN_TYPE_BACKEND_DESCRIPTOR: return 0;
    default: return 4;
  }
}

// Whose an attribute is, of which type and how many values it has, and what these describe.
struct Rule {
  cudnnBackendDescriptorType_t owner;
  cudnnBackendAttributeType_t type;
  int64_t least = 1, most = 1;
  cudnnBackendDescriptorType_t part{};
  bool is_answer = false;  // it cannot be set
};

std::map<int, Rule> make_rules() {
  const auto tensor = CUDNN_BACKEND_TENSOR_DESCRIPTOR, window = CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
             graph = CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, heuristics = CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
             engine = CUDNN_BACKEND_ENGINE_DESCRIPTOR, configuration = CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
             plan = CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, pack = CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR;
  const auto part = CUDNN_TYPE_BACKEND_DESCRIPTOR;
  std::map<int, Rule> rules{
      {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {tensor, CUDNN_TYPE_INT64}},
      {CUDNN_ATTR_TENSOR_DATA_TYPE, {tensor, CUDNN_TYPE_DATA_TYPE}},
      {CUDNN_ATTR_TENSOR_DIMENSIONS, {tensor, CUDNN_TYPE_INT64, 4, 5}},
      {CUDNN_ATTR_TENSOR_STRIDES, {tensor, CUDNN_TYPE_INT64, 4, 5}},
      {CUDNN_ATTR_TENSOR_UNIQUE_ID, {tensor, CUDNN_TYPE_INT64}},
      {CUDNN_ATTR_CONVOLUTION_COMP_TYPE, {window, CUDNN_TYPE_DATA_TYPE}},
      {CUDNN_ATTR_CONVOLUTION_CONV_MODE, {window, CUDNN_TYPE_CONVOLUTION_MODE}},
      {CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {window, CUDNN_TYPE_INT64}},
      {CUDNN_ATTR_OPERATIONGRAPH_HANDLE, {graph, CUDNN_TYPE_HANDLE}},
      {CUDNN_ATTR_OPERATIONGRAPH_OPS, {graph, part}},
      {CUDNN_ATTR_ENGINEHEUR_MODE, {heuristics, CUDNN_TYPE_HEUR_MODE}},
      {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, {heuristics, part, 1, 1, graph}},
      {CUDNN_ATTR_ENGINEHEUR_RESULTS, {heuristics, part, 0, 0, configuration, true}},
      {CUDNN_ATTR_ENGINECFG_ENGINE, {configuration, part, 1, 1, engine}},
      {CUDNN_ATTR_ENGINE_OPERATION_GRAPH, {engine, part, 1, 1, graph}},
      {CUDNN_ATTR_ENGINE_GLOBAL_INDEX, {engine, CUDNN_TYPE_INT64}},
      {CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, {engine, CUDNN_TYPE_NUMERICAL_NOTE, 0, 0, {}, true}},
      {CUDNN_ATTR_EXECUTION_PLAN_HANDLE, {plan, CUDNN_TYPE_HANDLE}},
      {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, {plan, part, 1, 1, configuration}},
      {CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, {plan, CUDNN_TYPE_INT64, 0, 0, {}, true}},
      {CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, {pack, CUDNN_TYPE_INT64, 3, 3}},
      {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, {pack, CUDNN_TYPE_VOID_PTR, 3, 3}},
      {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, {pack, CUDNN_TYPE_VOID_PTR}},
  };
  for (const int name : {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                         CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS})
    rules[name] = {window, CUDNN_TYPE_INT64, 2, 3};
  for (const int kind : {kForward, kBackwardData, kBackwardFilter}) {
    int name = first_attribute(kind);
    const auto operation = kOperations[kind];
    for (int factor = 0; factor < 2; ++factor) rules[name++] = {operation, CUDNN_TYPE_FLOAT};
    rules[name++] = {operation, part, 1, 1, window};
    for (int operand = 0; operand < 3; ++operand) rules[name++] = {operation, part, 1, 1, tensor};
  }
  return rules;
}

const std::map<int, Rule> kRules = make_rules();

// Of a descriptor's type.
const Rule* find_rule(const Descriptor& descriptor, int name, cudnnBackendAttributeType_t type) {
  const auto found = kRules.find(name);
  if (found == kRules.end() || found->second.owner != descriptor.type) return nullptr;
  // Factors are of the type of sums.
  const bool is_double = type == CUDNN_TYPE_DOUBLE && found->second.type == CUDNN_TYPE_FLOAT;
  return is_double || type == found->second.type ? &found->second : nullptr;
}

}  // namespace

bool is_complete(const Descriptor& descriptor) {
  return std::all_of(kRules.begin(), kRules.end(), [&](const auto& entry) {
    const auto& [name, rule] = entry;
    return rule.owner != descriptor.type || rule.is_answer || descriptor.attributes.count(name) > 0;
  });
}

}  // namespace cuda_emulation::cudnn

using namespace cuda_emulation::cudnn;

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* descriptor) {
  *descriptor = new Descriptor{type, false, {}};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete static_cast<Descriptor*>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count, const void* values) {
  auto& changed = *static_cast<Descriptor*>(descriptor);
  const Rule* rule = find_rule(changed, name, type);
  if (rule == nullptr) return CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
  if (changed.is_finalized || rule->is_answer || count < rule->least || count > rule->most || values == nullptr)
    return CUDNN_STATUS_BAD_PARAM;
  const auto* bytes = static_cast<const char*>(values);
  Attribute made{type, count, {bytes, bytes + static_cast<size_t>(count) * bytes_of(type)}, {}};
  for (int64_t i = 0; type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < count; ++i) {
    const auto& part = *static_cast<const Descriptor*>(static_cast<void* const*>(values)[i]);
    if (!part.is_finalized) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
    if (rule->part != cudnnBackendDescriptorType_t{} && part.type != rule->part)
      return CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE;
    made.descriptors.push_back(std::make_shared<Descriptor>(part));
  }
  changed.attributes[name] = made;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(const cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t requested, int64_t* count,
                                       void* values) {
  const auto& asked = *static_cast<const Descriptor*>(descriptor);
  if (!asked.is_finalized) return CUDNN_STATUS_NOT_INITIALIZED;
  if (find_rule(asked, name, type) == nullptr) return CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
  const Attribute& attribute = asked.attributes.at(name);
  const int64_t written = std::min(requested, attribute.count);
  *count = requested == 0 ? attribute.count : written;
  std::copy_n(attribute.bytes.begin(), written * static_cast<int64_t>(bytes_of(type)), static_cast<char*>(values));
  for (int64_t i = 0; type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < written; ++i) {
    auto& part = *static_cast<Descriptor*>(static_cast<void**>(values)[i]);
    const Descriptor& found = *attribute.descriptors[static_cast<size_t>(i)];
    if (part.is_finalized || part.type != found.type) return CUDNN_STATUS_BAD_PARAM;
    part = found;
  }
  return CUDNN_STATUS_SUCCESS;
}
