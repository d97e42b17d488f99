// Cholesky, LU, QR and LDL factorisations, and triangular systems, by LAPACK and BLAS.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/FusedKernels.h>
#include <aten/native/cpu/MatrixBatch.h>
#include <aten/native/cpu/panel_gemm.h>
#include <c10/util/complex.h>

#include <memory>
#include <type_traits>

namespace at::native::cpu {

namespace {

// The other triangle of a Hermitian matrix, in squares whose lines stay in the first cache.
template <typename T>
void mirror_triangle(T* matrix, int64_t rows, bool upper) {
  constexpr int64_t kSide = 16;
  for (int64_t left = 0; left < rows; left += kSide) {
    for (int64_t top = left; top < rows; top += kSide) {
      for (int64_t column = left; column < std::min(left + kSide, rows); ++column) {
        for (int64_t row = std::max(top, column + 1); row < std::min(top + kSide, rows); ++row) {
          T& below = matrix[column * rows + row];
          T& above = matrix[row * rows + column];
          if constexpr (std::is_floating_point_v<T>) (upper ? below : above) = upper ? above : below;
          else (upper ? below : above) = c10::conj(upper ? above : below);
        }
      }
    }
  }
}

}  // namespace

void cholesky_kernel(const Tensor& matrices, const Tensor& info, bool upper) {
  dispatch_floating_and_complex_types(matrices.dtype(), "cholesky_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    const MatrixBatch<T> a(matrices);
    int* codes = info.data_ptr<int>();
    const char triangle = upper ? 'U' : 'L';
    for_each_matrix(a.count, cube(a.rows, a.rows), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Lapack<T>::potrf(&triangle, &a.rows, a[i], &a.leading, codes + i);
        // What LAPACK left in the other triangle is the input's.
        for (int column = 0; column < a.columns; ++column) {
          T* first = a[i] + static_cast<int64_t>(column) * a.rows;
          if (upper) std::fill(first + column + 1, first + a.rows, T(0));
          else std::fill(first, first + column, T(0));
        }
      }
    });
  });
}

void invert_cholesky(const Tensor& factors, const Tensor& info, bool upper) {
  dispatch_floating_and_complex_types(factors.dtype(), "cholesky_inverse", [&](auto type) {
    using T = typename decltype(type)::type;
    const MatrixBatch<T> a(factors);
    int* codes = info.data_ptr<int>();
    const char triangle = upper ? 'U' : 'L';
    for_each_matrix(a.count, cube(a.rows, a.rows), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Lapack<T>::potri(&triangle, &a.rows, a[i], &a.leading, codes + i);
        mirror_triangle(a[i], a.rows, upper);
      }
    });
  });
}

void lu_factor_kernel(const Tensor& matrices, const Tensor& pivots, const Tensor& info) {
  dispatch_floating_and_complex_types(matrices.dtype(), "lu_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    const MatrixBatch<T> a(matrices);
    int* codes = info.data_ptr<int>();
    int* swaps = pivots.data_ptr<int>();
    const int64_t rank = std::min(a.rows, a.columns);
    for_each_matrix(a.count, cube(a.rows, a.columns), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Lapack<T>::getrf(&a.rows, &a.columns, a[i], &a.leading, swaps + i * rank, codes + i);
      }
    });
  });
}

namespace {

// LAPACK exchanges rows as pivots say, without looking.
void check_pivots(const int* pivots, int64_t count, int64_t rows) {
  for (int64_t row = 0; row < count; ++row) {
    TORCH_CHECK(
        pivots[row] >= 1 && pivots[row] <= rows,
        "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive. Did you properly pass the result of ",
        "lu_factor?");
  }
}

}  // namespace

void lu_solve_kernel(const Tensor& solutions, const Tensor& factors, const Tensor& pivots, bool adjoint) {
  dispatch_floating_and_complex_types(solutions.dtype(), "lu_solve", [&](auto type) {
    using T = typename decltype(type)::type;
    const MatrixBatch<T> a(factors);
    const MatrixBatch<T> b(solutions);
    const int* swaps = pivots.data_ptr<int>();
    const char operation = adjoint ? 'C' : 'N';
    check_pivots(swaps, pivots.numel(), a.rows);
    for_each_matrix(b.count, static_cast<double>(a.rows) * b.rows * b.columns, [&](int64_t begin, int64_t end) {
      int code = 0;
      for (int64_t i = begin; i < end; ++i) {
        Lapack<T>::getrs(&operation, &a.rows, &b.columns, a[i], &a.leading, swaps + i * a.rows, b[i], &b.leading,
                         &code);
      }
    });
  });
}

