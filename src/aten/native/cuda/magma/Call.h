#pragma once
// What all calls of MAGMA need. Its routines work on the host and on streams of their own,
// and are done when they return.

#include <aten/native/cuda/solver/Solver.h>

#include <magma_v2.h>

#include <climits>
#include <cstdlib>
#include <type_traits>

// Of MKL's dispatcher, which may be what LAPACK's standard name leads to; else null.
extern "C" int MKL_Set_Threading_Layer(int layer) __attribute__((weak, visibility("default")));

namespace torch_cuda_magma {

// Within this library; its functions return the text.
struct Failure {
  const char* what;
};

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw Failure{cudaGetErrorString(error)};
}

inline magma_int_t narrow(int64_t size) {
  if (size > INT_MAX) throw Failure{"a matrix dimension is larger than MAGMA's 32-bit interface takes"};
  return static_cast<magma_int_t>(size);
}

// Memory of the host that devices copy from and to by themselves.
template <typename T>
class Pinned {
 public:
  explicit Pinned(int64_t count) : count_(count > 0 ? count : 1) {
    check(cudaHostAlloc(reinterpret_cast<void**>(&data_), bytes(), /*flags=*/0));
  }
  ~Pinned() { cudaFreeHost(data_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  T* get() const { return data_; }
  T& operator[](int64_t i) { return data_[i]; }
  size_t bytes() const { return sizeof(T) * static_cast<size_t>(count_); }

 private:
  int64_t count_;
  T* data_ = nullptr;
};

// The dispatcher would take Intel's OpenMP: a second runtime beside libtorch's, or,
// where there is none, the end of the process.
inline magma_int_t initialize() {
  constexpr int kGNU = 3;
  if (MKL_Set_Threading_Layer != nullptr && std::getenv("MKL_THREADING_LAYER") == nullptr)
    MKL_Set_Threading_Layer(kGNU);
  return magma_init();
}

// One call of the plug-in: what was queued before is done when it begins, and what MAGMA queued when it ends.
class Call {
 public:
  explicit Call(const TorchCudaSolverCall& call) : call_(call) {
    static const magma_int_t status = initialize();
    if (status != MAGMA_SUCCESS) throw Failure{magma_strerror(status)};
    check(cudaStreamSynchronize(call.stream));
  }

  int64_t batches() const { return call_.batches; }

  template <typename T>
  void read(const Pinned<T>& to, const void* from) const {
    copy(to.get(), from, to.bytes(), cudaMemcpyDeviceToHost);
  }
  template <typename T>
  void write(void* to, const Pinned<T>& from) const {
    copy(to, from.get(), from.bytes(), cudaMemcpyHostToDevice);
  }

  // What a routine says: of the matrix, which goes to the device, or of itself.
  void finish(magma_int_t code, int* info) const {
    if (code < 0) throw Failure{code > MAGMA_ERR ? "an invalid argument" : magma_strerror(code)};
    check(cudaDeviceSynchronize());
    if (info) copy(info, &code, sizeof(int), cudaMemcpyHostToDevice);
  }

 private:
  void copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) const {
    check(cudaMemcpyAsync(to, from, bytes, kind, call_.stream));
    check(cudaStreamSynchronize(call_.stream));
  }

  const TorchCudaSolverCall& call_;
};

// The routines of one element type.
template <typename T>
struct Routines;
#define TORCH_CUDA_MAGMA_ROUTINES(T, R, p, symmetric)               \
  template <>                                                       \
  struct Routines<T> {                                              \
    using Real = R;                                                 \
    static constexpr bool kIsComplex = !std::is_same_v<T, R>;       \
    static constexpr auto potrf = magma_##p##potrf_gpu;             \
    static constexpr auto getrf = magma_##p##getrf_gpu;             \
    static constexpr auto geqrf = magma_##p##geqrf2_gpu;            \
    static constexpr auto syevd = magma_##p##symmetric##evd_gpu;    \
    static constexpr auto geev = magma_##p##geev;                   \
    static constexpr auto gesdd = magma_##p##gesdd;                 \
  };
TORCH_CUDA_MAGMA_ROUTINES(float, float, s, sy)
TORCH_CUDA_MAGMA_ROUTINES(double, double, d, sy)
TORCH_CUDA_MAGMA_ROUTINES(magmaFloatComplex, float, c, he)
TORCH_CUDA_MAGMA_ROUTINES(magmaDoubleComplex, double, z, he)
#undef TORCH_CUDA_MAGMA_ROUTINES

// What a routine says in `asked`, the first number of its memory, of how much of it there must be.
// The real part comes first.
template <typename T>
magma_int_t size_of(const T& asked) {
  return static_cast<magma_int_t>(reinterpret_cast<const typename Routines<T>::Real&>(asked));
}

// body(T{}, call) with the element type of the call; null, or what went wrong.
template <typename Body>
const char* run(const TorchCudaSolverCall* given, const Body& body) {
  try {
    Call call(*given);
    if (given->is_complex) given->is_double ? body(magmaDoubleComplex{}, call) : body(magmaFloatComplex{}, call);
    else given->is_double ? body(double{}, call) : body(float{}, call);
    return nullptr;
  } catch (const Failure& failure) {
    return failure.what;
  }
}

// Matrix `index` of a stack.
template <typename T>
T* matrix(const TorchCudaStack& stack, int64_t index) {
  return static_cast<T*>(stack.data) + index * stack.rows * stack.columns;
}

}  // namespace torch_cuda_magma
