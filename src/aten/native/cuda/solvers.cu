// LU factorisations of many matrices and systems of equations, by libtorch_cuda_linalg. Contracts are in kernels.yaml:
// matrices have their columns next to each other.

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Launch.cuh>
#include <aten/native/cuda/Libraries.h>
#include <aten/native/cuda/factorizations.h>
#include <aten/native/cuda/linalg/Linalg.h>

namespace at::native::cuda {

namespace {

int64_t rows_of(const Tensor& matrices) { return matrices.sizes()[matrices.dim() - 2]; }
int64_t columns_of(const Tensor& matrices) { return matrices.sizes()[matrices.dim() - 1]; }

// The memory of a stack as it lies: [matrices, columns, rows].
Tensor memory_of(const Tensor& stack) {
  const int64_t count = stack.numel() / (rows_of(stack) * columns_of(stack));
  return at::reshape(at::transpose(stack, -1, -2), {count, columns_of(stack), rows_of(stack)});
}

Tensor pointers_to(const Tensor& memory) {
  const int64_t count = memory.sizes()[0];
  const auto first = reinterpret_cast<int64_t>(memory.data_ptr());
  const int64_t step = memory.numel() / count * static_cast<int64_t>(memory.element_size());
  Tensor pointers = at::empty({count}, TensorOptions(kLong).device(memory.device()));
  int64_t* out = pointers.data_ptr<int64_t>();
  for_each_index(count, [=] __device__(int64_t i) { out[i] = first + i * step; });
  return pointers;
}

void run(TorchCudaSolve& solve, const Tensor& a, const Tensor& b) {
  static const auto function = load_function<TorchCudaSolveFunction>("libtorch_cuda_linalg.so", "torch_cuda_solve",
                                                                     "systems of equations", "libcublas");
  const Tensor a_pointers = pointers_to(a);
  const Tensor b_pointers = b.defined() ? pointers_to(b) : Tensor();
  solve.is_double = a.dtype() == kDouble || a.dtype() == c10::kComplexDouble;
  solve.is_complex = a.is_complex();
  solve.size = a.sizes()[1];
  solve.a = static_cast<void**>(a_pointers.data_ptr());
  if (b.defined()) {
    solve.b = static_cast<void**>(b_pointers.data_ptr());
    solve.columns = b.sizes()[1];
    solve.rows = b.sizes()[2];
  }
  solve.batches = a.sizes()[0];
  solve.stream = c10::cuda::current_stream();
  const char* error = function(&solve);
  TORCH_CHECK(error == nullptr, "cuBLAS: ", error, " (", solve.batches, " matrices of ", solve.size, " rows)");
}

void check_pivots(const Tensor& pivots, int64_t rows) {
  const Tensor wrong = at::logical_or(at::lt(pivots, Scalar(1)), at::gt(pivots, Scalar(rows)));
  TORCH_CHECK(!at::any(wrong).item<bool>(),
              "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive. Did you properly pass the "
              "result of lu_factor?");
}

}  // namespace

void lu_factor_kernel(const Tensor& matrices, const Tensor& pivots, const Tensor& info) {
  if (matrices.numel() == 0 || factor_lu(matrices, pivots, info)) return;
  const Tensor memory = memory_of(matrices);
  const int64_t columns = memory.sizes()[1];
  const int64_t rows = memory.sizes()[2];
  const int64_t size = std::max(rows, columns);
  const int64_t rank = std::min(rows, columns);
  // cuBLAS takes square ones. Rows and columns of zeros behind the others change nothing but what info says of them.
  const bool is_square = rows == columns;
  const Tensor square = is_square ? memory : at::zeros({memory.sizes()[0], size, size}, memory.options());
  const Tensor part = square.narrow(1, 0, columns).narrow(2, 0, rows);
  if (!is_square) Tensor(part).copy_(memory);
  const Tensor all_pivots = at::empty({memory.sizes()[0], size}, pivots.options());
  const Tensor codes = at::empty({memory.sizes()[0]}, info.options());
  TorchCudaSolve solve{};
  solve.solver = kTorchCudaFactorLU;
  solve.pivots = all_pivots.data_ptr<int>();
  solve.info = codes.data_ptr<int>();
  run(solve, square, Tensor());
  if (!is_square) Tensor(memory).copy_(part);
  Tensor(pivots).copy_(all_pivots.narrow(1, 0, rank).contiguous().view(pivots.sizes()));
  Tensor(info).copy_(at::mul(codes, at::le(codes, Scalar(rank))).view(info.sizes()));
}

void lu_solve_kernel(const Tensor& solutions, const Tensor& factors, const Tensor& pivots, bool adjoint) {
  if (solutions.numel() == 0) return;
  check_pivots(pivots, rows_of(factors));
  TorchCudaSolve solve{};
  solve.solver = kTorchCudaSolveLU;
  solve.pivots = pivots.data_ptr<int>();
  solve.adjoint = adjoint;
  run(solve, memory_of(factors), memory_of(solutions));
}

void solve_triangular_kernel(const Tensor& matrices, const Tensor& right_sides, bool left, bool upper,
                             bool unitriangular) {
  if (right_sides.numel() == 0) return;
  TorchCudaSolve solve{};
  solve.solver = kTorchCudaSolveTriangular;
  solve.left = left;
  solve.upper = upper;
  solve.unitriangular = unitriangular;
  run(solve, memory_of(matrices), memory_of(right_sides));
}

// `permutation` [..., rows] gets the order of rows that the swaps in `pivots` [..., n], n <= rows, make.
void pivots_to_permutation_kernel(const Tensor& permutation, const Tensor& pivots) {
  const int64_t rows = permutation.sizes().back();
  const int64_t swaps = pivots.sizes().back();
  if (permutation.numel() == 0) return;
  check_pivots(pivots, rows);
  const int* pivot = pivots.data_ptr<int>();
  int64_t* order = permutation.data_ptr<int64_t>();
  for_each_index(permutation.numel() / rows, [=] __device__(int64_t i) {
    int64_t* own = order + i * rows;
    for (int64_t row = 0; row < rows; ++row) own[row] = row;
    for (int64_t row = 0; row < swaps; ++row) {
      const int64_t other = pivot[i * swaps + row] - 1;
      const int64_t kept = own[row];
      own[row] = own[other];
      own[other] = kept;
    }
  });
}

}  // namespace at::native::cuda
