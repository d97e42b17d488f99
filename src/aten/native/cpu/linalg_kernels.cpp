// gemm and bmm on tensors: finding how BLAS can read each matrix where it lies.

#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/FusedForward.h>
#include <aten/native/cpu/bfloat16_products.h>
#include <aten/native/cpu/blas.h>
#include <aten/native/cpu/byte_products.h>
#include <aten/native/cpu/half_vector_products.h>
#include <aten/native/cpu/panel_gemm.h>
#include <aten/native/cpu/rounded_product.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

namespace at::native::cpu {

namespace {

// How BLAS can read [rows, columns] with these strides: as it is, transposed, or (false) not at all.
struct Reading {
  bool possible;
  bool transposed;
  int64_t leading;
};

Reading find_reading(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
  // A stride is never used in a dimension of size 1, and a leading dimension must not be less than what it
  // spans.
  if ((column_stride == 1 || columns == 1) && (row_stride >= std::max<int64_t>(columns, 1) || rows == 1)) {
    return {true, false, std::max({row_stride, columns, int64_t{1}})};
  }
  if ((row_stride == 1 || rows == 1) && (column_stride >= std::max<int64_t>(rows, 1) || columns == 1)) {
    return {true, true, std::max({column_stride, rows, int64_t{1}})};
  }
  return {false, false, 0};
}

Reading find_reading(const Tensor& stack) {
  const int64_t dims = stack.dim();
  return find_reading(stack.sizes()[dims - 2], stack.sizes()[dims - 1], stack.strides()[dims - 2],
                      stack.strides()[dims - 1]);
}

// The tensor, or a copy that BLAS can read.
Tensor readable(const Tensor& tensor, Reading& reading) {
  reading = find_reading(tensor);
  if (reading.possible) return tensor;
  const Tensor copy = at::detail::empty(tensor.sizes(), tensor.dtype(), tensor.device());
  at::detail::copy_into(copy, tensor);
  reading = find_reading(copy);
  return copy;
}

// The step from a row to the next, and from a column to the next.
struct Steps {
  int64_t row, column;
  explicit Steps(const Reading& reading)
      : row(reading.transposed ? 1 : reading.leading), column(reading.transposed ? reading.leading : 1) {}
};

// An element of a matrix as a number of the type that products of T are summed in: integers wrap around.
template <typename T, typename Element>
auto number_of(Element element) {
  if constexpr (std::is_integral_v<T>) return static_cast<uint64_t>(element);
  else if constexpr (std::is_same_v<Element, T>) return element;
  else return c10::detail::float_of_bits(static_cast<uint32_t>(element) << 16);  // bfloat16
}

// z = x y where that takes less than to call BLAS.
constexpr int64_t kTinyProduct = 64;  // multiplications
template <typename T, typename Element>
void multiply_tiny(int64_t m, int64_t n, int64_t k, const Element* x, Steps of_x, const Element* y, Steps of_y, T* z,
                   Steps of_z) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      auto sum = number_of<T>(Element(0));
      for (int64_t p = 0; p < k; ++p)
        sum += number_of<T>(x[i * of_x.row + p * of_x.column]) * number_of<T>(y[p * of_y.row + j * of_y.column]);
      z[i * of_z.row + j * of_z.column] = static_cast<T>(sum);
    }
  }
}

// The same where lines of y and z are shorter than vectors, and there are many of them: sums of a line side by side.
constexpr int64_t kThinColumns = 4;
constexpr int64_t kThinDepth = 8;
template <typename T>
bool is_thin(int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kManyRows = 32;
  return std::is_floating_point_v<T> && m >= kManyRows && n <= kThinColumns && k <= kThinDepth;
}
template <int kDepth = 0, typename T, typename Element>
void multiply_thin(int64_t m, int64_t n, int64_t k, const Element* x, Steps of_x, const Element* y, Steps of_y, T* z,
                   Steps of_z) {
  if constexpr (kDepth == 0) {  // points of planes and of space have loops of their own
    if (k == 2) return multiply_thin<2>(m, n, k, x, of_x, y, of_y, z, of_z);
    if (k == 3) return multiply_thin<3>(m, n, k, x, of_x, y, of_y, z, of_z);
  } else {
    k = kDepth;
  }
  // As wide as vectors of every processor are: wider ones would be taken apart in memory.
  constexpr int64_t kLanes = std::min<int64_t>(kThinColumns, 16 / sizeof(T));
  constexpr int64_t kLines = kThinColumns / kLanes;
  typedef T Line __attribute__((vector_size(kLanes * sizeof(T))));
  Line lines[kThinDepth][kLines] = {};
  for (int64_t p = 0; p < k; ++p) {
    for (int64_t j = 0; j < n; ++j)
      lines[p][j / kLanes][j % kLanes] = number_of<T>(y[p * of_y.row + j * of_y.column]);
  }
  for (int64_t i = 0; i < m; ++i, x += of_x.row, z += of_z.row) {
    Line sum[kLines] = {};
    for (int64_t p = 0; p < k; ++p) {
      const T number = number_of<T>(x[p * of_x.column]);
      for (int64_t j = 0; j < kLines; ++j) sum[j] += number * lines[p][j];
    }
    for (int64_t j = 0; j < n; ++j) z[j * of_z.column] = sum[j / kLanes][j % kLanes];
  }
}

