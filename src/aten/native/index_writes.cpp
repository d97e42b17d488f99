// Writing by positions, in ways that come down to index_put and scatter; and scatter that puts values together.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/TensorIterator.h>
#include <aten/native/Dimensions.h>
#include <aten/native/RunKernel.h>
#include <aten/native/TypeNames.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/FusedForward.h>

namespace at::native {

namespace {

void check_integer_index(const Tensor& index, const char* name) {
  TORCH_CHECK(index.dtype() == kLong || index.dtype() == kInt, name,
              "(): Expected dtype int32/int64 for index but got: ", index.dtype());
}

// `positions` along `dim`, one for all, in the shape of `like`: what scatter takes.
Tensor index_like(const Tensor& positions, int64_t dim, const Tensor& like) {
  DimVector shape(static_cast<size_t>(std::max<int64_t>(like.dim(), 1)), 1);
  shape[dim] = positions.numel();
  return at::reshape(positions.to(kLong), shape).expand(like.dim() > 0 ? like.sizes() : IntArrayRef(shape));
}

void check_in_range(const Tensor& positions, int64_t size, const char* name) {
  if (positions.is_meta() || positions.numel() == 0) return;
  const bool fits =
      at::all(at::logical_and(at::ge(positions, Scalar(-size)), at::lt(positions, Scalar(size)))).item<bool>();
  TORCH_CHECK_INDEX(fits, name, "(): index out of range for a dimension of size ", size);
}

Reduction reduction_named(std::string_view name, const char* function) {
  if (name == "sum" || name == "add" || name == "mean") return Reduction::sum;
  if (name == "prod" || name == "multiply") return Reduction::product;
  if (name == "amax") return Reduction::greatest;
  TORCH_CHECK(name == "amin", function == std::string_view("scatter")
                                  ? "reduce argument must be either add or multiply."
                                  : "reduce argument must be either sum, prod, mean, amax or amin, got ",
              function == std::string_view("scatter") ? std::string_view() : name, ".");
  return Reduction::least;
}

}  // namespace

Tensor take(const Tensor& self, const Tensor& index) {
  TORCH_CHECK(index.dtype() == kLong, "take(): Expected a long tensor for index, but got ", index.dtype());
  TORCH_CHECK_INDEX(self.numel() > 0 || index.numel() == 0, "take(): tried to take from an empty tensor");
  const Tensor flat = at::reshape(self, {-1});
  if (index.numel() == 0) return at::reshape(at::index_select(flat, 0, at::reshape(index, {-1})), index.sizes());
  return at::reshape(at::index(flat, {at::reshape(index, {-1})}), index.sizes());
}

Tensor& put_(Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  TORCH_CHECK(index.dtype() == kLong, "put_(): Expected a long tensor for index, but got ", index.dtype());
  TORCH_CHECK(self.dtype() == source.dtype(),
              "put_(): self and source expected to have the same dtype, but got self.dtype = ", self.dtype(),
              " and source.dtype = ", source.dtype());
  TORCH_CHECK(source.numel() == index.numel(),
              "put_(): Expected source and index to have the same number of elements, ",
              "but got source.numel() = ", source.numel(), ", index.numel() = ", index.numel());
  TORCH_CHECK_INDEX(self.numel() > 0 || index.numel() == 0, "put_(): Tried to put elements into an empty tensor");
  Tensor flat = at::reshape(self, {-1});
  flat.index_put_({at::reshape(index, {-1})}, at::reshape(source, {-1}), accumulate);
  if (!flat.is_alias_of(self)) self.copy_(at::reshape(flat, self.sizes()));
  return self;
}

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  return at::clone(self).put_(index, source, accumulate);
}

