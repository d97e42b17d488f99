// The same elements in other places: shifted, repeated, mirrored, stacked, on a diagonal, on a grid.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>
#include <c10/core/Extents.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace at::native {

Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  TORCH_CHECK(!shifts.empty(), "`shifts` required");
  if (dims.empty() && shifts.size() == 1) {
    return at::roll(at::reshape(self, {self.numel()}), shifts, {0}).view(self.sizes());
  }
  TORCH_CHECK(shifts.size() == dims.size(), "shifts and dimensions must align. shifts: ", shifts.size(),
              ", dims:", dims.size());
  Tensor result = self;
  TORCH_CHECK_INDEX(self.dim() > 0 || dims.empty(), "Dimension specified as ", dims.empty() ? 0 : dims[0],
                    " but tensor has no dimensions");
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t size = self.dim() > 0 ? self.size(dims[i]) : 0;
    if (size == 0) continue;
    const int64_t start = (size - shifts[i] % size) % size;
    if (start == 0) continue;
    result =
        at::cat({at::narrow(result, dims[i], start, size - start), at::narrow(result, dims[i], 0, start)}, dims[i]);
  }
  return result.is_same(self) ? at::clone(self) : result;
}

Tensor tile(const Tensor& self, IntArrayRef dims) {
  DimVector repeats(std::max<int64_t>(0, self.dim() - static_cast<int64_t>(dims.size())), 1);
  for (const int64_t count : dims) repeats.push_back(count);
  return self.repeat(repeats);
}

// ---------------------------------------------------------------------------------------------- repeating elements

Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size) {
  TORCH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  TORCH_CHECK_NOT_IMPLEMENTED(repeats.dtype() == kLong || repeats.dtype() == kInt,
                              "\"repeat_interleave_cpu\" not implemented for '", repeats.dtype(), "'");
  // The counts decide how large the result is, so they are read here, whatever device they are on.
  const Tensor counts = at::detail::to_contiguous(at::detail::to_dtype(at::detach(repeats), kLong).to(Device(kCPU)));
  const int64_t* count = counts.data_ptr<int64_t>();
  int64_t total = 0;
  for (int64_t i = 0; i < counts.numel(); ++i) {
    TORCH_CHECK(count[i] >= 0, "repeats can not be negative");
    total = c10::checked_add(total, count[i], "repeat_interleave");
  }
  TORCH_CHECK(!output_size || *output_size == total, "allocated size does not match required size");
  Tensor positions = at::detail::empty({total}, kLong, kCPU);
  int64_t* out = positions.data_ptr<int64_t>();
  for (int64_t i = 0; i < counts.numel(); ++i) out = std::fill_n(out, count[i], i);
  return at::detail::to_dtype(positions, repeats.dtype()).to(repeats.device());
}

Tensor repeat_interleave(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
                         std::optional<int64_t> output_size) {
  if (!dim) return at::repeat_interleave(at::reshape(self, {self.numel()}), repeats, 0, output_size);
  const Tensor input = self.dim() > 0 ? self : at::reshape(self, {1});
  const int64_t size = input.size(*dim);
  Tensor counts = repeats;
  if (repeats.dim() == 0 || (repeats.dim() == 1 && repeats.sizes()[0] == 1)) {
    counts = at::reshape(repeats, {1}).expand({size});
  } else {
    TORCH_CHECK(repeats.dim() == 1, "repeats must be 0-dim or 1-dim tensor");
    TORCH_CHECK(repeats.sizes()[0] == size,
                "repeats must have the same size as input along dim, but got repeats.size(0) = ", repeats.sizes()[0],
                " and input.size(", *dim, ") = ", size);
  }
  return at::index_select(input, *dim, at::repeat_interleave(counts, output_size));
}

Tensor repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim,
                         std::optional<int64_t> output_size) {
  TORCH_CHECK(repeats >= 0, "Repeats must be non-negative");
  const Tensor input = dim ? (self.dim() > 0 ? self : at::reshape(self, {1})) : at::reshape(self, {self.numel()});
  const int64_t along = wrap_dim(dim.value_or(0), input.dim());
  DimVector shape(input.sizes());
  const int64_t length = c10::checked_multiply(shape[along], repeats, "numel");
  TORCH_CHECK(!output_size || *output_size == length, "repeat_interleave: Invalid output_size, expected ", length,
              " but got ", *output_size);
  DimVector expanded(shape);
  expanded.insert(along + 1, repeats);
  shape[along] = length;
  return at::reshape(at::clone(at::unsqueeze(input, along + 1).expand(expanded)), shape);
}

