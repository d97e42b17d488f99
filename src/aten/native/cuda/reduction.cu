// Reductions over a TensorIterator, and max/min/cumsum along one dimension.
//
// Every output element has `reduced` inputs. They are cut into `splits` ranges when there are too few outputs to fill the
// device; ranges are reduced to partial results first and those to the output after, so results do not depend on timing.
// When the fastest dimension is reduced, a block works on one range (threads read neighbours); when it is kept, each
// thread works on its own output (threads still read neighbours).

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Loops.cuh>

#include <cub/block/block_scan.cuh>

#include <limits>

namespace at::native::cuda {

namespace {

// Where the inputs of an output are. Kept and reduced dimensions are walked apart, each fastest first.
struct ReductionShape {
  static constexpr int kMaxDims = Offsets<2>::kMaxDims;
  int kept_dims = 0;
  int reduced_dims = 0;
  int64_t outputs = 1;
  int64_t reduced = 1;
  bool fastest_is_reduced = true;
  int64_t kept_size[kMaxDims], kept_out[kMaxDims], kept_in[kMaxDims];
  int64_t reduced_size[kMaxDims], reduced_in[kMaxDims];

  explicit ReductionShape(const TensorIterator& iter) {
    TORCH_CHECK(iter.ndim() <= kMaxDims, "CUDA reductions take at most ", kMaxDims, " dimensions that cannot be merged, got ", iter.ndim());
    for (int dim = 0; dim < iter.ndim(); ++dim) {
      const int64_t size = iter.shape()[dim];
      if (iter.strides(0)[dim] == 0) {
        reduced_size[reduced_dims] = size;
        reduced_in[reduced_dims++] = iter.strides(1)[dim];
        reduced *= size;
      } else {
        kept_size[kept_dims] = size;
        kept_out[kept_dims] = iter.strides(0)[dim];
        kept_in[kept_dims++] = iter.strides(1)[dim];
        outputs *= size;
      }
      if (dim == 0) fastest_is_reduced = iter.strides(0)[dim] == 0;
    }
  }

