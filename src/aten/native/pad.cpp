// Padding: elements before and after the last dimensions, (last before, last after, second last before, ...).

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/PaddedRows.h>
#include <c10/core/Extents.h>

#include <algorithm>

namespace at::native {

namespace {

enum class Border { kReflection, kReplication, kCircular };

constexpr std::pair<std::string_view, Border> kModes[] = {
    {"reflect", Border::kReflection}, {"replicate", Border::kReplication}, {"circular", Border::kCircular}};

Border border_of(std::string_view mode) {
  for (const auto& [name, border] : kModes) {
    if (name == mode) return border;
  }
  throw c10::NotImplementedError(c10::detail::concatenate("Unrecognised padding mode ", mode));
}

std::string_view mode_of(Border border) { return kModes[static_cast<size_t>(border)].first; }

MemoryFormat format_of(const Tensor& tensor, Border border) {
  return border == Border::kCircular ? MemoryFormat::Contiguous : tensor.suggest_memory_format();
}

Tensor part_of(const Tensor& tensor, int64_t dim, int64_t start, int64_t length) {
  return native::slice(tensor, dim, start, start + length, 1);
}

// A tensor with borders along its last dimensions, none of them negative.
struct Padded {
  Tensor whole;
  IntArrayRef padding;
  int64_t pairs = static_cast<int64_t>(padding.size() / 2);