// `permutation` [..., rows] gets the order of rows that the swaps in `pivots` [..., n], n <= rows, make.
void pivots_to_permutation_kernel(const Tensor& permutation, const Tensor& pivots) {
  const int64_t rows = permutation.sizes().back();
  const int64_t swaps = pivots.sizes().back();
  const int64_t count = rows == 0 ? 0 : permutation.numel() / rows;
  const int* pivot = pivots.data_ptr<int>();
  int64_t* order = permutation.data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i, pivot += swaps, order += rows) {
    for (int64_t row = 0; row < rows; ++row) order[row] = row;
    check_pivots(pivot, swaps, rows);
    for (int64_t row = 0; row < swaps; ++row) std::swap(order[row], order[pivot[row] - 1]);
  }
}

namespace {

// A X = B as X^T A^T = B^T, where MKL has a routine for wide vectors on processors that are not Intel's, too.
void solve_from_the_right(const MatrixBatch<float>& a, const MatrixBatch<float>& b, int64_t index, char triangle,
                          char operation, char diagonal) {
  const char side = 'R';
  const float one = 1;
  const std::unique_ptr<float[]> turned(new float[static_cast<size_t>(b.step)]);
  transpose_matrix(b[index], b.rows, b.columns, b.rows, turned.get(), b.columns);
  Lapack<float>::trsm(&side, &triangle, &operation, &diagonal, &b.columns, &b.rows, &one, a[index], &a.leading,
                      turned.get(), &b.columns);
  transpose_matrix<float>(turned.get(), b.columns, b.rows, b.columns, b[index], b.rows);
}

}  // namespace

void solve_triangular_kernel(const Tensor& matrices, const Tensor& right_sides, bool left, bool upper,
                             bool unitriangular) {
  dispatch_floating_and_complex_types(matrices.dtype(), "triangular_solve_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    const MatrixBatch<T> a(matrices);
    const MatrixBatch<T> b(right_sides);
    const char side = left ? 'L' : 'R';
    // Matrices whose rows lie side by side are the transposed ones to LAPACK.
    const bool turned = a.rows > 1 && matrices.strides()[matrices.dim() - 1] == 1;
    const char triangle = upper != turned ? 'U' : 'L';
    const char diagonal = unitriangular ? 'U' : 'N';
    const char operation = turned ? 'T' : 'N';
    const T one(1);
    constexpr int kManySides = 16;  // which pay for writing them crosswise
    const bool from_the_right = left && b.columns >= kManySides && panels_beat_blas();
    for_each_matrix(b.count, static_cast<double>(a.rows) * b.rows * b.columns, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if constexpr (std::is_same_v<T, float>) {
          if (from_the_right) {
            solve_from_the_right(a, b, i, triangle, turned ? 'N' : 'T', diagonal);
            continue;
          }
        }
        Lapack<T>::trsm(&side, &triangle, &operation, &diagonal, &b.rows, &b.columns, &one, a[i], &a.leading, b[i],
                        &b.leading);
      }
    });
  });
}

void geqrf_kernel(const Tensor& matrices, const Tensor& tau) {
  dispatch_floating_and_complex_types(matrices.dtype(), "geqrf_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    const MatrixBatch<T> a(matrices);
    if (a.count == 0) return;
    T* factors = tau.data_ptr<T>();
    const int64_t rank = std::min(a.rows, a.columns);
    int info = 0;
    int size = -1;
    T asked;
    Lapack<T>::geqrf(&a.rows, &a.columns, a[0], &a.leading, factors, &asked, &size, &info);
    size = workspace_size(asked);
    for_each_matrix(a.count, cube(a.rows, a.columns), [&](int64_t begin, int64_t end) {
      std::vector<T> work(size);
      int code = 0;
      for (int64_t i = begin; i < end; ++i) {
        Lapack<T>::geqrf(&a.rows, &a.columns, a[i], &a.leading, factors + i * rank, work.data(), &size, &code);
      }
    });
  });
}