// One more: bfloat16 into float32.
void gemm(int64_t m, int64_t n, int64_t k, float alpha, MatrixOperand<uint16_t> a, MatrixOperand<uint16_t> b,
          float beta, float* out, int64_t out_leading) {
  bfloat16_gemm(m, n, k, alpha, a, b, beta, out, out_leading);
}

// bfloat16 matrices come as they are, and so do float16 ones where one is a vector, with a float32 result. Vectors of
// what is to be widened are widened where they are read.
bool is_to_be_widened(const Tensor& a) {
  return a.dtype() == kBFloat16 ? !has_bfloat16_products() : a.dtype() == kHalf;
}

template <typename T>
const T* elements(const Tensor& matrix) {
  return static_cast<const T*>(matrix.data_ptr());
}

// body(type of the result, an element of the matrices).
template <typename Body>
void dispatch_product(const Tensor& out, const Tensor& a, const char* name, Body&& body) {
  if (a.dtype() == kBFloat16) return body(TypeTag<float>(), uint16_t());
  dispatch_numeric_and_complex_types(out.dtype(), name,
                                     [&](auto type) { body(type, typename decltype(type)::type()); });
}

// out = beta * out + alpha * a b, of float16 or bfloat16, where one of them is a vector.
void multiply_halves(const Tensor& out, const Tensor& a, const Reading& reading_a, const Tensor& b,
                     const Reading& reading_b, float beta, float alpha) {
  const bool is_row = b.sizes()[1] != 1;  // a is one: then the transpose, b^T a^T
  const Tensor& matrix = is_row ? b : a;
  const Reading& reading = is_row ? reading_b : reading_a;
  const Tensor& vector = is_row ? a : b;
  const int64_t dim = is_row ? 1 : 0;
  multiply_by_vector(a.dtype(), matrix.sizes()[dim], matrix.sizes()[1 - dim],
                     {elements<uint16_t>(matrix), reading.leading, reading.transposed != is_row},
                     elements<uint16_t>(vector), vector.strides()[dim], alpha, beta, out.data_ptr<float>(),
                     out.strides()[dim]);
}

// The same of bfloat16 and rounded, by tiles. False: not for this way.
bool multiply_by_tiles(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  const int64_t m = a.sizes()[0], k = a.sizes()[1], n = b.sizes()[1];
  if (!alpha.equal(1) || !(beta.equal(0) || beta.equal(1)) || !out.is_contiguous()) return false;
  Reading reading_a;
  Reading reading_b;
  if (!RoundedProduct::is_worth(m, n, k, false)) return false;
  const Tensor left = readable(a, reading_a);
  if (reading_a.transposed) return false;
  const Tensor right = readable(b, reading_b);
  RoundedProduct product(m, n, k, {nullptr, reading_a.leading, false},
                         {nullptr, reading_b.leading, reading_b.transposed}, n);
  product.multiply(elements<uint16_t>(left), elements<uint16_t>(right), beta.equal(1),
                   static_cast<uint16_t*>(out.data_ptr()));
  return true;
}

}  // namespace

