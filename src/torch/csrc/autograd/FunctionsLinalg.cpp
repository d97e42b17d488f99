// Gradients of torch.linalg and torch.fft. Of complex matrices they are the conjugated derivative, as everywhere: where
// a derivation has A^T, a formula has the adjoint. U, V, Q and the like are as the forward returned them.

#include <torch/csrc/autograd/FunctionsManual.h>

#include <aten/ATen.h>
#include <aten/native/LinearAlgebra.h>

namespace torch::autograd {

namespace {

using at::native::columns_of;
using at::native::is_differentiated;
using at::native::rows_of;

Tensor H(const Tensor& matrices) { return at::adjoint(matrices); }
Tensor times(const Tensor& a, const Tensor& b) { return at::matmul(a, b); }
Tensor diagonal_of(const Tensor& matrices) { return at::diagonal(matrices, 0, -2, -1); }
Tensor column(const Tensor& vectors) { return at::unsqueeze(vectors, -1); }
Tensor row(const Tensor& vectors) { return at::unsqueeze(vectors, -2); }
Tensor skew(const Tensor& matrices) { return matrices - H(matrices); }

// The identity of these matrices' size.
Tensor identity_like(const Tensor& matrices) { return at::eye(rows_of(matrices), matrices.options()); }

// Without its diagonal.
Tensor off_diagonal(const Tensor& matrices) { return matrices * (1 - identity_like(matrices)); }

Tensor diagonal_matrix(const Tensor& vectors) {
  return column(vectors) * at::eye(vectors.sizes().back(), vectors.options());
}

// X^-H applied to the left of B, upper or lower: X is triangular.
Tensor solve_adjoint(const Tensor& X, const Tensor& B, bool upper) {
  return at::linalg_solve_triangular(H(X), B, !upper);
}
// B X^-H.
Tensor solve_adjoint_right(const Tensor& X, const Tensor& B, bool upper) {
  return at::linalg_solve_triangular(H(X), B, !upper, /*left=*/false);
}

// What a vector of right sides is as a matrix.
Tensor as_matrix(const Tensor& tensor, bool is_vector) { return is_vector ? column(tensor) : tensor; }

// x_j - x_i at [i, j], with ones on the diagonal, to divide by.
Tensor differences(const Tensor& x) { return row(x) - column(x) + at::eye(x.sizes().back(), x.options()); }

void check_gauge(const Tensor& imaginary, const Tensor& scale, const char* function, const char* vectors) {
  if (imaginary.device().is_meta() || imaginary.numel() == 0) return;
  const double tolerance = imaginary.dtype() == at::kDouble ? 1e-8 : 1e-2;
  const bool holds =
      at::all(at::le(at::abs(imaginary).detach(), (at::abs(scale).detach() + 1) * tolerance)).item<bool>();
  TORCH_CHECK(holds, function, ": The ", vectors,
              " in the complex case are specified up to multiplication by e^{i phi}. The specified ",
              "loss function depends on this quantity, so it is ill-defined.");
}

}  // namespace

Tensor cholesky_backward(const Tensor& grad, const Tensor& L, bool upper) {
  // A = L L^H: gA = L^-H phi(L^H gL) L^-1, with phi the lower triangle, half of its diagonal, made Hermitian.
  const Tensor lower = upper ? H(L) : L;
  const Tensor given = upper ? H(grad) : grad;
  const Tensor projected = at::tril(times(H(lower), at::tril(given)));
  const Tensor phi = projected - 0.5 * diagonal_matrix(diagonal_of(projected));
  const Tensor half = at::linalg_solve_triangular(H(lower), phi + H(phi), /*upper=*/true);
  return 0.5 * at::linalg_solve_triangular(lower, half, /*upper=*/false, /*left=*/false);
}

namespace {

// A = L L^H (upper: L^H L): the gradient of L from half of what A's inverse has,
// on whole matrices as LAPACK reads them.
Tensor cholesky_factor_gradient(const Tensor& half, const Tensor& factor, bool upper) {
  const Tensor common = half + H(half);
  return upper ? -times(factor, common) : -times(common, factor);
}

}  // namespace

Tensor cholesky_solve_factor_backward(const Tensor& grad, const Tensor& factor, const Tensor& X, bool upper) {
  return cholesky_factor_gradient(times(at::cholesky_solve(grad, factor, upper), H(X)), factor, upper);
}

Tensor cholesky_inverse_backward(const Tensor& grad, const Tensor& factor, const Tensor& inverse, bool upper) {
  return cholesky_factor_gradient(times(inverse, times(grad, inverse)), factor, upper);
}

Tensor lu_factor_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots) {
  const int64_t rows = rows_of(LU);
  const int64_t columns = columns_of(LU);
  const int64_t rank = std::min(rows, columns);
  auto [P, L, U] = at::lu_unpack(LU, pivots);
  const Tensor gL = at::tril(at::narrow(grad, -1, 0, rank), -1);
  const Tensor gU = at::triu(at::narrow(grad, -2, 0, rank));
  if (rows == columns) {
    const Tensor phi = at::tril(times(H(L), gL), -1) + at::triu(times(gU, H(U)));
    return times(P, solve_adjoint(L, solve_adjoint_right(U, phi, /*upper=*/true), /*upper=*/false));
  }
  if (rows < columns) {  // A = P L [U1 U2]
    const Tensor U1 = at::narrow(U, -1, 0, rank);
    const Tensor U2 = at::narrow(U, -1, rank, columns - rank);
    const Tensor gU1 = at::narrow(gU, -1, 0, rank);
    const Tensor gU2 = at::narrow(gU, -1, rank, columns - rank);
    const Tensor phi = at::tril(times(H(L), gL) - times(gU2, H(U2)), -1) + at::triu(times(gU1, H(U1)));
    const Tensor first = solve_adjoint(L, solve_adjoint_right(U1, phi, /*upper=*/true), /*upper=*/false);
    return times(P, at::cat({first, solve_adjoint(L, gU2, /*upper=*/false)}, -1));
  }
  // A = P [L1; L2] U
  const Tensor L1 = at::narrow(L, -2, 0, rank);
  const Tensor L2 = at::narrow(L, -2, rank, rows - rank);
  const Tensor gL1 = at::narrow(gL, -2, 0, rank);
  const Tensor gL2 = at::narrow(gL, -2, rank, rows - rank);
  const Tensor phi = at::tril(times(H(L1), gL1), -1) + at::triu(times(gU, H(U)) - times(H(L2), gL2));
  const Tensor first = solve_adjoint(L1, solve_adjoint_right(U, phi, /*upper=*/true), /*upper=*/false);
  return times(P, at::cat({first, solve_adjoint_right(U, gL2, /*upper=*/true)}, -2));
}

