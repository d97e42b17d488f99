// The functions of FusedForward.h of one to three numbers: as fast as memory without wider vectors, so compiled once.

#include <aten/Dispatch.h>
#include <aten/native/cpu/FusedForward.h>
#include <aten/native/cpu/Loops-inl.h>

#include <cmath>

namespace at::native::cpu {

using namespace HWY_NAMESPACE;

void change_signs_of_halves(c10::DeviceType, TensorIterator& iter, bool drops) {
  if (drops) run_unary<uint16_t, uint16_t>(iter, [](uint16_t bits) { return static_cast<uint16_t>(bits & 0x7fff); });
  else run_unary<uint16_t, uint16_t>(iter, [](uint16_t bits) { return static_cast<uint16_t>(bits ^ 0x8000); });
}

void replace_within(c10::DeviceType, TensorIterator& iter, double low, double high, double value) {
  dispatch_floating_types(iter.common_dtype(), "replace_within", [&](auto type) {
    using T = typename decltype(type)::type;
    const auto least = static_cast<T>(low);
    const auto most = static_cast<T>(high);
    const auto other = static_cast<T>(value);
    run_unary<T, T>(iter, [=](T x) { return bool(x >= least) & bool(x <= most) ? other : x; });
  });
}

void lerp_by_weights(c10::DeviceType, TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "lerp_kernel_tensor", [&](auto type) {
    using T = typename decltype(type)::type;
    run_ternary<T, T, T>(iter, [](T start, T end, T weight) {
      const T difference = end - start;
      const T from_end = end - difference * (T(1) - weight);
      return std::fabs(weight) < T(0.5) ? start + weight * difference : from_end;
    });
  });
}

void slope_below_zero(c10::DeviceType, TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "prelu_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    run_binary<T, T>(iter, [](T x, T slope) {
      const T scaled = x * slope;
      return x > T(0) ? x : scaled;
    });
  });
}

}  // namespace at::native::cpu
