#include <aten/native/ConvolutionByWindows.h>

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/native/Dimensions.h>
#include <aten/native/RunKernel.h>

#include <algorithm>

namespace at::native {

namespace {

IntArrayRef without_channels(IntArrayRef sizes) { return sizes.slice(2, sizes.size() - 2); }

// How many windows fit along each dimension of an image.
DimVector count_windows(IntArrayRef image, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                        IntArrayRef dilation) {
  DimVector counts;
  for (size_t dim = 0; dim < kernel.size(); ++dim) {
    counts.push_back((image[dim] + 2 * padding[dim] - dilation[dim] * (kernel[dim] - 1) - 1) / stride[dim] + 1);
  }
  return counts;
}

// Windows hold an image many times. Batches go in parts, whose windows take at most this, or are those of one image.
constexpr int64_t kWindowBytes = int64_t{64} << 20;

// body(first, count) for all of a batch; an image's windows have so many elements of `dtype`.
template <typename Body>
void for_each_part(int64_t batch, int64_t elements, c10::ScalarType dtype, Body&& body) {
  const int64_t bytes = std::max<int64_t>(1, elements * static_cast<int64_t>(c10::element_size(dtype)));
  const int64_t at_once = std::max<int64_t>(1, kWindowBytes / bytes);
  for (int64_t first = 0; first < batch; first += at_once) body(first, std::min(at_once, batch - first));
}

// The results of body(part of the batch), one behind the other.
template <typename Body>
Tensor join_parts(const Tensor& input, int64_t elements, Body&& body) {
  Tensor results;
  const int64_t batch = input.size(0);
  if (batch == 0) return body(input);
  for_each_part(batch, elements, input.dtype(), [&](int64_t first, int64_t count) {
    const Tensor part = body(input.narrow(0, first, count));
    if (count == batch) {
      results = part;
      return;
    }
    if (!results.defined()) {
      DimVector shape(part.sizes().begin(), part.sizes().end());
      shape[0] = batch;
      results = at::empty(shape, part.options());
    }
    results.narrow(0, first, count).copy_(part);
  });
  return results;
}

// The windows of (N, C, *size) as (N, groups, C / groups * kernel elements, windows).
Tensor grouped_windows(const Tensor& image, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                       IntArrayRef dilation, int64_t groups) {
  const DimVector step(stride), margin(padding), gap(dilation);
  // Signals are images of one line: im2col takes two or three dimensions.
  if (kernel.size() == 1) {
    return grouped_windows(image.unsqueeze(-2), {1, kernel[0]}, {1, step[0]}, {0, margin[0]}, {1, gap[0]}, groups);
  }
  const Tensor columns = at::im2col(image, kernel, dilation, padding, stride);
  return columns.view({columns.size(0), groups, columns.size(1) / groups, columns.size(2)});
}

// a @ b of batches of groups of matrices, of which a's may lack the batch. What is added up after is kept in float32,
// if it comes of float16 or bfloat16: every product would be rounded.
Tensor product_to_sum(const Tensor& a, const Tensor& b) {
  if (!c10::is_reduced_floating_type(a.dtype())) return at::matmul(a, b);
  const int64_t batches = b.size(0), groups = b.size(1), rows = a.size(-2), columns = b.size(3);
  const Tensor out = at::detail::empty({batches * groups, rows, columns}, kFloat, a.device());
  const Tensor left = a.expand({batches, groups, rows, a.size(-1)});
  run_kernel(bmm_kernels, a.device(), out, at::flatten(left, 0, 1), at::flatten(b, 0, 1));
  return out.view({batches, groups, rows, columns});
}

Tensor convolve_part(const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding,
                     IntArrayRef dilation, int64_t groups) {
  const Tensor columns = grouped_windows(input, without_channels(weight.sizes()), stride, padding, dilation, groups);
  const int64_t channels = weight.size(0);
  const Tensor result = at::matmul(at::reshape(weight, {groups, channels / groups, -1}), columns);
  DimVector shape{input.size(0), channels};
  const IntArrayRef kernel = without_channels(weight.sizes());
  for (const int64_t count : count_windows(without_channels(input.sizes()), kernel, stride, padding, dilation))
    shape.push_back(count);
  return at::reshape(result, shape);
}

Tensor transpose_part(const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding,
                      IntArrayRef dilation, IntArrayRef image, int64_t groups) {
  if (image.size() == 1) {
    return transpose_part(input.unsqueeze(-2), weight.unsqueeze(-2), {1, stride[0]}, {0, padding[0]}, {1, dilation[0]},
                          {1, image[0]}, groups)
        .squeeze(-2);
  }
  const int64_t channels = input.size(1);
  const Tensor values = at::reshape(input, {input.size(0), groups, channels / groups, -1});
  const Tensor rows = at::reshape(weight, {groups, channels / groups, -1}).transpose(1, 2);
  const Tensor columns = product_to_sum(rows, values).flatten(1, 2);
  const IntArrayRef kernel = without_channels(weight.sizes());
  // An output padding beyond a whole stride adds windows that the input does not have: their columns are zeros.
  const DimVector counts = count_windows(image, kernel, stride, padding, dilation);
  int64_t needed = 1;
  bool more = false;
  for (size_t dim = 0; dim < image.size(); ++dim) {
    needed *= counts[dim];
    more = more || counts[dim] != input.sizes()[dim + 2];
  }
  const auto sum = [&](const Tensor& all) {
    return at::detail::to_dtype(at::col2im(all, image, kernel, dilation, padding, stride), input.dtype());
  };
  if (!more) return sum(columns);
  DimVector shape{columns.size(0), columns.size(1)};
  for (const int64_t count : counts) shape.push_back(count);
  Tensor all = at::zeros(shape, columns.options());
  Tensor part = all;
  DimVector own{columns.size(0), columns.size(1)};
  for (size_t dim = 0; dim < image.size(); ++dim) {
    own.push_back(input.sizes()[dim + 2]);
    part = part.narrow(static_cast<int64_t>(dim) + 2, 0, input.sizes()[dim + 2]);
  }
  part.copy_(columns.view(own));
  return sum(all.view({columns.size(0), columns.size(1), needed}));
}

// In float32, if the operands are float16 or bfloat16.
Tensor weight_gradient_of_part(const Tensor& grad, const Tensor& input, IntArrayRef weight_size, IntArrayRef stride,
                               IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  const IntArrayRef kernel = without_channels(weight_size);
  Tensor columns = grouped_windows(input, kernel, stride, padding, dilation, groups);
  const Tensor values = at::reshape(grad, {grad.size(0), groups, weight_size[0] / groups, -1});
  if (values.size(3) != columns.size(3)) {  // more windows fit than the gradient has: it belongs to the first ones
    DimVector counts{columns.size(0), groups, columns.size(2)};
    for (const int64_t count : count_windows(without_channels(input.sizes()), kernel, stride, padding, dilation))
      counts.push_back(count);
    columns = columns.view(counts);
    for (int64_t dim = 2; dim < grad.dim(); ++dim) columns = columns.narrow(dim + 1, 0, grad.size(dim));
    columns = columns.flatten(3);
  }
  return at::sum(product_to_sum(values, columns.transpose(2, 3)), {0}, false);
}

// Windows of a kernel in an image, all channels and places.
int64_t elements_of_windows(int64_t channels, IntArrayRef kernel, IntArrayRef counts) {
  return channels * product(kernel) * product(counts);
}

}  // namespace

Tensor convolve_by_windows(const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding,
                           IntArrayRef dilation, int64_t groups) {
  const IntArrayRef kernel = without_channels(weight.sizes());
  const DimVector counts = count_windows(without_channels(input.sizes()), kernel, stride, padding, dilation);
  return join_parts(input, elements_of_windows(input.size(1), kernel, counts), [&](const Tensor& part) {
    return convolve_part(part, weight, stride, padding, dilation, groups);
  });
}

Tensor transpose_by_windows(const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding,
                            IntArrayRef dilation, IntArrayRef image, int64_t groups) {
  const int64_t elements =
      elements_of_windows(weight.size(1) * groups, without_channels(weight.sizes()), without_channels(input.sizes()));
  return join_parts(input, elements, [&](const Tensor& part) {
    return transpose_part(part, weight, stride, padding, dilation, image, groups);
  });
}

Tensor weight_gradient_by_windows(const Tensor& grad, const Tensor& input, IntArrayRef weight_size, IntArrayRef stride,
                                  IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  const IntArrayRef kernel = without_channels(weight_size);
  const DimVector counts = count_windows(without_channels(input.sizes()), kernel, stride, padding, dilation);
  Tensor total;
  for_each_part(input.size(0), elements_of_windows(input.size(1), kernel, counts), input.dtype(),
                [&](int64_t first, int64_t count) {
                  const Tensor part =
                      weight_gradient_of_part(grad.narrow(0, first, count), input.narrow(0, first, count), weight_size,
                                              stride, padding, dilation, groups);
                  total = total.defined() ? at::add(total, part) : part;
                });
  if (!total.defined()) return at::zeros(weight_size, grad.options());
  return at::detail::to_dtype(at::reshape(total, weight_size), grad.dtype());
}

}  // namespace at::native
