#include <c10/core/ScalarType.h>

#include <array>
#include <atomic>
#include <limits>

namespace c10 {

namespace {

template <typename T>
constexpr TypeFacts facts_of(TypeKind kind, ScalarType type, const char* enumerator, const char* name,
                             const char* second_name, const char* buffer_format, const char* cpp_type,
                             const char* cpp_name) {
  using limits = std::numeric_limits<T>;
  return {type,
          kind,
          limits::is_signed,
          is_reduced_floating_v<T>,
          is_barebones_type(type),
          is_float8_type(type),
          static_cast<int8_t>(sizeof(T)),
          static_cast<int8_t>(limits::digits),
          static_cast<int16_t>(limits::max_exponent),
          enumerator,
          name,
          second_name,
          buffer_format,
          cpp_type,
          cpp_name};
}

#define C10_FACTS(kind, cpp_type, enumerator, name, second_name, format, cpp_name)                                   \
  facts_of<cpp_type>(TypeKind::kind, ScalarType::enumerator, #enumerator, name, second_name, format, #cpp_type, \
                     cpp_name),
#define C10_INTEGRAL(cpp_type, enumerator, number, ...) C10_FACTS(Integral, cpp_type, enumerator, __VA_ARGS__)
#define C10_FLOATING(cpp_type, enumerator, number, ...) C10_FACTS(Floating, cpp_type, enumerator, __VA_ARGS__)
#define C10_BOOL(cpp_type, enumerator, number, ...) C10_FACTS(Bool, cpp_type, enumerator, __VA_ARGS__)
#define C10_COMPLEX(cpp_type, enumerator, number, ...) C10_FACTS(Complex, cpp_type, enumerator, __VA_ARGS__)
constexpr TypeFacts rows[] = {C10_FORALL_INTEGRAL_TYPES(C10_INTEGRAL) C10_FORALL_FLOATING_TYPES(C10_FLOATING)
                                  C10_FORALL_BOOL_TYPE(C10_BOOL) C10_FORALL_COMPLEX_TYPES(C10_COMPLEX)
                                      C10_FORALL_BAREBONES_TYPES(C10_INTEGRAL)};
#undef C10_COMPLEX
#undef C10_BOOL
#undef C10_FLOATING
#undef C10_INTEGRAL
#undef C10_FACTS

constexpr TypeFacts undefined = {ScalarType::Undefined, TypeKind::Undefined, false, false, false, false, 0, 0, 0,
                                 "Undefined", "undefined", "", "", "undefined", "undefined"};

constexpr const TypeFacts& find(ScalarType type) {
  for (const TypeFacts& row : rows) {
    if (row.type == type) return row;
  }
  return undefined;
}

// The smallest signed type of a kind with more than `size` bytes; the largest one if there is none.
constexpr ScalarType next_larger(TypeKind kind, int size) {
  const TypeFacts* best = nullptr;
  for (const TypeFacts& row : rows) {
    if (row.kind != kind || !row.is_signed || row.is_reduced || row.is_barebones || row.is_float8) continue;
    if (best == nullptr) {
      best = &row;
    } else if (best->size <= size ? row.size > best->size : row.size > size && row.size < best->size) {
      best = &row;
    }
  }
  return best->type;
}

constexpr ScalarType join(ScalarType left, ScalarType right) {
  const TypeFacts& a = find(left);
  const TypeFacts& b = find(right);
  if (left == right || a.kind == TypeKind::Undefined) return right;
  if (b.kind == TypeKind::Undefined) return left;
  if (a.is_float8 || b.is_float8) return ScalarType::Undefined;
  if (a.is_barebones || b.is_barebones) {
    if (a.kind == TypeKind::Floating) return left;
    return b.kind == TypeKind::Floating ? right : ScalarType::Undefined;
  }
  if (a.kind == TypeKind::Complex || b.kind == TypeKind::Complex) {
    const bool wide = real_type(left) == kDouble || real_type(right) == kDouble;
    return wide ? ScalarType::ComplexDouble : ScalarType::ComplexFloat;
  }
  if (a.kind != b.kind) return a.kind < b.kind ? right : left;
  if (a.size == b.size) return next_larger(a.kind, a.size);  // two of a size: neither holds the other
  const TypeFacts& larger = a.size > b.size ? a : b;
  const TypeFacts& smaller = a.size > b.size ? b : a;
  return smaller.is_signed && !larger.is_signed ? next_larger(a.kind, larger.size) : larger.type;
}

using Row = std::array<ScalarType, kScalarTypes>;
constexpr std::array<Row, kScalarTypes> make_lattice() {
  std::array<Row, kScalarTypes> table{};
  for (int left = 0; left < kScalarTypes; ++left) {
    for (int right = 0; right < kScalarTypes; ++right) {
      table[left][right] = join(static_cast<ScalarType>(left), static_cast<ScalarType>(right));
    }
  }
  return table;
}
constexpr std::array<Row, kScalarTypes> lattice = make_lattice();

constexpr std::array<const TypeFacts*, kScalarTypes> make_index() {
  std::array<const TypeFacts*, kScalarTypes> table{};
  for (int type = 0; type < kScalarTypes; ++type) table[type] = &find(static_cast<ScalarType>(type));
  return table;
}
constexpr std::array<const TypeFacts*, kScalarTypes> facts_by_number = make_index();

std::atomic<ScalarType> default_dtype{ScalarType::Float};

}  // namespace

TypeTable all_scalar_types() { return {std::begin(rows), std::end(rows)}; }

const TypeFacts& type_facts(ScalarType type) { return *facts_by_number[static_cast<size_t>(type)]; }

ScalarType promote_types(ScalarType left, ScalarType right) {
  const ScalarType result = lattice[static_cast<size_t>(left)][static_cast<size_t>(right)];
  TORCH_CHECK(result != ScalarType::Undefined || left == ScalarType::Undefined, "Promotion for ",
              is_float8_type(left) || is_float8_type(right) ? "Float8 Types" : "uint16, uint32, uint64 types",
              " is not supported, attempted to promote ", left, " and ", right);
  return result;
}

bool can_cast(ScalarType from, ScalarType to) {
  if (is_complex_type(from) && !is_complex_type(to)) return false;
  if (is_floating_type(from) && !is_floating_or_complex_type(to)) return false;
  return from == kBool || to != kBool;
}

ScalarType get_default_dtype() { return default_dtype.load(std::memory_order_relaxed); }

void set_default_dtype(ScalarType type) {
  TORCH_CHECK_TYPE(is_floating_type(type) && !is_float8_type(type),
                   "only floating-point types of 16 bits and more are supported as the default type");
  default_dtype.store(type, std::memory_order_relaxed);
}

std::ostream& operator<<(std::ostream& stream, ScalarType type) { return stream << to_string(type); }

}  // namespace c10
