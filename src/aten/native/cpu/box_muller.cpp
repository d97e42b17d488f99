// Compiled once per instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/box_muller.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/box_muller.h>
#include <aten/native/cpu/VectorMath-inl.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

template <typename T>
HWY_ATTR void box_muller_blocks(T* data, int64_t blocks, T mean, T std) {
  const hn::CappedTag<T, 8> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto one = hn::Set(d, T(1));
  const auto scale = hn::Set(d, std);
  const auto shift = hn::Set(d, mean);
  for (int64_t block = 0; block < blocks; ++block, data += 16) {
    for (int64_t i = 0; i < 8; i += lanes) {
      // 1 - u is never 0, and its logarithm never positive.
      const auto log = hn::Log(d, hn::Sub(one, hn::LoadU(d, data + i)));
      const auto radius = hn::Mul(hn::Sqrt(hn::Max(hn::Mul(log, hn::Set(d, T(-2))), hn::Zero(d))), scale);
      const auto angle = hn::Mul(hn::LoadU(d, data + 8 + i), hn::Set(d, T(6.28318530717958647692)));
      hn::StoreU(hn::MulAdd(radius, hn::Cos(d, angle), shift), d, data + i);
      hn::StoreU(hn::MulAdd(radius, hn::Sin(d, angle), shift), d, data + 8 + i);
    }
  }
}

void box_muller_float(float* data, int64_t blocks, float mean, float std) {
  box_muller_blocks(data, blocks, mean, std);
}
void box_muller_double(double* data, int64_t blocks, double mean, double std) {
  box_muller_blocks(data, blocks, mean, std);
}

void log_of_complements_double(double* data, int64_t count) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto run = [&](double* numbers) HWY_ATTR {
    hn::StoreU(log1p_in_double(d, hn::Neg(hn::LoadU(d, numbers))), d, numbers);
  };
  for (; count >= lanes; count -= lanes, data += lanes) run(data);
  double rest[hn::MaxLanes(d)] = {};
  std::copy_n(data, count, rest);
  run(rest);
  std::copy_n(rest, count, data);
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(box_muller_float);
HWY_EXPORT(box_muller_double);
HWY_EXPORT(log_of_complements_double);

void box_muller(float* data, int64_t blocks, float mean, float std) {
  HWY_DYNAMIC_DISPATCH(box_muller_float)(data, blocks, mean, std);
}
void box_muller(double* data, int64_t blocks, double mean, double std) {
  HWY_DYNAMIC_DISPATCH(box_muller_double)(data, blocks, mean, std);
}
void log_of_complements(double* data, int64_t count) { HWY_DYNAMIC_DISPATCH(log_of_complements_double)(data, count); }

}  // namespace at::native::cpu
#endif  // HWY_ONCE
