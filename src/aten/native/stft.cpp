// Short-time Fourier transforms: of overlapping frames of a signal, and back.

#include <aten/ATen.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>

namespace at::native {

namespace {

constexpr int64_t kNotScaled = 0;
constexpr int64_t kByRoot = 1;
constexpr int64_t kBySize = 2;

// The window with zeros on both sides, `n_fft` long; ones where none is given.
Tensor whole_window(const Tensor& window, int64_t win_length, int64_t n_fft, const TensorOptions& options) {
  Tensor result = window.defined() ? window : at::ones({win_length}, options);
  if (win_length == n_fft) return result;
  const int64_t left = (n_fft - win_length) / 2;
  return at::constant_pad_nd(result, {left, n_fft - win_length - left});
}

}  // namespace

Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
            const Tensor& window, bool normalized, std::optional<bool> onesided, std::optional<bool> return_complex,
            std::optional<bool> align_to_window) {
  TORCH_CHECK_NOT_IMPLEMENTED(!align_to_window.value_or(false),
                              "stft: align_to_window=True is not implemented: pad the input");
  const int64_t hop = hop_length.value_or(n_fft / 4);
  const int64_t width = win_length.value_or(n_fft);
  const bool is_complex = self.is_complex() || (window.defined() && window.is_complex());
  TORCH_CHECK(return_complex || is_complex,
              "stft requires the return_complex parameter be given for real inputs, and will further ",
              "require that return_complex=True in a future PyTorch release.");
  const auto said = [&] {
    return c10::detail::concatenate("stft(torch.", self.dtype(), "Tensor", self.sizes(), ", n_fft=", n_fft,
                                    ", hop_length=", hop, ", win_length=", width, ") : expected ");
  };
  TORCH_CHECK(c10::is_floating_or_complex_type(self.dtype()), said(), "a tensor of floating point or complex values");
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2, said(), "a 1D or 2D tensor");
  const Tensor signals = self.dim() == 1 ? at::unsqueeze(self, 0) : self;
  const int64_t length = signals.sizes()[1];
  TORCH_CHECK(n_fft > 0 && n_fft <= length, said(), "0 < n_fft <= ", length, ", but got n_fft=", n_fft);
  TORCH_CHECK(hop > 0, said(), "hop_length > 0, but got hop_length=", hop);
  TORCH_CHECK(width > 0 && width <= n_fft, said(), "0 < win_length <= n_fft, but got win_length=", width);
  TORCH_CHECK(!window.defined() || (window.dim() == 1 && window.sizes()[0] == width), said(),
              "a 1D window tensor of size equal to win_length=", width, ", but got window with size ",
              window.defined() ? window.sizes() : IntArrayRef());
  const bool half = onesided.value_or(!is_complex);
  TORCH_CHECK(!half || !is_complex, "Cannot have onesided output if window or input is complex");
  Tensor frames = signals.unfold(1, n_fft, hop);
  if (window.defined() || width < n_fft) frames = at::mul(frames, whole_window(window, width, n_fft, self.options()));
  const int64_t scale = normalized ? kByRoot : kNotScaled;
  Tensor spectra =
      frames.is_complex() ? at::_fft_c2c(frames, {2}, scale, /*forward=*/true) : at::_fft_r2c(frames, {2}, scale, half);
  spectra = at::transpose(spectra, 1, 2);
  if (self.dim() == 1) spectra = at::squeeze(spectra, 0);
  return return_complex.value_or(true) ? spectra : at::view_as_real(spectra.contiguous());
}

