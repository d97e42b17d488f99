// What reductions read: elements in the type that is computed in, and what is made of each before it is added. Included
// once per instruction set.

#if defined(TORCH_REDUCED_ELEMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_REDUCED_ELEMENTS_INL_H_
#undef TORCH_REDUCED_ELEMENTS_INL_H_
#else
#define TORCH_REDUCED_ELEMENTS_INL_H_
#endif

#include <aten/native/cpu/Loops-inl.h>
#include <aten/native/cpu/ReducePlan.h>

#include <aten/native/cpu/Highway-inl.h>

#include <cmath>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Complex numbers are pairs of lanes.
template <typename T>
using Lane = c10::real_type_t<T>;
template <typename T>
constexpr int64_t kLanesOf = c10::is_complex_v<T> ? 2 : 1;
template <typename T>
const Lane<T>* lanes_at(const T* data) {
  return reinterpret_cast<const Lane<T>*>(data);
}

template <ElementMap kMap, typename D, typename V>
HWY_INLINE HWY_ATTR V map_vector([[maybe_unused]] D d, V values) {
  if constexpr (kMap == ElementMap::square) return hn::Mul(values, values);
  else if constexpr (kMap == ElementMap::magnitude) return hn::Abs(values);
  else if constexpr (kMap == ElementMap::numbers) return hn::IfThenElseZero(hn::Eq(values, values), values);
  else return values;
}
template <ElementMap kMap, typename T>
T map_element(T value) {
  if constexpr (kMap == ElementMap::square) return value * value;
  else if constexpr (kMap == ElementMap::magnitude) return std::fabs(value);
  else if constexpr (kMap == ElementMap::numbers) return value == value ? value : T(0);
  else return value;
}

// body(kind of map, as a constant)
template <typename Body>
HWY_ATTR auto with_map(ElementMap map, const Body& body) {
  switch (map) {
    case ElementMap::square: return body(std::integral_constant<ElementMap, ElementMap::square>());
    case ElementMap::magnitude: return body(std::integral_constant<ElementMap, ElementMap::magnitude>());
    case ElementMap::numbers: return body(std::integral_constant<ElementMap, ElementMap::numbers>());
    default: return body(std::integral_constant<ElementMap, ElementMap::none>());
  }
}

// What is read: elements `step` bytes apart, brought side by side and to T in parts of a block at most.
template <typename T>
struct Elements {
  const char* from;
  int64_t step;
  const Conversion* conversion;  // null: they are T in memory
  ElementMap map;
  ScalarType widened = ScalarType::Undefined;  // in memory, where T is float

  // Elements that are widened, if at all, on their way into registers; null: they are not such.
  template <typename Stored>
  const Stored* in_place() const {
    constexpr ScalarType dtype = c10::CppTypeToScalarType<Stored>::value;
    const bool are_such = std::is_same_v<Stored, T> ? !conversion : widened == dtype;
    return are_such && step == sizeof(Stored) ? reinterpret_cast<const Stored*>(from) : nullptr;
  }

  HWY_NOINLINE HWY_ATTR const T* read(int64_t count, T* buffer) const {
    const T* found = buffer;
    if (conversion) (*conversion)(reinterpret_cast<char*>(buffer), sizeof(T), from, step, count);
    else found = collect(from, step, count, buffer);
    if (map == ElementMap::none) return found;
    map_elements(found, count, buffer);
    return buffer;
  }
  Elements from_place(int64_t place) const { return {from + place * step, step, conversion, map, widened}; }

 private:
  HWY_ATTR void map_elements(const T* values, int64_t count, T* mapped) const {
    const auto map_by = [&](auto kind) HWY_ATTR {
      TORCH_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) mapped[i] = map_element<decltype(kind)::value>(values[i]);
    };
    if constexpr (std::is_floating_point_v<T>) with_map(map, map_by);
  }
};
template <typename T>
Elements<T> elements_at(const ReducePlan& plan, int64_t offset, int64_t step) {
  return {plan.in + offset, step, plan.conversion ? &*plan.conversion : nullptr, plan.map, plan.widened};
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
