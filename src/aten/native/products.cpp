// Products that reduce to matrix products: inner, kron, tensordot, einsum.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/NativeFunctions.h>
#include <aten/TensorIterator.h>
#include <aten/native/Dimensions.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/FusedForward.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <string>

namespace at::native {

Tensor vdot(const Tensor& self, const Tensor& other) {
  const bool fits = self.is_complex() && self.dtype() == other.dtype() && self.dim() == 1 && other.dim() == 1 &&
                    self.numel() == other.numel() && self.numel() > 0 && self.is_cpu() && other.is_cpu();
  if (!fits || is_dispatched() || is_differentiated(self) || is_differentiated(other))
    return at::dot(at::conj(self), other);
  const Tensor out = at::detail::empty({}, self.dtype(), self.device());
  cpu::conjugate_dot(out, self.contiguous(), other.contiguous());
  return out;
}

Tensor inner(const Tensor& self, const Tensor& other) {
  if (self.dim() == 0 || other.dim() == 0) return at::mul(self, other);
  TORCH_CHECK(self.sizes().back() == other.sizes().back(),
              "inner() the last dimension must match on both input tensors but got shapes ", self.sizes(), " and ",
              other.sizes());
  return at::tensordot(self, other, {-1}, {-1});
}

Tensor kron(const Tensor& self, const Tensor& other) {
  // [a, b] and [c, d] become [a, 1, b, 1] * [1, c, 1, d], folded to [ac, bd].
  const int64_t dims = std::max(self.dim(), other.dim());
  DimVector left;
  DimVector right;
  DimVector folded;
  for (int64_t i = 0; i < dims; ++i) {
    const int64_t a = i < dims - self.dim() ? 1 : self.sizes()[i - (dims - self.dim())];
    const int64_t b = i < dims - other.dim() ? 1 : other.sizes()[i - (dims - other.dim())];
    left.push_back(a);
    left.push_back(1);
    right.push_back(1);
    right.push_back(b);
    folded.push_back(a * b);
  }
  const auto is_plain = [](const Tensor& x) {
    return x.is_cpu() && x.dim() <= 2 && (x.dtype() == kFloat || x.dtype() == kDouble) && !is_differentiated(x);
  };
  const bool fits = self.numel() <= std::numeric_limits<int64_t>::max() / std::max<int64_t>(1, other.numel());
  if (fits && !is_dispatched() && self.dtype() == other.dtype() && is_plain(self) && is_plain(other)) {  // in one pass
    const auto as_matrix = [](const Tensor& x) { return at::reshape(x, {x.dim() == 2 ? x.sizes()[0] : 1, -1}); };
    const Tensor out = at::detail::empty(folded, self.options());
    if (out.numel() > 0) cpu::kron(out, as_matrix(self).contiguous(), as_matrix(other).contiguous());
    return out;
  }
  Tensor one = at::reshape(self, left);
  Tensor two = at::reshape(other, right);
  // Rows as short as b and d are long would take more time to begin than to multiply: both are laid out for one row of
  // the last two dimensions.
  constexpr int64_t kShortRow = 256;
  const int64_t numel = self.numel() * other.numel();
  const auto is_little = [&](int64_t elements) { return elements <= numel / 4; };
  if (dims > 0 && right.back() < kShortRow && is_little(self.numel() * right.back()) &&
      is_little(other.numel() * left[left.size() - 2])) {
    left.back() = right.back();
    right[right.size() - 2] = left[left.size() - 2];
    one = at::expand(one, left).contiguous();
    two = at::expand(two, right).contiguous();
  }
  return at::reshape(at::mul(one, two), folded);
}

Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other) {
  TORCH_CHECK(dims_self.size() == dims_other.size(), "both dimension lists should have same length");
  TORCH_CHECK(self.dtype() == other.dtype(), "both inputs should have same dtype");
  std::vector<bool> summed_self(self.dim(), false);
  std::vector<bool> summed_other(other.dim(), false);
  DimVector order_self;
  DimVector order_other;
  Tensor first = self;
  Tensor second = other;
  int64_t summed = 1;
  for (size_t i = 0; i < dims_self.size(); ++i) {
    const int64_t a = wrap_dim(dims_self[i], self.dim(), /*wrap_scalar=*/false);
    const int64_t b = wrap_dim(dims_other[i], other.dim(), /*wrap_scalar=*/false);
    TORCH_CHECK(!summed_self[a] && !summed_other[b], "dim ", summed_self[a] ? a : b,
                " appears multiple times in the list of dims");
    const int64_t size = first.sizes()[a];
    const int64_t other_size = second.sizes()[b];
    TORCH_CHECK(size == other_size || size == 1 || other_size == 1,
                "contracted dimensions need to match, but first has size ", size, " in dim ", dims_self[i],
                " and second has size ", other_size, " in dim ", dims_other[i]);
    // One of size 1 meets every element of the other.
    if (size == 1 && other_size != 1) second = at::sum(second, IntArrayRef{b}, /*keepdim=*/true, other.dtype());
    else if (other_size == 1 && size != 1) first = at::sum(first, IntArrayRef{a}, /*keepdim=*/true, self.dtype());
    summed_self[a] = summed_other[b] = true;
    summed *= first.sizes()[a];
    order_other.push_back(b);
  }
  DimVector shape;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (summed_self[i]) continue;
    order_self.push_back(i);
    shape.push_back(self.sizes()[i]);
  }
  const int64_t rows = product(shape);
  for (const int64_t dim : dims_self) order_self.push_back(wrap_dim(dim, self.dim()));
  int64_t columns = 1;
  for (int64_t i = 0; i < other.dim(); ++i) {
    if (summed_other[i]) continue;
    order_other.push_back(i);
    shape.push_back(other.sizes()[i]);
    columns *= other.sizes()[i];
  }
  const Tensor left = at::reshape(at::permute(first, order_self), {rows, summed});
  const Tensor right = at::reshape(at::permute(second, order_other), {summed, columns});
  return at::reshape(at::mm(left, right), shape);
}

