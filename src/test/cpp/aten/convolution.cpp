// Convolutions by windows, which backends without convolution kernels use, against the kernels.

#include "check.h"

// By its place in the sources: an installed libtorch has no headers of native/.
#include "../../../aten/native/ConvolutionByWindows.h"

#include <aten/ATen.h>

using at::Tensor;

namespace {

struct Case {
  std::vector<int64_t> input, weight, stride, padding, dilation, output_padding;
  int64_t groups;
};

const Case kCases[] = {
    {{2, 4, 9}, {6, 2, 3}, {2}, {1}, {1}, {0}, 2},
    {{1, 2, 7, 6}, {3, 2, 3, 2}, {2, 1}, {1, 0}, {1, 2}, {0, 0}, 1},
    {{2, 2, 4, 5, 4}, {2, 1, 2, 3, 2}, {1, 2, 1}, {0, 1, 1}, {1, 1, 2}, {0, 0, 0}, 2},
};

Tensor random(const std::vector<int64_t>& sizes) { return at::rand(sizes, at::kDouble); }

}  // namespace

TEST(forward_and_weight) {
  for (const Case& c : kCases) {
    const Tensor input = random(c.input);
    const Tensor weight = random(c.weight);
    const Tensor expected =
        at::convolution(input, weight, {}, c.stride, c.padding, c.dilation, false, c.output_padding, c.groups);
    const Tensor actual = at::native::convolve_by_windows(input, weight, c.stride, c.padding, c.dilation, c.groups);
    CHECK(at::allclose(actual, expected));
    const Tensor grad = random(expected.sizes().vec());
    CHECK(at::allclose(
        at::native::weight_gradient_by_windows(grad, input, c.weight, c.stride, c.padding, c.dilation, c.groups),
        at::_convolution_weight_gradient(grad, input, c.weight, c.stride, c.padding, c.dilation, c.groups)));
  }
}

TEST(transposed) {
  for (const Case& c : kCases) {
    const Tensor weight = random(c.weight);
    std::vector<int64_t> sizes = c.input;
    sizes[1] = c.weight[0];
    const Tensor input = random(sizes);
    const Tensor expected =
        at::convolution(input, weight, {}, c.stride, c.padding, c.dilation, true, c.output_padding, c.groups);
    const Tensor actual = at::native::transpose_by_windows(input, weight, c.stride, c.padding, c.dilation,
                                                           expected.sizes().slice(2, c.stride.size()), c.groups);
    CHECK(at::allclose(actual, expected));
  }
}

// 25 MB of windows an image: two at once, and one that is left.
TEST(batches_go_in_parts) {
  const Tensor input = at::rand({3, 4, 128, 128}, at::kDouble);
  const Tensor weight = at::rand({1, 4, 7, 7}, at::kDouble);
  const Tensor expected = at::convolution(input, weight, {}, {1, 1}, {3, 3}, {1, 1}, false, {0, 0}, 1);
  CHECK(at::allclose(at::native::convolve_by_windows(input, weight, {1, 1}, {3, 3}, {1, 1}, 1), expected));
  CHECK(at::allclose(at::native::weight_gradient_by_windows(expected, input, weight.sizes(), {1, 1}, {3, 3}, {1, 1}, 1),
                     at::_convolution_weight_gradient(expected, input, weight.sizes(), {1, 1}, {3, 3}, {1, 1}, 1)));
  CHECK(at::allclose(at::native::transpose_by_windows(expected, weight, {1, 1}, {3, 3}, {1, 1}, {128, 128}, 1),
                     at::convolution(expected, weight, {}, {1, 1}, {3, 3}, {1, 1}, true, {0, 0}, 1)));
}

TEST(output_padding_of_a_whole_stride) {
  const Tensor input = random({1, 2, 4});
  const Tensor weight = random({2, 1, 2});
  const Tensor expected = at::convolution(input, weight, {}, {1}, {0}, {3}, true, {2}, 1);
  const Tensor actual = at::native::transpose_by_windows(input, weight, {1}, {0}, {3}, expected.sizes().slice(2, 1), 1);
  CHECK(at::allclose(actual, expected));
}

TEST_MAIN()