Tensor& index_copy_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  dim = wrap_dim(dim, self.dim());
  TORCH_CHECK_INDEX(index.dim() < 2, "index_copy_(): Index should have dimension 1 or 0 (got ", index.dim(), ")");
  check_integer_index(index, "index_copy_");
  TORCH_CHECK(self.dtype() == source.dtype(), "index_copy_(): self and source expected to have the same dtype, but got "
              "(self) ", self.dtype(), " and (source) ", source.dtype());
  TORCH_CHECK_INDEX(
      source.dim() == self.dim() || source.dim() == 0 || self.dim() == 0,
      "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
      "dimensionality (",
      source.dim(), "), destination dimensionality (", self.dim(), ")");
  const Tensor values = source.dim() == 0 ? at::reshape(source, {1}) : source;
  const Tensor target = self.dim() == 0 ? at::reshape(self, {1}) : self;
  TORCH_CHECK_INDEX(values.dim() == target.dim() && values.sizes()[dim] == index.numel(),
                    "index_copy_(): Number of indices (", index.numel(), ") should be equal to source.size(dim) (",
                    values.sizes()[std::min(dim, values.dim() - 1)], ")");
  for (int64_t i = 0; i < target.dim(); ++i) {
    TORCH_CHECK(i == dim || target.sizes()[i] == values.sizes()[i],
                "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: ",
                target.sizes(), " at dimension ", dim, " and source slice shape: ", values.sizes(), " at dimension 0.");
  }
  check_in_range(index, target.sizes()[dim], "index_copy_");
  at::movedim(target, dim, 0).index_put_({at::reshape(index, {-1})}, at::movedim(values, dim, 0));
  return self;
}

Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  return at::clone(self, MemoryFormat::Contiguous).index_copy_(dim, index, source);
}

Tensor& index_fill_(Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  TORCH_CHECK_INDEX(index.dim() <= 1, "Index has to be a vector/scalar");
  TORCH_CHECK_INDEX(index.dtype() == kLong || index.dtype() == kInt, "index_fill_(): Expected dtype int64 for index.");
  TORCH_CHECK(self.is_complex() || !value.is_complex(),
              "index_fill_(): Converting complex Scalar to non-complex type is not supported");
  dim = wrap_dim(dim, self.dim());
  const Tensor target = self.dim() == 0 ? at::reshape(self, {1}) : self;
  check_in_range(index, target.sizes()[dim], "index_fill_");
  // Places that are given twice do no harm.
  at::movedim(target, dim, 0).index_put_({at::reshape(index, {-1})}, at::full({}, value, self.options()));
  return self;
}

Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return at::clone(self).index_fill_(dim, index, value);
}

Tensor index_fill_tensor(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  TORCH_CHECK(value.dim() == 0, "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
              value.dim(), " dimension(s).");
  if (!is_differentiated(value) && !value.is_meta()) return at::index_fill(self, dim, index, value.item());
  const Tensor mask = at::index_fill(at::zeros(self.sizes(), self.options().dtype(kBool)), dim, index, Scalar(true));
  return at::where(mask, value.to(self.dtype()), self);
}

namespace {

// The source's elements, in their order, where it is a place; each tensor's elements lie side by side.
void fill_places(const Tensor& result, const Tensor& is_place, const Tensor& source) {
  dispatch_word(result.element_size(), [&](auto word) {
    using Word = decltype(word);
    auto* out = static_cast<Word*>(result.data_ptr());
    const auto* next = static_cast<const Word*>(source.data_ptr());
    const auto* places = static_cast<const uint8_t*>(is_place.data_ptr());
    const int64_t count = result.numel();
    for (int64_t i = 0; i < count; ++i) {  // without a branch: no processor guesses masks
      const Word* const from = places[i] != 0 ? next : out + i;
      out[i] = *from;
      next += places[i] != 0;
    }
  });
}

}  // namespace

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  TORCH_CHECK(self.dtype() == source.dtype(), "masked_scatter: expected self and source to have same dtypes but got ",
              self.dtype(), " and ", source.dtype());
  TORCH_CHECK(mask.dtype() == kBool, "masked_scatter_ only supports boolean masks, but got mask with dtype ",
              mask.dtype());
  const DimVector shape = broadcast_shapes(self.sizes(), mask.sizes());
  const Tensor target = self.expand(shape);
  if (target.numel() == 0 || self.is_meta()) return at::clone(target);
  const auto check_count = [&](int64_t count) {
    TORCH_CHECK(count <= source.numel(),
                "masked_scatter: expected self and source to have same number of elements, but got "
                "number of elements of source = ",
                source.numel(), " for ", count, " places");
  };
  const bool is_on_cpu = self.is_cpu() && mask.is_cpu() && source.is_cpu();
  if (is_on_cpu && !is_dispatched() && !is_differentiated(self) && !is_differentiated(source)) {
    const Tensor is_place = mask.expand(shape).contiguous();
    check_count(at::count_nonzero(is_place).item<int64_t>());
    const Tensor result = at::clone(target.contiguous());
    fill_places(result, is_place, source.contiguous());
    return result;
  }
  const Tensor places = at::reshape(at::nonzero(at::reshape(mask.expand(shape), {-1})), {-1});
  const int64_t count = places.numel();
  check_count(count);
  const Tensor values = at::slice(at::reshape(source, {-1}), 0, 0, count);
  return at::reshape(at::index_put(at::reshape(target, {-1}), {places}, values), shape);
}

