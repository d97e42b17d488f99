// Distances of rows, and how they move with them, in one pass: what FusedForward.h has of them.

#include <aten/Dispatch.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/FusedForward.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/distance_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>
#include <aten/native/cpu/DoubleMath-inl.h>
#include <aten/native/cpu/StoredVectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// base^exponent, but 0 of 0, which is frequent and would take long.
template <typename D, typename V>
HWY_NOINLINE HWY_ATTR V power_of(D d, V base, hn::TFromD<D> exponent) {
  const auto is_zero = hn::Eq(base, hn::Zero(d));
  const V filled = hn::IfThenElse(is_zero, hn::Set(d, 1), base);
  if constexpr (std::is_same_v<hn::TFromD<D>, float>) {
    return hn::IfThenZeroElse(is_zero, pow_vector(d, filled, hn::Set(d, exponent)));
  } else {
#if TORCH_FUSED_PRODUCTS
    return hn::IfThenZeroElse(is_zero, PowerOfDoubles()(d, filled, hn::Set(d, exponent)));
#else
    HWY_ALIGN double lanes[hn::MaxLanes(d)];
    hn::Store(filled, d, lanes);
    for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = std::pow(lanes[i], exponent);
    return hn::IfThenZeroElse(is_zero, hn::Load(d, lanes));
#endif
  }
}

// How a difference adds to a distance; `join` adds what two registers hold, `gather` their lanes, and `finish` says
// what becomes of them.
struct SumOfSizes {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D, V sum, V difference) const { return hn::Add(sum, hn::Abs(difference)); }
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V join(D, V one, V other) const { return hn::Add(one, other); }
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR hn::TFromD<D> gather(D d, V sum) const { return hn::GetLane(hn::SumOfLanes(d, sum)); }
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V finish(D, V sum) const { return sum; }
};
struct SumOfSquares : SumOfSizes {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D, V sum, V difference) const {
    return hn::Add(sum, hn::Mul(difference, difference));
  }
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V finish(D, V sum) const { return hn::Sqrt(sum); }
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

struct SumOfPowers : SumOfSizes {
  double order;
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V sum, V difference) const {
    return hn::Add(sum, power_of(d, hn::Abs(difference), static_cast<hn::TFromD<D>>(order)));
  }
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V finish(D d, V sum) const { return power_of(d, sum, static_cast<hn::TFromD<D>>(1 / order)); }
};

template <typename T, typename Norm>
HWY_ATTR T distance(const T* a, const T* b, int64_t count, const Norm& norm) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto one = hn::Zero(d);
  auto other = one;
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    one = norm(d, one, hn::Sub(hn::LoadU(d, a + i), hn::LoadU(d, b + i)));
    other = norm(d, other, hn::Sub(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes)));
  }
  for (; i + lanes <= count; i += lanes) one = norm(d, one, hn::Sub(hn::LoadU(d, a + i), hn::LoadU(d, b + i)));
  if (i < count) {  // differences of 0 add nothing
    const auto valid = hn::FirstN(d, static_cast<size_t>(count - i));
    other = norm(d, other, hn::Sub(hn::MaskedLoad(valid, d, a + i), hn::MaskedLoad(valid, d, b + i)));
  }
  return hn::GetLane(norm.finish(d, hn::Set(d, norm.gather(d, norm.join(d, one, other)))));
}

// Points of few columns are read crosswise, as many as a vector has lanes at a time.
constexpr int64_t kFewColumns = 32;

// The columns of points, one after the other, with room for a vector behind the last one.
template <typename T>
class Crosswise {
 public:
  Crosswise(const T* points, int64_t count, int64_t columns) : columns_(columns), step_(count) {
    if (columns > kFewColumns) return;
    values_.resize(static_cast<size_t>(columns * count) + hn::MaxLanes(hn::ScalableTag<T>()));
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t j = 0; j < columns; ++j) values_[static_cast<size_t>(j * step_ + i)] = points[i * columns + j];
    }
  }

  // The distances of a point from `count` of them, from the number `first` on.
  template <typename Norm>
  HWY_ATTR void write_distances(T* to, const T* point, int64_t first, int64_t count, const Norm& norm) const {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t i = 0; i < count; i += lanes) {
      const T* from = values_.data() + first + i;
      auto sum = hn::Zero(d);
      for (int64_t j = 0; j < columns_; ++j) {
        sum = norm(d, sum, hn::Sub(hn::Set(d, point[j]), hn::LoadU(d, from + j * step_)));
      }
      sum = norm.finish(d, sum);
      if (i + lanes <= count) hn::StoreU(sum, d, to + i);
      else store_stored_part(d, sum, to + i, count - i);
    }
  }

 private:
  int64_t columns_, step_;
  std::vector<T> values_;
};

