// Fourier transforms along the last dimension of contiguous tensors.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/fft_engine.h>

namespace at::native::cpu {

void fft_lines_kernel(const Tensor& lines, bool forward, double scale) {
  const int64_t n = lines.sizes().back();
  dispatch_complex_types(lines.dtype(), "fft", [&](auto type) {
    using C = typename decltype(type)::type;
    fft_lines(lines.data_ptr<C>(), n, lines.numel() / n, forward, static_cast<typename C::value_type>(scale));
  });
}

void fft_real_lines_kernel(const Tensor& halves, const Tensor& reals, double scale) {
  const int64_t n = reals.sizes().back();
  dispatch_floating_types(reals.dtype(), "fft", [&](auto type) {
    using T = typename decltype(type)::type;
    fft_real_lines(reals.data_ptr<T>(), halves.data_ptr<c10::complex<T>>(), n, reals.numel() / n, static_cast<T>(scale));
  });
}

void fft_to_real_lines_kernel(const Tensor& reals, const Tensor& halves, double scale) {
  const int64_t n = reals.sizes().back();
  dispatch_floating_types(reals.dtype(), "fft", [&](auto type) {
    using T = typename decltype(type)::type;
    fft_to_real_lines(halves.data_ptr<c10::complex<T>>(), reals.data_ptr<T>(), n, reals.numel() / n, static_cast<T>(scale));
  });
}

}  // namespace at::native::cpu
