#include <c10/core/Device.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace c10 {

namespace {
// PyTorch's devices that have no backend here, numbered after those of the enumeration. Programs name them, compare
// them and ask for their type; where a tensor would be made on one, get_backend() refuses.
constexpr struct {
  const char* name;
  const char* upper;
} kOtherTypes[] = {
    {"ipu", "IPU"},
    {"xpu", "XPU"},
    {"mkldnn", "MKLDNN"},
    {"opengl", "OPENGL"},
    {"opencl", "OPENCL"},
    {"ideep", "IDEEP"},
    {"hip", "HIP"},
    {"ve", "VE"},
    {"fpga", "FPGA"},
    {"maia", "MAIA"},
    {"xla", "XLA"},
    {"lazy", "LAZY"},
    {"vulkan", "VULKAN"},
    {"mps", "MPS"},
    {"hpu", "HPU"},
    {"mtia", "MTIA"},
    {"privateuseone", "PRIVATEUSEONE"},
};
}  // namespace

const char* device_type_name(DeviceType type, bool upper_case) {
  switch (type) {
    case DeviceType::CPU: return upper_case ? "CPU" : "cpu";
    case DeviceType::CUDA: return upper_case ? "CUDA" : "cuda";
    case DeviceType::Meta: return upper_case ? "Meta" : "meta";
  }
  const int other = static_cast<int>(type) - kDeviceTypes;
  if (other >= 0 && other < static_cast<int>(std::size(kOtherTypes))) {
    return upper_case ? kOtherTypes[other].upper : kOtherTypes[other].name;
  }
  throw Error(detail::concatenate("device type ", static_cast<int>(type), " does not exist"));
}

const char* layout_name(Layout layout) {
  switch (layout) {
    case Layout::Strided: return "Strided";
    case Layout::Sparse: return "Sparse";
    case Layout::SparseCsr: return "SparseCsr";
    case Layout::SparseCsc: return "SparseCsc";
  }
  throw Error(detail::concatenate("layout ", static_cast<int>(layout), " does not exist"));
}

Device::Device(std::string_view text) : type_(kCPU), index_(-1) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  if (name == "cpu") {
    type_ = kCPU;
  } else if (name == "cuda") {
    type_ = kCUDA;
  } else if (name == "meta") {
    type_ = kMeta;
  } else {
    const auto* const found = std::find_if(std::begin(kOtherTypes), std::end(kOtherTypes),
                                           [&](const auto& other) { return name == other.name; });
    if (found == std::end(kOtherTypes)) {
      std::string message = "Expected one of cpu, cuda, meta";
      for (const auto& other : kOtherTypes) message.append(", ").append(other.name);
      throw Error(message.append(" device type at start of device string: ").append(text));
    }
    type_ = static_cast<DeviceType>(kDeviceTypes + (found - std::begin(kOtherTypes)));
  }
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    int index = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    TORCH_CHECK(error == std::errc() && end == digits.data() + digits.size() && index >= 0 && index <= 127,
                "Invalid device string: '", text, "': expected a device number from 0 to 127 after the colon");
    index_ = static_cast<DeviceIndex>(index);
  }
}

std::string Device::str() const {
  std::string text = device_type_name(type_);
  if (has_index()) text += ":" + std::to_string(index_);
  return text;
}

std::ostream& operator<<(std::ostream& stream, const Device& device) { return stream << device.str(); }
std::ostream& operator<<(std::ostream& stream, DeviceType type) { return stream << device_type_name(type); }

}  // namespace c10
