// sum, mean and prod.

#include <aten/Kernels.h>
#include <aten/native/cuda/Reduce.cuh>

namespace at::native::cuda {

namespace {

template <typename T>
struct Sum {
  using Accumulator = T;
  T factor{1};  // mean: 1 / count
  __device__ static T identity() { return T{0}; }
  template <typename In>
  __device__ static T read(In x) { return static_cast<T>(x); }
  __device__ static T combine(T a, T b) { return a + b; }
  __device__ T finish(T a) const { return a * factor; }
};
// Of floating types.
template <typename T>
struct MappedSum : Sum<T> {
  ElementMap map;
  __device__ T read(T x) const {
    switch (map) {
      case ElementMap::square: return x * x;
      case ElementMap::magnitude: return ::fabs(x);
      case ElementMap::numbers: return x == x ? x : T{0};
      default: return x;
    }
  }
};
template <typename T>
struct Product {
  using Accumulator = T;
  __device__ static T identity() { return T{1}; }
  template <typename In>
  __device__ static T read(In x) { return static_cast<T>(x); }
  __device__ static T combine(T a, T b) { return a * b; }
  __device__ static T finish(T a) { return a; }
};

}  // namespace

void sum_kernel(TensorIterator& iter) {
  dispatch_numeric_and_complex_types(iter.common_dtype(), "sum", [&](auto tag) {
    using T = typename decltype(tag)::type;
    reduce<Sum<T>, T, T>(iter, {});
  });
}

void sum_mapped_kernel(TensorIterator& iter, ElementMap map) {
  dispatch_floating_types(iter.common_dtype(), "sum", [&](auto tag) {
    using T = typename decltype(tag)::type;
    reduce<MappedSum<T>, T, T>(iter, MappedSum<T>{{}, map});
  });
}

void mean_kernel(TensorIterator& iter) {
  const int64_t outputs = iter.num_output_elements();
  const int64_t count = outputs ? iter.numel() / outputs : 0;
  dispatch_floating_and_complex_types(iter.common_dtype(), "mean", [&](auto tag) {
    using T = typename decltype(tag)::type;
    // An empty mean is 0 / 0: a factor of infinity times the sum's 0.
    reduce<Sum<T>, T, T>(iter, {static_cast<T>(static_cast<c10::real_type_t<T>>(1.0 / static_cast<double>(count)))});
  });
}

void prod_kernel(TensorIterator& iter) {
  dispatch_numeric_and_complex_types(iter.common_dtype(), "prod", [&](auto tag) {
    using T = typename decltype(tag)::type;
    reduce<Product<T>, T, T>(iter, {});
  });
}

}  // namespace at::native::cuda
