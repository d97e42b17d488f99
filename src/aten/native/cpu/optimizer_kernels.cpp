// Steps of optimizers: each element of a parameter and of its state is read and written once.

#include <aten/Dispatch.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/OptimizerSteps.h>

#include <array>
#include <cstring>
#include <functional>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/optimizer_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/StoredVectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A vector of the parameter and of its gradient, as a step begins. Numbers are given by value here and in the steps:
// nothing that is written can change them.
template <typename D>
struct Beginning {
  using V = hn::Vec<D>;
  template <typename Element>
  HWY_INLINE HWY_ATTR Beginning(D d, const Element* p, const Element* g, StepBeginning by)
      : parameter(load_stored(d, p)), gradient(load_stored(d, g)) {
    using T = hn::TFromD<D>;
    if (by.shrink != 1) parameter = hn::Mul(parameter, hn::Set(d, static_cast<T>(by.shrink)));
    if (by.maximize) gradient = hn::Neg(gradient);
    if (by.decay != 0) gradient = hn::MulAdd(hn::Set(d, static_cast<T>(by.decay)), parameter, gradient);
  }
  V parameter, gradient;
};

// Operands are the parameter, its gradient, their mean and square, and the largest square or null.
template <typename Element>
HWY_NOINLINE HWY_ATTR void AdamPart(StepPart part, StepBeginning beginning, AdamNumbers numbers) {
  using T = Computed<Element>;
  const hn::ScalableTag<T> d;
  const auto set = [d](double value) HWY_ATTR { return hn::Set(d, static_cast<T>(value)); };
  Element* const p = static_cast<Element*>(part.operands[0]);
  const Element* const grad = static_cast<const Element*>(part.operands[1]);
  Element* const mean = static_cast<Element*>(part.operands[2]);
  Element* const square = static_cast<Element*>(part.operands[3]);
  Element* const largest = static_cast<Element*>(part.operands[4]);
  const auto share = static_cast<T>(numbers.share);
  const bool near = share < T(0.5) && share > T(-0.5);  // where lerp_ starts
  const auto slope = hn::Set(d, near ? share : share - T(1));
  for (int64_t i = 0; i < part.count; i += static_cast<int64_t>(hn::Lanes(d))) {
    const Beginning<decltype(d)> now(d, p + i, grad + i, beginning);
    const auto g = now.gradient;
    auto m = load_stored(d, mean + i);
    m = hn::MulAdd(slope, hn::Sub(g, m), near ? m : g);
    store_stored(d, m, mean + i);
    auto v = hn::MulAdd(hn::Mul(set(1 - numbers.beta2), g), g, hn::Mul(load_stored(d, square + i), set(numbers.beta2)));
    store_stored(d, v, square + i);
    if (largest) {
      const auto top = load_stored(d, largest + i);
      v = hn::IfThenElse(hn::Or(hn::Gt(top, v), hn::Ne(top, top)), top, v);
      store_stored(d, v, largest + i);
    }
    const auto divisor = hn::Add(hn::Div(hn::Sqrt(v), set(numbers.root)), set(numbers.eps));
    store_stored(d, hn::Add(now.parameter, hn::Div(hn::Mul(set(numbers.scale), m), divisor)), p + i);
  }
}

// Operands are the parameter, its gradient, and the velocity or null.
template <typename Element>
HWY_NOINLINE HWY_ATTR void SgdPart(StepPart part, StepBeginning beginning, SgdNumbers numbers) {
  using T = Computed<Element>;
  const hn::ScalableTag<T> d;
  const auto set = [d](double value) HWY_ATTR { return hn::Set(d, static_cast<T>(value)); };
  Element* const p = static_cast<Element*>(part.operands[0]);
  const Element* const grad = static_cast<const Element*>(part.operands[1]);
  Element* const velocity = static_cast<Element*>(part.operands[2]);
  for (int64_t i = 0; i < part.count; i += static_cast<int64_t>(hn::Lanes(d))) {
    const Beginning<decltype(d)> now(d, p + i, grad + i, beginning);
    auto step = now.gradient;
    if (velocity) {
      const auto v =
          hn::MulAdd(set(numbers.share), step, hn::Mul(load_stored(d, velocity + i), set(numbers.momentum)));
      store_stored(d, v, velocity + i);
      step = numbers.nesterov ? hn::MulAdd(set(numbers.momentum), v, step) : v;
    }
    store_stored(d, hn::MulAdd(set(numbers.scale), step, now.parameter), p + i);
  }
}

void AdamStepImpl(const StepPart& part, const StepBeginning& beginning, const AdamNumbers& numbers) {
  dispatch_stored_floating_types(part.dtype, "adam", [&](auto type) {
    AdamPart<typename decltype(type)::type>(part, beginning, numbers);
  });
}
void SgdStepImpl(const StepPart& part, const StepBeginning& beginning, const SgdNumbers& numbers) {
  dispatch_stored_floating_types(part.dtype, "sgd", [&](auto type) {
    SgdPart<typename decltype(type)::type>(part, beginning, numbers);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

namespace {

// body(part) for parts of the operands, of which all but the second are written. The last ones, which fill no vectors,
// are brought into some and back.
void for_each_part(const std::array<const Tensor*, StepPart::kOperands>& tensors,
                   const std::function<void(const StepPart&)>& body) {
  constexpr int64_t kWhole = 16;  // elements, whole vectors on every processor
  const ScalarType dtype = tensors[0]->dtype();
  const auto size = static_cast<int64_t>(c10::element_size(dtype));
  parallel_for(0, tensors[0]->numel(), kGrainSize, [&](int64_t first, int64_t last) {
    const int64_t whole = (last - first) / kWhole * kWhole;
    const auto rest = static_cast<size_t>((last - first - whole) * size);
    StepPart part{{}, whole, dtype};
    StepPart end{{}, kWhole, dtype};
    alignas(64) double room[StepPart::kOperands][kWhole] = {};
    for (size_t i = 0; i < StepPart::kOperands; ++i) {
      if (!tensors[i] || !tensors[i]->defined()) continue;
      part.operands[i] = static_cast<char*>(tensors[i]->data_ptr()) + first * size;
      end.operands[i] = room[i];
      std::memcpy(room[i], static_cast<char*>(part.operands[i]) + whole * size, rest);
    }
    body(part);
    if (rest == 0) return;
    body(end);
    for (size_t i = 0; i < StepPart::kOperands; ++i) {
      if (part.operands[i] && i != 1) std::memcpy(static_cast<char*>(part.operands[i]) + whole * size, room[i], rest);
    }
  });
}

}  // namespace

HWY_EXPORT(AdamStepImpl);
void take_adam_step(const Tensor& self, const Tensor& grad, const Tensor& mean, const Tensor& square,
                    const Tensor& largest, const StepBeginning& beginning, const AdamNumbers& numbers) {
  for_each_part({&self, &grad, &mean, &square, &largest},
                [&](const StepPart& part) { HWY_DYNAMIC_DISPATCH(AdamStepImpl)(part, beginning, numbers); });
}
HWY_EXPORT(SgdStepImpl);
void take_sgd_step(const Tensor& self, const Tensor& grad, const Tensor& velocity, const StepBeginning& beginning,
                   const SgdNumbers& numbers) {
  for_each_part({&self, &grad, &velocity},
                [&](const StepPart& part) { HWY_DYNAMIC_DISPATCH(SgdStepImpl)(part, beginning, numbers); });
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
