// softmax and log_softmax along one dimension, and their backward. Rows of neighbours have a team of threads each,
// which keeps them in registers where they fit; of rows that lie side by side, each of a line of a block's threads has
// one. Everything is computed in ComputedOf<T>.

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Rows.cuh>

#include <limits>

namespace at::native::cuda {

namespace {

// A tensor seen as [outer, size, inner] with `size` the dimension of interest.
struct Rows {
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;
};

Rows rows_of(const Tensor& self, int64_t dim) {
  Rows rows;
  if (self.dim() == 0) return rows;
  for (int64_t i = 0; i < self.dim(); ++i) {
    (i < dim ? rows.outer : i == dim ? rows.size : rows.inner) *= self.sizes()[i];
  }
  return rows;
}

struct Larger {
  template <typename A>
  __device__ A operator()(A a, A b) const {
    return a > b || a != a ? a : b;
  }
};

template <typename T, int kSize, int kPacks>
__global__ void __launch_bounds__(kThreads) softmax_rows(T* out, const T* in, int64_t rows, int64_t width, bool log) {
  using A = ComputedOf<T>;
  __shared__ A shared[kThreads / kWarp];
  for (int64_t first = blockIdx.x * int64_t{blockDim.y}; first < rows; first += int64_t{gridDim.x} * blockDim.y) {
    const int64_t row = first + threadIdx.y;
    WidePart<T, kSize, kPacks> part(in + row * width, row < rows ? width / kSize : 0);
    A maximum = -std::numeric_limits<A>::infinity();
    part.for_each([&](int64_t, A(&values)[kSize]) {
#pragma unroll
      for (int j = 0; j < kSize; ++j) maximum = Larger()(maximum, values[j]);
    });
    maximum = combine_team(maximum, Larger(), shared);
    A sum = 0;
    part.for_each([&](int64_t, A(&values)[kSize]) {
#pragma unroll
      for (int j = 0; j < kSize; ++j) {
        const A power = ::exp(values[j] - maximum);
        sum += power;
        if (!log) values[j] = power;
      }
    });
    sum = add_team(sum, shared);
    const A shift = log ? ::log(sum) : A(0);
    const A factor = A(1) / sum;
    part.for_each([&](int64_t i, const A(&values)[kSize]) {
      Neighbours<T, kSize> result;
#pragma unroll
      for (int j = 0; j < kSize; ++j) {
        const A power = log || kPacks > 0 ? values[j] : ::exp(values[j] - maximum);
        result.values[j] = narrow_to<T>(log ? values[j] - maximum - shift : power * factor);
      }
      write_neighbours<kSize>(out + row * width + i, result);
    });
  }
}

template <typename T, int kSize, int kPacks>
__global__ void __launch_bounds__(kThreads)
    softmax_backward_rows(T* grad_input, const T* grad, const T* out, int64_t rows, int64_t width, bool log) {
  using A = ComputedOf<T>;
  __shared__ A shared[kThreads / kWarp];
  for (int64_t first = blockIdx.x * int64_t{blockDim.y}; first < rows; first += int64_t{gridDim.x} * blockDim.y) {
    const int64_t row = first + threadIdx.y;
    const int64_t packs = row < rows ? width / kSize : 0;
    const RowPart<T, kSize, kPacks> slopes(grad + row * width, packs);
    const RowPart<T, kSize, kPacks> results(out + row * width, packs);
    A sum = 0;
    slopes.for_each_with(results, [&](int64_t, const auto& slope, const auto& result) {
#pragma unroll
      for (int j = 0; j < kSize; ++j)
        sum += log ? widen(slope.values[j]) : widen(slope.values[j]) * widen(result.values[j]);
    });
    sum = add_team(sum, shared);
    slopes.for_each_with(results, [&](int64_t i, const auto& slope, const auto& result) {
      Neighbours<T, kSize> gradient;
#pragma unroll
      for (int j = 0; j < kSize; ++j) {
        const A slope_here = widen(slope.values[j]);
        const A value = widen(result.values[j]);
        gradient.values[j] = narrow_to<T>(log ? slope_here - ::exp(value) * sum : (slope_here - sum) * value);
      }
      write_neighbours<kSize>(grad_input + row * width + i, gradient);
    });
  }
}

// Rows whose elements are `inner` apart: neighbouring threads along x have neighbouring rows, those along y share one.
// combine() over the latter; `shared` holds a value for each thread.
template <typename A, typename Combine>
__device__ A combine_column(A value, Combine combine, A* shared) {
  __syncthreads();  // they may still be read
  shared[threadIdx.y * blockDim.x + threadIdx.x] = value;
  __syncthreads();
  value = shared[threadIdx.x];
  for (unsigned y = 1; y < blockDim.y; ++y) value = combine(value, shared[y * blockDim.x + threadIdx.x]);
  return value;
}

// body(where the row of this thread begins, whether there is one) for rows of all blocks.
template <typename Body>
__device__ void for_each_column(const Rows& rows, Body&& body) {
  const int64_t count = rows.outer * rows.inner;
  for (int64_t first = blockIdx.x * int64_t{blockDim.x}; first < count; first += int64_t{gridDim.x} * blockDim.x) {
    const int64_t row = first + threadIdx.x;
    body(row / rows.inner * rows.size * rows.inner + row % rows.inner, row < count);
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads) softmax_columns(T* out, const T* in, Rows rows, bool log) {
  using A = ComputedOf<T>;
  __shared__ A shared[kThreads];
  for_each_column(rows, [&](int64_t base, bool is_row) {
    const int64_t end = is_row ? rows.size : 0;
    const auto read = [&](int64_t i) { return widen(in[base + i * rows.inner]); };
    A maximum = -std::numeric_limits<A>::infinity();
    for (int64_t i = threadIdx.y; i < end; i += blockDim.y) maximum = Larger()(maximum, read(i));
    maximum = combine_column(maximum, Larger(), shared);
    A sum = 0;
    for (int64_t i = threadIdx.y; i < end; i += blockDim.y) sum += ::exp(read(i) - maximum);
    sum = combine_column(sum, [](A a, A b) { return a + b; }, shared);
    const A shift = log ? ::log(sum) : A(0);
    const A factor = A(1) / sum;
    for (int64_t i = threadIdx.y; i < end; i += blockDim.y) {
      const A shifted = read(i) - maximum;
      out[base + i * rows.inner] = narrow_to<T>(log ? shifted - shift : ::exp(shifted) * factor);
    }
  });
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    softmax_backward_columns(T* grad_input, const T* grad, const T* out, Rows rows, bool log) {
  using A = ComputedOf<T>;
  __shared__ A shared[kThreads];
  for_each_column(rows, [&](int64_t base, bool is_row) {
    const int64_t end = is_row ? rows.size : 0;
    A sum = 0;
    for (int64_t i = threadIdx.y; i < end; i += blockDim.y) {
      const int64_t at = base + i * rows.inner;
      sum += log ? widen(grad[at]) : widen(grad[at]) * widen(out[at]);
    }
    sum = combine_column(sum, [](A a, A b) { return a + b; }, shared);
    for (int64_t i = threadIdx.y; i < end; i += blockDim.y) {
      const int64_t at = base + i * rows.inner;
      const A slope = widen(grad[at]);
      const A value = widen(out[at]);
      grad_input[at] = narrow_to<T>(log ? slope - ::exp(value) * sum : (slope - sum) * value);
    }
  });
}

// How many threads along x for so many rows, and along y for their elements.
dim3 block_of_columns(const Rows& rows) {
  unsigned y = 1;
  while (y < 8 && y * 4 < rows.size) y *= 2;
  return dim3(kThreads / y, y);
}
unsigned grid_of_columns(const Rows& rows, dim3 block) {
  return grid_of_rows((rows.outer * rows.inner + block.x - 1) / block.x);
}

// `out` itself when it is contiguous, else a contiguous stand-in that finish() copies back.
class ContiguousOutput {
 public:
  explicit ContiguousOutput(const Tensor& out)
      : out_(out), staged_(out.is_contiguous() ? out : at::empty(out.sizes(), out.options())) {}
  const Tensor& staged() const { return staged_; }
  void finish() {
    if (!staged_.is_same(out_)) Tensor(out_).copy_(staged_);
  }

 private:
  Tensor out_;
  Tensor staged_;
};

}  // namespace

void softmax_kernel(const Tensor& out, const Tensor& self, int64_t dim, bool log) {
  if (self.numel() == 0) return;
  const Tensor in = self.contiguous();
  ContiguousOutput output(out);
  const Rows rows = rows_of(in, dim);
  dispatch_row_types(self.dtype(), "softmax", [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const to = output.staged().data_ptr<T>();
    const T* const from = in.data_ptr<T>();
    if (rows.inner > 1) {
      const dim3 block = block_of_columns(rows);
      return launch(softmax_columns<T>, grid_of_columns(rows, block), block, to, from, rows, log);
    }
    choose_row_parts<T>(rows.size, is_at_16_bytes({to, from}), [&](auto size, auto held) {
      const dim3 block = block_of_teams(rows.size / size.value, kPacksOfThread<T>);
      launch(softmax_rows<T, size.value, held.value>, grid_of_teams(rows.outer, block), block, to, from, rows.outer,
             rows.size, log);
    });
  });
  output.finish();
}

void softmax_backward_kernel(const Tensor& grad_input, const Tensor& grad_output, const Tensor& out, int64_t dim,
                             bool log) {
  if (out.numel() == 0) return;
  const Tensor grad = grad_output.contiguous();
  const Tensor forward = out.contiguous();
  ContiguousOutput output(grad_input);
  const Rows rows = rows_of(forward, dim);
  dispatch_row_types(out.dtype(), "softmax_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const to = output.staged().data_ptr<T>();
    const T* const slopes = grad.data_ptr<T>();
    const T* const results = forward.data_ptr<T>();
    if (rows.inner > 1) {
      const dim3 block = block_of_columns(rows);
      return launch(softmax_backward_columns<T>, grid_of_columns(rows, block), block, to, slopes, results, rows, log);
    }
    choose_row_parts<T>(rows.size, is_at_16_bytes({to, slopes, results}), [&](auto size, auto held) {
      const dim3 block = block_of_teams(rows.size / size.value, kPacksOfThread<T>);
      launch(softmax_backward_rows<T, size.value, held.value>, grid_of_teams(rows.outer, block), block, to, slopes,
             results, rows.outer, rows.size, log);
    });
  });
  output.finish();
}

}  // namespace at::native::cuda
