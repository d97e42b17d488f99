#pragma once
// Element types: what a tensor's elements are. All that is known of a type stands in its row of the table below; names,
// sizes, promotion, storages, buffers, limits and the dispatch of kernels follow from it.

#include <c10/util/Exception.h>
#include <c10/util/Float8.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <type_traits>

namespace c10 {

// row(C++ type, enumerator, number, Python name, second Python name or "", buffer format or "", C++ name in messages)
//
// The list that a row is in says its kind. Numbers are PyTorch's, so that saved files and DLPack agree; the gaps are
// types that are not here. The enumerator also names storages (FloatStorage) and types (torch.FloatTensor, 'Float' in
// messages). The buffer format is NumPy's for a native array of that type. `int` is int32_t,
// spelled as messages spell it.
#define C10_FORALL_INTEGRAL_TYPES(row)                            \
  row(uint8_t, Byte, 0, "uint8", "", "B", "unsigned char")        \
  row(int8_t, Char, 1, "int8", "", "b", "signed char")            \
  row(int16_t, Short, 2, "int16", "short", "h", "short int")      \
  row(int, Int, 3, "int32", "int", "i", "int")                    \
  row(int64_t, Long, 4, "int64", "long", "l", "long int")
// Kernels compute in these.
#define C10_FORALL_COMPUTING_FLOATING_TYPES(row)                  \
  row(float, Float, 6, "float32", "float", "f", "float")          \
  row(double, Double, 7, "float64", "double", "d", "double")
// Kernels compute these in float.
#define C10_FORALL_REDUCED_FLOATING_TYPES(row)                    \
  row(c10::Half, Half, 5, "float16", "half", "e", "c10::Half")  \
  row(c10::BFloat16, BFloat16, 15, "bfloat16", "", "", "c10::BFloat16")
// Pairs of the computing ones. NumPy's buffer format is two letters.
#define C10_FORALL_COMPLEX_TYPES(row)                                                               \
  row(c10::complex<float>, ComplexFloat, 9, "complex64", "cfloat", "Zf", "c10::complex<float>")    \
  row(c10::complex<double>, ComplexDouble, 10, "complex128", "cdouble", "Zd", "c10::complex<double>")
// Kept and converted, with hardly any arithmetic, and promoted to floating types only: as PyTorch has them.
#define C10_FORALL_BAREBONES_TYPES(row)                                       \
  row(uint16_t, UInt16, 27, "uint16", "", "H", "short unsigned int")          \
  row(uint32_t, UInt32, 28, "uint32", "", "I", "unsigned int")                \
  row(uint64_t, UInt64, 29, "uint64", "", "L", "long unsigned int")
// Kept and converted, and promoted to nothing: as PyTorch has them.
#define C10_FORALL_FLOAT8_TYPES(row)                                                         \
  row(c10::Float8_e5m2, Float8_e5m2, 23, "float8_e5m2", "", "", "c10::Float8_e5m2")             \
  row(c10::Float8_e4m3fn, Float8_e4m3fn, 24, "float8_e4m3fn", "", "", "c10::Float8_e4m3fn")       \
  row(c10::Float8_e5m2fnuz, Float8_e5m2fnuz, 25, "float8_e5m2fnuz", "", "", "c10::Float8_e5m2fnuz") \
  row(c10::Float8_e4m3fnuz, Float8_e4m3fnuz, 26, "float8_e4m3fnuz", "", "", "c10::Float8_e4m3fnuz") \
  row(c10::Float8_e8m0fnu, Float8_e8m0fnu, 44, "float8_e8m0fnu", "", "", "c10::Float8_e8m0fnu")
#define C10_FORALL_BOOL_TYPE(row) row(bool, Bool, 11, "bool", "", "?", "bool")

#define C10_FORALL_FLOATING_TYPES(row) \
  C10_FORALL_COMPUTING_FLOATING_TYPES(row) C10_FORALL_REDUCED_FLOATING_TYPES(row) C10_FORALL_FLOAT8_TYPES(row)
#define C10_FORALL_SCALAR_TYPES(row) \
  C10_FORALL_INTEGRAL_TYPES(row) C10_FORALL_FLOATING_TYPES(row) C10_FORALL_BOOL_TYPE(row) \
  C10_FORALL_COMPLEX_TYPES(row) C10_FORALL_BAREBONES_TYPES(row)

enum class ScalarType : int8_t {
#define C10_ENUMERATOR(cpp_type, name, number, ...) name = number,
  C10_FORALL_SCALAR_TYPES(C10_ENUMERATOR)
#undef C10_ENUMERATOR
  Undefined = 45,
};
// One more than the largest number, for arrays that a type indexes.
constexpr int kScalarTypes = static_cast<int>(ScalarType::Undefined) + 1;

#define C10_CONSTANT(cpp_type, name, ...) constexpr ScalarType k##name = ScalarType::name;
C10_FORALL_SCALAR_TYPES(C10_CONSTANT)
#undef C10_CONSTANT
constexpr ScalarType kUInt8 = kByte;
constexpr ScalarType kInt8 = kChar;
constexpr ScalarType kInt16 = kShort;
constexpr ScalarType kInt32 = kInt;
constexpr ScalarType kInt64 = kLong;
constexpr ScalarType kFloat16 = kHalf;
constexpr ScalarType kFloat32 = kFloat;
constexpr ScalarType kFloat64 = kDouble;

template <typename T>
struct CppTypeToScalarType;
#define C10_DEFINE_TYPE_MAP(cpp_type, name, ...)                 \
  template <>                                                    \
  struct CppTypeToScalarType<cpp_type> {                         \
    static constexpr ScalarType value = ScalarType::name;        \
  };
C10_FORALL_SCALAR_TYPES(C10_DEFINE_TYPE_MAP)
#undef C10_DEFINE_TYPE_MAP

// Half and BFloat16 among C++ types, those of 8 bits, and every floating one.
template <typename T>
inline constexpr bool is_reduced_floating_v = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
#define C10_OR_IS(cpp_type, ...) || std::is_same_v<T, cpp_type>
template <typename T>
inline constexpr bool is_float8_v = false C10_FORALL_FLOAT8_TYPES(C10_OR_IS);
#undef C10_OR_IS
template <typename T>
inline constexpr bool is_floating_v = std::is_floating_point_v<T> || is_reduced_floating_v<T> || is_float8_v<T>;

// In the order of promotion.
enum class TypeKind : int8_t { Bool, Integral, Floating, Complex, Undefined };

// What a row says, and what C++ knows of its type.
struct TypeFacts {
  ScalarType type;
  TypeKind kind;
  bool is_signed;
  bool is_reduced;
  bool is_barebones;
  bool is_float8;
  int8_t size;           // bytes
  int8_t digits;  // numeric_limits<T>: bits of the fraction and the one before it; of an integer, without the sign
  int16_t max_exponent;  // floating types are below 2 to this
  const char* enumerator;
  const char* name;
  const char* second_name;
  const char* buffer_format;
  const char* cpp_type;  // as C++ sources name it ("int64_t"), and as compilers print it ("long int")
  const char* cpp_name;
};

// The rows, in the table's order.
struct TypeTable {
  const TypeFacts* first;
  const TypeFacts* last;
  const TypeFacts* begin() const { return first; }
  const TypeFacts* end() const { return last; }
};
C10_API TypeTable all_scalar_types();
// The row of a type; of Undefined, one with the name "undefined".
C10_API const TypeFacts& type_facts(ScalarType type);

inline size_t element_size(ScalarType type) {
  switch (type) {
#define C10_ELEMENT_SIZE(cpp_type, name, ...) \
  case ScalarType::name: return sizeof(cpp_type);
    C10_FORALL_SCALAR_TYPES(C10_ELEMENT_SIZE)
#undef C10_ELEMENT_SIZE
    case ScalarType::Undefined: return 0;
  }
  return 0;
}

#define C10_OR_IS(cpp_type, name, ...) || type == ScalarType::name
constexpr bool is_floating_type(ScalarType type) { return false C10_FORALL_FLOATING_TYPES(C10_OR_IS); }
constexpr bool is_reduced_floating_type(ScalarType type) { return false C10_FORALL_REDUCED_FLOATING_TYPES(C10_OR_IS); }
constexpr bool is_float8_type(ScalarType type) { return false C10_FORALL_FLOAT8_TYPES(C10_OR_IS); }
constexpr bool is_complex_type(ScalarType type) { return false C10_FORALL_COMPLEX_TYPES(C10_OR_IS); }
constexpr bool is_barebones_type(ScalarType type) { return false C10_FORALL_BAREBONES_TYPES(C10_OR_IS); }
constexpr bool is_integral_type(ScalarType type, bool include_bool) {
  return (include_bool && type == kBool) || is_barebones_type(type) C10_FORALL_INTEGRAL_TYPES(C10_OR_IS);
}
// Types that have gradients, and that floating-point functions are computed in.
constexpr bool is_floating_or_complex_type(ScalarType type) { return is_floating_type(type) || is_complex_type(type); }
#undef C10_OR_IS
inline bool is_signed_type(ScalarType type) { return type_facts(type).is_signed; }
// The type that kernels compute in: float for the reduced ones, itself for the others.
constexpr ScalarType computing_type(ScalarType type) { return is_reduced_floating_type(type) ? kFloat : type; }

// The type of a complex type's parts, and the complex type of such parts (float16 and bfloat16: complex64); others are
// their own.
constexpr ScalarType real_type(ScalarType type) {
  return type == ScalarType::ComplexFloat ? kFloat : type == ScalarType::ComplexDouble ? kDouble : type;
}
constexpr ScalarType complex_type(ScalarType type) {
  if (type == kDouble) return ScalarType::ComplexDouble;
  return is_floating_type(type) ? ScalarType::ComplexFloat : type;
}
// The signed type of the same bits, for what does not depend on the sign (products, equality); others are their own.
constexpr ScalarType same_bits_type(ScalarType type) {
  if (type == ScalarType::UInt16) return kShort;
  if (type == ScalarType::UInt32) return kInt;
  return type == ScalarType::UInt64 ? kLong : type;
}

// As in messages and type names: "Float"; as torch.dtype prints: "float32".
inline const char* to_string(ScalarType type) { return type_facts(type).enumerator; }
inline const char* dtype_name(ScalarType type) { return type_facts(type).name; }
// The smallest type that both convert to; PyTorch's lattice: by kind first, then by size, and where neither of two
// holds the other (uint8 and int8, float16 and bfloat16) the next larger one. Undefined gives way to everything. Throws
// Error for uint16, uint32 and uint64 with anything but themselves and floating types, and for types of float8 with
// anything but themselves.
C10_API ScalarType promote_types(ScalarType left, ScalarType right);
// Whether a result of type `from` may be written into a tensor of type `to` (no float into int,
// nothing into bool but bool).
C10_API bool can_cast(ScalarType from, ScalarType to);

C10_API ScalarType get_default_dtype();
C10_API void set_default_dtype(ScalarType type);  // throws TypeError unless floating

C10_API std::ostream& operator<<(std::ostream& stream, ScalarType type);

}  // namespace c10
