// Distances of rows, in one pass: what FusedForward.h has of them.

#include <aten/Dispatch.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/FusedForward.h>

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/distance_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// How a difference adds to a distance; `join` adds what two registers hold, `gather` their lanes, and `finish` says
// what becomes of it.
struct SumOfSizes {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D, V sum, V difference) const { return hn::Add(sum, hn::Abs(difference)); }
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V join(D, V one, V other) const { return hn::Add(one, other); }
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR hn::TFromD<D> gather(D d, V sum) const { return hn::GetLane(hn::SumOfLanes(d, sum)); }
  template <typename T>
  T finish(T sum) const { return sum; }
};
struct SumOfSquares : SumOfSizes {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D, V sum, V difference) const {
    return hn::Add(sum, hn::Mul(difference, difference));
  }
  template <typename T>
  T finish(T sum) const { return std::sqrt(sum); }
};
struct CountOfOthers : SumOfSizes {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V sum, V difference) const {
    const V one = hn::IfThenZeroElse(hn::Eq(difference, hn::Zero(d)), hn::Set(d, 1));
    return hn::Add(sum, hn::IfThenElse(hn::IsNaN(difference), difference, one));
  }
};
struct Greatest : SumOfSizes {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D, V most, V difference) const {
    const V size = hn::Abs(difference);
    return hn::IfThenElse(hn::Or(hn::Gt(size, most), hn::IsNaN(size)), size, most);
  }
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V join(D d, V one, V other) const { return (*this)(d, one, other); }
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR hn::TFromD<D> gather(D d, V most) const {
    if (!hn::AllFalse(d, hn::IsNaN(most))) return std::numeric_limits<hn::TFromD<D>>::quiet_NaN();
    return hn::GetLane(hn::MaxOfLanes(d, most));
  }
};

template <typename T, typename Norm>
HWY_ATTR T distance(const T* a, const T* b, int64_t count, const Norm& norm) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> single;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto total = hn::Zero(single);
  int64_t i = 0;
  if (count >= lanes) {
    auto one = hn::Zero(d);
    auto other = one;
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      one = norm(d, one, hn::Sub(hn::LoadU(d, a + i), hn::LoadU(d, b + i)));
      other = norm(d, other, hn::Sub(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes)));
    }
    for (; i + lanes <= count; i += lanes) one = norm(d, one, hn::Sub(hn::LoadU(d, a + i), hn::LoadU(d, b + i)));
    total = hn::Set(single, norm.gather(d, norm.join(d, one, other)));
  }
  for (; i < count; ++i) total = norm(single, total, hn::Sub(hn::LoadU(single, a + i), hn::LoadU(single, b + i)));
  return norm.finish(hn::GetLane(total));
}

// body(norm), for the norm of the order p.
template <typename Body>
void with_norm(double p, const Body& body) {
  if (p == 0) return body(CountOfOthers());
  if (p == 1) return body(SumOfSizes());
  if (p == 2) return body(SumOfSquares());
  body(Greatest());
}

constexpr int64_t kDistanceGrain = 16384;  // differences

void DistancesOfPairs(const Tensor& out, const Tensor& a, const Tensor& b, double p) {
  const int64_t columns = a.sizes().back();
  const int64_t rows = a.sizes()[a.dim() - 2];
  const int64_t others = b.sizes()[b.dim() - 2];
  const int64_t grain = std::max<int64_t>(1, kDistanceGrain / std::max<int64_t>(1, columns * others));
  dispatch_floating_types(out.dtype(), "cdist", [&](auto type) {
    using T = typename decltype(type)::type;
    with_norm(p, [&](auto norm) {
      parallel_for(0, others == 0 ? 0 : out.numel() / others, grain, [&](int64_t begin, int64_t end) HWY_ATTR {
        for (int64_t row = begin; row < end; ++row) {
          const T* left = a.data_ptr<T>() + row * columns;
          const T* right = b.data_ptr<T>() + row / rows * others * columns;
          T* to = out.data_ptr<T>() + row * others;
          for (int64_t i = 0; i < others; ++i) to[i] = distance(left, right + i * columns, columns, norm);
        }
      });
    });
  });
}

void DistancesWithin(const Tensor& out, const Tensor& a, double p) {
  const int64_t rows = a.sizes()[0];
  const int64_t columns = a.sizes()[1];
  const int64_t grain = std::max<int64_t>(1, kDistanceGrain / std::max<int64_t>(1, columns * rows));
  dispatch_floating_types(out.dtype(), "pdist", [&](auto type) {
    using T = typename decltype(type)::type;
    with_norm(p, [&](auto norm) {
      parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) HWY_ATTR {
        const T* data = a.data_ptr<T>();
        for (int64_t row = begin; row < end; ++row) {
          T* to = out.data_ptr<T>() + row * (2 * rows - row - 1) / 2;
          for (int64_t i = row + 1; i < rows; ++i) {
            *to++ = distance(data + row * columns, data + i * columns, columns, norm);
          }
        }
      });
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(DistancesOfPairs);
void distances_of_pairs(const Tensor& out, const Tensor& a, const Tensor& b, double p) {
  HWY_DYNAMIC_DISPATCH(DistancesOfPairs)(out, a, b, p);
}
HWY_EXPORT(DistancesWithin);
void distances_within(const Tensor& out, const Tensor& a, double p) {
  HWY_DYNAMIC_DISPATCH(DistancesWithin)(out, a, p);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
