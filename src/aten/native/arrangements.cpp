// Tensors made of others' elements: block and embedded diagonals, products, combinations, powers,
// rotations, membership.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/NativeFunctions.h>
#include <aten/WrappedScalar.h>
#include <aten/native/Dimensions.h>
#include <aten/native/LinearAlgebra.h>

namespace at::native {

Tensor argwhere(const Tensor& self) { return at::nonzero(self); }

Tensor block_diag(TensorList tensors) {
  if (tensors.empty()) return at::empty({1, 0}, TensorOptions());
  ScalarType dtype = tensors[0].dtype();
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<Tensor> blocks;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    TORCH_CHECK(tensor.device() == tensors[0].device(),
                "torch.block_diag: input tensors must all be on the same device.", " Input 0 is on device ",
                tensors[0].device(), " and input ", i, " is on device ", tensor.device());
    TORCH_CHECK(tensor.dim() <= 2, "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input ", i,
                " has ", tensor.dim(), " dimensions");
    dtype = c10::promote_types(dtype, tensor.dtype());
    blocks.push_back(tensor.dim() == 2 ? tensor : at::reshape(tensor, {1, tensor.numel()}));
    rows += blocks.back().sizes()[0];
    columns += blocks.back().sizes()[1];
  }
  Tensor result = at::zeros({rows, columns}, tensors[0].options().dtype(dtype));
  int64_t row = 0;
  int64_t column = 0;
  for (const Tensor& block : blocks) {
    const int64_t height = block.sizes()[0];
    const int64_t width = block.sizes()[1];
    at::slice(at::slice(result, 0, row, row + height), 1, column, column + width).copy_(block);
    row += height;
    column += width;
  }
  return result;
}

Tensor cartesian_prod(TensorList tensors) {
  TORCH_CHECK(!tensors.empty(), "meshgrid expects a non-empty TensorList");
  for (const Tensor& tensor : tensors) {
    TORCH_CHECK(tensor.dim() == 1, "Expect a 1D vector, but got shape ", tensor.sizes());
  }
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns;
  for (const Tensor& grid : at::meshgrid(tensors, "ij")) columns.push_back(at::reshape(grid, {-1}));
  return at::stack(columns, 1);
}

Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  TORCH_CHECK(self.dim() == 1, "Expect a 1D vector, but got shape ", self.sizes());
  TORCH_CHECK(r >= 0, "Expect a non-negative number, but got ", r);
  if (r == 0) return at::empty({0}, self.options());
  // Positions in rising order, one column after another.
  const int64_t count = self.numel();
  std::vector<int64_t> chosen(static_cast<size_t>(r));
  std::vector<int64_t> positions;
  const int64_t gap = with_replacement ? 0 : 1;
  for (int64_t i = 0; i < r; ++i) chosen[i] = i * gap;
  int64_t rows = 0;
  while (count > 0 && chosen[r - 1] < count) {
    positions.insert(positions.end(), chosen.begin(), chosen.end());
    ++rows;
    int64_t last = r - 1;
    while (last >= 0 && chosen[last] == count - 1 - (r - 1 - last) * gap) --last;
    if (last < 0) break;
    ++chosen[last];
    for (int64_t i = last + 1; i < r; ++i) chosen[i] = chosen[i - 1] + gap;
  }
  const Tensor index = at::detail::empty({rows * r}, kLong, kCPU);
  std::copy(positions.begin(), positions.end(), index.data_ptr<int64_t>());
  return at::reshape(at::index_select(self, 0, index.to(self.device())), {rows, r});
}

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t dims = self.dim() + 1;
  const int64_t first = wrap_dim(dim1, dims);
  const int64_t second = wrap_dim(dim2, dims);
  TORCH_CHECK(first != second, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const int64_t size = self.sizes().back() + std::abs(offset);
  DimVector shape(self.sizes().slice(0, self.dim() - 1));
  shape.insert(std::min(first, second), size);
  shape.insert(std::max(first, second), size);
  Tensor result = at::zeros(shape, self.options());
  at::diagonal(result, offset, first, second).copy_(self);
  return result;
}

Tensor diagflat(const Tensor& self, int64_t offset) { return at::diag(at::reshape(self, {-1}), offset); }