// The distances of one row of a matrix from `count` rows, from `first` on.
template <typename T, typename Norm>
HWY_ATTR void write_distances(T* to, const T* point, const T* points, const Crosswise<T>& crosswise, int64_t columns,
                              int64_t first, int64_t count, const Norm& norm) {
  if (columns <= kFewColumns) return crosswise.write_distances(to, point, first, count, norm);
  const T* others = points + first * columns;
  for (int64_t i = 0; i < count; ++i) to[i] = distance(point, others + i * columns, columns, norm);
}

// body(norm), for the norm of the order p.
template <typename Body>
void with_norm(double p, const Body& body) {
  if (p == 0) return body(CountOfOthers());
  if (p == 1) return body(SumOfSizes());
  if (p == 2) return body(SumOfSquares());
  if (std::isinf(p)) return body(Greatest());
  SumOfPowers norm;
  norm.order = p;
  body(norm);
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
        for (int64_t row = begin; row < end;) {
          const int64_t batch = row / rows;
          const T* points = b.data_ptr<T>() + batch * others * columns;
          const Crosswise<T> crosswise(points, others, columns);
          for (const int64_t last = std::min(end, (batch + 1) * rows); row < last; ++row) {
            write_distances(out.data_ptr<T>() + row * others, a.data_ptr<T>() + row * columns, points, crosswise,
                            columns, 0, others, norm);
          }
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
        const Crosswise<T> crosswise(data, rows, columns);
        for (int64_t row = begin; row < end; ++row) {
          write_distances(out.data_ptr<T>() + row * (2 * rows - row - 1) / 2, data + row * columns, data, crosswise,
                          columns, row + 1, rows - row - 1, norm);
        }
      });
    });
  });
}

// How a distance moves with a difference, times the gradient of the distance: `share` is what all differences of two
// points have in common.
struct SlopeOfSizes {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V share(D, V grad, V) const { return grad; }
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V difference, V grad, V) const {
    const V turned = hn::Xor(grad, hn::And(difference, hn::SignBit(d)));
    const V slope = hn::IfThenZeroElse(hn::Eq(difference, hn::Zero(d)), turned);
    return hn::IfThenElse(hn::IsNaN(difference), difference, slope);
  }
};
struct SlopeOfSquares {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V share(D d, V grad, V distance) const {
    return hn::IfThenZeroElse(hn::Eq(distance, hn::Zero(d)), hn::Div(grad, distance));
  }
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D, V difference, V share, V) const { return hn::Mul(difference, share); }
};
// Each of several that are the greatest has the whole gradient.
struct SlopeOfGreatest {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V share(D, V grad, V) const { return grad; }
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V difference, V grad, V distance) const {
    const V less = hn::Sub(hn::Abs(difference), distance);
    const V turned = SlopeOfSizes()(d, difference, grad, distance);
    return hn::IfThenElse(hn::IsNaN(less), less, hn::IfThenElseZero(hn::Eq(less, hn::Zero(d)), turned));
  }
};
struct SlopeOfPowers {
  double order;
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V share(D d, V grad, V distance) const {
    const V power = power_of(d, distance, static_cast<hn::TFromD<D>>(order - 1));
    return hn::IfThenZeroElse(hn::Eq(distance, hn::Zero(d)), hn::Div(grad, power));
  }
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V difference, V share, V) const {
    const V power = power_of(d, hn::Abs(difference), static_cast<hn::TFromD<D>>(order - 1));
    const V slope = hn::Mul(hn::CopySign(power, difference), share);
    return order < 1 ? hn::IfThenZeroElse(hn::Eq(difference, hn::Zero(d)), slope) : slope;
  }
};

