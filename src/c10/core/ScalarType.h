#pragma once
// Element types. Numbers are PyTorch's, so that saved files and DLPack agree; the gaps are types that are not here yet.

#include <c10/util/Exception.h>

#include <cstddef>
#include <cstdint>
#include <ostream>

namespace c10 {

// macro(C++ type, enumerator). To add a type: a row here, its promotion row and name in ScalarType.cpp, its kernels.
#define C10_FORALL_SCALAR_TYPES(macro) \
  macro(uint8_t, Byte)                 \
  macro(int32_t, Int)                  \
  macro(int64_t, Long)                 \
  macro(float, Float)                  \
  macro(double, Double)                \
  macro(bool, Bool)

enum class ScalarType : int8_t {
  Byte = 0,
  Int = 3,
  Long = 4,
  Float = 6,
  Double = 7,
  Bool = 11,
  Undefined = 18,
};

constexpr ScalarType kByte = ScalarType::Byte;
constexpr ScalarType kInt = ScalarType::Int;
constexpr ScalarType kLong = ScalarType::Long;
constexpr ScalarType kFloat = ScalarType::Float;
constexpr ScalarType kDouble = ScalarType::Double;
constexpr ScalarType kBool = ScalarType::Bool;
constexpr ScalarType kUInt8 = kByte;
constexpr ScalarType kInt32 = kInt;
constexpr ScalarType kInt64 = kLong;
constexpr ScalarType kFloat32 = kFloat;
constexpr ScalarType kFloat64 = kDouble;

template <typename T>
struct CppTypeToScalarType;
#define C10_DEFINE_TYPE_MAP(cpp_type, name)                      \
  template <>                                                    \
  struct CppTypeToScalarType<cpp_type> {                         \
    static constexpr ScalarType value = ScalarType::name;        \
  };
C10_FORALL_SCALAR_TYPES(C10_DEFINE_TYPE_MAP)
#undef C10_DEFINE_TYPE_MAP

inline size_t element_size(ScalarType type) {
  switch (type) {
#define C10_ELEMENT_SIZE(cpp_type, name) \
  case ScalarType::name: return sizeof(cpp_type);
    C10_FORALL_SCALAR_TYPES(C10_ELEMENT_SIZE)
#undef C10_ELEMENT_SIZE
    case ScalarType::Undefined: return 0;
  }
  return 0;
}

inline bool is_floating_type(ScalarType type) { return type == kFloat || type == kDouble; }
inline bool is_integral_type(ScalarType type, bool include_bool) {
  return type == kByte || type == kInt || type == kLong || (include_bool && type == kBool);
}
inline bool is_signed_type(ScalarType type) { return type != kByte && type != kBool; }

// As in messages and type names: "Float"; as torch.dtype prints: "float32".
C10_API const char* to_string(ScalarType type);
C10_API const char* dtype_name(ScalarType type);
// The smallest type that both convert to; PyTorch's lattice.
C10_API ScalarType promote_types(ScalarType left, ScalarType right);
// Whether a result of type `from` may be written into a tensor of type `to` (no float into int, nothing into bool but bool).
C10_API bool can_cast(ScalarType from, ScalarType to);

C10_API ScalarType get_default_dtype();
C10_API void set_default_dtype(ScalarType type);  // throws TypeError unless floating

C10_API std::ostream& operator<<(std::ostream& stream, ScalarType type);

}  // namespace c10
