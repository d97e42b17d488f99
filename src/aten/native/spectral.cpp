// Eigenvalues and singular values, and what is told from them: rank, condition, pseudo-inverse.

#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/native/LinearAlgebra.h>
#include <aten/native/RunKernel.h>

#include <algorithm>
#include <cmath>

namespace at::native {

namespace {

bool is_upper(std::string_view uplo) {
  TORCH_CHECK(uplo == "U" || uplo == "u" || uplo == "L" || uplo == "l",
              "Expected UPLO argument to be 'L' or 'U', but got ", uplo);
  return uplo == "U" || uplo == "u";
}

TensorOptions real_options(const Tensor& self) { return self.options().dtype(c10::real_type(self.dtype())); }

}  // namespace

// ---------------------------------------------------------------------------------------------- eigenvalues

std::tuple<Tensor, Tensor> _linalg_eigh(const Tensor& A, std::string_view UPLO, bool compute_v) {
  check_square(A, "linalg.eigh");
  const bool upper = is_upper(UPLO);
  TORCH_CHECK_NOT_IMPLEMENTED(c10::is_floating_or_complex_type(A.dtype()) && !c10::is_reduced_floating_type(A.dtype()),
                              "\"linalg_eigh_cpu\" not implemented for '", A.dtype(), "'");
  Tensor vectors = column_major_copy(A);
  Tensor values = at::zeros(A.sizes().slice(0, A.dim() - 1), real_options(A));
  const Tensor info = empty_info(A);
  // The other triangle is never read.
  if (is_finite(upper ? at::triu(A) : at::tril(A)))
    run_kernel(eigh_kernels, A.device(), values, vectors, info, upper, compute_v);
  else info.fill_(Scalar(rows_of(A)));
  check_info(info, "linalg.eigh");
  if (!compute_v) vectors = at::empty({0}, A.options());
  return {std::move(values), std::move(vectors)};
}

std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& self, std::string_view UPLO) {
  return at::_linalg_eigh(self, UPLO, /*compute_v=*/true);
}

Tensor linalg_eigvalsh(const Tensor& self, std::string_view UPLO) {
  return std::get<0>(at::_linalg_eigh(self, UPLO, /*compute_v=*/is_differentiated(self)));
}

