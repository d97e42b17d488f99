#pragma once
// Products of 16 x 16 by 16 x 8 numbers of 16 bits that a warp's tensor cores add up in float32, for kernels that keep
// sums in registers and use them as operands of the next product, which needs to know where in a warp each number is:
//
//   rows       (operand a, 16 x 16)  lane l has rows l / 4 and l / 4 + 8, in them columns l % 4 * 2 + {0, 1, 8, 9}
//   columns    (operand b, 16 x 8)   column l / 4, in it rows l % 4 * 2 + {0, 1, 8, 9}
//   sums       (16 x 8)              rows l / 4 and l / 4 + 8, columns l % 4 * 2 + {0, 1}
//
// And copies to shared memory that a thread does not wait for.

#include <aten/native/cuda/Halves.cuh>
#include <aten/native/cuda/Launch.cuh>

#if !defined(__CUDACC__)
#include <tensor_cores.h>
#endif

#include <cstdint>

namespace at::native::cuda {

// sums += a b. b0 and b1 are of rows 0 to 7 and 8 to 15. Each word holds two neighbours, the first in the lower half.
template <FloatFormat kFormat>
__device__ void multiply_add(float (&sums)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  static_assert(kFormat != FloatFormat::float32);
#if defined(__CUDA_ARCH__)
  if constexpr (kFormat == FloatFormat::bfloat16) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
#elif !defined(__CUDACC__)
  cuda_emulation::multiply_add(sums, a, b0, b1, [](uint16_t bits) { return widen(bits, kFormat); });
#endif
}

// Four matrices of 8 x 8 numbers of 16 bits from shared memory: lane l says where row l % 8 of matrix l / 8 begins, and
// gets of each row l / 4, columns l % 4 * 2 + {0, 1}; transposed, column l / 4, rows l % 4 * 2 + {0, 1}.
template <bool kTransposed>
__device__ void load_matrices(uint32_t (&words)[4], const void* row) {
#if defined(__CUDA_ARCH__)
  const auto place = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(place)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(place)
                 : "memory");
  }
#elif !defined(__CUDACC__)
  cuda_emulation::load_matrices<kTransposed>(words, row);
#endif
}

// 2^x, to a few units in the last place; 0 for what is too small for a normal number.
__device__ inline float quick_exp2(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return ::exp2f(x);
#endif
}

// kBytes (4 or 16) from device to shared memory; zeros instead where nothing `exists`, and `source` is not read.
template <int kBytes>
__device__ void copy_later(void* target, const void* source, bool exists) {
  static_assert(kBytes == 4 || kBytes == 16);
#if defined(__CUDA_ARCH__)
  const auto place = static_cast<uint32_t>(__cvta_generic_to_shared(target));
  const int read = exists ? kBytes : 0;
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(source), "r"(read) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(place), "l"(source), "r"(read) : "memory");
#elif !defined(__CUDACC__)
  cuda_emulation::copy_later(target, source, kBytes, exists);
#endif
}

// Until the thread's own copies are done; a barrier makes them the others'.
__device__ inline void wait_for_copies() {
#if defined(__CUDA_ARCH__)
  asm volatile("cp.async.wait_all;" ::: "memory");
#elif !defined(__CUDACC__)
  cuda_emulation::wait_for_copies();
#endif
}

}  // namespace at::native::cuda
