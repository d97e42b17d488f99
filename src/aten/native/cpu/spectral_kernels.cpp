// Eigenvalues, singular values and least squares, by LAPACK.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/MatrixBatch.h>

namespace at::native::cpu {

namespace {

// Enough of a workspace of real numbers, for routines that say how much they need in words only.
int64_t gesdd_real_workspace(int64_t rows, int64_t columns, bool vectors) {
  const int64_t small = std::min(rows, columns);
  const int64_t large = std::max(rows, columns);
  if (!vectors) return 7 * small;
  return std::max(5 * small * small + 5 * small, 2 * large * small + 2 * small * small + small);
}

}  // namespace

// `matrices` become their eigenvectors if `with_vectors`, otherwise what they held is lost.
void eigh_kernel(const Tensor& values, const Tensor& matrices, const Tensor& info, bool upper, bool with_vectors) {
  dispatch_floating_and_complex_types(matrices.dtype(), "linalg_eigh_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    using R = typename Lapack<T>::Real;
    const MatrixBatch<T> a(matrices);
    if (a.count == 0) return;
    check_workspace(a.rows, 2, "linalg.eigh");
    R* found = values.data_ptr<R>();
    int* codes = info.data_ptr<int>();
    const char job = with_vectors ? 'V' : 'N';
    const char triangle = upper ? 'U' : 'L';
    const auto call = [&](T* matrix, R* w, T* work, int work_size, [[maybe_unused]] R* real_work,
                          [[maybe_unused]] int real_size, int* integer_work, int integer_size, int* code) {
      if constexpr (Lapack<T>::kIsReal) {
        Lapack<T>::syevd(&job, &triangle, &a.rows, matrix, &a.leading, w, work, &work_size, integer_work, &integer_size,
                         code);
      } else {
        Lapack<T>::syevd(&job, &triangle, &a.rows, matrix, &a.leading, w, work, &work_size, real_work, &real_size,
                         integer_work, &integer_size, code);
      }
    };
    T asked{};
    R asked_real{};
    int integer_size = 0;
    call(a[0], found, &asked, -1, &asked_real, -1, &integer_size, -1, codes);
    const int work_size = workspace_size(asked);
    const int real_size = workspace_size(asked_real);
    for_each_matrix(a.count, 8 * cube(a.rows, a.rows), [&](int64_t begin, int64_t end) {
      std::vector<T> work(work_size);
      std::vector<R> real_work(Lapack<T>::kIsReal ? 0 : real_size);
      std::vector<int> integer_work(std::max(integer_size, 1));
      for (int64_t i = begin; i < end; ++i) {
        call(a[i], found + i * a.rows, work.data(), work_size, real_work.data(), real_size, integer_work.data(),
             static_cast<int>(integer_work.size()), codes + i);
      }
    });
  });
}

