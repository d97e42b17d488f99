// Running sums, products, logarithms of sums of exponentials, and extremes.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/native/ComplexFormulas.h>
#include <aten/native/cuda/Loops.cuh>

#include <cub/block/block_scan.cuh>

#include <cmath>
#include <limits>

namespace at::native::cuda {

namespace {

// A block walks along its row, a block's width at a time, carrying what came before. An operation has: Accumulator,
// identity, read (of a place), combine (an earlier and a later one), write (to a place).
template <typename Operation>
__global__ void __launch_bounds__(kThreads) scan_rows(Operation operation, int64_t rows, int64_t size, int64_t inner) {
  using A = typename Operation::Accumulator;
  using Scan = cub::BlockScan<A, kThreads>;
  __shared__ typename Scan::TempStorage storage;
  const auto combine = [operation](A a, A b) { return operation.combine(a, b); };
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const int64_t first = row / inner * size * inner + row % inner;
    A carried = operation.identity();
    for (int64_t start = 0; start < size; start += kThreads) {
      const int64_t i = start + threadIdx.x;
      A value = i < size ? operation.read(first + i * inner, i) : operation.identity();
      A total = operation.identity();
      Scan(storage).InclusiveScan(value, value, combine, total);
      if (i < size) operation.write(first + i * inner, combine(carried, value));
      carried = combine(carried, total);
      __syncthreads();
    }
  }
}

// What the operations on numbers share.
template <typename T, typename A = T>
struct NumberScan {
  using Accumulator = A;
  T* out;
  const T* in;
  __device__ A read(int64_t place, int64_t) const { return static_cast<A>(in[place]); }
  __device__ void write(int64_t place, A value) const { out[place] = static_cast<T>(value); }
};
template <typename T>
struct RunningSum : NumberScan<T> {
  __device__ T identity() const { return T(0); }
  __device__ T combine(T a, T b) const { return static_cast<T>(a + b); }
};
template <typename T>
struct RunningProduct : NumberScan<T> {
  __device__ T identity() const { return T(1); }
  __device__ T combine(T a, T b) const { return static_cast<T>(a * b); }
};
// A scan combines in many places. What takes exponentials is not inlined: it made most of this file's time to compile.
template <typename T>
struct RunningLogSum : NumberScan<T, double> {
  __device__ double identity() const { return -std::numeric_limits<double>::infinity(); }
  __attribute__((noinline)) __device__ double combine(double a, double b) const {
    if (a != a || b != b) return std::numeric_limits<double>::quiet_NaN();
    const double greater = a < b ? b : a;
    const double less = a < b ? a : b;
    return std::isinf(greater) ? greater : greater + ::log1p(::exp(less - greater));
  }
};
// From the one with the greater real part, so that nothing overflows.
struct RunningComplexLogSum : NumberScan<c10::complex<double>> {
  using Number = c10::complex<double>;
  __device__ Number identity() const { return Number(-std::numeric_limits<double>::infinity(), 0); }
  __attribute__((noinline)) __device__ Number combine(Number a, Number b) const {
    const bool is_less = a.real() < b.real();
    const Number greater = is_less ? b : a;
    if (std::isinf(greater.real())) return is_less || a.real() != b.real() ? greater : b;
    return greater + log1p_of(exp_of((is_less ? a : b) - greater));
  }
};

template <typename T>
struct Placed {
  T value;
  int64_t index;  // -1: nothing yet
};
template <typename T>
struct RunningExtreme {
  using Accumulator = Placed<T>;
  T* values;
  int64_t* indices;
  const T* in;
  bool greatest;
  __device__ Placed<T> identity() const { return {T(0), -1}; }
  __device__ Placed<T> read(int64_t place, int64_t i) const { return {in[place], i}; }
  // The last one of equals; from the first NaN on, NaN.
  __device__ Placed<T> combine(Placed<T> a, Placed<T> b) const {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    if (b.value != b.value) return b;
    if (a.value != a.value) return a;
    return (greatest ? b.value >= a.value : b.value <= a.value) ? b : a;
  }
  __device__ void write(int64_t place, Placed<T> best) const {
    values[place] = best.value;
    indices[place] = best.index;
  }
};

template <typename Operation>
void scan(const Tensor& in, int64_t dim, Operation operation) {
  const int64_t size = in.dim() ? in.sizes()[dim] : 1;
  int64_t inner = 1;
  for (int64_t i = dim + 1; i < in.dim(); ++i) inner *= in.sizes()[i];
  const int64_t rows = in.numel() / size;
  launch(scan_rows<Operation>, grid_of_rows(rows), kThreads, operation, rows, size, inner);
}

// A contiguous stand-in for `out`, if it is not contiguous itself.
Tensor packed_like(const Tensor& out) { return out.is_contiguous() ? out : at::empty(out.sizes(), out.options()); }
void unpack(const Tensor& out, const Tensor& packed) {
  if (!packed.is_same(out)) Tensor(out).copy_(packed);
}

template <template <typename> typename Operation>
struct OfNumbers {
  const Tensor& out;
  const Tensor& self;
  int64_t dim;
  template <typename Tag>
  void operator()(Tag) const {
    using T = typename Tag::type;
    const Tensor in = self.contiguous();
    const Tensor packed = packed_like(out);
    Operation<T> operation;
    operation.out = packed.template data_ptr<T>();
    operation.in = in.template data_ptr<T>();
    scan(in, dim, operation);
    unpack(out, packed);
  }
};

}  // namespace

void cumsum_kernel(const Tensor& out, const Tensor& self, int64_t dim) {
  if (self.numel() == 0) return;
  dispatch_numeric_and_complex_types(self.dtype(), "cumsum", OfNumbers<RunningSum>{out, self, dim});
}

void cumprod_kernel(const Tensor& out, const Tensor& self, int64_t dim) {
  if (self.numel() == 0) return;
  dispatch_numeric_and_complex_types(self.dtype(), "cumprod", OfNumbers<RunningProduct>{out, self, dim});
}

void logcumsumexp_kernel(const Tensor& out, const Tensor& self, int64_t dim) {
  if (self.numel() == 0) return;
  if (self.is_complex()) {  // compiled once, for complex128
    const Tensor in = at::detail::to_dtype(self, c10::kComplexDouble).contiguous();
    const Tensor sums = at::empty(in.sizes(), in.options());
    RunningComplexLogSum operation;
    operation.out = sums.data_ptr<c10::complex<double>>();
    operation.in = in.data_ptr<c10::complex<double>>();
    scan(in, dim, operation);
    Tensor(out).copy_(sums);
    return;
  }
  dispatch_floating_types(self.dtype(), "logcumsumexp", OfNumbers<RunningLogSum>{out, self, dim});
}

void cumulative_extreme_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim,
                               bool greatest) {
  if (self.numel() == 0) return;
  const Tensor in = self.contiguous();
  const Tensor packed_values = packed_like(values);
  const Tensor packed_indices = packed_like(indices);
  dispatch_ordered_types(in.dtype(), greatest ? "cummax" : "cummin", [&](auto tag) {
    using T = typename decltype(tag)::type;
    scan(
        in, dim,
        RunningExtreme<T>{packed_values.data_ptr<T>(), packed_indices.data_ptr<int64_t>(), in.data_ptr<T>(), greatest});
  });
  unpack(values, packed_values);
  unpack(indices, packed_indices);
}

}  // namespace at::native::cuda
