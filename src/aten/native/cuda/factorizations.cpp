// Factorisations, eigenvalues, singular values and least squares, by libtorch_cuda_solver and libtorch_cuda_magma.
// Contracts are in kernels.yaml: matrices have their columns next to each other, and are overwritten.

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/Plugin.h>
#include <aten/native/LinearAlgebra.h>
#include <aten/native/cuda/Libraries.h>
#include <aten/native/cuda/factorizations.h>
#include <aten/native/cuda/solver/Solver.h>
#include <c10/core/Backend.h>
#include <c10/cuda/CUDAStream.h>

#include <vector>

namespace at::native::cuda {

namespace {

struct Solver {
  const char* name;
  const TorchCudaSolvers& routines;
};

const Solver& cusolver() {
  static const Solver found{"cuSOLVER",
                            *load_function<TorchCudaSolversFunction>("libtorch_cuda_solver.so", "torch_cuda_solvers",
                                                                     "factorisations", "libcusolver")()};
  return found;
}

const Solver& magma() {
  static const Solver found{
      "MAGMA", *load_function<TorchCudaSolversFunction>("libtorch_cuda_magma.so", "torch_cuda_magma_solvers",
                                                        "factorisations", "libmagma")()};
  return found;
}

// Whom the program prefers, as far as it has the routine; of those that are left to us, cuSOLVER,
// unless MAGMA is faster.
template <typename Routine>
const Solver& solver_for(Routine TorchCudaSolvers::*routine, bool magma_is_faster = false) {
  const LinalgLibrary preferred = at::preferred_linalg_library();
  const bool is_ours = preferred == LinalgLibrary::Default && at::cuda_plugin_info()->has_magma;
  const bool by_choice = is_ours && (magma_is_faster || cusolver().routines.*routine == nullptr);
  const bool is_magmas = (preferred == LinalgLibrary::Magma || by_choice) && magma().routines.*routine != nullptr;
  return is_magmas ? magma() : cusolver();
}

TorchCudaStack stack_of(const Tensor& matrices) {
  return {matrices.data_ptr(), rows_of(matrices), columns_of(matrices)};
}

// routine(call, arguments...) for matrices of the type and number of `like`.
template <typename Routine, typename... Arguments>
void run_by(const Solver& solver, const char* name, Routine TorchCudaSolvers::* routine, const Tensor& like,
            Arguments... arguments) {
  TORCH_CHECK_NOT_IMPLEMENTED(solver.routines.*routine != nullptr, name, ": ", solver.name, " of CUDA ",
                              at::cuda_plugin_info()->cuda_version,
                              ", which this plug-in was built with, has no such routine");
  std::vector<c10::DataPtr> memory;  // what is queued on the stream is done before it is used again
  TorchCudaSolverCall call{};
  call.is_double = c10::real_type(like.dtype()) == kDouble;
  call.is_complex = like.is_complex();
  call.batches = like.numel() / (rows_of(like) * columns_of(like));
  call.stream = c10::cuda::current_stream();
  call.context = &memory;
  call.allocate = [](void* context, size_t bytes) {
    auto& kept = *static_cast<std::vector<c10::DataPtr>*>(context);
    kept.push_back(c10::get_backend(c10::kCUDA).allocator()->allocate(bytes));
    return kept.back().get();
  };
  const char* error = (solver.routines.*routine)(&call, arguments...);
  TORCH_CHECK(error == nullptr, solver.name, ": ", error, " (", name, " of ", call.batches, " matrices of [",
              rows_of(like), ", ", columns_of(like), "])");
}

template <typename Routine, typename... Arguments>
void run(const char* name, Routine TorchCudaSolvers::*routine, const Tensor& like, Arguments... arguments) {
  run_by(solver_for(routine), name, routine, like, arguments...);
}

void multiply_reflectors(const Tensor& matrices, const Tensor& tau) {
  run("householder_product", &TorchCudaSolvers::multiply_reflectors, matrices, stack_of(matrices), tau.data_ptr(),
      tau.sizes().back());
}

void apply_reflectors(const Tensor& products, const Tensor& reflectors, const Tensor& tau, bool left, bool adjoint) {
  run("ormqr", &TorchCudaSolvers::apply_reflectors, products, stack_of(reflectors), tau.data_ptr(), tau.sizes().back(),
      stack_of(products), left, adjoint);
}

void check_hermitian(const Tensor& matrices, bool hermitian, const char* function) {
  TORCH_CHECK(!matrices.is_complex() || !hermitian, function,
              ": complex tensors with hermitian=True flag are not supported on CUDA.");
}

}  // namespace

void cholesky_kernel(const Tensor& matrices, const Tensor& info, bool upper) {
  if (matrices.numel() == 0) return;
  const int64_t count = info.numel();
  const int64_t step = matrices.numel() / count * static_cast<int64_t>(matrices.element_size());
  const Tensor places = at::add(at::mul(at::arange(count, info.options().dtype(kLong)), Scalar(step)),
                                Scalar(reinterpret_cast<int64_t>(matrices.data_ptr())));
  run("cholesky", &TorchCudaSolvers::cholesky, matrices, stack_of(matrices), static_cast<void**>(places.data_ptr()),
      upper, info.data_ptr<int>());
  Tensor(matrices).copy_(upper ? at::triu(matrices) : at::tril(matrices));  // the other triangle is still the input's
}

bool factor_lu(const Tensor& matrices, const Tensor& pivots, const Tensor& info) {
  // cuBLAS factorises many matrices at once, each by few threads.
  constexpr int64_t kMostRowsOfCublas = 128;
  const bool is_cublas = info.numel() > 1 && rows_of(matrices) <= kMostRowsOfCublas;
  if (is_cublas && at::preferred_linalg_library() == LinalgLibrary::Default) return false;
  run("lu_factor", &TorchCudaSolvers::lu, matrices, stack_of(matrices), pivots.data_ptr<int>(), info.data_ptr<int>());
  return true;
}

void geqrf_kernel(const Tensor& matrices, const Tensor& tau) {
  if (matrices.numel() == 0) return;
  run("geqrf", &TorchCudaSolvers::qr, matrices, stack_of(matrices), tau.data_ptr());
}

void householder_product_kernel(const Tensor& matrices, const Tensor& tau) {
  if (matrices.numel() > 0) multiply_reflectors(matrices, tau);
}

void ormqr_kernel(const Tensor& products, const Tensor& reflectors, const Tensor& tau, bool left, bool transpose) {
  if (products.numel() > 0 && tau.numel() > 0) apply_reflectors(products, reflectors, tau, left, transpose);
}

void ldl_factor_kernel(const Tensor& matrices, const Tensor& pivots, const Tensor& info, bool hermitian) {
  check_hermitian(matrices, hermitian, "torch.linalg.ldl_factor");
  if (matrices.numel() == 0) return;
  run("ldl_factor", &TorchCudaSolvers::ldl, matrices, stack_of(matrices), pivots.data_ptr<int>(), info.data_ptr<int>());
}

void ldl_solve_kernel(const Tensor& solutions, const Tensor& factors, const Tensor& pivots, bool hermitian) {
  check_hermitian(factors, hermitian, "torch.linalg.ldl_solve");
  if (solutions.numel() == 0) return;
  const Tensor swaps = pivots.to(kLong);
  run("ldl_solve", &TorchCudaSolvers::solve_ldl, factors, stack_of(factors), swaps.data_ptr<int64_t>(),
      stack_of(solutions));
}

void eigh_kernel(const Tensor& values, const Tensor& matrices, const Tensor& info, bool upper, bool with_vectors) {
  if (matrices.numel() == 0) return;
  run("eigh", &TorchCudaSolvers::eigh, matrices, stack_of(matrices), values.data_ptr(), upper, with_vectors,
      info.data_ptr<int>());
}

void eig_kernel(const Tensor& values, const Tensor& vectors, const Tensor& matrices, const Tensor& info) {
  if (matrices.numel() == 0) return;
  const Tensor found = vectors.defined() ? at::empty_like(matrices) : Tensor();
  // MAGMA divides the work between the device and the host; smaller matrices it would leave to the host alone.
  constexpr int64_t kLeastRowsOfMagma = 128;
  run_by(solver_for(&TorchCudaSolvers::eig, rows_of(matrices) >= kLeastRowsOfMagma), "eig", &TorchCudaSolvers::eig,
         matrices, stack_of(matrices), values.data_ptr(), found.defined() ? found.data_ptr() : nullptr,
         info.data_ptr<int>());
  if (!vectors.defined()) return;
  if (matrices.is_complex()) {
    Tensor(vectors).copy_(found);
    return;
  }
  // Of a pair of values, the first of which has the positive imaginary part:
  // vectors a + bi and a - bi from columns a, b.
  const Tensor imaginary = at::unsqueeze(at::imag(values), -2);
  const Tensor is_first = at::gt(imaginary, Scalar(0));
  const Tensor is_second = at::lt(imaginary, Scalar(0));
  const Tensor next = at::roll(found, IntArrayRef{-1}, IntArrayRef{-1});
  const Tensor previous = at::roll(found, IntArrayRef{1}, IntArrayRef{-1});
  const Tensor none = at::zeros_like(found);
  Tensor(vectors).copy_(at::complex(at::where(is_second, previous, found),
                                    at::where(is_first, next, at::where(is_second, at::neg(found), none))));
}

namespace {

// The drivers of `svd`, as kernels.yaml numbers them.
enum SVDDriver : int64_t { kChosenHere, kGesvd, kGesvdj, kGesvda };

// Of matrices with at least as many rows as columns, which are overwritten. Returns V; `u` is filled.
Tensor decompose(const Solver& solver, const Tensor& matrices, const Tensor& u, const Tensor& values,
                 const Tensor& info, bool with_vectors, TorchCudaSVDMethod method) {
  const Tensor v = empty_column_major(with_matrix(batch_sizes(matrices), columns_of(matrices), columns_of(matrices)),
                                      matrices.dtype(), matrices.device());
  run_by(solver, "svd", &TorchCudaSolvers::svd, matrices, stack_of(matrices), values.data_ptr(), stack_of(u),
         stack_of(v), with_vectors, method, info.data_ptr<int>());
  const bool is_adjoint = method == kTorchCudaQRIterations || method == kTorchCudaDivideAndConquer;
  return is_adjoint && with_vectors ? at::adjoint(v) : v;
}

}  // namespace

void svd_kernel(const Tensor& u, const Tensor& s, const Tensor& vh, const Tensor& matrices, const Tensor& info,
                bool full, int64_t driver) {
  if (matrices.numel() == 0) return;
  // cuSOLVER wants tall ones: A^H = U S V^H is A = V S U^H.
  const bool wide = rows_of(matrices) < columns_of(matrices);
  const Tensor tall = wide ? column_major_copy(at::adjoint(matrices)) : matrices;
  const int64_t rows = rows_of(tall), columns = columns_of(tall);
  const bool with_vectors = u.defined();
  // the approximate method has no full U
  const bool completed = driver == kGesvda && full && with_vectors && rows > columns;
  const auto empty_left = [&](bool whole) {
    return empty_column_major(with_matrix(batch_sizes(tall), rows, whole ? rows : columns), tall.dtype(),
                              tall.device());
  };
  Tensor left = empty_left(full && !completed);
  const Solver& solver = driver == kChosenHere ? solver_for(&TorchCudaSolvers::svd) : cusolver();
  Tensor right;
  if (&solver != &cusolver()) {
    right = decompose(solver, tall, left, s, info, with_vectors, kTorchCudaDivideAndConquer);
  } else {
    // Jacobi's method, which is exact and fast, may give up: then it is QR iterations.
    const Tensor kept = driver == kChosenHere ? column_major_copy(tall) : Tensor();
    right = decompose(solver, tall, left, s, info, with_vectors,
                      driver == kGesvd    ? kTorchCudaQRIterations
                      : driver == kGesvda ? kTorchCudaApproximate
                                          : kTorchCudaJacobi);
    if (driver == kChosenHere && at::any(at::ne(info, Scalar(0))).item<bool>()) {
      right = decompose(solver, kept, left, s, info, with_vectors, kTorchCudaQRIterations);
    }
  }
  if (!with_vectors) return;
  if (completed) {  // any basis of what is left will do: that of a QR factorisation
    const Tensor whole = empty_left(true);
    const Tensor tau = at::empty(with_vector(batch_sizes(tall), columns), tall.options());
    Tensor(whole).narrow(-1, 0, columns).copy_(left);
    Tensor(whole).narrow(-1, columns, rows - columns).zero_();
    const Tensor factored = column_major_copy(left);
    geqrf_kernel(factored, tau);
    Tensor(whole).narrow(-1, 0, columns).copy_(factored);
    multiply_reflectors(whole, tau);
    Tensor(whole).narrow(-1, 0, columns).copy_(left);
    left = whole;
  }
  Tensor(u).copy_(wide ? right : left);
  Tensor(vh).copy_(at::adjoint(wide ? left : right));
}

// By QR, as gels does it: there is neither a rank nor singular values.
void lstsq_kernel(const Tensor& right_sides, const Tensor& matrices, const Tensor& /*rank*/, const Tensor& /*values*/,
                  const Tensor& info, double /*rcond*/, int64_t /*driver*/) {
  if (matrices.numel() == 0 || right_sides.numel() == 0) return;
  const bool wide = rows_of(matrices) < columns_of(matrices);
  const Tensor factored = wide ? column_major_copy(at::adjoint(matrices)) : matrices;
  const int64_t size = columns_of(factored);
  const Tensor tau = at::empty(with_vector(batch_sizes(factored), size), factored.options());
  geqrf_kernel(factored, tau);
  const Tensor r = at::narrow(factored, -2, 0, size);
  const Tensor flat = at::eq(at::diagonal(r, 0, -2, -1), Scalar(0)).to(kInt);
  Tensor(info).copy_(at::mul(at::add(at::argmax(flat, -1), Scalar(1)), at::amax(flat, IntArrayRef{-1})));
  const Tensor part = at::narrow(right_sides, -2, 0, size);
  if (!wide) {  // R x = Q^H b
    apply_reflectors(right_sides, factored, tau, /*left=*/true, /*adjoint=*/true);
    Tensor(part).copy_(at::linalg_solve_triangular(r, part, /*upper=*/true));
  } else {  // A = R^H Q^H: x = Q (R^H)^-1 b, the shortest of the solutions
    Tensor(part).copy_(at::linalg_solve_triangular(at::adjoint(r), part, /*upper=*/false));
    apply_reflectors(right_sides, factored, tau, /*left=*/true, /*adjoint=*/false);
  }
}

}  // namespace at::native::cuda