  int64_t dim_of(int64_t pair) const { return whole.dim() - 1 - pair; }
  int64_t inner_size(int64_t pair) const {
    return whole.sizes()[dim_of(pair)] - padding[2 * pair] - padding[2 * pair + 1];
  }
  // What lies inside of the borders from the pair `first` on.
  Tensor inside(int64_t first) const {
    Tensor area = whole;
    for (int64_t pair = first; pair < pairs; ++pair) {
      area = part_of(area, dim_of(pair), padding[2 * pair], inner_size(pair));
    }
    return area;
  }
  // visit(border, origin, dim) for both borders of a pair and what they are made of, which lies inside of the pairs
  // behind it. Replication repeats its one element, reflection turns its elements round.
  template <typename Visit>
  void for_each_border(int64_t pair, Border border, const Visit& visit) const {
    const int64_t dim = dim_of(pair);
    const int64_t before = padding[2 * pair];
    const int64_t after = padding[2 * pair + 1];
    const int64_t size = inner_size(pair);
    const int64_t end = before + size;
    const Tensor area = inside(pair + 1);
    const auto visit_border = [&](int64_t target, int64_t source, int64_t length) {
      if (length == 0) return;
      visit(part_of(area, dim, target, length), part_of(area, dim, source, border == Border::kReplication ? 1 : length),
            dim);
    };
    if (border == Border::kReplication) {
      visit_border(0, before, before);
      visit_border(end, end - 1, after);
    } else if (border == Border::kCircular) {
      visit_border(0, size, before);
      visit_border(end, before, after);
    } else {
      visit_border(0, before + 1, before);
      visit_border(end, end - 1 - after, after);
    }
  }
};

// One axis of a result, with borders that are not negative.
cpu::PaddedAxis padded_axis(int64_t size, int64_t before, int64_t after, Border border) {
  const int64_t length = before + size + after;
  cpu::PaddedAxis axis{std::vector<int64_t>(static_cast<size_t>(length)), size, before, before + size};
  for (int64_t i = 0; i < length; ++i) {
    int64_t from = i - before;
    if (from < 0 || from >= size) {
      if (border == Border::kReplication) from = std::clamp<int64_t>(from, 0, size - 1);
      else if (border == Border::kCircular) from += from < 0 ? size : -size;
      else from = from < 0 ? -from : 2 * (size - 1) - from;
    }
    axis.from[static_cast<size_t>(i)] = from;
  }
  return axis;
}

// Writes `result` in one pass on the CPU, where at most three dimensions have borders and both lie densely in the
// result's format. False if not.
bool write_padded(const Tensor& result, const Tensor& self, IntArrayRef padding, Border border) {
  const auto pairs = static_cast<int64_t>(padding.size() / 2);
  const MemoryFormat format = result.suggest_memory_format();
  const bool channels_last = format != MemoryFormat::Contiguous;
  const int64_t leading = result.dim() - pairs;
  if (!result.is_cpu() || pairs < 1 || pairs > 3 || result.numel() == 0 || self.numel() == 0) return false;
  if (!self.is_contiguous(format) || !result.is_contiguous(format) || (channels_last && leading < 2)) return false;
  const int64_t units = channels_last ? result.sizes()[1] : 1;
  cpu::PaddedAxis axes[3];
  int64_t planes = self.numel() / units;
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t pair = 2 - i;
    const bool is_padded = pair < pairs;
    const int64_t size = is_padded ? self.sizes()[self.dim() - 1 - pair] : 1;
    axes[i] = padded_axis(size, is_padded ? padding[2 * pair] : 0, is_padded ? padding[2 * pair + 1] : 0, border);
    planes /= size;
  }
  cpu::write_padded(static_cast<char*>(result.data_ptr()), static_cast<const char*>(self.data_ptr()), planes, axes,
                    units, static_cast<int64_t>(result.element_size()));
  return true;
}

// Each padded dimension is read through the positions that its elements come from.
Tensor pad_by_positions(const Tensor& self, IntArrayRef padding, Border border, const char* name) {
  TORCH_CHECK(padding.size() % 2 == 0 && static_cast<int64_t>(padding.size() / 2) <= self.dim(), name,
              ": padding must hold two numbers for each of the last dimensions, but got ", padding,
              " for input of size ", self.sizes());
  const bool grows = std::all_of(padding.begin(), padding.end(), [](int64_t size) { return size >= 0; });
  const bool copies = grows && self.numel() > 0;
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
  if (copies) return at::_pad_border(self, padding, mode_of(border));
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

// The tensor stands in the middle; then each dimension in turn gets its borders, from what those before have filled.
Tensor _pad_border(const Tensor& self, IntArrayRef pad, std::string_view mode) {
  const Border border = border_of(mode);
  DimVector shape(self.sizes());
  for (size_t pair = 0; pair < pad.size() / 2; ++pair) {
    shape[shape.size() - 1 - pair] += pad[2 * pair] + pad[2 * pair + 1];
  }
  const Padded result{at::detail::empty(shape, self.options(), format_of(self, border)), pad};
  if (write_padded(result.whole, self, pad, border)) return result.whole;
  at::detail::copy_into(result.inside(0), self);
  for (int64_t pair = 0; pair < result.pairs; ++pair) {
    result.for_each_border(pair, border, [&](const Tensor& target, const Tensor& origin, int64_t dim) {
      const bool turns = border == Border::kReflection && target.sizes()[dim] > 1;
      at::detail::copy_into(target, turns ? at::flip(origin, dim) : origin);
    });
  }
  return result.whole;
}

// The same way back: the gradient of each border is added to that of what it was made of, the last dimension at last.
Tensor _pad_border_backward(const Tensor& grad_output, IntArrayRef pad, std::string_view mode) {
  const Border border = border_of(mode);
  const MemoryFormat format = format_of(grad_output, border);
  const Padded grad{grad_output.clone(format), pad};
  for (int64_t pair = grad.pairs - 1; pair >= 0; --pair) {
    grad.for_each_border(pair, border, [&](const Tensor& target, Tensor origin, int64_t dim) {
      Tensor share = target;
      if (target.sizes()[dim] > 1 && border == Border::kReplication) share = at::sum(target, {dim}, true);
      if (target.sizes()[dim] > 1 && border == Border::kReflection) share = at::flip(target, dim);
      origin.add_(share);
    });
  }
  return at::detail::to_contiguous(grad.inside(0), format);
}

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
  const Border border = border_of(mode);
  constexpr const char* names[] = {"reflection_pad", "replication_pad", "circular_pad"};
  return pad_by_positions(self, pad, border, names[static_cast<size_t>(border)]);
}

}  // namespace at::native