// ---------------------------------------------------------------------------------------------- mirroring, diagonals

Tensor fliplr(const Tensor& self) {
  TORCH_CHECK(self.dim() >= 2, "Input must be >= 2-d.");
  return at::flip(self, {1});
}

Tensor flipud(const Tensor& self) {
  TORCH_CHECK(self.dim() >= 1, "Input must be >= 1-d.");
  return at::flip(self, {0});
}

Tensor diag(const Tensor& self, int64_t diagonal) {
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2, "diag(): Supports 1D or 2D tensors. Got ", self.dim(), "D");
  if (self.dim() == 2) return at::clone(at::diagonal(self, diagonal));
  const int64_t distance = diagonal < 0 ? c10::checked_multiply(diagonal, -1, "diag") : diagonal;
  c10::checked_add(self.numel(), distance, "diag");
  return at::diag_embed(self, diagonal);
}

namespace {

Tensor triangle_indices(int64_t row, int64_t col, int64_t offset, const TensorOptions& options, bool upper) {
  TORCH_CHECK(row >= 0, "row must be non-negative, got", row);
  TORCH_CHECK(col >= 0, "col must be non-negative, got", col);
  // Beyond the matrix one diagonal is like another, and can be added to. In row r stand the columns [first, last).
  offset = std::clamp(offset, -row, col);
  const auto first = [&](int64_t r) { return upper ? std::clamp<int64_t>(r + offset, 0, col) : 0; };
  const auto last = [&](int64_t r) { return upper ? col : std::clamp<int64_t>(r + offset + 1, 0, col); };
  // Rows on the side of the diagonal that nothing is taken from are not looked at: there can be very many.
  const int64_t first_row = upper ? 0 : std::clamp<int64_t>(-offset, 0, row);
  const int64_t last_row = upper ? std::clamp<int64_t>(col - offset, 0, row) : row;
  // Before the corner rows differ by one column each, behind it they are all the same.
  const int64_t corner = std::clamp<int64_t>(upper ? -offset : col - offset - 1, first_row, last_row);
  using Wide = __int128;
  const auto rows_of = [&](int64_t from, int64_t to) -> Wide {
    if (from >= to) return 0;
    const Wide one = last(from) - first(from);
    const Wide other = last(to - 1) - first(to - 1);
    return (one + other) * (to - from) / 2;
  };
  const Wide total = rows_of(first_row, corner) + rows_of(corner, last_row);
  TORCH_CHECK(total <= std::numeric_limits<int64_t>::max(), "numel: integer multiplication overflow");
  const auto count = static_cast<int64_t>(total);
  Tensor result = at::detail::empty({2, count}, kLong, kCPU);
  int64_t* rows = result.data_ptr<int64_t>();
  int64_t* columns = rows + count;
  std::vector<int64_t> numbers(static_cast<size_t>(count > 0 ? col : 0));
  std::iota(numbers.begin(), numbers.end(), 0);
  for (int64_t r = first_row; count > 0 && r < last_row; ++r) {
    rows = std::fill_n(rows, last(r) - first(r), r);
    columns = std::copy(numbers.begin() + first(r), numbers.begin() + last(r), columns);
  }
  return at::detail::to_dtype(result, options.dtype()).to(options.device());
}

}  // namespace

Tensor tril_indices(int64_t row, int64_t col, int64_t offset, const TensorOptions& options) {
  return triangle_indices(row, col, offset, options, /*upper=*/false);
}

Tensor triu_indices(int64_t row, int64_t col, int64_t offset, const TensorOptions& options) {
  return triangle_indices(row, col, offset, options, /*upper=*/true);
}