Tensor rot90(const Tensor& self, int64_t k, IntArrayRef dims) {
  TORCH_CHECK(dims.size() == 2, "expected total rotation dims == 2, but got dims = ", dims.size());
  TORCH_CHECK(self.dim() >= 2, "expected total dims >= 2, but got total dims = ", self.dim());
  TORCH_CHECK(dims[0] != dims[1] && std::abs(dims[0] - dims[1]) != self.dim(),
              "expected rotation dims to be different, but got dim0 = ", dims[0], " and dim1 = ", dims[1]);
  const int64_t first = wrap_dim(dims[0], self.dim());
  const int64_t second = wrap_dim(dims[1], self.dim());
  switch ((k % 4 + 4) % 4) {
    case 1: return at::transpose(at::flip(self, {second}), first, second);
    case 2: return at::flip(self, dims);
    case 3: return at::transpose(at::flip(self, {first}), first, second);
    default: return at::clone(self);
  }
}

Tensor vander(const Tensor& x, std::optional<int64_t> N, bool increasing) {
  TORCH_CHECK(x.dim() == 1, "x must be a one-dimensional tensor.");
  const int64_t columns = N.value_or(x.numel());
  TORCH_CHECK(columns >= 0, "N must be non-negative.");
  const Tensor base = c10::is_integral_type(x.dtype(), true) ? x.to(kLong) : x;
  if (columns == 0) return at::empty({x.numel(), 0}, base.options());
  const Tensor result = powers_up_to(base, columns);
  return increasing ? result : at::flip(result, {1});
}

std::vector<Tensor> unravel_index(const Tensor& indices, IntArrayRef shape) {
  TORCH_CHECK_VALUE(c10::is_integral_type(indices.dtype(), false), "expected 'indices' to be integer dtype, but got ",
                    indices.dtype());
  std::vector<Tensor> result(shape.size());
  Tensor rest = at::detach(indices).to(kLong);
  for (size_t i = shape.size(); i-- > 0;) {
    result[i] = at::remainder(rest, Scalar(shape[i]));
    rest = at::floor_divide(rest, Scalar(shape[i]));
  }
  return result.empty() ? result : at::unbind(at::stack(result, -1), -1);
}

Tensor msort(const Tensor& self) { return std::get<0>(at::sort(self, 0)); }

// ---------------------------------------------------------------------------------------------- membership

Tensor isin(const Tensor& elements, const Tensor& test_elements, bool assume_unique, bool invert) {
  for (const Tensor& tensor : {elements, test_elements}) {
    TORCH_CHECK(!tensor.is_complex() && tensor.dtype() != kBool, "Unsupported input type encountered for isin(): ",
                tensor.dtype());
  }
  (void)assume_unique;  // a promise that this way of searching has no use for
  const ScalarType dtype = c10::promote_types(elements.dtype(), test_elements.dtype());
  const Tensor wanted = at::detach(elements).to(dtype);
  const Tensor flat = at::reshape(at::detach(test_elements).to(dtype), {-1});
  if (flat.numel() == 0) return at::full(elements.sizes(), Scalar(invert), elements.options().dtype(kBool));
  const Tensor sorted = std::get<0>(at::sort(flat));
  const Tensor places = at::clamp(at::searchsorted(sorted, wanted), Scalar(0), Scalar(flat.numel() - 1));
  const Tensor found = at::eq(at::index(sorted, {places}), wanted);
  return invert ? at::logical_not(found) : found;
}

Tensor isin_scalar(const Tensor& elements, const Scalar& test_element, bool assume_unique, bool invert) {
  return at::isin(elements, wrapped_scalar_tensor(test_element, elements.device()).to(elements.device()), assume_unique,
                  invert);
}

Tensor isin_element(const Scalar& element, const Tensor& test_elements, bool assume_unique, bool invert) {
  return at::isin(wrapped_scalar_tensor(element, test_elements.device()).to(test_elements.device()), test_elements,
                  assume_unique, invert);
}

Tensor nonzero_static(const Tensor& self, int64_t size, int64_t fill_value) {
  TORCH_CHECK(size >= 0, "nonzero_static: 'size' must be an non-negative integer");
  Tensor result = at::full({size, self.dim()}, Scalar(fill_value), TensorOptions(kLong).device(self.device()));
  if (self.is_meta()) return result;
  const Tensor found = at::nonzero(self);
  const int64_t count = std::min(size, found.sizes()[0]);
  at::slice(result, 0, 0, count).copy_(at::slice(found, 0, 0, count));
  return result;
}

}  // namespace at::native
