// im2col and col2im: copying between images and the matrices of their windows.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/ConvolutionGeometry.h>

#include <limits>
#include <numeric>
#include <vector>

namespace at::native::cpu {

namespace {

ConvolutionGeometry geometry_of(const Tensor& image, IntArrayRef kernel, IntArrayRef dilation, IntArrayRef padding,
                                IntArrayRef stride, IntArrayRef counts) {
  const auto with_leading = [](IntArrayRef values) {
    DimVector result{1, 1};
    for (const int64_t value : values) result.push_back(value);
    return result;
  };
  const DimVector windows = with_leading(counts);
  const DimVector weights = with_leading(kernel);
  return ConvolutionGeometry(image.sizes(), windows, weights, stride, padding, dilation, 1);
}

// body(image number, its runs of windows, the offset of its matrix) for each image.
template <typename Body>
void for_each_image(const ConvolutionGeometry& g, Body&& body) {
  const int64_t matrix = g.rows() * g.window_count();
  parallel_for(0, g.batch, std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, matrix)),
               [&](int64_t first, int64_t last) {
                 for (int64_t n = first; n < last; ++n) body(n, window_runs(g, 0, g.window_count()), n * matrix);
               });
}

// For each row of the matrix of windows of one channel, and each window: 1 + the element of a plane that it reads, 0
// outside of the image. None where lines of windows are long enough to be copied.
std::vector<int32_t> elements_of_windows(const ConvolutionGeometry& g) {
  constexpr int64_t kLongLine = 16;
  if (g.windows[2] >= kLongLine || g.image_elements() >= std::numeric_limits<int32_t>::max()) return {};
  ConvolutionGeometry one = g;
  one.image_channels = 1;
  std::vector<int32_t> numbers(static_cast<size_t>(g.image_elements()));
  std::iota(numbers.begin(), numbers.end(), 1);
  std::vector<int32_t> elements(static_cast<size_t>(one.rows() * g.window_count()));
  gather_windows(one, numbers.data(), 0, window_runs(one, 0, g.window_count()), elements.data(), g.window_count());
  return elements;
}

}  // namespace

void im2col_kernel(const Tensor& columns, const Tensor& image, IntArrayRef kernel, IntArrayRef dilation,
                   IntArrayRef padding, IntArrayRef stride, IntArrayRef counts) {
  const ConvolutionGeometry g = geometry_of(image, kernel, dilation, padding, stride, counts);
  const int64_t step = g.image_channels * g.image_elements();
  const std::vector<int32_t> elements = elements_of_windows(g);
  dispatch_word(image.element_size(), [&](auto word) {
    using Word = decltype(word);
    const auto* pixels = static_cast<const Word*>(image.data_ptr());
    auto* matrices = static_cast<Word*>(columns.data_ptr());
    for_each_image(g, [&](int64_t n, const std::vector<WindowRun>& runs, int64_t offset) {
      const Word outside{};
      Word* to = matrices + offset;
      for (int64_t c = 0; !elements.empty() && c < g.image_channels; ++c) {
        const Word* plane = pixels + n * step + c * g.image_elements() - 1;
        for (const int32_t element : elements) *to++ = *(element > 0 ? plane + element : &outside);
      }
      if (!elements.empty()) return;
      gather_windows(g, pixels + n * step, step, runs, matrices + offset, g.window_count());
    });
  });
}

void col2im_kernel(const Tensor& image, const Tensor& columns, IntArrayRef kernel, IntArrayRef dilation,
                   IntArrayRef padding, IntArrayRef stride, IntArrayRef counts) {
  const ConvolutionGeometry g = geometry_of(image, kernel, dilation, padding, stride, counts);
  const int64_t step = g.image_channels * g.image_elements();
  const std::vector<int32_t> elements = elements_of_windows(g);
  dispatch_floating_and_complex_types(image.dtype(), "col2im", [&](auto type) {
    using T = typename decltype(type)::type;
    std::fill_n(image.data_ptr<T>(), image.numel(), T(0));
    for_each_image(g, [&](int64_t n, const std::vector<WindowRun>& runs, int64_t offset) {
      const T* from = columns.data_ptr<T>() + offset;
      for (int64_t c = 0; !elements.empty() && c < g.image_channels; ++c) {
        T* plane = image.data_ptr<T>() + n * step + c * g.image_elements() - 1;
        for (const int32_t element : elements) {
          if (element > 0) plane[element] = static_cast<T>(plane[element] + *from);
          ++from;
        }
      }
      if (!elements.empty()) return;
      scatter_windows(g, image.data_ptr<T>() + n * step, step, 0, g.image_channels, runs,
                      columns.data_ptr<T>() + offset, g.window_count());
    });
  });
}

}  // namespace at::native::cpu
