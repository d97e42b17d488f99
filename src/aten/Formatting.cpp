// Tensors as text for C++ programs, in the form that Python prints: tensor([1., 2.]).

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>

#include <cmath>
#include <cstdio>

namespace at {

namespace {

constexpr int64_t kSummarizeAbove = 1000;  // elements
constexpr int64_t kEdgeItems = 3;          // shown at both ends of a summarised dimension

std::string floating_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  char text[32];
  const double magnitude = std::fabs(number);
  if (magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e8)) {
    std::snprintf(text, sizeof text, "%.4e", number);
  } else if (number == std::trunc(number)) {
    std::snprintf(text, sizeof text, "%.0f.", number);
  } else {
    std::snprintf(text, sizeof text, "%.4f", number);
  }
  return text;
}

std::string element_text(const char* data, ScalarType dtype) {
  const Scalar value = detail::load_scalar(data, dtype);
  if (value.is_boolean()) return value.toBool() ? "True" : "False";
  if (value.is_large_unsigned()) return std::to_string(value.to<uint64_t>());
  if (value.is_integral(/*include_bool=*/false)) return std::to_string(value.toLong());
  if (value.is_complex()) {
    const auto number = value.to<c10::complex<double>>();
    const std::string imag = floating_text(number.imag());
    return floating_text(number.real()) + (imag[0] == '-' ? "" : "+") + imag + "j";
  }
  return floating_text(value.toDouble());
}

void print_dimension(std::ostream& stream, const Tensor& tensor, int64_t dim, const char* data, bool summarize) {
  if (dim == tensor.dim()) {
    stream << element_text(data, tensor.dtype());
    return;
  }
  const int64_t size = tensor.sizes()[dim];
  const int64_t step = tensor.strides()[dim] * static_cast<int64_t>(tensor.element_size());
  const bool last = dim + 1 == tensor.dim();
  // "tensor(" is seven characters wide; rows line up behind it.
  const std::string line = last ? ", " : "," + std::string(tensor.dim() - dim - 1, '\n') + std::string(8 + dim, ' ');
  stream << '[';
  for (int64_t i = 0; i < size; ++i) {
    if (summarize && size > 2 * kEdgeItems && i == kEdgeItems) {
      stream << line << "...";
      i = size - kEdgeItems;
    }
    if (i > 0) stream << line;
    print_dimension(stream, tensor, dim + 1, data + i * step, summarize);
  }
  stream << ']';
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Tensor& tensor) {
  if (!tensor.defined()) return stream << "[undefined tensor]";
  stream << "tensor(";
  if (tensor.is_meta()) {
    stream << "..., size=" << tensor.sizes();
  } else if (tensor.numel() == 0) {
    stream << "[]";
    if (tensor.dim() != 1) stream << ", size=" << tensor.sizes();
  } else {
    const NoGradGuard no_grad;
    const Tensor host = tensor.cpu();
    print_dimension(stream, host, 0, static_cast<const char*>(host.data_ptr()), tensor.numel() > kSummarizeAbove);
  }
  if (!tensor.is_cpu()) stream << ", device='" << tensor.device() << "'";
  const bool implied = tensor.dtype() == c10::get_default_dtype() || tensor.dtype() == kLong || tensor.dtype() == kBool;
  if (!implied || tensor.numel() == 0) stream << ", dtype=torch." << c10::dtype_name(tensor.dtype());
  return stream << ')';
}

}  // namespace at