template <typename Body>
void with_slope(double p, const Body& body) {
  if (p == 1) return body(SlopeOfSizes());
  if (p == 2) return body(SlopeOfSquares());
  if (std::isinf(p)) return body(SlopeOfGreatest());
  body(SlopeOfPowers{p});
}

// What the point i of b adds to the gradient of a point.
template <typename T, typename Slope>
struct AddSlope {
  const T* shares;
  const T* distances;
  Slope slope;

  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V sum, V a, V other, int64_t i) const {
    return hn::Add(sum, slope(d, hn::Sub(a, other), hn::Set(d, shares[i]), hn::Set(d, distances[i])));
  }
};

constexpr int64_t kSlopeRows = 8;  // whose columns are computed together, while those of b are near

// The gradients of the rows [begin, end) of a, at most kSlopeRows, from all rows of b, but for the row of the same
// number where `within` one matrix.
template <typename T, typename Slope>
HWY_ATTR void slopes_of_rows(T* out, const T* a, const T* b, int64_t columns, int64_t begin, int64_t end,
                             int64_t others, bool within, const T* shares, const T* distances, const Slope& slope) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  // body(from, to) for the rows of b.
  const auto for_rows = [&](int64_t row, const auto& body) HWY_ATTR {
    if (!within) return body(int64_t(0), others);
    body(int64_t(0), row);
    body(row + 1, others);
  };
  int64_t column = 0;
  for (; column + 4 * lanes <= columns; column += 4 * lanes) {
    for (int64_t row = begin; row < end; ++row) {
      const AddSlope<T, Slope> add{shares + (row - begin) * others, distances + (row - begin) * others, slope};
      const T* point = a + row * columns + column;
      const auto a0 = hn::LoadU(d, point);
      const auto a1 = hn::LoadU(d, point + lanes);
      const auto a2 = hn::LoadU(d, point + 2 * lanes);
      const auto a3 = hn::LoadU(d, point + 3 * lanes);
      auto sum0 = hn::Zero(d);
      auto sum1 = sum0;
      auto sum2 = sum0;
      auto sum3 = sum0;
      for_rows(row, [&](int64_t from, int64_t to) HWY_ATTR {
        for (int64_t i = from; i < to; ++i) {
          const T* other = b + i * columns + column;
          sum0 = add(d, sum0, a0, hn::LoadU(d, other), i);
          sum1 = add(d, sum1, a1, hn::LoadU(d, other + lanes), i);
          sum2 = add(d, sum2, a2, hn::LoadU(d, other + 2 * lanes), i);
          sum3 = add(d, sum3, a3, hn::LoadU(d, other + 3 * lanes), i);
        }
      });
      T* to = out + row * columns + column;
      hn::StoreU(sum0, d, to);
      hn::StoreU(sum1, d, to + lanes);
      hn::StoreU(sum2, d, to + 2 * lanes);
      hn::StoreU(sum3, d, to + 3 * lanes);
    }
  }
  for (; column < columns; column += lanes) {
    const int64_t count = std::min(lanes, columns - column);
    const auto valid = hn::FirstN(d, static_cast<size_t>(count));
    for (int64_t row = begin; row < end; ++row) {
      const AddSlope<T, Slope> add{shares + (row - begin) * others, distances + (row - begin) * others, slope};
      const auto point = hn::MaskedLoad(valid, d, a + row * columns + column);
      auto sum = hn::Zero(d);
      for_rows(row, [&](int64_t from, int64_t to) HWY_ATTR {
        for (int64_t i = from; i < to; ++i) {
          sum = add(d, sum, point, hn::MaskedLoad(valid, d, b + i * columns + column), i);
        }
      });
      store_stored_part(d, sum, out + row * columns + column, count);
    }
  }
}

// shares[i] = slope.share(grads[i], distances[i]).
template <typename T, typename Slope>
HWY_ATTR void take_shares(T* shares, const T* grads, const T* distances, int64_t count, const Slope& slope) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < count; i += lanes) {
    const int64_t some = std::min(lanes, count - i);
    const auto valid = hn::FirstN(d, static_cast<size_t>(some));
    const auto share = slope.share(d, hn::MaskedLoad(valid, d, grads + i), hn::MaskedLoad(valid, d, distances + i));
    store_stored_part(d, share, shares + i, some);
  }
}