void gemm_kernel(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& beta,
                 const Scalar& alpha) {
  if (out.dtype() == kBFloat16) {
    if (multiply_by_tiles(out, a, b, beta, alpha)) return;
    const Tensor sums = beta.equal(0) ? at::detail::empty(out.sizes(), kFloat, out.device())
                                      : at::detail::to_dtype(out, kFloat);
    gemm_kernel(sums, a, b, beta, alpha);
    return at::detail::copy_into(out, sums);
  }
  const bool is_of_halves = is_to_be_widened(a) && (a.sizes()[0] == 1 || b.sizes()[1] == 1);
  if (is_to_be_widened(a) && !is_of_halves)
    return gemm_kernel(out, at::detail::to_dtype(a, kFloat), at::detail::to_dtype(b, kFloat), beta, alpha);
  const bool is_of_bytes = out.dtype() == kInt && a.dtype() != kInt;
  if (is_of_bytes && !has_byte_products())
    return gemm_kernel(out, at::detail::to_dtype(a, kInt), at::detail::to_dtype(b, kInt), beta, alpha);
  const int64_t m = a.sizes()[0];
  const int64_t k = a.sizes()[1];
  const int64_t n = b.sizes()[1];
  Reading reading_a;
  Reading reading_b;
  Reading reading_out;
  const Tensor left = readable(a, reading_a);
  const Tensor right = readable(b, reading_b);
  if (is_of_halves)
    return multiply_halves(out, left, reading_a, right, reading_b, beta.to<float>(), alpha.to<float>());
  if (is_of_bytes) {
    const auto bytes = [](const Tensor& matrix) { return static_cast<const uint8_t*>(matrix.data_ptr()); };
    return byte_gemm(m, n, k, {bytes(left), reading_a.leading, reading_a.transposed}, a.dtype() == kChar,
                     {bytes(right), reading_b.leading, reading_b.transposed}, out.data_ptr<int32_t>());
  }
  const Tensor target = readable(out, reading_out);
  dispatch_product(out, a, "addmm_impl_cpu_", [&](auto type, auto element) {
    using scalar_t = typename decltype(type)::type;
    using element_t = decltype(element);
    const MatrixOperand<element_t> first{elements<element_t>(left), reading_a.leading, reading_a.transposed};
    const MatrixOperand<element_t> second{elements<element_t>(right), reading_b.leading, reading_b.transposed};
    const auto factor = alpha.to<scalar_t>();
    const auto keep = beta.to<scalar_t>();
    scalar_t* result = target.data_ptr<scalar_t>();
    if constexpr (std::is_floating_point_v<scalar_t>) {
      if (is_thin<scalar_t>(m, n, k) && keep == 0 && factor == 1) {
        return multiply_thin(m, n, k, first.data, Steps(reading_a), second.data, Steps(reading_b), result,
                             Steps(reading_out));
      }
    }
    if (reading_out.transposed) {  // out^T = b^T a^T
      gemm(n, m, k, factor, {second.data, second.leading, !second.transposed},
           {first.data, first.leading, !first.transposed}, keep, result, reading_out.leading);
    } else {
      gemm(m, n, k, factor, first, second, keep, result, reading_out.leading);
    }
  });
  if (!target.is_same(out)) at::detail::copy_into(out, target);
}

