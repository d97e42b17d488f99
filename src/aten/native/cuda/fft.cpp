// Fourier transforms, by libtorch_cuda_fft. Contracts are in kernels.yaml.

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Libraries.h>
#include <aten/native/cuda/fft/Transform.h>
#include <c10/cuda/CUDAStream.h>

namespace at::native::cuda {

namespace {

void run(TorchCudaTransform& transform) {
  static const auto function = load_function<TorchCudaTransformFunction>("libtorch_cuda_fft.so", "torch_cuda_transform",
                                                                         "Fourier transforms", "libcufft");
  transform.stream = c10::cuda::current_stream();
  const char* error = function(&transform);
  TORCH_CHECK(error == nullptr, "cuFFT: ", error, " (", transform.batches, " transforms of ", transform.size,
              " numbers)");
}

void rescale(const Tensor& result, double scale) {
  if (scale != 1) Tensor(result).mul_(Scalar(scale));
}

// Rows of real numbers and of half as many complex ones.
void transform_rows(TorchCudaTransformKind kind, const Tensor& in, const Tensor& out, const Tensor& reals) {
  TorchCudaTransform transform{};
  transform.kind = kind;
  transform.is_double = reals.dtype() == kDouble;
  transform.size = reals.sizes().back();
  transform.batches = reals.numel() / transform.size;
  transform.in = in.data_ptr();
  transform.out = out.data_ptr();
  transform.in_step = transform.out_step = 1;
  transform.in_distance = in.sizes().back();
  transform.out_distance = out.sizes().back();
  run(transform);
}

}  // namespace

void fft_along_kernel(const Tensor& self, int64_t dim, bool forward, double scale) {
  if (self.numel() == 0) return;
  int64_t inner = 1;
  for (int64_t i = dim + 1; i < self.dim(); ++i) inner *= self.sizes()[i];
  TorchCudaTransform transform{};
  transform.kind = kTorchCudaComplexToComplex;
  transform.is_double = self.dtype() == c10::kComplexDouble;
  transform.forward = forward;
  transform.size = self.sizes()[dim];
  transform.in_step = transform.out_step = inner;
  // Rows are all one batch; columns are one for each matrix of them.
  const int64_t outer = self.numel() / (transform.size * inner);
  transform.batches = inner == 1 ? outer : inner;
  transform.in_distance = transform.out_distance = inner == 1 ? transform.size : 1;
  auto* data = static_cast<char*>(self.data_ptr());
  const size_t step = static_cast<size_t>(transform.size * inner) * self.element_size();
  for (int64_t matrix = 0; matrix < (inner == 1 ? 1 : outer); ++matrix, data += step) {
    transform.in = transform.out = data;
    run(transform);
  }
  rescale(self, scale);
}

void fft_real_lines_kernel(const Tensor& halves, const Tensor& reals, double scale) {
  if (reals.numel() == 0) return;
  // cuFFT reads pairs of real numbers.
  const bool is_aligned = reinterpret_cast<uintptr_t>(reals.data_ptr()) % (2 * reals.element_size()) == 0;
  transform_rows(kTorchCudaRealToComplex, is_aligned ? reals : at::clone(reals), halves, reals);
  rescale(halves, scale);
}

void fft_to_real_lines_kernel(const Tensor& reals, const Tensor& halves, double scale) {
  if (reals.numel() == 0) return;
  transform_rows(kTorchCudaComplexToReal, at::clone(halves), reals, reals);  // cuFFT may use its input for work
  rescale(reals, scale);
}

}  // namespace at::native::cuda