// --------------------------------------------------------------------------------------------- putting values together

Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                      bool include_self) {
  dim = wrap_dim(dim, self.dim());
  const Reduction reduction = reduction_named(reduce, "scatter_reduce");
  TORCH_CHECK(index.dtype() == kLong || index.dtype() == kInt, "scatter(): Expected dtype int32/int64 for index");
  TORCH_CHECK(self.dtype() == src.dtype(), "scatter(): Expected self.dtype to be equal to src.dtype");
  const bool ordered = reduction == Reduction::greatest || reduction == Reduction::least;
  if (self.is_complex() && (ordered || reduce == "mean"))
    at::detail::throw_dtype_not_implemented("scatter_reduce", self.dtype());
  Tensor result = at::clone(self).contiguous();
  if (index.numel() == 0) return result;
  TORCH_CHECK(std::max<int64_t>(index.dim(), 1) == std::max<int64_t>(self.dim(), 1),
              "Index tensor must have the same number of dimensions as self tensor");
  TORCH_CHECK(std::max<int64_t>(index.dim(), 1) == std::max<int64_t>(src.dim(), 1),
              "Index tensor must have the same number of dimensions as src tensor");
  for (int64_t i = 0; i < index.dim(); ++i) {
    TORCH_CHECK((i == dim || self.dim() == 0 || index.sizes()[i] <= self.sizes()[i]) &&
                    (src.dim() == 0 || index.sizes()[i] <= src.sizes()[i]),
                "Expected index ", index.sizes(), " to be no larger than self ", self.sizes(), " apart from dimension ",
                dim, " and to be no larger than src ", src.sizes());
  }
  const auto as_vector = [](const Tensor& tensor) { return tensor.dim() > 0 ? tensor : at::reshape(tensor, {1}); };
  const Tensor places = as_vector(index.to(kLong));
  Tensor values = as_vector(src);
  for (int64_t i = 0; i < places.dim(); ++i) values = at::slice(values, i, 0, places.sizes()[i]);
  Tensor target = as_vector(result);
  if (!include_self) {
    // Places that are written start from what changes nothing.
    const Scalar neutral = reduction == Reduction::product ? Scalar(1) : Scalar(0);
    target = ordered ? at::scatter(target, dim, places, values) : at::scatter(target, dim, places, neutral);
  }
  run_kernel_in_float32(scatter_reduce_kernels, self.device(), target, dim, places, values.contiguous(), reduction);
  if (reduce == "mean") {
    Tensor counts = include_self ? at::ones_like(target) : at::zeros_like(target);
    counts = at::scatter_add(counts, dim, places, at::ones_like(values));
    counts = at::clamp(counts, Scalar(1));
    target = target.is_floating_point() ? at::div(target, counts) : at::div(target, counts, "floor");
  }
  return at::reshape(target, self.sizes());
}

Tensor scatter_reduce_name(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                           std::string_view reduce) {
  TORCH_CHECK(reduce == "add" || reduce == "multiply", "reduce argument must be either add or multiply.");
  if (reduce == "add") return at::scatter_add(self, dim, index, src);
  return at::scatter_reduce(self, dim, index, src, "prod", true);
}

Tensor scatter_value_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                            std::string_view reduce) {
  const Tensor values = at::full(index.sizes(), value, self.options());
  return at::scatter(self, dim, index, values, reduce);
}

Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce,
                    bool include_self) {
  TORCH_CHECK(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin",
              "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got ", reduce, ".");
  dim = wrap_dim(dim, self.dim());
  TORCH_CHECK_INDEX(index.dim() <= 1, "index_reduce_(): Index is supposed to be a vector, but got dim: ", index.dim(),
                    " with type: ", index.dtype(), " and size: ", index.sizes());
  check_integer_index(index, "index_reduce_");
  TORCH_CHECK(self.dtype() == source.dtype(), "index_reduce_(): self (", self.dtype(), ") and source (", source.dtype(),
              ") must have the same scalar type");
  const Tensor values = source.dim() == 0 ? at::reshape(source, {1}) : source;
  TORCH_CHECK(values.sizes()[dim] == index.numel(), "index_reduce_(): Number of indices (", index.numel(),
              ") should be equal to source.size(dim): (", values.sizes()[dim], "), for dim: ", dim);
  return at::scatter_reduce(self, dim, index_like(index, dim, values), values, reduce, include_self);
}

}  // namespace at::native