void SlopesOfPairs(const Tensor& out, const Tensor& grad, const Tensor& a, const Tensor& b, double p,
                   const Tensor& distances) {
  const int64_t columns = a.sizes().back();
  const int64_t rows = a.sizes()[a.dim() - 2];
  const int64_t others = b.sizes()[b.dim() - 2];
  const int64_t groups = (rows + kSlopeRows - 1) / kSlopeRows;  // in each matrix
  const int64_t grain = std::max<int64_t>(1, kDistanceGrain / std::max<int64_t>(1, columns * others * kSlopeRows));
  const int64_t batches = rows == 0 ? 0 : out.numel() / (rows * columns);
  dispatch_floating_types(out.dtype(), "cdist_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    with_slope(p, [&](auto slope) {
      parallel_for(0, batches * groups, grain, [&](int64_t first, int64_t last) HWY_ATTR {
        std::vector<T> shares(static_cast<size_t>(kSlopeRows * others));
        for (int64_t group = first; group < last; ++group) {
          const int64_t batch = group / groups;
          const int64_t begin = group % groups * kSlopeRows;
          const int64_t end = std::min(rows, begin + kSlopeRows);
          const int64_t place = (batch * rows + begin) * others;
          const T* far = distances.data_ptr<T>() + place;
          take_shares(shares.data(), grad.data_ptr<T>() + place, far, (end - begin) * others, slope);
          slopes_of_rows(out.data_ptr<T>() + batch * rows * columns, a.data_ptr<T>() + batch * rows * columns,
                         b.data_ptr<T>() + batch * others * columns, columns, begin, end, others, /*within=*/false,
                         shares.data(), far, slope);
        }
      });
    });
  });
}

void SlopesWithin(const Tensor& out, const Tensor& grad, const Tensor& a, double p, const Tensor& distances) {
  const int64_t rows = a.sizes()[0];
  const int64_t columns = a.sizes()[1];
  const int64_t groups = (rows + kSlopeRows - 1) / kSlopeRows;
  const int64_t grain = std::max<int64_t>(1, kDistanceGrain / std::max<int64_t>(1, columns * rows * kSlopeRows));
  dispatch_floating_types(out.dtype(), "pdist_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    with_slope(p, [&](auto slope) {
      parallel_for(0, groups, grain, [&](int64_t first, int64_t last) HWY_ATTR {
        const auto size = static_cast<size_t>(kSlopeRows * rows);
        std::vector<T> far(size);
        std::vector<T> shares(size);
        // The numbers of the pairs of `row` with every other one.
        const auto collect = [&](T* to, const T* pairs, int64_t row) {
          for (int64_t i = 0; i < row; ++i) to[i] = pairs[i * (2 * rows - i - 1) / 2 + row - i - 1];
          const T* later = pairs + row * (2 * rows - row - 1) / 2;
          std::copy(later, later + (rows - row - 1), to + row + 1);
        };
        for (int64_t group = first; group < last; ++group) {
          const int64_t begin = group * kSlopeRows;
          const int64_t end = std::min(rows, begin + kSlopeRows);
          for (int64_t row = begin; row < end; ++row) {
            collect(shares.data() + (row - begin) * rows, grad.data_ptr<T>(), row);
            collect(far.data() + (row - begin) * rows, distances.data_ptr<T>(), row);
          }
          take_shares(shares.data(), shares.data(), far.data(), (end - begin) * rows, slope);
          slopes_of_rows(out.data_ptr<T>(), a.data_ptr<T>(), a.data_ptr<T>(), columns, begin, end, rows,
                         /*within=*/true, shares.data(), far.data(), slope);
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
HWY_EXPORT(SlopesOfPairs);
void slopes_of_pairs(const Tensor& out, const Tensor& grad, const Tensor& a, const Tensor& b, double p,
                     const Tensor& distances) {
  HWY_DYNAMIC_DISPATCH(SlopesOfPairs)(out, grad, a, b, p, distances);
}
HWY_EXPORT(SlopesWithin);
void slopes_within(const Tensor& out, const Tensor& grad, const Tensor& a, double p, const Tensor& distances) {
  HWY_DYNAMIC_DISPATCH(SlopesWithin)(out, grad, a, p, distances);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
