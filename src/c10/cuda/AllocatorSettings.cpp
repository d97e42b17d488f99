#include <c10/cuda/AllocatorSettings.h>
#include <c10/util/Exception.h>
#include <c10/util/Warning.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace c10::cuda {

namespace {

constexpr size_t kMiB = size_t{1} << 20;

int floor_log2(size_t value) { return 63 - __builtin_clzll(value); }
bool is_power_of_two(size_t value) { return value != 0 && (value & (value - 1)) == 0; }

// Parts of `text` between separators that are not within brackets.
std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char letter : text) {
    if (letter == ' ') continue;
    depth += letter == '[' ? 1 : letter == ']' ? -1 : 0;
    if (letter == separator && depth == 0) parts.emplace_back();
    else parts.back() += letter;
  }
  return parts;
}

size_t read_number(const std::string& option, const std::string& value) {
  TORCH_CHECK_VALUE(!value.empty() && value.size() < 16 && value.find_first_not_of("0123456789") == std::string::npos,
                    "the allocator's option ", option, " takes a whole number, got '", value, "'");
  return std::stoull(value);
}

size_t read_mebibytes(const std::string& option, const std::string& value) {
  const size_t number = read_number(option, value);
  TORCH_CHECK_VALUE(number >= 20, "CachingAllocator option ", option, " too small, must be >= 20");
  TORCH_CHECK_VALUE(number <= SIZE_MAX / kMiB, "the allocator's option ", option, " is too large: ", value);
  return number * kMiB;
}

double read_share(const std::string& option, const std::string& value) {
  char* end = nullptr;
  const double share = std::strtod(value.c_str(), &end);
  TORCH_CHECK_VALUE(!value.empty() && *end == '\0' && share > 0 && share < 1, option,
                    " is invalid, set it in (0.0, 1.0)");
  return share;
}

size_t read_divisions(const std::string& option, const std::string& value) {
  const size_t divisions = read_number(option, value);
  TORCH_CHECK_VALUE(is_power_of_two(divisions), "For roundups, the divisions has to be power of 2, got ", divisions);
  return divisions;
}

// "4", or "[256:1,512:2,>:4]" by sizes in MiB.
std::array<size_t, 16> read_table(const std::string& option, const std::string& value) {
  std::array<size_t, 16> table{};
  if (value.empty() || value[0] != '[') {
    table.fill(read_divisions(option, value));
    return table;
  }
  TORCH_CHECK_VALUE(value.back() == ']', "the allocator's option ", option, " lacks its ], got '", value, "'");
  size_t next = 0;
  for (const std::string& entry : parts_of(value.substr(1, value.size() - 2), ',')) {
    const std::vector<std::string> pair = parts_of(entry, ':');
    TORCH_CHECK_VALUE(pair.size() == 2, "the allocator's option ", option, " takes SIZE:DIVISIONS, got '", entry, "'");
    const size_t divisions = read_divisions(option, pair[1]);
    if (pair[0] == ">") {
      std::fill(table.begin() + static_cast<ptrdiff_t>(next), table.end(), divisions);
      break;
    }
    const size_t size = read_number(option, pair[0]);
    TORCH_CHECK_VALUE(is_power_of_two(size), "For roundups, the intervals have to be power of 2, got ", size);
    const size_t index = std::min<size_t>(static_cast<size_t>(floor_log2(size)), table.size() - 1);
    if (next == 0) std::fill_n(table.begin(), index, divisions);
    table[index] = divisions;
    next = index + 1;
  }
  return table;
}

}  // namespace

AllocatorSettings AllocatorSettings::parse(const std::string& text) {
  AllocatorSettings settings;
  for (const std::string& entry : parts_of(text, ',')) {
    if (entry.empty()) continue;
    const size_t colon = entry.find(':');
    TORCH_CHECK_VALUE(colon != std::string::npos, "the allocator's options are OPTION:VALUE, got '", entry, "'");
    const std::string option = entry.substr(0, colon);
    const std::string value = entry.substr(colon + 1);
    if (option == "max_split_size_mb") settings.max_split_size = read_mebibytes(option, value);
    else if (option == "max_non_split_rounding_mb") settings.max_non_split_rounding = read_mebibytes(option, value);
    else if (option == "garbage_collection_threshold")
      settings.garbage_collection_threshold = read_share(option, value);
    else if (option == "roundup_power2_divisions") settings.roundup_power2_divisions = read_table(option, value);
    else if (value != "False" && !(option == "backend" && value == "native"))
      TORCH_WARN("the allocator of CUDA's memory does nothing for ", entry, ", which PYTORCH_ALLOC_CONF asks for");
  }
  return settings;
}

size_t AllocatorSettings::round_up(size_t bytes, size_t granularity) const {
  if (bytes > granularity) {
    const int power = floor_log2(bytes);
    const size_t divisions = roundup_power2_divisions[static_cast<size_t>(std::clamp(power - floor_log2(kMiB), 0, 15))];
    if (divisions > 1 && bytes > granularity * divisions) granularity = (size_t{1} << power) / divisions;
  }
  return (bytes + granularity - 1) / granularity * granularity;
}

const AllocatorSettings& allocator_settings() {
  static const AllocatorSettings settings = [] {
    const char* text = std::getenv("PYTORCH_ALLOC_CONF");
    if (text == nullptr) text = std::getenv("PYTORCH_CUDA_ALLOC_CONF");
    return AllocatorSettings::parse(text ? text : "");
  }();
  return settings;
}

}  // namespace c10::cuda
