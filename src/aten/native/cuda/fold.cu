// im2col and col2im: one thread per element of the result.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Launch.cuh>

#include <algorithm>

namespace at::native::cuda {

namespace {

// Everything in three dimensions; fewer have size 1 in front.
struct Geometry {
  int64_t channels, elements, count;  // of the image, of a window, of windows in an image
  int64_t image[3], kernel[3], dilation[3], padding[3], stride[3], windows[3];
};

void put(int64_t (&triple)[3], IntArrayRef values, int64_t missing) {
  for (int64_t& value : triple) value = missing;
  std::copy(values.begin(), values.end(), triple + 3 - values.size());
}

Geometry geometry_of(const Tensor& image, IntArrayRef kernel, IntArrayRef dilation, IntArrayRef padding,
                     IntArrayRef stride, IntArrayRef counts) {
  Geometry g;
  g.channels = image.sizes()[1];
  put(g.image, image.sizes().slice(2, counts.size()), 1);
  put(g.kernel, kernel, 1);
  put(g.dilation, dilation, 1);
  put(g.padding, padding, 0);
  put(g.stride, stride, 1);
  put(g.windows, counts, 1);
  g.elements = g.kernel[0] * g.kernel[1] * g.kernel[2];
  g.count = g.windows[0] * g.windows[1] * g.windows[2];
  return g;
}

// `number` in a box of these sizes as three coordinates.
__device__ void unravel(int64_t number, const int64_t (&sizes)[3], int64_t (&place)[3]) {
  for (int dim = 2; dim >= 0; --dim) {
    place[dim] = number % sizes[dim];
    number /= sizes[dim];
  }
}

template <typename Word>
void gather_windows(const Tensor& columns, const Tensor& image, Geometry g) {
  const Word* images = static_cast<const Word*>(image.data_ptr());
  Word* values = static_cast<Word*>(columns.data_ptr());
  for_each_index(columns.numel(), [=] __device__(int64_t index) {
    int64_t window[3], offset[3];
    unravel(index % g.count, g.windows, window);
    const int64_t row = index / g.count;  // image, channel, place in the kernel
    unravel(row % g.elements, g.kernel, offset);
    int64_t place = row / g.elements;
    for (int dim = 0; dim < 3; ++dim) {
      const int64_t at = window[dim] * g.stride[dim] - g.padding[dim] + offset[dim] * g.dilation[dim];
      if (at < 0 || at >= g.image[dim]) {
        values[index] = Word{};
        return;
      }
      place = place * g.image[dim] + at;
    }
    values[index] = images[place];
  });
}

// Each element of the image adds up the windows that hold it, in a steady order.
template <typename T>
void scatter_windows(const Tensor& image, const Tensor& columns, Geometry g) {
  const T* values = columns.data_ptr<T>();
  T* images = image.data_ptr<T>();
  const int64_t size = g.image[0] * g.image[1] * g.image[2];
  for_each_index(image.numel(), [=] __device__(int64_t index) {
    int64_t place[3], offset[3];
    unravel(index % size, g.image, place);
    const int64_t plane = index / size;
    using Sum = std::conditional_t<c10::is_reduced_floating_v<T>, float, T>;
    Sum sum = Sum(0);
    for (int64_t element = 0; element < g.elements; ++element) {
      unravel(element, g.kernel, offset);
      int64_t window = 0;
      bool inside = true;
      for (int dim = 0; dim < 3; ++dim) {
        const int64_t start = place[dim] + g.padding[dim] - offset[dim] * g.dilation[dim];
        inside = inside && start >= 0 && start % g.stride[dim] == 0 && start / g.stride[dim] < g.windows[dim];
        window = window * g.windows[dim] + start / g.stride[dim];
      }
      if (inside)
        sum = static_cast<Sum>(sum + static_cast<Sum>(values[(plane * g.elements + element) * g.count + window]));
    }
    images[index] = static_cast<T>(sum);
  });
}

}  // namespace

void im2col_kernel(const Tensor& columns, const Tensor& image, IntArrayRef kernel, IntArrayRef dilation,
                   IntArrayRef padding, IntArrayRef stride, IntArrayRef counts) {
  const Geometry g = geometry_of(image, kernel, dilation, padding, stride, counts);
  dispatch_word(image.element_size(), [&](auto word) { gather_windows<decltype(word)>(columns, image, g); });
}

void col2im_kernel(const Tensor& image, const Tensor& columns, IntArrayRef kernel, IntArrayRef dilation,
                   IntArrayRef padding, IntArrayRef stride, IntArrayRef counts) {
  const Geometry g = geometry_of(image, kernel, dilation, padding, stride, counts);
  dispatch_added_types(image.dtype(), "col2im",
                        [&](auto tag) { scatter_windows<typename decltype(tag)::type>(image, columns, g); });
}

}  // namespace at::native::cuda