// `vectors` may be undefined. Of real matrices, too, both results are complex. What `matrices` held is lost.
void eig_kernel(const Tensor& values, const Tensor& vectors, const Tensor& matrices, const Tensor& info) {
  dispatch_floating_and_complex_types(matrices.dtype(), "linalg_eig_out_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    using R = typename Lapack<T>::Real;
    using C = c10::complex<R>;
    const MatrixBatch<T> a(matrices);
    if (a.count == 0) return;
    C* found = values.data_ptr<C>();
    C* found_vectors = vectors.defined() ? vectors.data_ptr<C>() : nullptr;
    int* codes = info.data_ptr<int>();
    const int n = a.rows;
    const char left_job = 'N';
    const char job = found_vectors ? 'V' : 'N';
    const int one = 1;
    // Of a real matrix: real and imaginary parts of the values, and vectors whose pairs are real and imaginary parts.
    const auto call = [&](T* matrix, T* w, T* v, T* work, int work_size, R* real_work, int* code) {
      if constexpr (Lapack<T>::kIsReal) {
        Lapack<T>::geev(&left_job, &job, &n, matrix, &a.leading, w, w + n, nullptr, &one, v, &a.leading, work,
                        &work_size, code);
      } else {
        Lapack<T>::geev(&left_job, &job, &n, matrix, &a.leading, w, nullptr, &one, v, &a.leading, work, &work_size,
                        real_work, code);
      }
    };
    T asked{};
    std::vector<T> first_values(2 * static_cast<size_t>(n));
    R unused{};
    call(a[0], first_values.data(), a[0], &asked, -1, &unused, codes);
    const int work_size = workspace_size(asked);
    for_each_matrix(a.count, 25 * cube(n, n), [&](int64_t begin, int64_t end) {
      std::vector<T> work(work_size);
      std::vector<R> real_work(2 * static_cast<size_t>(n));
      std::vector<T> w(2 * static_cast<size_t>(n));
      std::vector<T> v(found_vectors ? a.step : 1);
      for (int64_t i = begin; i < end; ++i) {
        call(a[i], w.data(), v.data(), work.data(), work_size, real_work.data(), codes + i);
        C* value = found + i * n;
        C* vector = found_vectors ? found_vectors + i * a.step : nullptr;
        if constexpr (Lapack<T>::kIsReal) {
          for (int j = 0; j < n; ++j) value[j] = C(w[j], w[n + j]);
          for (int64_t j = 0; vector && j < n; ++j) {
            const T* real = v.data() + j * n;
            const bool is_pair = w[n + j] != R(0) && j + 1 < n;
            const T* imag = real + n;
            for (int64_t row = 0; row < n; ++row) {
              vector[j * n + row] = C(real[row], is_pair ? imag[row] : R(0));
              if (is_pair) vector[(j + 1) * n + row] = C(real[row], -imag[row]);
            }
            j += is_pair;
          }
        } else {
          std::copy_n(w.data(), n, value);
          if (vector) std::copy_n(v.data(), a.step, vector);
        }
      }
    });
  });
}

// `u` and `vh` are undefined, or both as wide as `full` says. What `matrices` held is lost.
void svd_kernel(const Tensor& u, const Tensor& s, const Tensor& vh, const Tensor& matrices, const Tensor& info,
                bool full, int64_t) {
  dispatch_floating_and_complex_types(matrices.dtype(), "linalg_svd_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    using R = typename Lapack<T>::Real;
    const MatrixBatch<T> a(matrices);
    if (a.count == 0) return;
    const bool with_vectors = u.defined();
    check_workspace(std::min(a.rows, a.columns), with_vectors ? 5 : 1, "linalg.svd");
    const int rank = std::min(a.rows, a.columns);
    R* values = s.data_ptr<R>();
    T* left = with_vectors ? u.data_ptr<T>() : nullptr;
    T* right = with_vectors ? vh.data_ptr<T>() : nullptr;
    const int left_columns = full ? a.rows : rank;
    const int right_rows = with_vectors ? (full ? a.columns : rank) : 1;
    int* codes = info.data_ptr<int>();
    const char job = with_vectors ? (full ? 'A' : 'S') : 'N';
    const auto call = [&](int64_t i, T* work, int work_size, [[maybe_unused]] R* real_work, int* integer_work) {
      T* left_i = with_vectors ? left + i * a.rows * left_columns : nullptr;
      T* right_i = with_vectors ? right + i * static_cast<int64_t>(right_rows) * a.columns : nullptr;
      if constexpr (Lapack<T>::kIsReal) {
        Lapack<T>::gesdd(&job, &a.rows, &a.columns, a[i], &a.leading, values + i * rank, left_i, &a.leading, right_i,
                         &right_rows, work, &work_size, integer_work, codes + i);
      } else {
        Lapack<T>::gesdd(&job, &a.rows, &a.columns, a[i], &a.leading, values + i * rank, left_i, &a.leading, right_i,
                         &right_rows, work, &work_size, real_work, integer_work, codes + i);
      }
    };
    T asked{};
    R unused{};
    int unused_integer = 0;
    call(0, &asked, -1, &unused, &unused_integer);
    const int work_size = workspace_size(asked);
    for_each_matrix(a.count, 20 * cube(a.rows, a.columns), [&](int64_t begin, int64_t end) {
      std::vector<T> work(work_size);
      std::vector<R> real_work(Lapack<T>::kIsReal ? 0 : gesdd_real_workspace(a.rows, a.columns, with_vectors));
      std::vector<int> integer_work(8 * static_cast<size_t>(rank));
      for (int64_t i = begin; i < end; ++i) call(i, work.data(), work_size, real_work.data(), integer_work.data());
    });
  });
}