namespace {

std::tuple<Tensor, Tensor> find_eigenvalues(const Tensor& self, bool with_vectors) {
  check_square(self, with_vectors ? "linalg.eig" : "linalg.eigvals");
  check_floating_or_complex(self, "linalg.eig", /*low_precision=*/true);
  TORCH_CHECK_NOT_IMPLEMENTED(!c10::is_reduced_floating_type(self.dtype()),
                              "\"linalg_eig_out_cpu\" not implemented for '", self.dtype(), "'");
  TORCH_CHECK(is_finite(self), "torch.linalg.eig: input tensor should not contain infs or NaNs.");
  const ScalarType dtype = c10::complex_type(c10::real_type(self.dtype()));
  Tensor values = at::zeros(self.sizes().slice(0, self.dim() - 1), self.options().dtype(dtype));
  Tensor vectors = with_vectors ? empty_column_major(self.sizes(), dtype, self.device()) : Tensor();
  const Tensor info = empty_info(self);
  run_kernel(eig_kernels, self.device(), values, vectors, column_major_copy(self), info);
  check_info(info, "torch.linalg.eig");
  return {std::move(values), std::move(vectors)};
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_eig(const Tensor& self) { return find_eigenvalues(self, /*with_vectors=*/true); }

Tensor linalg_eigvals(const Tensor& self) {
  if (is_differentiated(self)) return std::get<0>(at::linalg_eig(self));
  return std::get<0>(find_eigenvalues(self, /*with_vectors=*/false));
}

// ---------------------------------------------------------------------------------------------- singular values

std::tuple<Tensor, Tensor, Tensor> _linalg_svd(const Tensor& A, bool full_matrices, bool compute_uv,
                                               std::optional<std::string_view> driver) {
  check_matrices(A, "linalg.svd");
  check_floating_or_complex(A, "linalg.svd", /*low_precision=*/true);
  TORCH_CHECK(!driver || !A.device().is_cpu(),
              "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.");
  static constexpr std::string_view kDrivers[] = {"", "gesvd", "gesvdj", "gesvda"};
  const int64_t choice =
      std::find(std::begin(kDrivers), std::end(kDrivers), driver.value_or("")) - std::begin(kDrivers);
  TORCH_CHECK(choice < 4, "torch.linalg.svd: unknown svd driver ", *driver, " in svd_cusolver computation");
  const int64_t rows = rows_of(A);
  const int64_t columns = columns_of(A);
  const int64_t rank = std::min(rows, columns);
  Tensor values = at::zeros(with_vector(batch_sizes(A), rank), real_options(A));
  Tensor u;
  Tensor vh;
  if (compute_uv) {
    u = empty_column_major(with_matrix(batch_sizes(A), rows, full_matrices ? rows : rank), A.dtype(), A.device());
    vh =
        empty_column_major(with_matrix(batch_sizes(A), full_matrices ? columns : rank, columns), A.dtype(), A.device());
    if (A.numel() == 0) {  // LAPACK is not asked
      if (full_matrices) u.copy_(at::eye(rows, A.options())), vh.copy_(at::eye(columns, A.options()));
    }
  }
  const Tensor info = empty_info(A);
  constexpr int kArgumentHasNaN = -4;
  if (is_finite(A))
    run_kernel(svd_kernels, A.device(), u, values, vh, column_major_copy(A), info, full_matrices, choice);
  else info.fill_(Scalar(kArgumentHasNaN));
  check_info(info, "linalg.svd");
  if (!compute_uv) u = vh = at::empty({0}, A.options());
  return {std::move(u), std::move(values), std::move(vh)};
}

std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& A, bool full_matrices,
                                              std::optional<std::string_view> driver) {
  return at::_linalg_svd(A, full_matrices, /*compute_uv=*/true, driver);
}

Tensor linalg_svdvals(const Tensor& A, std::optional<std::string_view> driver) {
  return std::get<1>(at::_linalg_svd(A, /*full_matrices=*/false, /*compute_uv=*/is_differentiated(A), driver));
}

std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some, bool compute_uv) {
  TORCH_CHECK(self.dim() >= 2, "linalg.svd: The input tensor A must have at least 2 dimensions.");
  if (compute_uv) {
    auto [u, values, vh] = at::linalg_svd(self, /*full_matrices=*/!some);
    return {std::move(u), std::move(values), at::adjoint(vh)};
  }
  const int64_t rows = rows_of(self);
  const int64_t columns = columns_of(self);
  return {at::zeros(with_matrix(batch_sizes(self), rows, rows), self.options()), at::linalg_svdvals(self),
          at::zeros(with_matrix(batch_sizes(self), columns, columns), self.options())};
}

// ---------------------------------------------------------------------------------------------- rank, pseudo-inverse

namespace {

double epsilon_of(const Tensor& matrices) {
  return c10::real_type(matrices.dtype()) == kFloat ? std::numeric_limits<float>::epsilon()
                                                    : std::numeric_limits<double>::epsilon();
}

// The tolerances as tensors: rtol is max(m, n) eps where neither is given, 0 where atol alone is.
std::tuple<Tensor, Tensor> tolerances(const Tensor& input, const Tensor& atol, const Tensor& rtol,
                                      const char* function) {
  const TensorOptions options = at::scalar_tensor(Scalar(0), input.options().dtype(kDouble)).options();
  for (const Tensor* given : {&atol, &rtol}) {
    TORCH_CHECK(!given->defined() || !given->is_complex(), function, ": ", given == &atol ? "atol" : "rtol",
                " tensor of complex type is not supported.");
  }
  const Tensor absolute = atol.defined() ? atol : at::zeros({}, options);
  if (rtol.defined()) return {absolute, rtol};
  const Tensor standard = at::full(
      {}, Scalar(epsilon_of(input) * static_cast<double>(std::max(rows_of(input), columns_of(input)))), options);
  if (!atol.defined()) return {absolute, standard};
  return {absolute, at::where(at::gt(absolute, Scalar(0)), at::zeros({}, options), standard)};
}

std::tuple<Tensor, Tensor> tolerances(const Tensor& input, std::optional<double> atol, std::optional<double> rtol) {
  const double standard = epsilon_of(input) * static_cast<double>(std::max(rows_of(input), columns_of(input)));
  const double absolute = atol.value_or(0);
  const double relative = rtol.value_or(atol && *atol > 0 ? 0 : standard);
  const TensorOptions options = input.options().dtype(kDouble);
  return {at::full({}, Scalar(absolute), options), at::full({}, Scalar(relative), options)};
}

// max(atol, rtol * largest) as a tensor that broadcasts against the values.
Tensor threshold(const Tensor& largest, const Tensor& atol, const Tensor& rtol) {
  return at::maximum(at::unsqueeze(atol, -1), at::mul(at::unsqueeze(rtol, -1), largest));
}

}  // namespace

