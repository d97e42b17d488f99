#include <c10/core/ScalarType.h>

#include <atomic>

namespace c10 {

const char* to_string(ScalarType type) {
  switch (type) {
#define C10_NAME(cpp_type, name) \
  case ScalarType::name: return #name;
    C10_FORALL_SCALAR_TYPES(C10_NAME)
#undef C10_NAME
    case ScalarType::Undefined: return "Undefined";
  }
  return "Unknown";
}

const char* dtype_name(ScalarType type) {
  switch (type) {
    case ScalarType::Byte: return "uint8";
    case ScalarType::Int: return "int32";
    case ScalarType::Long: return "int64";
    case ScalarType::Float: return "float32";
    case ScalarType::Double: return "float64";
    case ScalarType::Bool: return "bool";
    case ScalarType::Undefined: return "undefined";
  }
  return "unknown";
}

namespace {
// The types form a chain, bool < uint8 < int32 < int64 < float32 < float64, so promotion is the later of the two.
int rank(ScalarType type) {
  switch (type) {
    case ScalarType::Bool: return 0;
    case ScalarType::Byte: return 1;
    case ScalarType::Int: return 2;
    case ScalarType::Long: return 3;
    case ScalarType::Float: return 4;
    case ScalarType::Double: return 5;
    case ScalarType::Undefined: return -1;
  }
  return -1;
}
std::atomic<ScalarType> default_dtype{ScalarType::Float};
}  // namespace

ScalarType promote_types(ScalarType left, ScalarType right) { return rank(left) >= rank(right) ? left : right; }

bool can_cast(ScalarType from, ScalarType to) {
  if (is_floating_type(from) && !is_floating_type(to)) return false;
  return from == kBool || to != kBool;
}

ScalarType get_default_dtype() { return default_dtype.load(std::memory_order_relaxed); }

void set_default_dtype(ScalarType type) {
  TORCH_CHECK_TYPE(is_floating_type(type), "only floating-point types are supported as the default type");
  default_dtype.store(type, std::memory_order_relaxed);
}

std::ostream& operator<<(std::ostream& stream, ScalarType type) { return stream << to_string(type); }

}  // namespace c10