// ---------------------------------------------------------------------------------------------- einsum

namespace {

// A letter of the equation, or kEllipsis + n for the n-th dimension from the right under "...".
using Label = int;
using Labels = std::vector<Label>;
constexpr Label kEllipsis = 256;

bool contains(const Labels& labels, Label label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

// The labels of one term; "..." stands for `ellipsis` dimensions.
Labels parse_term(std::string_view term, int64_t ellipsis) {
  Labels labels;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] == '.') {
      TORCH_CHECK(term.substr(i, 3) == "..." && term.find('.', i + 3) == std::string_view::npos,
                  "einsum(): found '.' that is not part of one ellipsis in '", term, "'");
      for (int64_t n = ellipsis; n-- > 0;) labels.push_back(kEllipsis + static_cast<Label>(n));
      i += 2;
      continue;
    }
    TORCH_CHECK(std::isalpha(static_cast<unsigned char>(term[i])), "einsum(): invalid subscript given in '", term,
                "': subscripts must be in [a-zA-Z]");
    labels.push_back(static_cast<unsigned char>(term[i]));
  }
  return labels;
}

std::string label_text(Label label) { return label < kEllipsis ? std::string(1, static_cast<char>(label)) : "..."; }

// A tensor whose dimensions have different labels.
struct Operand {
  Tensor tensor;
  Labels labels;

  // The size of the dimension of this label.
  int64_t size(Label label) const {
    return tensor.sizes()[std::find(labels.begin(), labels.end(), label) - labels.begin()];
  }
  // With its dimensions in this order; it has all of them.
  Tensor permuted(const Labels& order) const {
    DimVector dims;
    for (const Label label : order) dims.push_back(std::find(labels.begin(), labels.end(), label) - labels.begin());
    return at::permute(tensor, dims);
  }
};

