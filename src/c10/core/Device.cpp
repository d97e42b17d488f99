#include <c10/core/Device.h>

#include <charconv>

namespace c10 {

const char* device_type_name(DeviceType type, bool upper_case) {
  switch (type) {
    case DeviceType::CPU: return upper_case ? "CPU" : "cpu";
    case DeviceType::CUDA: return upper_case ? "CUDA" : "cuda";
    case DeviceType::Meta: return upper_case ? "Meta" : "meta";
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
    throw Error(detail::concatenate("Expected one of cpu, cuda, meta device type at start of device string: ", text));
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
