// any and all.

#include <aten/Kernels.h>
#include <aten/native/cuda/Reduce.cuh>

namespace at::native::cuda {

namespace {

template <bool kAny>
struct Truth {
  using Accumulator = int;
  __device__ static int identity() { return kAny ? 0 : 1; }
  template <typename In>
  __device__ static int read(In x) { return x != In(0); }
  __device__ static int combine(int a, int b) { return kAny ? a | b : a & b; }
  __device__ static int finish(int a) { return a; }
};

template <bool kAny>
void reduce_truth(TensorIterator& iter, const char* name) {
  const auto run = [&](auto tag) {
    using In = typename decltype(tag)::type;
    reduce<Truth<kAny>, uint8_t, In>(iter, {});  // a bool is a byte, 0 or 1
  };
  if (c10::is_complex_type(iter.dtype(1))) dispatch_complex_types(iter.dtype(1), name, run);
  else dispatch_all_types(iter.dtype(1), name, run);
}

}  // namespace

void any_kernel(TensorIterator& iter) { reduce_truth<true>(iter, "any"); }
void all_kernel(TensorIterator& iter) { reduce_truth<false>(iter, "all"); }

}  // namespace at::native::cuda