Tensor diff(const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append) {
  TORCH_CHECK(self.dim() >= 1, "diff expects input to be at least one-dimensional");
  TORCH_CHECK(n >= 0, "order must be non-negative but got ", n);
  dim = wrap_dim(dim, self.dim());
  Tensor result = self;
  if (n > 0 && (prepend.defined() || append.defined())) {
    std::vector<Tensor> parts;
    if (prepend.defined()) parts.push_back(prepend);
    parts.push_back(self);
    if (append.defined()) parts.push_back(append);
    result = at::cat(parts, dim);
  }
  // After as many steps as there are elements nothing is left.
  for (n = std::min(n, result.sizes()[dim]); n > 0; --n) {
    const int64_t size = result.sizes()[dim];
    const Tensor after = at::narrow(result, dim, std::min<int64_t>(1, size), std::max<int64_t>(size - 1, 0));
    const Tensor before = at::narrow(result, dim, 0, std::max<int64_t>(size - 1, 0));
    result = result.dtype() == kBool ? at::logical_xor(after, before) : at::sub(after, before);
  }
  return result.is_same(self) ? at::clone(self) : result;
}

// ---------------------------------------------------------------------------------------------- stacking, grids

Tensor atleast_1d(const Tensor& self) { return self.dim() > 0 ? self : at::reshape(self, {1}); }

Tensor atleast_2d(const Tensor& self) {
  if (self.dim() >= 2) return self;
  return self.dim() == 0 ? at::reshape(self, {1, 1}) : at::unsqueeze(self, 0);
}

Tensor atleast_3d(const Tensor& self) {
  if (self.dim() >= 3) return self;
  if (self.dim() == 2) return at::unsqueeze(self, -1);
  return self.dim() == 0 ? at::reshape(self, {1, 1, 1}) : at::unsqueeze(at::unsqueeze(self, 0), -1);
}

namespace {

std::vector<Tensor> each(TensorList tensors, Tensor (*change)(const Tensor&)) {
  std::vector<Tensor> result;
  result.reserve(tensors.size());
  for (const Tensor& tensor : tensors) result.push_back(change(tensor));
  return result;
}

void check_stackable(TensorList tensors, const char* name) {
  TORCH_CHECK(!tensors.empty(), name, " expects a non-empty TensorList");
}

Tensor as_column(const Tensor& tensor) { return tensor.dim() < 2 ? at::reshape(tensor, {tensor.numel(), 1}) : tensor; }

}  // namespace

std::vector<Tensor> atleast_1d(TensorList tensors) { return each(tensors, native::atleast_1d); }
std::vector<Tensor> atleast_2d(TensorList tensors) { return each(tensors, native::atleast_2d); }
std::vector<Tensor> atleast_3d(TensorList tensors) { return each(tensors, native::atleast_3d); }

Tensor hstack(TensorList tensors) {
  check_stackable(tensors, "hstack");
  const std::vector<Tensor> parts = native::atleast_1d(tensors);
  return at::cat(parts, parts[0].dim() == 1 ? 0 : 1);
}

Tensor vstack(TensorList tensors) {
  check_stackable(tensors, "vstack");
  return at::cat(native::atleast_2d(tensors), 0);
}

Tensor dstack(TensorList tensors) {
  check_stackable(tensors, "dstack");
  return at::cat(native::atleast_3d(tensors), 2);
}

Tensor column_stack(TensorList tensors) {
  check_stackable(tensors, "column_stack");
  return at::cat(each(tensors, as_column), 1);
}

std::vector<Tensor> meshgrid(TensorList tensors) { return at::meshgrid(tensors, "ij"); }

std::vector<Tensor> meshgrid(TensorList tensors, std::string_view indexing) {
  TORCH_CHECK(!tensors.empty(), "meshgrid expects a non-empty TensorList");
  TORCH_CHECK(indexing == "ij" || indexing == "xy",
              "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ", indexing);
  const int64_t count = static_cast<int64_t>(tensors.size());
  DimVector shape;
  for (const Tensor& tensor : tensors) {
    TORCH_CHECK(tensor.dim() <= 1,
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: ", tensor.dim(), "-D");
    TORCH_CHECK(tensor.dtype() == tensors[0].dtype(), "meshgrid expects all tensors to have the same dtype");
    shape.push_back(tensor.numel());
  }
  // "xy" gives the first vector the second dimension, and the second one the first.
  const bool swapped = indexing == "xy" && count > 1;
  if (swapped) std::swap(shape[0], shape[1]);
  std::vector<Tensor> grids;
  for (int64_t i = 0; i < count; ++i) {
    DimVector own(count, 1);
    own[swapped && i < 2 ? 1 - i : i] = tensors[i].numel();
    grids.push_back(at::reshape(tensors[i], own).expand(shape));
  }
  return grids;
}

}  // namespace at::native