// A label that stands twice takes the diagonal.
Operand take_diagonals(Tensor tensor, Labels labels) {
  for (size_t first = 0; first < labels.size(); ++first) {
    for (size_t second = first + 1; second < labels.size(); ++second) {
      if (labels[first] != labels[second]) continue;
      TORCH_CHECK(tensor.sizes()[first] == tensor.sizes()[second], "einsum(): subscript ", label_text(labels[first]),
                  " is repeated for an operand, but the sizes don't match: ", tensor.sizes()[second],
                  " != ", tensor.sizes()[first]);
      tensor = at::diagonal(tensor, 0, static_cast<int64_t>(first), static_cast<int64_t>(second));
      const Label label = labels[first];
      labels.erase(labels.begin() + second);
      labels.erase(labels.begin() + first);
      labels.push_back(label);  // diagonal() puts it last
      first = static_cast<size_t>(-1);
      break;
    }
  }
  return {std::move(tensor), std::move(labels)};
}

// Sums dimensions away that neither the other operands nor the result have.
Operand sum_unused(Operand operand, const Labels& used) {
  DimVector dims;
  Labels left;
  for (size_t i = 0; i < operand.labels.size(); ++i) {
    if (contains(used, operand.labels[i])) {
      left.push_back(operand.labels[i]);
    } else {
      dims.push_back(static_cast<int64_t>(i));
    }
  }
  if (dims.empty()) return operand;
  return {at::sum(operand.tensor, IntArrayRef(dims)), std::move(left)};
}

// The product of two operands, summed over the labels that both have and nobody asks for later: one bmm.
Operand multiply(const Operand& a, const Operand& b, const Labels& later) {
  Labels batch;
  Labels summed;
  Labels only_a;
  Labels only_b;
  for (const Label label : a.labels) {
    if (!contains(b.labels, label)) {
      only_a.push_back(label);
    } else if (contains(later, label)) {
      batch.push_back(label);
    } else {
      summed.push_back(label);
    }
  }
  for (const Label label : b.labels) {
    if (!contains(a.labels, label)) only_b.push_back(label);
  }
  const auto joined = [](const Labels& x, const Labels& y, const Labels& z) {
    Labels result(x);
    result.insert(result.end(), y.begin(), y.end());
    result.insert(result.end(), z.begin(), z.end());
    return result;
  };
  // A dimension of size 1 stretches to the other's, as in broadcasting.
  const auto sizes = [&](const Labels& labels) {
    DimVector result;
    for (const Label label : labels) {
      const int64_t in_a = contains(a.labels, label) ? a.size(label) : 1;
      const int64_t in_b = contains(b.labels, label) ? b.size(label) : 1;
      result.push_back(in_a == 1 ? in_b : in_a);
    }
    return result;
  };
  const DimVector batch_sizes = sizes(batch);
  const DimVector summed_sizes = sizes(summed);
  const DimVector a_sizes = sizes(only_a);
  const DimVector b_sizes = sizes(only_b);
  const Labels a_order = joined(batch, only_a, summed);
  const Labels b_order = joined(batch, summed, only_b);
  const Labels order = joined(batch, only_a, only_b);
  const int64_t batches = product(batch_sizes);
  const Tensor left =
      at::reshape(a.permuted(a_order).expand(sizes(a_order)), {batches, product(a_sizes), product(summed_sizes)});
  const Tensor right =
      at::reshape(b.permuted(b_order).expand(sizes(b_order)), {batches, product(summed_sizes), product(b_sizes)});
  // Sums over what nobody else has made int64 of smaller integers.
  const ScalarType dtype = c10::promote_types(left.dtype(), right.dtype());
  return {at::reshape(at::bmm(left.to(dtype), right.to(dtype)), sizes(order)), order};
}

std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> terms;
  for (size_t start = 0;;) {
    const size_t comma = text.find(',', start);
    terms.push_back(text.substr(start, comma - start));
    if (comma == std::string_view::npos) return terms;
    start = comma + 1;
  }
}

