// Padding: elements before and after the last dimensions, (last before, last after, second last before, ...).

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>
#include <aten/native/Views.h>
#include <c10/core/Extents.h>

#include <algorithm>

namespace at::native {

namespace {

enum class Border { kReflection, kReplication, kCircular };

// The tensor stands in the middle; then each dimension in turn gets its borders, from what the ones before it have
// filled. No padding is negative, and the sizes were checked.
Tensor pad_by_copies(const Tensor& self, IntArrayRef padding, Border border) {
  const auto pairs = static_cast<int64_t>(padding.size() / 2);
  DimVector shape(self.sizes());
  for (int64_t pair = 0; pair < pairs; ++pair)
    shape[self.dim() - 1 - pair] += padding[2 * pair] + padding[2 * pair + 1];
  const MemoryFormat format = border == Border::kCircular ? MemoryFormat::Contiguous : self.suggest_memory_format();
  const Tensor result = at::detail::empty(shape, self.options(), format);
  const auto part = [](const Tensor& tensor, int64_t dim, int64_t start, int64_t length) {
    return native::slice(tensor, dim, start, start + length, 1);
  };
  // What lies inside of the borders from `first` on.
  const auto inside = [&](int64_t first) {
    Tensor area = result;
    for (int64_t pair = first; pair < pairs; ++pair) {
      const int64_t dim = self.dim() - 1 - pair;
      area = part(area, dim, padding[2 * pair], self.sizes()[dim]);
    }
    return area;
  };
  at::detail::copy_into(inside(0), self);
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const int64_t dim = self.dim() - 1 - pair;
    const int64_t size = self.sizes()[dim];
    const int64_t before = padding[2 * pair];
    const int64_t after = padding[2 * pair + 1];
    const Tensor area = inside(pair + 1);
    // `length` elements at `target`, of those at `source`, which replication repeats and reflection turns round.
    const auto fill = [&](int64_t target, int64_t source, int64_t length) {
      if (length == 0) return;
      const Tensor from = part(area, dim, source, border == Border::kReplication ? 1 : length);
      const bool turns = border == Border::kReflection && length > 1;
      at::detail::copy_into(part(area, dim, target, length), turns ? at::flip(from, dim) : from);
    };
    const int64_t end = before + size;
    if (border == Border::kReplication) {
      fill(0, before, before);
      fill(end, end - 1, after);
    } else if (border == Border::kCircular) {
      fill(0, size, before);
      fill(end, before, after);
    } else {
      fill(0, before + 1, before);
      fill(end, end - 1 - after, after);
    }
  }
  return result;
}

// Each padded dimension is read through the positions that its elements come from.
Tensor pad_by_positions(const Tensor& self, IntArrayRef padding, Border border, const char* name) {
  TORCH_CHECK(padding.size() % 2 == 0 && static_cast<int64_t>(padding.size() / 2) <= self.dim(), name,
              ": padding must hold two numbers for each of the last dimensions, but got ", padding,
              " for input of size ", self.sizes());
  const bool grows = std::all_of(padding.begin(), padding.end(), [](int64_t size) { return size >= 0; });
  const bool copies = grows && self.numel() > 0 && !is_differentiated(self);
  Tensor result = self;
  for (size_t pair = 0; pair < padding.size() / 2; ++pair) {
    const int64_t before = padding[2 * pair];
    const int64_t after = padding[2 * pair + 1];
    if (before == 0 && after == 0) continue;
    const int64_t dim = self.dim() - 1 - static_cast<int64_t>(pair);
    const int64_t size = self.sizes()[dim];
    TORCH_CHECK(size > 0, name, ": cannot pad dimension ", dim, " of input of size ", self.sizes(),
                ", which has no elements");
    if (border == Border::kReflection) {
      TORCH_CHECK(before < size && after < size,
                  "Argument #4: Padding size should be less than the corresponding input dimension, ",
                  "but got: padding (", before, ", ", after, ") at dimension ", dim, " of input ", self.sizes());
    } else if (border == Border::kCircular) {
      TORCH_CHECK(before <= size && after <= size, "Padding value causes wrapping around more than once.");
    }
    const int64_t end = c10::checked_add(size, after, name);
    TORCH_CHECK(c10::checked_add(end, before, name) >= 0, name,
                ": negative padding leaves less than nothing of dimension ", dim, " of input of size ", self.sizes());
    if (copies) continue;
    const TensorOptions integers = self.options().dtype(kLong);
    if (border == Border::kCircular) {
      // What negative padding takes away is gone before the rest goes round.
      const int64_t first = std::max<int64_t>(-before, 0);
      const int64_t rest = std::min(end, size) - first;
      TORCH_CHECK(rest >= 0, "Negative padding value is resulting in an empty dimension");
      TORCH_CHECK(before <= rest && after <= rest, "Padding value causes wrapping around more than once.");
      const Tensor around = at::arange(std::min<int64_t>(-before, 0), rest + std::max<int64_t>(after, 0), 1, integers);
      const Tensor inside = at::remainder(around, Scalar(std::max<int64_t>(rest, 1)));
      result = at::index_select(result, dim, at::add(inside, Scalar(first)));
      continue;
    }
    Tensor positions = at::arange(-before, end, 1, integers);
    if (border == Border::kReplication) {
      positions = at::clamp(positions, Scalar(0), Scalar(size - 1));
    } else {
      positions = at::rsub(at::abs(at::rsub(at::abs(positions), Scalar(size - 1))), Scalar(size - 1));
    }
    result = at::index_select(result, dim, positions);
  }
  if (copies) return pad_by_copies(self, padding, border);
  if (result.is_same(self)) return self.clone();
  return border == Border::kCircular ? result : result.contiguous(self.suggest_memory_format());
}

Tensor pad_dimensions(const Tensor& self, IntArrayRef padding, size_t dims, Border border, const char* name) {
  TORCH_CHECK(padding.size() == 2 * dims, name, ": padding size is expected to be ", 2 * dims,
              ", but got: ", padding.size());
  const auto least = static_cast<int64_t>(dims) + 1;
  TORCH_CHECK(self.dim() == least || self.dim() == least + 1, "Expected ", least, "D or ", least + 1,
              "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: ",
              self.sizes());
  return pad_by_positions(self, padding, border, name);
}

}  // namespace