Tensor istft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
             const Tensor& window, bool center, bool normalized, std::optional<bool> onesided,
             std::optional<int64_t> length, bool return_complex) {
  const int64_t hop = hop_length.value_or(n_fft / 4);
  const int64_t width = win_length.value_or(n_fft);
  TORCH_CHECK(self.is_complex(),
              "istft requires a complex-valued input tensor matching the output from stft with return_complex=True.");
  const auto said = [&] {
    return c10::detail::concatenate("istft(", self.dtype(), self.sizes(), ", n_fft=", n_fft, ", hop_length=", hop,
                                    ", win_length=", width, ", center=", center, ", normalized=", normalized, ") : ");
  };
  TORCH_CHECK(self.numel() > 0, said(), "input tensor cannot be empty.");
  TORCH_CHECK(self.dim() == 2 || self.dim() == 3, said(), "expected a tensor with 3 or 4 dimensions, but got ",
              self.dim() + 1);
  const Tensor spectra = self.dim() == 2 ? at::unsqueeze(self, 0) : self;
  const int64_t frequencies = spectra.sizes()[1];
  const int64_t frames = spectra.sizes()[2];
  const bool half = onesided.value_or(frequencies != n_fft);
  TORCH_CHECK(frequencies == (half ? n_fft / 2 + 1 : n_fft), said(),
              "expected the frequency dimension (3rd to the last) of the input tensor to match ",
              half ? "n_fft / 2 + 1 when onesided=True, but got " : "n_fft when onesided=False, but got ", frequencies);
  TORCH_CHECK(hop > 0 && hop <= width, said(), "expected 0 < hop_length <= win_length");
  TORCH_CHECK(width > 0 && width <= n_fft, said(), "expected 0 < win_length <= n_fft");
  TORCH_CHECK(!window.defined() || (window.dim() == 1 && window.sizes()[0] == width), said(),
              "Invalid window shape. window has to be 1D and length of `win_length`");
  TORCH_CHECK(!return_complex || !half, "Cannot have onesided output if window or input is complex");
  TORCH_CHECK(return_complex || !window.defined() || !window.is_complex(),
              "Complex windows are incompatible with return_complex=False");
  const TensorOptions options = self.options().dtype(return_complex ? self.dtype() : c10::real_type(self.dtype()));
  const Tensor weights = whole_window(window, width, n_fft, options);
  const Tensor turned = at::transpose(spectra, 1, 2);
  const int64_t scale = normalized ? kByRoot : kBySize;
  const Tensor pieces = return_complex
                            ? at::_fft_c2c(turned, {2}, scale, /*forward=*/false)
                            : at::_fft_c2r(half ? turned : at::narrow(turned, 2, 0, n_fft / 2 + 1), {2}, scale, n_fft);
  // Pieces are laid over each other; what the window made of them is divided out.
  const int64_t whole = n_fft + hop * (frames - 1);
  const int64_t shares = (n_fft + hop - 1) / hop;  // of a piece, `hop` elements each
  constexpr int64_t kManyShares = 16;
  const auto overlap = [&](const Tensor& parts) {  // [batch, frames, n_fft]
    const int64_t batch = parts.sizes()[0];
    if (shares > kManyShares) {
      const TensorOptions places = options.dtype(kLong);
      const Tensor starts = at::mul(at::arange(Scalar(frames), places), Scalar(hop));
      const Tensor index = at::add(at::unsqueeze(starts, 1), at::arange(Scalar(n_fft), places));
      return at::index_add(at::zeros({batch, whole}, parts.options()), 1, at::reshape(index, {-1}),
                           at::reshape(parts, {batch, frames * n_fft}));
    }
    // Share by share, the last one first: an element's pieces are added up in their order.
    Tensor sum;
    for (int64_t share = shares - 1; share >= 0; --share) {
      const int64_t size = std::min(hop, n_fft - share * hop);
      const Tensor part = at::constant_pad_nd(at::narrow(parts, 2, share * hop, size),
                                              {0, hop - size, share, shares - 1 - share});
      sum = sum.defined() ? at::add(sum, part) : part;
    }
    return at::narrow(at::reshape(sum, {batch, -1}), 1, 0, whole);
  };
  const Tensor weighted = at::mul(pieces, weights);
  Tensor signal = overlap(weighted);
  Tensor envelope =
      overlap(at::expand(at::unsqueeze(at::unsqueeze(at::mul(weights, weights), 0), 0), {1, frames, n_fft}));
  const int64_t start = center ? n_fft / 2 : 0;
  const int64_t end = length ? start + *length : (center ? whole - n_fft / 2 : whole);
  const int64_t stop = std::min(end, whole);
  signal = at::narrow(signal, 1, start, std::max<int64_t>(stop - start, 0));
  envelope = at::narrow(envelope, 1, start, std::max<int64_t>(stop - start, 0));
  constexpr double kLeast = 1e-11;
  if (envelope.numel() > 0 && !envelope.device().is_meta()) {
    const Tensor least = at::amin(at::abs(envelope), IntArrayRef{});
    TORCH_CHECK(at::gt(least, Scalar(kLeast)).item<bool>(), said(), "window overlap add min: ", least.item<double>(),
                ", which is 0 or as good as");
  }
  signal = at::div(signal, envelope);
  if (end > stop) signal = at::constant_pad_nd(signal, {0, end - stop});
  return self.dim() == 2 ? at::squeeze(signal, 0) : signal;
}

}  // namespace at::native