  __device__ void kept_offsets(int64_t index, int64_t& out, int64_t& in) const {
    out = in = 0;
    for (int dim = 0; dim < kept_dims; ++dim) {
      const int64_t here = index % kept_size[dim];
      index /= kept_size[dim];
      out += here * kept_out[dim];
      in += here * kept_in[dim];
    }
  }
  __device__ int64_t reduced_offset(int64_t index) const {
    if (reduced_dims == 1) return index * reduced_in[0];
    int64_t in = 0;
    for (int dim = 0; dim < reduced_dims; ++dim) {
      in += index % reduced_size[dim] * reduced_in[dim];
      index /= reduced_size[dim];
    }
    return in;
  }
};

// Operations: identity, read (input to accumulator), combine, finish (accumulator to output).
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
template <typename T>
struct Product {
  using Accumulator = T;
  __device__ static T identity() { return T{1}; }
  template <typename In>
  __device__ static T read(In x) { return static_cast<T>(x); }
  __device__ static T combine(T a, T b) { return a * b; }
  __device__ static T finish(T a) { return a; }
};
template <typename T>
__host__ __device__ T lowest_value() {
  if constexpr (std::is_same_v<T, bool>) return false;
  else if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::lowest();
}
template <typename T>
__host__ __device__ T highest_value() {
  if constexpr (std::is_same_v<T, bool>) return true;
  else if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::max();
}
template <typename T, bool kLargest>
struct Extreme {
  using Accumulator = T;
  __device__ static T identity() { return kLargest ? lowest_value<T>() : highest_value<T>(); }
  template <typename In>
  __device__ static T read(In x) { return x; }
  __device__ static T combine(T a, T b) {
    if (a != a) return a;
    if (b != b) return b;
    return kLargest ? (a < b ? b : a) : (b < a ? b : a);
  }
  __device__ static T finish(T a) { return a; }
};
template <bool kAny>
struct Truth {
  using Accumulator = int;
  __device__ static int identity() { return kAny ? 0 : 1; }
  template <typename In>
  __device__ static int read(In x) { return x != In{0}; }
  __device__ static int combine(int a, int b) { return kAny ? a | b : a & b; }
  __device__ static int finish(int a) { return a; }
};

struct Plan {
  int64_t splits = 1;
  int64_t range = 0;  // inputs per split
};

Plan plan_for(const ReductionShape& shape) {
  constexpr int64_t wanted_blocks = 132 * 8;
  constexpr int64_t smallest_range = 2048;
  const int64_t blocks = shape.fastest_is_reduced ? shape.outputs : (shape.outputs + kThreads - 1) / kThreads;
  Plan plan;
  if (blocks < wanted_blocks) {
    const int64_t useful = std::max<int64_t>(1, shape.reduced / (shape.fastest_is_reduced ? smallest_range : 64));
    plan.splits = std::min<int64_t>({useful, wanted_blocks / std::max<int64_t>(blocks, 1), 1024});
    plan.splits = std::max<int64_t>(plan.splits, 1);
  }
  plan.range = (shape.reduced + plan.splits - 1) / plan.splits;
  return plan;
}

// One block per (output, split); `partial` is null when there is one split, and the output is written at once.
template <typename Operation, typename Out, typename In>
__global__ void __launch_bounds__(kThreads)
    reduce_rows(Operation operation, ReductionShape shape, Plan plan, char* out, const char* in, typename Operation::Accumulator* partial) {
  using A = typename Operation::Accumulator;
  __shared__ A shared[kWarp];
  const auto combine = [](A a, A b) { return Operation::combine(a, b); };
  for (int64_t job = blockIdx.x; job < shape.outputs * plan.splits; job += gridDim.x) {
    const int64_t split = job % plan.splits;
    int64_t out_offset, in_offset;
    shape.kept_offsets(job / plan.splits, out_offset, in_offset);
    const int64_t end = ::min((split + 1) * plan.range, shape.reduced);
    A value = Operation::identity();
    for (int64_t i = split * plan.range + threadIdx.x; i < end; i += blockDim.x) {
      value = combine(value, Operation::read(*reinterpret_cast<const In*>(in + in_offset + shape.reduced_offset(i))));
    }
    value = block_reduce(value, Operation::identity(), combine, shared);
    if (threadIdx.x == 0) {
      if (partial) partial[job] = value;
      else *reinterpret_cast<Out*>(out + out_offset) = static_cast<Out>(operation.finish(value));
    }
  }
}

// One thread per output, blockIdx.y is the split.
template <typename Operation, typename Out, typename In>
__global__ void __launch_bounds__(kThreads)
    reduce_columns(Operation operation, ReductionShape shape, Plan plan, char* out, const char* in, typename Operation::Accumulator* partial) {
  const int64_t split = blockIdx.y;
  for (int64_t output = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; output < shape.outputs; output += int64_t{blockDim.x} * gridDim.x) {
    int64_t out_offset, in_offset;
    shape.kept_offsets(output, out_offset, in_offset);
    const int64_t end = ::min((split + 1) * plan.range, shape.reduced);
    typename Operation::Accumulator value = Operation::identity();
    for (int64_t i = split * plan.range; i < end; ++i) {
      value = Operation::combine(value, Operation::read(*reinterpret_cast<const In*>(in + in_offset + shape.reduced_offset(i))));
    }
    if (partial) partial[output * plan.splits + split] = value;
    else *reinterpret_cast<Out*>(out + out_offset) = static_cast<Out>(operation.finish(value));
  }
}

template <typename Operation, typename Out>
__global__ void __launch_bounds__(kThreads)
    reduce_partials(Operation operation, ReductionShape shape, Plan plan, char* out, const typename Operation::Accumulator* partial) {
  for (int64_t output = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; output < shape.outputs; output += int64_t{blockDim.x} * gridDim.x) {
    typename Operation::Accumulator value = Operation::identity();
    for (int64_t split = 0; split < plan.splits; ++split) value = Operation::combine(value, partial[output * plan.splits + split]);
    int64_t out_offset, in_offset;
    shape.kept_offsets(output, out_offset, in_offset);
    *reinterpret_cast<Out*>(out + out_offset) = static_cast<Out>(operation.finish(value));
  }
}

template <typename Operation, typename Out, typename In>
void reduce(const TensorIterator& iter, Operation operation) {
  using A = typename Operation::Accumulator;
  const ReductionShape shape(iter);
  if (shape.outputs == 0) return;
  const Plan plan = plan_for(shape);
  const cudaStream_t stream = c10::cuda::current_stream();
  c10::DataPtr partials;
  if (plan.splits > 1) {
    partials = c10::get_backend(kCUDA).allocator()->allocate(static_cast<size_t>(shape.outputs * plan.splits) * sizeof(A));
  }
  A* partial = static_cast<A*>(partials.get());
  if (shape.fastest_is_reduced) {
    const auto blocks = static_cast<unsigned>(std::min<int64_t>(shape.outputs * plan.splits, 1 << 20));
    reduce_rows<Operation, Out, In><<<blocks, kThreads, 0, stream>>>(operation, shape, plan, iter.data(0), iter.data(1), partial);
  } else {
    const dim3 blocks(grid_for(shape.outputs), static_cast<unsigned>(plan.splits));
    reduce_columns<Operation, Out, In><<<blocks, kThreads, 0, stream>>>(operation, shape, plan, iter.data(0), iter.data(1), partial);
  }
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  if (partial) {
    reduce_partials<Operation, Out><<<grid_for(shape.outputs), kThreads, 0, stream>>>(operation, shape, plan, iter.data(0), partial);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
}

template <bool kAny>
void reduce_truth(TensorIterator& iter, const char* name) {
  dispatch_all_types(iter.dtype(1), name, [&](auto tag) {
    using In = typename decltype(tag)::type;
    if (iter.dtype(0) == kBool) reduce<Truth<kAny>, bool, In>(iter, {});
    else reduce<Truth<kAny>, uint8_t, In>(iter, {});
  });
}

// A value and where it was; ties go to the earlier place, NaN wins over everything.
template <typename T>
struct Found {
  T value;
  int64_t index;
};

template <typename T, bool kLargest>
__device__ Found<T> better(Found<T> a, Found<T> b) {
  if (a.index < 0) return b;
  if (b.index < 0) return a;
  const bool a_nan = a.value != a.value;
  const bool b_nan = b.value != b.value;
  if (a_nan != b_nan) return a_nan ? a : b;
  if (!a_nan && a.value != b.value) return (kLargest ? b.value < a.value : a.value < b.value) ? a : b;
  return a.index < b.index ? a : b;
}

template <typename T, bool kLargest>
__global__ void __launch_bounds__(kThreads) find_extreme(T* values, int64_t* indices, const T* in, int64_t rows, int64_t size, int64_t inner) {
  __shared__ Found<T> found[kThreads];
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* first = in + row / inner * size * inner + row % inner;
    Found<T> best{T{}, -1};
    for (int64_t i = threadIdx.x; i < size; i += blockDim.x) best = better<T, kLargest>(best, {first[i * inner], i});
    found[threadIdx.x] = best;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
      if (static_cast<int>(threadIdx.x) < half) {
        found[threadIdx.x] = better<T, kLargest>(found[threadIdx.x], found[threadIdx.x + half]);
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      if (values) values[row] = found[0].value;
      indices[row] = found[0].index;
    }
    __syncthreads();
  }
}

template <bool kLargest>
void extreme_along(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, const char* name) {
  const Tensor in = self.contiguous();
  const int64_t size = in.dim() ? in.sizes()[dim] : 1;
  int64_t inner = 1;
  for (int64_t i = dim + 1; i < in.dim(); ++i) inner *= in.sizes()[i];
  const int64_t rows = indices.numel();
  if (rows == 0) return;
  Tensor packed_indices = indices.is_contiguous() ? indices : at::empty(indices.sizes(), indices.options());
  Tensor packed_values = !values.defined() || values.is_contiguous() ? values : at::empty(values.sizes(), values.options());
  dispatch_all_types(in.dtype(), name, [&](auto tag) {
    using T = typename decltype(tag)::type;
    find_extreme<T, kLargest><<<static_cast<unsigned>(std::min<int64_t>(rows, 1 << 20)), kThreads, 0, c10::cuda::current_stream()>>>(
        packed_values.defined() ? packed_values.data_ptr<T>() : nullptr, packed_indices.data_ptr<int64_t>(), in.data_ptr<T>(), rows,
        size, inner);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  if (!packed_indices.is_same(indices)) Tensor(indices).copy_(packed_indices);
  if (values.defined() && !packed_values.is_same(values)) Tensor(values).copy_(packed_values);
}

// A block walks along its row, a block's width at a time, carrying the sum so far.
template <typename T>
__global__ void __launch_bounds__(kThreads) scan_rows(T* out, const T* in, int64_t rows, int64_t size, int64_t inner) {
  using Scan = cub::BlockScan<T, kThreads>;
  __shared__ typename Scan::TempStorage storage;
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const int64_t first = row / inner * size * inner + row % inner;
    T carried = T{0};
    for (int64_t start = 0; start < size; start += kThreads) {
      const int64_t i = start + threadIdx.x;
      T value = i < size ? in[first + i * inner] : T{0};
      T total;
      Scan(storage).InclusiveSum(value, value, total);
      if (i < size) out[first + i * inner] = carried + value;
      carried += total;
      __syncthreads();
    }
  }
}

}  // namespace

void sum_kernel(TensorIterator& iter) {
  dispatch_numeric_types(iter.common_dtype(), "sum", [&](auto tag) {
    using T = typename decltype(tag)::type;
    reduce<Sum<T>, T, T>(iter, {});
  });
}

void mean_kernel(TensorIterator& iter) {
  const int64_t outputs = iter.num_output_elements();
  const int64_t count = outputs ? iter.numel() / outputs : 0;
  dispatch_floating_types(iter.common_dtype(), "mean", [&](auto tag) {
    using T = typename decltype(tag)::type;
    // An empty mean is 0 / 0: a factor of infinity times the sum's 0.
    reduce<Sum<T>, T, T>(iter, {static_cast<T>(1.0 / static_cast<double>(count))});
  });
}

void prod_kernel(TensorIterator& iter) {
  dispatch_numeric_types(iter.common_dtype(), "prod", [&](auto tag) {
    using T = typename decltype(tag)::type;
    reduce<Product<T>, T, T>(iter, {});
  });
}

void amax_kernel(TensorIterator& iter) {
  dispatch_all_types(iter.common_dtype(), "amax", [&](auto tag) {
    using T = typename decltype(tag)::type;
    reduce<Extreme<T, true>, T, T>(iter, {});
  });
}

void amin_kernel(TensorIterator& iter) {
  dispatch_all_types(iter.common_dtype(), "amin", [&](auto tag) {
    using T = typename decltype(tag)::type;
    reduce<Extreme<T, false>, T, T>(iter, {});
  });
}

void any_kernel(TensorIterator& iter) { reduce_truth<true>(iter, "any"); }
void all_kernel(TensorIterator& iter) { reduce_truth<false>(iter, "all"); }

void max_dim_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  extreme_along<true>(values, indices, self, dim, "max");
}

void min_dim_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  extreme_along<false>(values, indices, self, dim, "min");
}

void cumsum_kernel(const Tensor& out, const Tensor& self, int64_t dim) {
  if (self.numel() == 0) return;
  const Tensor in = self.contiguous();
  Tensor packed = out.is_contiguous() ? out : at::empty(out.sizes(), out.options());
  const int64_t size = in.dim() ? in.sizes()[dim] : 1;
  int64_t inner = 1;
  for (int64_t i = dim + 1; i < in.dim(); ++i) inner *= in.sizes()[i];
  const int64_t rows = in.numel() / size;
  dispatch_numeric_types(in.dtype(), "cumsum", [&](auto tag) {
    using T = typename decltype(tag)::type;
    scan_rows<<<static_cast<unsigned>(std::min<int64_t>(rows, 1 << 20)), kThreads, 0, c10::cuda::current_stream()>>>(
        packed.data_ptr<T>(), in.data_ptr<T>(), rows, size, inner);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  if (!packed.is_same(out)) Tensor(out).copy_(packed);
}

}  // namespace at::native::cuda