Tensor constant_pad_nd(const Tensor& self, IntArrayRef pad, const Scalar& value) {
  TORCH_CHECK(pad.size() % 2 == 0, "Length of pad must be even but instead it equals ", pad.size());
  const auto padded = static_cast<int64_t>(pad.size() / 2);
  TORCH_CHECK(padded <= self.dim(),
              "Length of pad should be no more than twice the number of dimensions of the input. Pad length is ",
              pad.size(), " while the input has ", self.dim(), " dimensions.");
  DimVector shape(self.sizes());
  Tensor inner = self;
  for (int64_t pair = 0; pair < padded; ++pair) {
    const int64_t dim = self.dim() - 1 - pair;
    const int64_t before = pad[2 * pair];
    const int64_t after = pad[2 * pair + 1];
    const bool overflow = __builtin_add_overflow(shape[dim], before, &shape[dim]) ||
                          __builtin_add_overflow(shape[dim], after, &shape[dim]);
    TORCH_CHECK(!overflow && shape[dim] >= 0, "The input size ", self.sizes()[dim], ", plus negative padding ", before,
                " and ", after, " resulted in a negative output size, which is invalid. Check dimension ", dim,
                " of your input.");
    const int64_t from = std::max<int64_t>(-before, 0);
    const int64_t until = self.sizes()[dim] - std::max<int64_t>(-after, 0);
    TORCH_CHECK(from <= until, "narrow(): length must be non-negative.");
    inner = native::slice(inner, dim, from, until, 1);
  }
  Tensor result = at::detail::empty(shape, self.options(), self.suggest_memory_format());
  native::fill_(result, value);
  Tensor outer = result;
  for (int64_t pair = 0; pair < padded; ++pair) {
    const int64_t dim = self.dim() - 1 - pair;
    const int64_t start = std::max<int64_t>(pad[2 * pair], 0);
    outer = native::slice(outer, dim, std::min(start, shape[dim]), std::min(start + inner.sizes()[dim], shape[dim]), 1);
  }
  if (outer.numel() > 0) at::detail::copy_into(outer, inner);
  return result;
}

#define AT_DEFINE_PADDING(dims)                                                                             \
  Tensor reflection_pad##dims##d(const Tensor& self, IntArrayRef padding) {                                 \
    return pad_dimensions(self, padding, dims, Border::kReflection, "reflection_pad" #dims "d");            \
  }                                                                                                         \
  Tensor replication_pad##dims##d(const Tensor& self, IntArrayRef padding) {                                \
    return pad_dimensions(self, padding, dims, Border::kReplication, "replication_pad" #dims "d");          \
  }
AT_DEFINE_PADDING(1)
AT_DEFINE_PADDING(2)
AT_DEFINE_PADDING(3)
#undef AT_DEFINE_PADDING

Tensor pad(const Tensor& self, IntArrayRef pad, std::string_view mode, std::optional<double> value) {
  if (mode == "constant") return at::constant_pad_nd(self, pad, Scalar(value.value_or(0)));
  TORCH_CHECK(!value || *value == 0, "Padding mode \"", mode, "\" doesn't take in value argument");
  if (mode == "reflect") return pad_by_positions(self, pad, Border::kReflection, "reflection_pad");
  if (mode == "replicate") return pad_by_positions(self, pad, Border::kReplication, "replication_pad");
  if (mode == "circular") return pad_by_positions(self, pad, Border::kCircular, "circular_pad");
  throw c10::NotImplementedError(c10::detail::concatenate("Unrecognised padding mode ", mode));
}

}  // namespace at::native