// `right_sides` [max(m, n), k] become the solutions. `rank` and `values` may be undefined: then the driver gives none.
// Drivers: 0 gels, 1 gelsy, 2 gelsd, 3 gelss.
void lstsq_kernel(const Tensor& right_sides, const Tensor& matrices, const Tensor& rank, const Tensor& values,
                  const Tensor& info, double rcond, int64_t driver) {
  dispatch_floating_and_complex_types(matrices.dtype(), "linalg_lstsq", [&](auto type) {
    using T = typename decltype(type)::type;
    using R = typename Lapack<T>::Real;
    constexpr bool real = Lapack<T>::kIsReal;
    const MatrixBatch<T> a(matrices);
    const MatrixBatch<T> b(right_sides);
    if (a.count == 0 || b.count == 0) return;
    const int small = std::min(a.rows, a.columns);
    const int large = std::max(a.rows, a.columns);
    check_workspace(small, 12, "linalg.lstsq");
    const R limit = static_cast<R>(rcond);
    const char plain = 'N';
    int* codes = info.data_ptr<int>();
    const auto call = [&](int64_t i, R* s, int* found_rank, T* work, int work_size, [[maybe_unused]] R* real_work,
                          int* integer_work) {
      const auto m = &a.rows;
      const auto n = &a.columns;
      const auto k = &b.columns;
      switch (driver) {
        case 0:
          return Lapack<T>::gels(&plain, m, n, k, a[i], &a.leading, b[i], &b.leading, work, &work_size, codes + i);
        case 1:
          if constexpr (real) {
            return Lapack<T>::gelsy(m, n, k, a[i], &a.leading, b[i], &b.leading, integer_work, &limit, found_rank, work,
                                    &work_size, codes + i);
          } else {
            return Lapack<T>::gelsy(m, n, k, a[i], &a.leading, b[i], &b.leading, integer_work, &limit, found_rank, work,
                                    &work_size, real_work, codes + i);
          }
        case 2:
          if constexpr (real) {
            return Lapack<T>::gelsd(m, n, k, a[i], &a.leading, b[i], &b.leading, s, &limit, found_rank, work,
                                    &work_size, integer_work, codes + i);
          } else {
            return Lapack<T>::gelsd(m, n, k, a[i], &a.leading, b[i], &b.leading, s, &limit, found_rank, work,
                                    &work_size, real_work, integer_work, codes + i);
          }
        default:
          if constexpr (real) {
            return Lapack<T>::gelss(m, n, k, a[i], &a.leading, b[i], &b.leading, s, &limit, found_rank, work,
                                    &work_size, codes + i);
          } else {
            return Lapack<T>::gelss(m, n, k, a[i], &a.leading, b[i], &b.leading, s, &limit, found_rank, work,
                                    &work_size, real_work, codes + i);
          }
      }
    };
    // gelsd says how much of both it needs, the others in words: 2n, and 5 min(m, n).
    T asked{};
    R real_size = 0;
    int integer_size = 0;
    int rank_found = 0;
    std::vector<R> first_values(small);
    call(0, first_values.data(), &rank_found, &asked, -1, &real_size, &integer_size);
    const int work_size = workspace_size(asked);
    const size_t reals =
        real ? 0 : std::max<size_t>(driver == 2 ? workspace_size(real_size) : 0, 5 * static_cast<size_t>(large));
    const size_t integers = std::max<size_t>(driver == 2 ? integer_size : 0, a.columns);
    for_each_matrix(a.count, 20 * cube(a.rows, a.columns), [&](int64_t begin, int64_t end) {
      std::vector<T> work(work_size);
      std::vector<R> real_work(reals);
      std::vector<int> integer_work(integers);
      std::vector<R> s(small);
      for (int64_t i = begin; i < end; ++i) {
        int found = 0;
        std::fill(integer_work.begin(), integer_work.end(), 0);  // gelsy: every column may be exchanged
        call(i, s.data(), &found, work.data(), work_size, real_work.data(), integer_work.data());
        if (rank.defined()) rank.data_ptr<int64_t>()[i] = found;
        if (values.defined()) std::copy(s.begin(), s.end(), values.data_ptr<R>() + i * small);
      }
    });
  });
}

}  // namespace at::native::cpu