namespace {

// Of A = Q R with R square.
Tensor qr_square_backward(const Tensor& gQ, const Tensor& gR, const Tensor& Q, const Tensor& R) {
  Tensor inner;
  if (gR.defined()) inner = times(gR, H(R));
  if (gQ.defined()) inner = inner.defined() ? inner - times(H(Q), gQ) : -times(H(Q), gQ);
  inner = at::triu(inner);
  // Its adjoint's counterpart: the strict upper triangle mirrored, and the real part of the diagonal.
  inner = off_diagonal(inner + H(inner)) + diagonal_matrix(at::real(diagonal_of(inner)).to(inner.dtype()));
  Tensor result = times(Q, inner);
  if (gQ.defined()) result = result + gQ;
  return solve_adjoint_right(R, result, /*upper=*/true);
}

}  // namespace

Tensor qr_backward(const Tensor& gQ, const Tensor& gR, const Tensor& Q, const Tensor& R, const std::string& mode) {
  if (!gQ.defined() && !gR.defined()) return {};
  TORCH_CHECK(mode != "r", "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use ",
              "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.");
  const int64_t rows = rows_of(Q);
  const int64_t columns = columns_of(R);
  TORCH_CHECK(mode == "reduced" || rows <= columns,
              "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.");
  if (rows >= columns) return qr_square_backward(gQ, gR, Q, R);
  // A = Q [R1 R2]: the columns behind the square are Q R2, so R2 = Q^H A2 is a function of Q and A2.
  const Tensor R1 = at::narrow(R, -1, 0, rows);
  if (!gR.defined()) {
    const Tensor first = qr_square_backward(gQ, {}, Q, R1);
    return at::cat({first, at::zeros_like(at::narrow(R, -1, rows, columns - rows))}, -1);
  }
  const Tensor gR2 = at::narrow(gR, -1, rows, columns - rows);
  const Tensor A2 = times(Q, at::narrow(R, -1, rows, columns - rows));
  const Tensor through = times(A2, H(gR2));
  const Tensor first = qr_square_backward(gQ.defined() ? gQ + through : through, at::narrow(gR, -1, 0, rows), Q, R1);
  return at::cat({first, times(Q, gR2)}, -1);
}

