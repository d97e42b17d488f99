// Fourier transforms of contiguous tensors.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/fft_engine.h>

namespace at::native::cpu {

void fft_along_kernel(const Tensor& self, int64_t dim, bool forward, double scale) {
  const int64_t n = self.sizes()[dim];
  int64_t inner = 1;
  for (int64_t i = dim + 1; i < self.dim(); ++i) inner *= self.sizes()[i];
  const int64_t outer = self.numel() / (n * inner);
  dispatch_complex_types(self.dtype(), "fft", [&](auto type) {
    using C = typename decltype(type)::type;
    C* data = self.data_ptr<C>();
    const auto factor = static_cast<typename C::value_type>(scale);
    if (inner == 1) fft_lines(data, n, outer, 1, 1, forward, factor);
    else fft_lines(data, n, inner, inner, outer, forward, factor);
  });
}

void fft_real_lines_kernel(const Tensor& halves, const Tensor& reals, double scale) {
  const int64_t n = reals.sizes().back();
  dispatch_floating_types(reals.dtype(), "fft", [&](auto type) {
    using T = typename decltype(type)::type;
    fft_real_lines(reals.data_ptr<T>(), halves.data_ptr<c10::complex<T>>(), n, reals.numel() / n,
                   static_cast<T>(scale));
  });
}

void fft_to_real_lines_kernel(const Tensor& reals, const Tensor& halves, double scale) {
  const int64_t n = reals.sizes().back();
  dispatch_floating_types(reals.dtype(), "fft", [&](auto type) {
    using T = typename decltype(type)::type;
    fft_to_real_lines(halves.data_ptr<c10::complex<T>>(), reals.data_ptr<T>(), n, reals.numel() / n,
                      static_cast<T>(scale));
  });
}

}  // namespace at::native::cpu
