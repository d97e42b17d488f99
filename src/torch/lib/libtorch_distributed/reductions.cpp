#include <torch/lib/libtorch_distributed/reductions.h>

#include <c10/core/ScalarType.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace torch::distributed {
namespace {

template <typename T>
constexpr bool is_complex = std::is_same_v<T, c10::complex<float>> || std::is_same_v<T, c10::complex<double>>;

// What types of 16 and 8 bits are computed in; each result is rounded once.
template <typename T>
using Computed = std::conditional_t<c10::is_reduced_floating_v<T> || c10::is_float8_v<T>, float, T>;

struct Sum {
  static constexpr const char* name = "sum";
  template <typename T>
  static constexpr bool takes = true;
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_same_v<T, bool>) return a || b;
    else return static_cast<T>(a + b);
  }
};

struct Product {
  static constexpr const char* name = "product";
  template <typename T>
  static constexpr bool takes = true;
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_same_v<T, bool>) return a && b;
    else return static_cast<T>(a * b);
  }
};

struct Minimum {
  static constexpr const char* name = "min";
  template <typename T>
  static constexpr bool takes = !is_complex<T>;
  template <typename T>
  static T apply(T a, T b) { return b < a ? b : a; }
};

struct Maximum {
  static constexpr const char* name = "max";
  template <typename T>
  static constexpr bool takes = !is_complex<T>;
  template <typename T>
  static T apply(T a, T b) { return a < b ? b : a; }
};

struct And {
  static constexpr const char* name = "band";
  template <typename T>
  static constexpr bool takes = std::is_integral_v<T>;
  template <typename T>
  static T apply(T a, T b) { return static_cast<T>(a & b); }
};

struct Or {
  static constexpr const char* name = "bor";
  template <typename T>
  static constexpr bool takes = std::is_integral_v<T>;
  template <typename T>
  static T apply(T a, T b) { return static_cast<T>(a | b); }
};

struct Xor {
  static constexpr const char* name = "bxor";
  template <typename T>
  static constexpr bool takes = std::is_integral_v<T>;
  template <typename T>
  static T apply(T a, T b) { return static_cast<T>(a ^ b); }
};

template <typename Operation, typename T>
void reduce(void* result, const void* a, const void* b, size_t elements) {
  auto* out = static_cast<T*>(result);
  const auto* left = static_cast<const T*>(a);
  const auto* right = static_cast<const T*>(b);
  for (size_t i = 0; i < elements; ++i) {
    out[i] = static_cast<T>(
        Operation::template apply<Computed<T>>(static_cast<Computed<T>>(left[i]), static_cast<Computed<T>>(right[i])));
  }
}

template <typename T, typename... Operations>
Reduction of_type(const char* operation) {
  Reduction found = nullptr;
  const auto consider = [&](auto candidate) {
    using Operation = decltype(candidate);
    if constexpr (Operation::template takes<T>) {
      if (std::strcmp(Operation::name, operation) == 0) found = reduce<Operation, T>;
    }
  };
  (consider(Operations{}), ...);
  return found;
}

}  // namespace

ReductionEntry find_reduction(const char* dtype, const char* operation) {
  ReductionEntry entry{0, nullptr};
#define TORCH_CONSIDER_TYPE(T, enumerator, number, type_name, ...)                               \
  if (std::strcmp(dtype, type_name) == 0) {                                                      \
    entry = {sizeof(T), of_type<T, Sum, Product, Minimum, Maximum, And, Or, Xor>(operation)};    \
  }
  C10_FORALL_SCALAR_TYPES(TORCH_CONSIDER_TYPE)
#undef TORCH_CONSIDER_TYPE
  if (entry.reduce == nullptr) {
    throw std::invalid_argument(std::string("tensors of ") + dtype + " cannot be reduced by " + operation);
  }
  return entry;
}

}  // namespace torch::distributed
