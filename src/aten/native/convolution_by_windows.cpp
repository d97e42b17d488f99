#include <aten/native/ConvolutionByWindows.h>

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/native/Dimensions.h>
#include <aten/native/RunKernel.h>

namespace at::native {

namespace {

IntArrayRef without_channels(IntArrayRef sizes) { return sizes.slice(2, sizes.size() - 2); }

// The windows of (N, C, *size) as (N, groups, C / groups * kernel elements, windows).
Tensor grouped_windows(const Tensor& image, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                       int64_t groups) {
  const DimVector step(stride), margin(padding), gap(dilation);
  // Signals are images of one line: im2col takes two or three dimensions.
  if (kernel.size() == 1) {
    return grouped_windows(image.unsqueeze(-2), {1, kernel[0]}, {1, step[0]}, {0, margin[0]}, {1, gap[0]}, groups);
  }
  const Tensor columns = at::im2col(image, kernel, dilation, padding, stride);
  return columns.view({columns.size(0), groups, columns.size(1) / groups, columns.size(2)});
}

// a @ b of batches of groups of matrices, of which a's may lack the batch. What is added up after is kept in float32, if it comes
// of float16 or bfloat16: every product would be rounded.
Tensor product_to_sum(const Tensor& a, const Tensor& b) {
  if (!c10::is_reduced_floating_type(a.dtype())) return at::matmul(a, b);
  const int64_t batches = b.size(0), groups = b.size(1), rows = a.size(-2), columns = b.size(3);
  const Tensor out = at::detail::empty({batches * groups, rows, columns}, kFloat, a.device());
  const Tensor left = a.expand({batches, groups, rows, a.size(-1)});
  run_kernel(bmm_kernels, a.device(), out, at::flatten(left, 0, 1), at::flatten(b, 0, 1));
  return out.view({batches, groups, rows, columns});
}

}  // namespace

Tensor convolve_by_windows(const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding,
                           IntArrayRef dilation, int64_t groups) {
  const Tensor columns = grouped_windows(input, without_channels(weight.sizes()), stride, padding, dilation, groups);
  const int64_t channels = weight.size(0);
  const Tensor result = at::matmul(at::reshape(weight, {groups, channels / groups, -1}), columns);
  DimVector shape{input.size(0), channels};
  for (int64_t dim = 0; dim < input.dim() - 2; ++dim) {
    const int64_t reach = dilation[dim] * (weight.size(dim + 2) - 1) + 1;
    shape.push_back((input.size(dim + 2) + 2 * padding[dim] - reach) / stride[dim] + 1);
  }
  return at::reshape(result, shape);
}

Tensor transpose_by_windows(const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding,
                            IntArrayRef dilation, IntArrayRef image, int64_t groups) {
  if (image.size() == 1) {
    return transpose_by_windows(input.unsqueeze(-2), weight.unsqueeze(-2), {1, stride[0]}, {0, padding[0]}, {1, dilation[0]},
                                {1, image[0]}, groups)
        .squeeze(-2);
  }
  const int64_t channels = input.size(1);
  const Tensor values = at::reshape(input, {input.size(0), groups, channels / groups, -1});
  const Tensor rows = at::reshape(weight, {groups, channels / groups, -1}).transpose(1, 2);
  const Tensor columns = product_to_sum(rows, values).flatten(1, 2);
  const IntArrayRef kernel = without_channels(weight.sizes());
  // An output padding beyond a whole stride adds windows that the input does not have: their columns are zeros.
  int64_t needed = 1;
  bool more = false;
  DimVector counts;
  for (size_t dim = 0; dim < image.size(); ++dim) {
    counts.push_back((image[dim] + 2 * padding[dim] - dilation[dim] * (kernel[dim] - 1) - 1) / stride[dim] + 1);
    needed *= counts.back();
    more = more || counts.back() != input.sizes()[dim + 2];
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

Tensor weight_gradient_by_windows(const Tensor& grad, const Tensor& input, IntArrayRef weight_size, IntArrayRef stride,
                                  IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  Tensor columns = grouped_windows(input, without_channels(weight_size), stride, padding, dilation, groups);
  const Tensor values = at::reshape(grad, {grad.size(0), groups, weight_size[0] / groups, -1});
  if (values.size(3) != columns.size(3)) {  // more windows fit than the gradient has: it belongs to the first ones
    DimVector counts{columns.size(0), groups, columns.size(2)};
    for (int64_t dim = 0; dim < input.dim() - 2; ++dim) {
      const int64_t reach = dilation[dim] * (weight_size[dim + 2] - 1) + 1;
      counts.push_back((input.size(dim + 2) + 2 * padding[dim] - reach) / stride[dim] + 1);
    }
    columns = columns.view(counts);
    for (int64_t dim = 2; dim < grad.dim(); ++dim) columns = columns.narrow(dim + 1, 0, grad.size(dim));
    columns = columns.flatten(3);
  }
  const Tensor products = product_to_sum(values, columns.transpose(2, 3));
  return at::detail::to_dtype(at::reshape(at::sum(products, {0}, false), weight_size), grad.dtype());
}

}  // namespace at::native