Tensor solve_triangular_self_backward(const Tensor& grad, const Tensor& A, const Tensor& X, bool upper, bool left,
                                      bool unitriangular) {
  const Tensor gB = at::linalg_solve_triangular(H(A), grad, !upper, left, unitriangular);
  const Tensor gA = left ? -times(gB, H(X)) : -times(H(X), gB);
  const int64_t diagonal = unitriangular ? 1 : 0;
  return upper ? at::triu(gA, diagonal) : at::tril(gA, -diagonal);
}

namespace {

// A^-H grad, or grad A^-H: by the factors at hand, or, where it is to be differentiated again, from A itself.
Tensor solve_adjoint_system(const Tensor& grad, const Tensor& A, const Tensor& LU, const Tensor& pivots, bool left) {
  if (is_differentiated(grad) || is_differentiated(A)) return std::get<0>(at::linalg_solve_ex(H(A), grad, left));
  return at::linalg_lu_solve(LU, pivots, grad, left, /*adjoint=*/true);
}

// Whether a right side of so many dimensions was a vector (per matrix); results have its form.
bool is_vector_result(const Tensor& A, const Tensor& result, int64_t dims) {
  return dims == 1 || (dims == A.dim() - 1 && result.dim() == A.dim() - 1);
}

}  // namespace

std::vector<Tensor> solve_backward(const Tensor& grad, const Tensor& A, const Tensor& LU, const Tensor& pivots,
                                   const Tensor& X, bool left, int64_t B_dims, bool with_A) {
  const bool is_vector = is_vector_result(A, grad, B_dims);
  const Tensor gB = solve_adjoint_system(as_matrix(grad, is_vector), A, LU, pivots, left);
  Tensor gA;
  if (with_A) {
    const Tensor solution = H(as_matrix(X, is_vector));
    gA = left ? -times(gB, solution) : -times(solution, gB);
  }
  return {gA, is_vector ? at::squeeze(gB, -1) : gB};
}

Tensor det_backward(const Tensor& grad, const Tensor& det, const Tensor& A, const Tensor& LU, const Tensor& pivots) {
  // The adjugate's adjoint: conj(det) A^-H, or, of singular matrices, the products of all singular values but one.
  const bool singular = !A.device().is_meta() && at::any(det == 0).item<bool>();
  if (!singular) {
    const Tensor scaled = column(column(grad * at::conj(det))) * identity_like(A);
    return solve_adjoint_system(scaled, A, LU, pivots, /*left=*/true);
  }
  const auto [U, S, Vh] = at::linalg_svd(A);
  const int64_t count = S.sizes().back();
  const Tensor others =
      at::where(at::eye(count, S.options().dtype(at::kBool)), Scalar(1), at::expand(row(S), A.sizes()));
  const Tensor products = at::prod(others, -1).to(A.dtype());
  const Tensor sign = at::conj(at::linalg_det(times(U, Vh)));
  return times(U * row(products * column(grad * sign)), Vh);
}

Tensor slogdet_backward(const Tensor& grad_sign, const Tensor& grad_logabsdet, const Tensor& A, const Tensor& sign,
                        const Tensor& LU, const Tensor& pivots) {
  Tensor factor = grad_logabsdet.defined() ? grad_logabsdet.to(A.dtype()) : Tensor();
  if (A.is_complex() && grad_sign.defined()) {  // the sign turns, it does not grow
    const Tensor turn = at::imag(at::conj(grad_sign) * sign).to(A.dtype()) * Scalar(c10::complex<double>(0, 1));
    factor = factor.defined() ? factor - turn : -turn;
  }
  if (!factor.defined()) return {};
  return solve_adjoint_system(column(column(factor)) * identity_like(A), A, LU, pivots, /*left=*/true);
}

Tensor eigh_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values, const Tensor& V) {
  if (!grad_vectors.defined()) {
    if (!grad_values.defined()) return {};
    return times(V * row(grad_values), H(V));
  }
  const Tensor projected = times(H(V), grad_vectors);
  if (V.is_complex())
    check_gauge(at::imag(diagonal_of(projected)), diagonal_of(projected), "linalg_eigh_backward", "eigenvectors");
  Tensor inner = 0.5 * off_diagonal(skew(projected)) / differences(values);
  if (grad_values.defined()) inner = inner + diagonal_matrix(grad_values);
  return times(V, times(inner, H(V)));
}