void householder_product_kernel(const Tensor& matrices, const Tensor& tau) {
  dispatch_floating_and_complex_types(matrices.dtype(), "householder_product", [&](auto type) {
    using T = typename decltype(type)::type;
    const MatrixBatch<T> a(matrices);
    if (a.count == 0) return;
    const T* factors = tau.data_ptr<T>();
    const int reflections = lapack_int(tau.sizes().back());
    int info = 0;
    int size = -1;
    T asked;
    Lapack<T>::orgqr(&a.rows, &a.columns, &reflections, a[0], &a.leading, factors, &asked, &size, &info);
    size = workspace_size(asked);
    for_each_matrix(a.count, cube(a.rows, a.columns), [&](int64_t begin, int64_t end) {
      std::vector<T> work(size);
      int code = 0;
      for (int64_t i = begin; i < end; ++i) {
        Lapack<T>::orgqr(&a.rows, &a.columns, &reflections, a[i], &a.leading,
                         factors + static_cast<int64_t>(i) * reflections, work.data(), &size, &code);
      }
    });
  });
}

void ormqr_kernel(const Tensor& products, const Tensor& reflectors, const Tensor& tau, bool left, bool transpose) {
  dispatch_floating_and_complex_types(products.dtype(), "ormqr", [&](auto type) {
    using T = typename decltype(type)::type;
    const MatrixBatch<T> c(products);
    const MatrixBatch<T> a(reflectors);
    if (c.count == 0) return;
    const T* factors = tau.data_ptr<T>();
    const int reflections = lapack_int(tau.sizes().back());
    const char side = left ? 'L' : 'R';
    const char operation = transpose ? (Lapack<T>::kIsReal ? 'T' : 'C') : 'N';
    int info = 0;
    int size = -1;
    T asked;
    Lapack<T>::ormqr(&side, &operation, &c.rows, &c.columns, &reflections, a.data, &a.leading, factors, c[0],
                     &c.leading, &asked, &size, &info);
    size = workspace_size(asked);
    for_each_matrix(c.count, cube(c.rows, c.columns), [&](int64_t begin, int64_t end) {
      std::vector<T> work(size);
      int code = 0;
      for (int64_t i = begin; i < end; ++i) {
        Lapack<T>::ormqr(&side, &operation, &c.rows, &c.columns, &reflections, a[i], &a.leading,
                         factors + static_cast<int64_t>(i) * reflections, c[i], &c.leading, work.data(), &size, &code);
      }
    });
  });
}

void ldl_factor_kernel(const Tensor& matrices, const Tensor& pivots, const Tensor& info, bool hermitian) {
  dispatch_floating_and_complex_types(matrices.dtype(), "ldl_factor_kernel_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    const MatrixBatch<T> a(matrices);
    if (a.count == 0) return;
    const auto factor = hermitian ? Lapack<T>::hetrf : Lapack<T>::sytrf;
    int* codes = info.data_ptr<int>();
    int* swaps = pivots.data_ptr<int>();
    const char triangle = 'L';
    int size = -1;
    T asked;
    factor(&triangle, &a.rows, a[0], &a.leading, swaps, &asked, &size, codes);
    size = workspace_size(asked);
    for_each_matrix(a.count, cube(a.rows, a.rows), [&](int64_t begin, int64_t end) {
      std::vector<T> work(size);
      for (int64_t i = begin; i < end; ++i) {
        factor(&triangle, &a.rows, a[i], &a.leading, swaps + i * a.rows, work.data(), &size, codes + i);
      }
    });
  });
}

void ldl_solve_kernel(const Tensor& solutions, const Tensor& factors, const Tensor& pivots, bool hermitian) {
  dispatch_floating_and_complex_types(solutions.dtype(), "ldl_solve", [&](auto type) {
    using T = typename decltype(type)::type;
    const MatrixBatch<T> a(factors);
    const MatrixBatch<T> b(solutions);
    const auto solve = hermitian ? Lapack<T>::hetrs : Lapack<T>::sytrs;
    const int* swaps = pivots.data_ptr<int>();
    const char triangle = 'L';
    for_each_matrix(b.count, static_cast<double>(a.rows) * b.rows * b.columns, [&](int64_t begin, int64_t end) {
      int code = 0;
      for (int64_t i = begin; i < end; ++i) {
        solve(&triangle, &a.rows, &b.columns, a[i], &a.leading, swaps + i * a.rows, b[i], &b.leading, &code);
      }
    });
  });
}

}  // namespace at::native::cpu
