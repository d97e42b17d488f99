// The engine of Fourier transforms where the BLAS is not MKL: the kissfft that comes with Eigen (header only, MPL-2.0).
// Its steps take time in proportion to a length's prime factors, so lengths with a large one go by Bluestein's way: as
// a convolution of a length that is a power of 2.

#include <aten/native/cpu/fft_engine.h>

#include <aten/Parallel.h>
#include <c10/util/Exception.h>

#define EIGEN_MPL2_ONLY
#include <unsupported/Eigen/FFT>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace at::native::cpu {

namespace {

constexpr double kPi = 3.14159265358979323846;

int64_t largest_prime_factor(int64_t n) {
  int64_t largest = 1;
  for (int64_t factor = 2; factor * factor <= n; ++factor) {
    for (; n % factor == 0; n /= factor) largest = factor;
  }
  return std::max(largest, n);
}

// Transforms of one length; every thread has its own.
template <typename T>
class Transform {
 public:
  using C = std::complex<T>;

  Transform(int64_t n, bool forward) : n_(n), forward_(forward) {
    constexpr int64_t kLargePrime = 61;
    TORCH_CHECK(n < std::numeric_limits<int>::max() / 4, "FFT: a length of ", n, " is more than this engine can take");
    engine_.SetFlag(engine_.Unscaled);
    if (largest_prime_factor(n) <= kLargePrime) {
      line_.resize(n);
      return;
    }
    // x_k w^(k^2/2) convolved with w^(-k^2/2), times w^(j^2/2), where w = e^(-+2 pi i / n).
    int64_t size = 1;
    while (size < 2 * n - 1) size *= 2;
    chirp_.resize(n);
    for (int64_t k = 0; k < n; ++k) {
      const double angle = kPi * static_cast<double>(k * k % (2 * n)) / static_cast<double>(n);
      chirp_[k] = std::polar(1.0, forward ? -angle : angle);
    }
    std::vector<C> filter(size);
    for (int64_t k = 0; k < n; ++k) filter[k] = filter[(size - k) % size] = C(std::conj(chirp_[k]));
    filter_.resize(size);
    line_.resize(size);
    engine_.fwd(filter_.data(), filter.data(), static_cast<int>(size));
  }

  // Not in place.
  void operator()(const C* input, C* output) {
    if (n_ == 1) {  // which kissfft finds no factor of
      output[0] = input[0];
      return;
    }
    if (chirp_.empty()) {
      if (forward_) engine_.fwd(output, input, static_cast<int>(n_));
      else engine_.inv(output, input, static_cast<int>(n_));
      return;
    }
    const int64_t size = static_cast<int64_t>(filter_.size());
    std::vector<C> padded(size);
    for (int64_t k = 0; k < n_; ++k) padded[k] = input[k] * C(chirp_[k]);
    engine_.fwd(line_.data(), padded.data(), static_cast<int>(size));
    for (int64_t k = 0; k < size; ++k) line_[k] *= filter_[k];
    engine_.inv(padded.data(), line_.data(), static_cast<int>(size));
    for (int64_t k = 0; k < n_; ++k) output[k] = padded[k] * C(chirp_[k]) / static_cast<T>(size);
  }

 private:
  int64_t n_;
  bool forward_;
  Eigen::FFT<T> engine_;
  std::vector<std::complex<double>> chirp_;  // empty: kissfft alone will do
  std::vector<C> filter_;
  std::vector<C> line_;
};

// body(transform, line) over all lines, in parallel.
template <typename T, typename Body>
void for_each_line(int64_t n, int64_t count, bool forward, const Body& body) {
  parallel_for(0, count, std::max<int64_t>(1, kGrainSize / n / 4), [&](int64_t begin, int64_t end) {
    Transform<T> transform(n, forward);
    std::vector<std::complex<T>> input(n);
    std::vector<std::complex<T>> output(n);
    for (int64_t line = begin; line < end; ++line) body(transform, line, input, output);
  });
}

template <typename T>
void transform_lines(c10::complex<T>* lines, int64_t n, int64_t count, int64_t stride, int64_t blocks, bool forward,
                     T scale) {
  for_each_line<T>(n, count * blocks, forward, [&](Transform<T>& transform, int64_t line, auto& input, auto& output) {
    c10::complex<T>* first = lines + line / count * count * n + line % count * (stride == 1 ? n : 1);
    for (int64_t k = 0; k < n; ++k) input[k] = first[k * stride];
    transform(input.data(), output.data());
    for (int64_t k = 0; k < n; ++k) first[k * stride] = output[k] * scale;
  });
}

template <typename T>
void transform_real_lines(const T* reals, c10::complex<T>* halves, int64_t n, int64_t count, T scale) {
  const int64_t half = n / 2 + 1;
  for_each_line<T>(n, count, /*forward=*/true, [&](Transform<T>& transform, int64_t line, auto& input, auto& output) {
    std::copy_n(reals + line * n, n, input.begin());
    transform(input.data(), output.data());
    for (int64_t k = 0; k < half; ++k) halves[line * half + k] = output[k] * scale;
  });
}

template <typename T>
void transform_to_real_lines(const c10::complex<T>* halves, T* reals, int64_t n, int64_t count, T scale) {
  const int64_t half = n / 2 + 1;
  for_each_line<T>(n, count, /*forward=*/false, [&](Transform<T>& transform, int64_t line, auto& input, auto& output) {
    const c10::complex<T>* first = halves + line * half;
    for (int64_t k = 0; k < half; ++k) input[k] = first[k];
    for (int64_t k = half; k < n; ++k) input[k] = std::conj(input[n - k]);
    input[0] = input[0].real();
    if (n % 2 == 0) input[n / 2] = input[n / 2].real();
    transform(input.data(), output.data());
    for (int64_t k = 0; k < n; ++k) reals[line * n + k] = output[k].real() * scale;
  });
}

}  // namespace

#define TORCH_FFT(T)                                                                                          \
  void fft_lines(c10::complex<T>* lines, int64_t n, int64_t count, int64_t stride, int64_t blocks,            \
                 bool forward, T scale) {                                                                     \
    transform_lines(lines, n, count, stride, blocks, forward, scale);                                         \
  }                                                                                                           \
  void fft_real_lines(const T* input, c10::complex<T>* output, int64_t n, int64_t count, T scale) {           \
    transform_real_lines(input, output, n, count, scale);                                                     \
  }                                                                                                           \
  void fft_to_real_lines(const c10::complex<T>* input, T* output, int64_t n, int64_t count, T scale) {        \
    transform_to_real_lines(input, output, n, count, scale);                                                  \
  }
TORCH_FFT(float)
TORCH_FFT(double)
#undef TORCH_FFT

}  // namespace at::native::cpu