Tensor eig_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values, const Tensor& V) {
  if (!grad_vectors.defined()) {
    if (!grad_values.defined()) return {};
    return std::get<0>(at::linalg_solve_ex(H(V), column(grad_values) * H(V)));
  }
  const Tensor projected = times(H(V), grad_vectors);
  const Tensor along = diagonal_of(projected);
  check_gauge(at::imag(along), along, "linalg_eig_backward", "eigenvectors");
  // Eigenvectors have length 1: what would lengthen them is taken off.
  const Tensor turned = projected - times(H(V), V * row(at::real(along).to(V.dtype())));
  Tensor inner = off_diagonal(turned / at::conj(differences(values)));
  if (grad_values.defined()) inner = inner + diagonal_matrix(grad_values);
  return std::get<0>(at::linalg_solve_ex(H(V), times(inner, H(V))));
}

Tensor svd_backward(const Tensor& grad_U, const Tensor& gS, const Tensor& grad_Vh, const Tensor& all_U, const Tensor& S,
                    const Tensor& all_Vh) {
  if (!grad_U.defined() && !gS.defined() && !grad_Vh.defined()) return {};
  const int64_t rank = S.sizes().back();
  const int64_t rows = rows_of(all_U);
  const int64_t columns = columns_of(all_Vh);
  // The columns that full_matrices adds are any that are orthogonal to the others: they have no gradient.
  const Tensor U = at::narrow(all_U, -1, 0, rank);
  const Tensor Vh = at::narrow(all_Vh, -2, 0, rank);
  if (!grad_U.defined() && !grad_Vh.defined()) return times(U * row(gS), Vh);
  const Tensor gU = grad_U.defined() ? at::narrow(grad_U, -1, 0, rank) : Tensor();
  const Tensor gVh = grad_Vh.defined() ? at::narrow(grad_Vh, -2, 0, rank) : Tensor();
  const Tensor UhgU = gU.defined() ? times(H(U), gU) : Tensor();
  const Tensor VhgV = gVh.defined() ? times(Vh, H(gVh)) : Tensor();
  const Tensor squares = differences(S * S);
  Tensor inner;
  const auto add = [](Tensor& sum, const Tensor& part) { sum = sum.defined() ? sum + part : part; };
  if (gU.defined()) add(inner, off_diagonal(skew(UhgU)) / squares * row(S));
  if (gVh.defined()) add(inner, column(S) * (off_diagonal(skew(VhgV)) / squares));
  if (U.is_complex()) {
    Tensor turn = UhgU.defined() ? at::imag(diagonal_of(UhgU)) : Tensor();
    Tensor total = turn;
    if (VhgV.defined()) add(total, at::imag(diagonal_of(VhgV)));
    check_gauge(total, gU.defined() ? diagonal_of(UhgU) : diagonal_of(VhgV), "svd_backward", "singular vectors");
    if (gU.defined() && gVh.defined()) {
      add(inner, diagonal_matrix((turn / S).to(U.dtype()) * Scalar(c10::complex<double>(0, 1))));
    }
  }
  if (gS.defined()) add(inner, diagonal_matrix(gS));
  // What of gU and gVh lies outside of the spaces of U and V.
  Tensor result = times(U, times(inner, Vh));
  if (gU.defined() && rows > rank) add(result, times((gU - times(U, UhgU)) / row(S), Vh));
  if (gVh.defined() && columns > rank) add(result, times(U, (gVh - times(H(VhgV), Vh)) / column(S)));
  return result;
}

Tensor pinv_backward(const Tensor& grad, const Tensor& P, const Tensor& A) {
  // dP = -P dA P + P P^H dA^H (I - A P) + (I - P A) dA^H P^H P
  const Tensor Ph = H(P);
  const Tensor gh = H(grad);
  const Tensor left = times(times(gh, P), Ph);
  const Tensor right = times(Ph, times(P, gh));
  return -times(Ph, times(grad, Ph)) + (left - times(A, times(P, left))) + (right - times(times(right, P), A));
}

