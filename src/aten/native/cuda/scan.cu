// cumsum.

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Loops.cuh>

#include <cub/block/block_scan.cuh>

namespace at::native::cuda {

namespace {

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
    launch(scan_rows<T>, grid_of_rows(rows), kThreads, packed.data_ptr<T>(), in.data_ptr<T>(), rows, size, inner);
  });
  if (!packed.is_same(out)) Tensor(out).copy_(packed);
}

}  // namespace at::native::cuda