// The result's labels where no arrow names them: "..." and then every letter that stands once, in alphabetical order.
Labels implicit_result(std::string_view terms, int64_t ellipsis) {
  Labels result;
  for (int64_t n = ellipsis; n-- > 0;) result.push_back(kEllipsis + static_cast<Label>(n));
  for (Label letter = 'A'; letter <= 'z'; ++letter) {
    if (std::isalpha(letter) && std::count(terms.begin(), terms.end(), static_cast<char>(letter)) == 1) {
      result.push_back(letter);
    }
  }
  return result;
}

}  // namespace

Tensor einsum(std::string_view equation, TensorList tensors, std::optional<IntArrayRef> path) {
  TORCH_CHECK(!tensors.empty(), "einsum(): must provide at least one operand");
  TORCH_CHECK_NOT_IMPLEMENTED(!path, "einsum(): operands are multiplied from left to right; leave path out");
  std::string text;
  for (const char character : equation) {
    if (character != ' ') text.push_back(character);
  }
  const size_t arrow = text.find("->");
  const std::string_view left = std::string_view(text).substr(0, arrow);
  const std::vector<std::string_view> terms = split_terms(left);
  TORCH_CHECK(terms.size() == tensors.size(), "einsum(): ", terms.size() > tensors.size() ? "fewer" : "more",
              " operands were provided than specified in the equation");
  int64_t ellipsis = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const bool dots = terms[i].find("...") != std::string_view::npos;
    const int64_t named = static_cast<int64_t>(terms[i].size()) - (dots ? 3 : 0);
    TORCH_CHECK(dots ? named <= tensors[i].dim() : named == tensors[i].dim(),
                "einsum(): the number of subscripts in the equation (", named,
                dots ? ") is more than the number of dimensions (" : ") does not match the number of dimensions (",
                tensors[i].dim(), ") for operand ", i, dots ? "" : " and no ellipsis was given");
    if (dots) ellipsis = std::max(ellipsis, tensors[i].dim() - named);
  }
  std::vector<Operand> operands;
  for (size_t i = 0; i < terms.size(); ++i) {
    const bool dots = terms[i].find("...") != std::string_view::npos;
    const int64_t hidden = dots ? tensors[i].dim() - static_cast<int64_t>(terms[i].size()) + 3 : 0;
    operands.push_back(take_diagonals(tensors[i], parse_term(terms[i], hidden)));
    for (const Label label : operands.back().labels) {
      for (const Operand& other : operands) {
        if (!contains(other.labels, label)) continue;
        const int64_t one = other.size(label);
        const int64_t two = operands.back().size(label);
        TORCH_CHECK(one == two || one == 1 || two == 1, "einsum(): subscript ", label_text(label), " has size ", two,
                    " for operand ", i, " which does not broadcast with previously seen size ", one);
      }
    }
  }
  const Labels result = arrow == std::string::npos ? implicit_result(left, ellipsis)
                                                   : parse_term(std::string_view(text).substr(arrow + 2), ellipsis);
  for (const Label label : result) {
    TORCH_CHECK(std::count(result.begin(), result.end(), label) == 1, "einsum(): output subscript ", label_text(label),
                " appears more than once in the output");
    TORCH_CHECK(std::any_of(operands.begin(), operands.end(),
                            [&](const Operand& operand) { return contains(operand.labels, label); }),
                "einsum(): output subscript ", label_text(label),
                " does not appear in the equation for any input operand");
  }
  Operand total = operands[0];
  for (size_t i = 1; i <= operands.size(); ++i) {
    Labels used(result);
    for (size_t j = i; j < operands.size(); ++j)
      used.insert(used.end(), operands[j].labels.begin(), operands[j].labels.end());
    total = sum_unused(std::move(total), used);
    if (i == operands.size()) break;
    Labels later(result);
    for (size_t j = i + 1; j < operands.size(); ++j) {
      later.insert(later.end(), operands[j].labels.begin(), operands[j].labels.end());
    }
    Labels needed(later);
    needed.insert(needed.end(), total.labels.begin(), total.labels.end());
    total = multiply(total, sum_unused(operands[i], needed), later);
  }
  return total.permuted(result);
}

}  // namespace at::native
