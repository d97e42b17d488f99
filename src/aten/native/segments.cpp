// Reductions over segments of a dimension, and parts of lists joined.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/FusedForward.h>

#include <algorithm>
#include <limits>

namespace at::native {

namespace {

// Where each segment begins and the last one ends: (*, segments + 1) of lengths (*, segments).
Tensor offsets_of(const Tensor& lengths) {
  DimVector first(lengths.sizes());
  first.back() = 1;
  return at::cat({at::zeros(first, lengths.options()), at::cumsum(lengths, -1)}, -1);
}

}  // namespace

Tensor segment_reduce(const Tensor& data, std::string_view reduce, const Tensor& lengths, const Tensor& indices,
                      const Tensor& offsets, int64_t axis, bool unsafe, const std::optional<Scalar>& initial) {
  TORCH_CHECK(data.numel() >= 0 && data.dim() > 0, "segment_reduce(): Expected data to have at least one dimension.");
  TORCH_CHECK(!indices.defined(), "segment_reduce(): indices based reduction is not supported yet.");
  TORCH_CHECK(lengths.defined() || offsets.defined(), "segment_reduce(): Either lengths or offsets must be defined.");
  const bool is_highest = reduce == "max" || reduce == "amax";
  const bool is_lowest = reduce == "min" || reduce == "amin";
  TORCH_CHECK(is_highest || is_lowest || reduce == "sum" || reduce == "prod" || reduce == "mean",
              "reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
  axis = wrap_dim(axis, data.dim());
  const Tensor& given = offsets.defined() ? offsets : lengths;
  const char* name = offsets.defined() ? "offsets" : "lengths";
  TORCH_CHECK(axis == given.dim() - 1, "segment_reduce(): Expected axis to be the last dimension of ", name,
              " but got ", axis, ".");
  TORCH_CHECK(given.dim() <= data.dim(), "segment_reduce(): Expected data.dim() >= ", name, ".dim() but got ",
              data.dim(), " and ", given.dim(), ".");
  TORCH_CHECK_NOT_IMPLEMENTED(given.dtype() == kLong || given.dtype() == kInt, "\"_segment_reduce_", name,
                              "_cpu_kernel1\" not implemented for '", given.dtype(), "'");
  TORCH_CHECK_NOT_IMPLEMENTED(data.is_floating_point(), "\"_segment_reduce_cpu\" not implemented for '", data.dtype(),
                              "'");
  TORCH_CHECK(data.sizes().slice(0, axis) == given.sizes().slice(0, axis), "segment_reduce(): Expected data and ", name,
              " to have the same sizes before dimension ", axis, ".");
  const int64_t size = data.sizes()[axis];
  if (!unsafe && !offsets.defined()) {
    TORCH_CHECK(given.numel() == 0 || at::min(given).item<int64_t>() >= 0, "lengths contains negative value!");
    TORCH_CHECK(
        at::all(at::eq(at::sum(given, {-1}, false), Scalar(size))).item<bool>(),
        "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe.");
  }
  const Tensor bounds = at::detail::to_dtype(offsets.defined() ? offsets : offsets_of(lengths), kLong);
  const int64_t segments = bounds.sizes().back() - 1;
  const int64_t rows = product(data.sizes().slice(0, axis));
  const int64_t inner = product(data.sizes().slice(axis + 1, data.dim() - axis - 1));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double neutral = is_highest ? -infinity : is_lowest ? infinity : reduce == "prod" ? 1 : 0;
  DimVector shape(data.sizes());
  shape[axis] = segments;
  if (data.is_cpu() && bounds.is_cpu() && !is_dispatched() && !is_differentiated(data)) {
    const Tensor result = at::detail::empty(shape, data.options());
    if (result.numel() == 0) return result;
    const Reduction how = is_highest       ? Reduction::greatest
                          : is_lowest      ? Reduction::least
                          : neutral == 1.0 ? Reduction::product
                                           : Reduction::sum;
    cpu::reduce_segments(result.view({rows, segments, inner}), data.contiguous().view({rows, size, inner}),
                         bounds.contiguous(),
                         {how, initial ? initial->toDouble() : neutral, reduce == "mean", initial ? 1 : 0});
    return result;
  }

  // Which segment each element is in; what is before the first or after the
  // last one goes to a further one, which is dropped.
  const TensorOptions numbers = TensorOptions(kLong).device(data.device());
  const Tensor places = at::expand_copy(at::arange(Scalar(size), numbers), {rows, size});
  Tensor owners =
      at::sub(at::searchsorted(at::reshape(bounds, {rows, segments + 1}).contiguous(), places, false, /*right=*/true),
              Scalar(1));
  owners = at::where(at::lt(owners, Scalar(0)), Scalar(segments), owners);
  owners = at::reshape(
      at::add(owners, at::reshape(at::mul(at::arange(Scalar(rows), numbers), Scalar(segments + 1)), {rows, 1})), {-1});

  const bool is_reduced = c10::is_reduced_floating_type(data.dtype());
  const Tensor wide = at::reshape(is_reduced ? data.to(kFloat, false) : data, {rows * size, inner});
  const Tensor start = at::full({rows * (segments + 1), inner}, Scalar(neutral), wide.options());
  Tensor result;
  if (is_highest || is_lowest) {
    result = at::index_reduce(start, 0, owners, wide, is_highest ? "amax" : "amin", /*include_self=*/false);
    if (initial) {
      const Tensor beaten = is_highest ? at::lt(result, *initial) : at::gt(result, *initial);
      result = at::masked_fill(result, beaten, *initial);
    }
  } else if (reduce == "prod") {
    result = at::index_reduce(start, 0, owners, wide, "prod");
    if (initial) result = at::mul(result, *initial);
  } else {
    result = at::index_add(start, 0, owners, wide);
    if (initial) result = at::add(result, *initial);
    if (reduce == "mean") {
      const Tensor counts = at::bincount(owners, {}, rows * (segments + 1)).unsqueeze(1);
      const Tensor divisor = initial ? at::clamp_min(counts, Scalar(1)) : counts;
      result = at::div(result, at::detail::to_dtype(divisor, wide.dtype()));
    }
  }
  result = at::reshape(at::narrow(at::reshape(result, {rows, segments + 1, inner}), 1, 0, segments), shape);
  return is_reduced ? result.to(data.dtype(), false) : result;
}

Tensor _chunk_cat(TensorList tensors, int64_t dim, int64_t num_chunks) {
  TORCH_CHECK(!tensors.empty(), "_chunk_cat expects a non-empty input tensor list");
  TORCH_CHECK(num_chunks >= 1, "_chunk_cat expects positive num_chunks");
  const int64_t at_dim = wrap_dim(dim, tensors[0].dim());
  std::vector<Tensor> parts;
  for (const Tensor& tensor : tensors) {
    TORCH_CHECK(tensor.numel() > 0, "_chunk_cat expects non-empty tensor");
    TORCH_CHECK(tensor.dtype() == tensors[0].dtype(), "_chunk_cat expects all input tensors with the same dtype");
    TORCH_CHECK(tensor.dim() > at_dim && tensor.sizes().slice(0, at_dim) == tensors[0].sizes().slice(0, at_dim),
                "_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors");
    const int64_t size = tensor.sizes()[at_dim];
    const int64_t chunk = (size + num_chunks - 1) / num_chunks;
    // Padded with zeros to equal chunks, which are then flat.
    DimVector padding(tensor.sizes());
    padding[at_dim] = chunk * num_chunks - size;
    const Tensor padded =
        padding[at_dim] > 0 ? at::cat({tensor, at::zeros(padding, tensor.options())}, at_dim) : tensor;
    DimVector shape(tensor.sizes().slice(0, at_dim));
    shape.push_back(num_chunks);
    shape.push_back(-1);
    parts.push_back(at::reshape(padded, shape));
  }
  return at::cat(parts, at_dim + 1);
}

Tensor hash_tensor(const Tensor& self, IntArrayRef dim, bool keepdim, int64_t mode) {
  TORCH_CHECK(mode == 0, "Unknown hash_tensor mode: ", mode);
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex(), "\"xor_sum_cpu\" not implemented for '", self.dtype(), "'");
  const DimMask mask = dim.empty() ? DimMask().set() : dim_mask(dim, std::max<int64_t>(self.dim(), 1));
  DimVector kept;
  DimVector order;
  DimVector shape;
  int64_t count = 1;
  for (int64_t i = 0; i < self.dim(); ++i) {
    const int64_t size = self.sizes()[i];
    if (!mask[i]) {
      order.push_back(i);
      kept.push_back(size);
      shape.push_back(size);
      continue;
    }
    TORCH_CHECK(size > 0 || !dim.empty() || self.numel() > 0,
                "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the reduction dim with the 'dim' argument.");
    TORCH_CHECK_INDEX(size > 0, "hash_tensor: Expected reduction dim ", i, " to have non-zero size.");
    count *= size;
    if (keepdim) shape.push_back(1);
  }
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (mask[i]) order.push_back(i);
  }
  kept.push_back(count);
  // Floating-point numbers count as the bits of a double, all others as those of an integer.
  const Tensor wide =
      at::reshape(at::permute(self.detach().to(self.is_floating_point() ? kDouble : kLong, false), order), kept)
          .contiguous();
  Tensor bits = alias_as(wide, kLong, wide.sizes(), wide.strides(), wide.storage_offset());
  while (count > 1) {
    const int64_t half = count / 2;
    Tensor folded = at::bitwise_xor(at::narrow(bits, -1, 0, half), at::narrow(bits, -1, half, half));
    if (count % 2 != 0) folded = at::cat({folded, at::narrow(bits, -1, count - 1, 1)}, -1);
    bits = folded;
    count = half + count % 2;
  }
  const Tensor result = at::reshape(bits, shape).contiguous();
  return alias_as(result, kUInt64, result.sizes(), result.strides(), result.storage_offset());
}

// ------------------------------------------------------------------------------------- indices that a mask makes valid

namespace {

// What is out of range is moved into it: the mask says that nobody looks there.
std::vector<Tensor> clamped(const Tensor& self, TensorList indices) {
  std::vector<Tensor> result;
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t size = self.sizes()[static_cast<int64_t>(i)];
    result.push_back(indices[i].defined() ? at::clamp(indices[i], Scalar(-size), Scalar(size - 1)) : Tensor());
  }
  return result;
}

}  // namespace

Tensor _unsafe_masked_index(const Tensor& self, const Tensor& mask, TensorList indices, const Scalar& fill) {
  return at::masked_fill(at::index(self, clamped(self, indices)), at::logical_not(mask), fill);
}

Tensor _unsafe_masked_index_put_accumulate(const Tensor& self, const Tensor& mask, TensorList indices,
                                           const Tensor& values) {
  return at::index_put(self, clamped(self, indices), at::masked_fill(values, at::logical_not(mask), Scalar(0)),
                       /*accumulate=*/true);
}

}  // namespace at::native
