// softmax and log_softmax along one dimension, and their backward: one block per row. Sums are taken in float for float
// and in double for double; a contiguous copy is made first, so rows are `inner` apart and elements of a row too.

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/Dispatch.h>
#include <aten/native/cuda/Launch.cuh>

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

template <typename scalar_t>
__global__ void softmax_rows(scalar_t* out, const scalar_t* in, Rows rows, bool log) {
  __shared__ scalar_t shared[kWarp];
  __shared__ scalar_t row_maximum;
  __shared__ scalar_t row_sum;
  const auto larger = [](scalar_t a, scalar_t b) { return a > b || a != a ? a : b; };
  const auto plus = [](scalar_t a, scalar_t b) { return a + b; };
  const scalar_t lowest = -std::numeric_limits<scalar_t>::infinity();
  for (int64_t row = blockIdx.x; row < rows.outer * rows.inner; row += gridDim.x) {
    const int64_t base = row / rows.inner * rows.size * rows.inner + row % rows.inner;
    scalar_t maximum = lowest;
    for (int64_t i = threadIdx.x; i < rows.size; i += blockDim.x) maximum = larger(maximum, in[base + i * rows.inner]);
    maximum = block_reduce(maximum, lowest, larger, shared);
    if (threadIdx.x == 0) row_maximum = maximum;
    __syncthreads();
    scalar_t sum = 0;
    for (int64_t i = threadIdx.x; i < rows.size; i += blockDim.x) sum += ::exp(in[base + i * rows.inner] - row_maximum);
    sum = block_reduce(sum, scalar_t{0}, plus, shared);
    if (threadIdx.x == 0) row_sum = log ? ::log(sum) : sum;
    __syncthreads();
    for (int64_t i = threadIdx.x; i < rows.size; i += blockDim.x) {
      const scalar_t shifted = in[base + i * rows.inner] - row_maximum;
      out[base + i * rows.inner] = log ? shifted - row_sum : ::exp(shifted) / row_sum;
    }
    __syncthreads();
  }
}

template <typename scalar_t>
__global__ void softmax_backward_rows(scalar_t* grad_input, const scalar_t* grad, const scalar_t* out, Rows rows,
                                      bool log) {
  __shared__ scalar_t shared[kWarp];
  __shared__ scalar_t row_sum;
  const auto plus = [](scalar_t a, scalar_t b) { return a + b; };
  for (int64_t row = blockIdx.x; row < rows.outer * rows.inner; row += gridDim.x) {
    const int64_t base = row / rows.inner * rows.size * rows.inner + row % rows.inner;
    scalar_t sum = 0;
    for (int64_t i = threadIdx.x; i < rows.size; i += blockDim.x) {
      const int64_t at = base + i * rows.inner;
      sum += log ? grad[at] : grad[at] * out[at];
    }
    sum = block_reduce(sum, scalar_t{0}, plus, shared);
    if (threadIdx.x == 0) row_sum = sum;
    __syncthreads();
    for (int64_t i = threadIdx.x; i < rows.size; i += blockDim.x) {
      const int64_t at = base + i * rows.inner;
      grad_input[at] = log ? grad[at] - ::exp(out[at]) * row_sum : (grad[at] - row_sum) * out[at];
    }
    __syncthreads();
  }
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
  dispatch_floating_types(self.dtype(), "softmax", [&](auto tag) {
    using scalar_t = typename decltype(tag)::type;
    launch(softmax_rows<scalar_t>, grid_of_rows(rows.outer * rows.inner), kThreads,
           output.staged().data_ptr<scalar_t>(), in.data_ptr<scalar_t>(), rows, log);
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
  dispatch_floating_types(out.dtype(), "softmax_backward", [&](auto tag) {
    using scalar_t = typename decltype(tag)::type;
    launch(softmax_backward_rows<scalar_t>, grid_of_rows(rows.outer * rows.inner), kThreads,
           output.staged().data_ptr<scalar_t>(), grad.data_ptr<scalar_t>(), forward.data_ptr<scalar_t>(), rows, log);
  });
  output.finish();
}

}  // namespace at::native::cuda