Tensor linalg_matrix_rank_atol_rtol_tensor(const Tensor& input, const Tensor& atol, const Tensor& rtol,
                                           bool hermitian) {
  check_matrices(input, "torch.linalg.matrix_rank", "input");
  TORCH_CHECK(c10::is_floating_or_complex_type(input.dtype()) && !c10::is_reduced_floating_type(input.dtype()),
              "torch.linalg.matrix_rank: only float, double and complex matrices have a rank here, not ",
              input.dtype());
  const auto [absolute, relative] = tolerances(input, atol, rtol, "torch.linalg.matrix_rank");
  if (input.numel() == 0) return at::zeros(batch_sizes(input), input.options().dtype(kLong));
  const Tensor values = hermitian ? at::abs(at::linalg_eigvalsh(input)) : at::linalg_svdvals(input);
  const Tensor largest = at::amax(values, IntArrayRef{-1}, /*keepdim=*/true);
  return at::sum(at::gt(values, threshold(largest, absolute, relative)), IntArrayRef{-1});
}

Tensor linalg_matrix_rank_atol_rtol_float(const Tensor& self, std::optional<double> atol, std::optional<double> rtol,
                                          bool hermitian) {
  check_matrices(self, "torch.linalg.matrix_rank", "input");
  const auto [absolute, relative] = tolerances(self, atol, rtol);
  return at::linalg_matrix_rank(self, absolute, relative, hermitian);
}

Tensor linalg_matrix_rank_tol(const Tensor& self, double tol, bool hermitian) {
  return native::linalg_matrix_rank_atol_rtol_float(self, tol, 0.0, hermitian);
}

Tensor linalg_matrix_rank_tol_tensor(const Tensor& input, const Tensor& tol, bool hermitian) {
  return at::linalg_matrix_rank(input, tol, at::zeros({}, input.options().dtype(kDouble)), hermitian);
}

Tensor linalg_pinv_atol_rtol_tensor(const Tensor& self, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  check_matrices(self, "linalg.pinv");
  check_floating_or_complex(self, "linalg.pinv");
  const int64_t rows = rows_of(self);
  const int64_t columns = columns_of(self);
  if (self.numel() == 0) return at::empty(with_matrix(batch_sizes(self), columns, rows), self.options());
  const auto [absolute, relative] = tolerances(self, atol, rtol, "linalg.pinv");
  const auto inverted = [&](const Tensor& values, const Tensor& sizes) {
    const Tensor limit = threshold(at::amax(sizes, IntArrayRef{-1}, true), absolute, relative);
    return at::where(at::gt(sizes, limit), at::reciprocal(values), at::zeros_like(values));
  };
  if (hermitian) {
    const auto [values, vectors] = at::linalg_eigh(self);
    return at::matmul(at::mul(vectors, at::unsqueeze(inverted(values, at::abs(values)), -2)), at::adjoint(vectors));
  }
  const auto [u, values, vh] = at::linalg_svd(self, /*full_matrices=*/false);
  return at::matmul(at::mul(at::adjoint(vh), at::unsqueeze(inverted(values, values), -2)), at::adjoint(u));
}

Tensor linalg_pinv_atol_rtol_float(const Tensor& self, std::optional<double> atol, std::optional<double> rtol,
                                   bool hermitian) {
  check_matrices(self, "linalg.pinv");
  const auto [absolute, relative] = tolerances(self, atol, rtol);
  return at::linalg_pinv(self, absolute, relative, hermitian);
}

Tensor linalg_pinv_rcond(const Tensor& self, double rcond, bool hermitian) {
  return native::linalg_pinv_atol_rtol_float(self, 0.0, rcond, hermitian);
}

Tensor linalg_pinv_rcond_tensor(const Tensor& self, const Tensor& rcond, bool hermitian) {
  return at::linalg_pinv(self, at::zeros({}, self.options().dtype(kDouble)), rcond, hermitian);
}

Tensor pinverse(const Tensor& self, double rcond) {
  return native::linalg_pinv_rcond(self, rcond, /*hermitian=*/false);
}

}  // namespace at::native