void bmm_kernel(const Tensor& out, const Tensor& a, const Tensor& b) {
  const bool rounds = out.dtype() == kBFloat16;  // some sums at a time
  constexpr int64_t kHeldSums = 1 << 16;
  if (rounds && (!has_bfloat16_products() || a.sizes()[1] * b.sizes()[2] > kHeldSums || !out.is_contiguous())) {
    const Tensor sums = at::detail::empty(out.sizes(), kFloat, out.device());
    bmm_kernel(sums, a, b);
    return at::detail::copy_into(out, sums);
  }
  if (is_to_be_widened(a)) return bmm_kernel(out, at::detail::to_dtype(a, kFloat), at::detail::to_dtype(b, kFloat));
  const int64_t batches = a.sizes()[0];
  const int64_t m = a.sizes()[1];
  const int64_t k = a.sizes()[2];
  const int64_t n = b.sizes()[2];
  Reading reading_a;
  Reading reading_b;
  Reading reading_out;
  const Tensor left = readable(a, reading_a);
  const Tensor right = readable(b, reading_b);
  const Tensor target = readable(out, reading_out);
  dispatch_product(out, a, "bmm", [&](auto type, auto element) {
    using scalar_t = typename decltype(type)::type;
    using element_t = decltype(element);
    const element_t* first = elements<element_t>(left);
    const element_t* second = elements<element_t>(right);
    scalar_t* result = rounds ? nullptr : target.data_ptr<scalar_t>();
    auto multiply = [&](int64_t begin, int64_t end) {
      if constexpr (std::is_same_v<element_t, uint16_t>) {
        // As many at a time as stay in the cache, in a row.
        const int64_t held = std::max<int64_t>(1, kHeldSums / (m * n));
        std::optional<RoundedProduct> by_tiles;
        if (rounds && m * n * k > kTinyProduct && !is_thin<scalar_t>(m, n, k) &&
            RoundedProduct::is_worth(m, n, k, reading_a.transposed)) {
          by_tiles.emplace(m, n, k, MatrixOperand<uint16_t>{nullptr, reading_a.leading, false},
                           MatrixOperand<uint16_t>{nullptr, reading_b.leading, reading_b.transposed}, n);
        }
        std::vector<float> sums(static_cast<size_t>(rounds && !by_tiles ? std::min(held, end - begin) * m * n : 0));
        for (int64_t start = begin; rounds && start < end; start += held) {
          const int64_t stop = std::min(end, start + held);
          for (int64_t i = start; i < stop; ++i) {
            const element_t* x = first + i * left.strides()[0];
            const element_t* y = second + i * right.strides()[0];
            float* const z = sums.data() + (i - start) * m * n;
            if (is_thin<scalar_t>(m, n, k)) {
              multiply_thin(m, n, k, x, Steps(reading_a), y, Steps(reading_b), z, Steps({true, false, n}));
            } else if (m * n * k <= kTinyProduct) {
              multiply_tiny(m, n, k, x, Steps(reading_a), y, Steps(reading_b), z, Steps({true, false, n}));
            } else if (by_tiles) {
              by_tiles->multiply(x, y, false, static_cast<uint16_t*>(out.data_ptr()) + i * m * n);
            } else {
              gemm(m, n, k, 1.0F, {x, reading_a.leading, reading_a.transposed},
                   {y, reading_b.leading, reading_b.transposed}, 0.0F, z, n);
            }
          }
          if (by_tiles) continue;
          const int64_t written = (stop - start) * m * n;
          round_to_bfloat16({sums.data(), written}, 1, written,
                            {static_cast<uint16_t*>(out.data_ptr()) + start * m * n, written});
        }
        if (rounds) return;
      }
      constexpr bool has_tiny = !std::is_integral_v<scalar_t> || sizeof(scalar_t) >= sizeof(int32_t);
      if constexpr (has_tiny) {
        for (int64_t i = begin; m * n * k <= kTinyProduct && i < end; ++i) {
          multiply_tiny(m, n, k, first + i * left.strides()[0], Steps(reading_a), second + i * right.strides()[0],
                        Steps(reading_b), result + i * target.strides()[0], Steps(reading_out));
        }
        if (m * n * k <= kTinyProduct) return;
      }
      if constexpr (std::is_floating_point_v<scalar_t>) {
        for (int64_t i = begin; is_thin<scalar_t>(m, n, k) && i < end; ++i) {
          multiply_thin(m, n, k, first + i * left.strides()[0], Steps(reading_a), second + i * right.strides()[0],
                        Steps(reading_b), result + i * target.strides()[0], Steps(reading_out));
        }
        if (is_thin<scalar_t>(m, n, k)) return;
      }
      if constexpr (std::is_same_v<element_t, scalar_t> && std::is_floating_point_v<scalar_t>) {
        if (SmallProduct<scalar_t>::is_worth(m, n, k) && !reading_out.transposed) {
          SmallProduct<scalar_t> product(m, n, k, {first, reading_a.leading, reading_a.transposed},
                                         {second, reading_b.leading, reading_b.transposed}, reading_out.leading);
          for (int64_t i = begin; i < end; ++i) {
            product.multiply(first + i * left.strides()[0], second + i * right.strides()[0],
                             result + i * target.strides()[0]);
          }
          return;
        }
      }
      for (int64_t i = begin; i < end; ++i) {
        const MatrixOperand<element_t> x{first + i * left.strides()[0], reading_a.leading,
                                        reading_a.transposed};
        const MatrixOperand<element_t> y{second + i * right.strides()[0], reading_b.leading,
                                        reading_b.transposed};
        scalar_t* z = result + i * target.strides()[0];
        if (reading_out.transposed) {
          gemm(n, m, k, scalar_t(1), {y.data, y.leading, !y.transposed}, {x.data, x.leading, !x.transposed},
               scalar_t(0), z, reading_out.leading);
        } else {
          gemm(m, n, k, scalar_t(1), x, y, scalar_t(0), z, reading_out.leading);
        }
      }
    };
    // Small matrices are given out to threads; a large one BLAS divides itself.
    constexpr int64_t kLargeMatrix = 1 << 18;
    const int64_t work = std::max<int64_t>(m * n * k, 1);
    if (work < kLargeMatrix) {
      parallel_for(0, batches, std::max<int64_t>(1, kLargeMatrix / work), multiply);
    } else {
      multiply(0, batches);
    }
  });
  if (!target.is_same(out)) at::detail::copy_into(out, target);
}

void dot_of_halves(const Tensor& out, const Tensor& self, const Tensor& other) {
  const float sum = dot_of_halves(self.dtype(), self.numel(), self.data_ptr(), other.data_ptr());
  if (self.dtype() == kHalf) *out.data_ptr<c10::Half>() = static_cast<c10::Half>(sum);
  else *out.data_ptr<c10::BFloat16>() = static_cast<c10::BFloat16>(sum);
}

void conjugate_dot(const Tensor& out, const Tensor& self, const Tensor& other) {
  dispatch_complex_types(self.dtype(), "vdot", [&](auto type) {
    using T = typename decltype(type)::type;
    conjugate_dot(self.numel(), self.data_ptr<T>(), other.data_ptr<T>(), out.data_ptr<T>());
  });
}

}  // namespace at::native::cpu