namespace {

// The gradients of a least-squares solution with respect to both, through the pseudo-inverse; X = P B.
Tensor lstsq_matrix(const Tensor& tensor, const Tensor& A, const Tensor& b) {
  const bool is_vector = b.dim() == 1 || (A.dim() - 1 == b.dim() && b.sizes() == A.sizes().slice(0, A.dim() - 1));
  return as_matrix(tensor, is_vector);
}

// The residuals are sum |A X - B|^2: what comes from them is 2 (A X - B) times their gradient, seen as the miss's.
Tensor miss_gradient(const Tensor& grad_residuals, const Tensor& A, const Tensor& b, const Tensor& solution) {
  const Tensor miss = times(A, lstsq_matrix(solution, A, b)) - lstsq_matrix(b, A, b);
  return 2 * miss * row(grad_residuals);
}

}  // namespace

std::vector<Tensor> lstsq_backward(const Tensor& grad, const Tensor& grad_residuals, const Tensor& A, const Tensor& b,
                                   const Tensor& solution, const Tensor& residuals, bool with_A) {
  Tensor gA;
  Tensor gb;
  if (grad.defined()) {
    const Tensor P = at::linalg_pinv(A, Tensor(), Tensor());
    const Tensor g = lstsq_matrix(grad, A, b);
    if (with_A) gA = pinv_backward(times(g, H(lstsq_matrix(b, A, b))), P, A);
    gb = times(H(P), g);
  }
  if (grad_residuals.defined() && residuals.numel() > 0) {
    // The solution is where the residuals are least, so it may be held.
    const Tensor miss = miss_gradient(grad_residuals, A, b, solution);
    if (with_A) {
      const Tensor part = times(miss, H(lstsq_matrix(solution, A, b)));
      gA = gA.defined() ? gA + part : part;
    }
    gb = gb.defined() ? gb - miss : -miss;
  }
  if (gb.defined() && lstsq_matrix(b, A, b).dim() != b.dim()) gb = at::squeeze(gb, -1);
  return {gA, gb};
}

Tensor matrix_exp_backward(const Tensor& grad, const Tensor& A) {
  // The upper right block of exp [[A^H, G], [0, A^H]] is the derivative at A^H in the direction G.
  const int64_t size = rows_of(A);
  if (A.numel() == 0) return at::zeros_like(A);
  const Tensor adjoint = H(A);
  const Tensor upper = at::cat({adjoint, grad}, -1);
  const Tensor lower = at::cat({at::zeros_like(adjoint), adjoint}, -1);
  const Tensor exponential = at::linalg_matrix_exp(at::cat({upper, lower}, -2));
  return at::narrow(at::narrow(exponential, -2, 0, size), -1, size, size);
}

// ---------------------------------------------------------------------------------------------- Fourier transforms

Tensor fft_r2c_backward(const Tensor& grad, IntArrayRef sizes, IntArrayRef dim, int64_t normalization, bool onesided) {
  // A transform of complex numbers that are real, of which the second half was dropped: its gradient is 0.
  Tensor whole = grad;
  if (onesided && grad.sizes()[dim.back()] < sizes[dim.back()]) {
    std::vector<int64_t> rest = grad.sizes().vec();
    rest[dim.back()] = sizes[dim.back()] - grad.sizes()[dim.back()];
    whole = at::cat({grad, zeros_beside(grad, rest)}, dim.back());
  }
  return at::real(at::_fft_c2c(whole, dim, normalization, /*forward=*/false));
}

Tensor fft_c2r_backward(const Tensor& grad, IntArrayRef sizes, IntArrayRef dim, int64_t normalization) {
  // Numbers that stand for their mirrored conjugates, too, count twice; those beyond the half that is read, not at all.
  const int64_t last = dim.back();
  Tensor result = at::_fft_r2c(grad, dim, normalization, /*onesided=*/true);
  const int64_t half = result.sizes()[last];
  const int64_t mirrored = grad.sizes()[last] - half;
  if (mirrored > 0) {
    result = at::cat({at::narrow(result, last, 0, 1), at::narrow(result, last, 1, mirrored) * 2,
                      at::narrow(result, last, 1 + mirrored, half - 1 - mirrored)}, last);
  }
  if (half > sizes[last]) return at::narrow(result, last, 0, sizes[last]);
  if (half == sizes[last]) return result;
  std::vector<int64_t> rest = result.sizes().vec();
  rest[last] = sizes[last] - half;
  return at::cat({result, zeros_beside(result, rest)}, last);
}

}  // namespace torch::autograd
