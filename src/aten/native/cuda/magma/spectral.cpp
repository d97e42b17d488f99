// Eigenvalues and singular values by MAGMA: matrices are reduced on the device, the rest is done on the host.

#include <aten/native/cuda/magma/Call.h>
#include <aten/native/cuda/magma/Solvers.h>

#include <algorithm>
#include <utility>

namespace torch_cuda_magma {

namespace {

magma_vec_t mode(bool with_vectors) { return with_vectors ? MagmaVec : MagmaNoVec; }

}  // namespace

const char* eigh(const TorchCudaSolverCall* given, TorchCudaStack a, void* values, int upper, int with_vectors,
                 int* info) {
  return run(given, [&](auto type, Call& call) {
    using T = decltype(type);
    using Real = typename Routines<T>::Real;
    const magma_int_t n = narrow(a.rows);
    Pinned<Real> found(n);
    Pinned<T> copy(a.rows * a.rows);
    magma_int_t code = 0;
    const auto compute = [&](int64_t i, T* work, magma_int_t size, Real* real_work, magma_int_t real_size,
                             magma_int_t* places, magma_int_t count) {
      const auto uplo = upper ? MagmaUpper : MagmaLower;
      if constexpr (Routines<T>::kIsComplex) {
        Routines<T>::syevd(mode(with_vectors), uplo, n, matrix<T>(a, i), n, found.get(), copy.get(), n, work, size,
                           real_work, real_size, places, count, &code);
      } else {
        Routines<T>::syevd(mode(with_vectors), uplo, n, matrix<T>(a, i), n, found.get(), copy.get(), n, work, size,
                           places, count, &code);
      }
    };
    T size{};
    Real real_size{};
    magma_int_t count = 0;
    compute(0, &size, -1, &real_size, -1, &count, -1);
    call.finish(code, nullptr);
    Pinned<T> work(size_of(size));
    Pinned<Real> real_work(size_of(real_size));
    Pinned<magma_int_t> places(count);
    for (int64_t i = 0; i < call.batches(); ++i) {
      compute(i, work.get(), size_of(size), real_work.get(), size_of(real_size), places.get(), count);
      call.finish(code, info + i);
      call.write(static_cast<Real*>(values) + i * n, found);
    }
  });
}

const char* eig(const TorchCudaSolverCall* given, TorchCudaStack a, void* values, void* vectors, int* info) {
  return run(given, [&](auto type, Call& call) {
    using T = decltype(type);
    using Real = typename Routines<T>::Real;
    using Value = std::pair<Real, Real>;
    const magma_int_t n = narrow(a.rows);
    const bool with_vectors = vectors != nullptr;
    Pinned<T> kept(a.rows * a.rows), right(with_vectors ? a.rows * a.rows : 1);
    Pinned<Value> found(n);
    Pinned<Real> parts(2 * a.rows);  // of complex matrices, memory to work in
    magma_int_t code = 0;
    const auto compute = [&](T* work, magma_int_t size) {
      if constexpr (Routines<T>::kIsComplex) {
        Routines<T>::geev(MagmaNoVec, mode(with_vectors), n, kept.get(), n, reinterpret_cast<T*>(found.get()), nullptr,
                          n, right.get(), n, work, size, parts.get(), &code);
      } else {
        Routines<T>::geev(MagmaNoVec, mode(with_vectors), n, kept.get(), n, parts.get(), parts.get() + n, nullptr, n,
                          right.get(), n, work, size, &code);
      }
    };
    T size{};
    compute(&size, -1);
    call.finish(code, nullptr);
    Pinned<T> work(size_of(size));
    for (int64_t i = 0; i < call.batches(); ++i) {
      call.read(kept, matrix<T>(a, i));
      compute(work.get(), size_of(size));
      if constexpr (!Routines<T>::kIsComplex) {
        for (magma_int_t k = 0; k < n; ++k) found[k] = {parts[k], parts[n + k]};
      }
      call.finish(code, info + i);
      call.write(static_cast<Value*>(values) + i * n, found);
      if (with_vectors) call.write(matrix<T>({vectors, n, n}, i), right);
    }
  });
}

const char* svd(const TorchCudaSolverCall* given, TorchCudaStack a, void* values, TorchCudaStack u, TorchCudaStack v,
                int with_vectors, TorchCudaSVDMethod method, int* info) {
  return run(given, [&](auto type, Call& call) {
    using T = decltype(type);
    using Real = typename Routines<T>::Real;
    if (method != kTorchCudaDivideAndConquer) throw Failure{"this method is cuSOLVER's"};
    const magma_int_t rows = narrow(a.rows), columns = narrow(a.columns);
    const auto job = !with_vectors ? MagmaNoVec : u.columns == u.rows ? MagmaAllVec : MagmaSomeVec;
    Pinned<T> kept(a.rows * a.columns), left(with_vectors ? u.rows * u.columns : 1),
        right(with_vectors ? v.rows * v.columns : 1);
    Pinned<Real> found(a.columns);
    // As LAPACK wants them for at least as many rows as columns.
    Pinned<Real> real_work(
        Routines<T>::kIsComplex ? a.columns * std::max(5 * a.columns + 7, 2 * a.rows + 2 * a.columns + 1) : 1);
    Pinned<magma_int_t> places(8 * a.columns);
    magma_int_t code = 0;
    const auto compute = [&](T* work, magma_int_t size) {
      if constexpr (Routines<T>::kIsComplex) {
        Routines<T>::gesdd(job, rows, columns, kept.get(), rows, found.get(), left.get(), rows, right.get(), columns,
                           work, size, real_work.get(), places.get(), &code);
      } else {
        Routines<T>::gesdd(job, rows, columns, kept.get(), rows, found.get(), left.get(), rows, right.get(), columns,
                           work, size, places.get(), &code);
      }
    };
    T size{};
    compute(&size, -1);
    call.finish(code, nullptr);
    Pinned<T> work(size_of(size));
    for (int64_t i = 0; i < call.batches(); ++i) {
      call.read(kept, matrix<T>(a, i));
      compute(work.get(), size_of(size));
      call.finish(code, info + i);
      call.write(static_cast<Real*>(values) + i * columns, found);
      if (!with_vectors) continue;
      call.write(matrix<T>(u, i), left);
      call.write(matrix<T>(v, i), right);
    }
  });
}

}  // namespace torch_cuda_magma

extern "C" __attribute__((visibility("default"))) const TorchCudaSolvers* torch_cuda_magma_solvers() {
  using namespace torch_cuda_magma;
  static const TorchCudaSolvers solvers{cholesky, lu, qr, nullptr, nullptr, nullptr, nullptr, eigh, eig, svd};
  return &solvers;
}
