#pragma once
// float16 and bfloat16 under kernels that compute in float: an iterator leaves such operands as they are in memory, and
// kernels widen what they read and round what they write. Which format it is, is asked at run time, by all threads
// alike: it costs less than a kernel for each would.

#include <aten/TensorIterator.h>

#include <cstdint>

namespace at::native::cuda {

enum class FloatFormat : uint8_t { float32, float16, bfloat16 };

inline FloatFormat format_of(c10::ScalarType dtype) {
  return dtype == kHalf ? FloatFormat::float16 : dtype == kBFloat16 ? FloatFormat::bfloat16 : FloatFormat::float32;
}

// The dtype of an operand's elements where `iter.data(operand)` points to.
inline c10::ScalarType dtype_in_memory(const TensorIterator& iter, int operand) {
  return iter.is_cpu_scalar(operand) ? iter.dtype(operand) : iter.tensor(operand).dtype();
}
inline int64_t size_in_memory(const TensorIterator& iter, int operand) {
  return static_cast<int64_t>(c10::element_size(dtype_in_memory(iter, operand)));
}

// The number that 16 bits are in a format that has so many.
__device__ inline float widen(uint16_t bits, FloatFormat format) {
  if (format == FloatFormat::bfloat16) return c10::detail::float_of_bfloat16(bits);
#if defined(__CUDA_ARCH__)
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
#else
  return c10::detail::float_of_half(bits);
#endif
}

// To the nearest, ties to even.
__device__ inline uint16_t narrow(float value, FloatFormat format) {
#if defined(__CUDA_ARCH__)
  uint16_t bits;
  if (format == FloatFormat::bfloat16) asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  else asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  return format == FloatFormat::bfloat16 ? c10::detail::bfloat16_of_float(value) : c10::detail::half_of_float(value);
#endif
}

// Two numbers' bits, the first in the lower half.
__device__ inline uint32_t narrow_two(float low, float high, FloatFormat format) {
#if defined(__CUDA_ARCH__)
  uint32_t bits;
  if (format == FloatFormat::bfloat16) asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  else asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
#else
  return narrow(low, format) | uint32_t{narrow(high, format)} << 16;
#endif
}

// One number, wherever it is.
__device__ inline float load_float(const void* source, FloatFormat format) {
  if (format == FloatFormat::float32) return *static_cast<const float*>(source);
  return widen(*static_cast<const uint16_t*>(source), format);
}
__device__ inline void store_float(void* target, float value, FloatFormat format) {
  if (format == FloatFormat::float32) *static_cast<float*>(target) = value;
  else *static_cast<uint16_t*>(target) = narrow(value, format);
}

// Sixteen bytes of an operand, at a multiple of 16 bytes: four numbers or, of 16 bits, eight.
struct alignas(16) FloatWords {
  uint32_t words[4];
};
struct alignas(8) HalfOfFloatWords {
  uint32_t words[2];
};

// `size` numbers from `source` on, four or eight, of which `count` exist; behind the last one, zeros.
__device__ inline FloatWords load_words(const char* source, FloatFormat format, uint32_t size, uint32_t count) {
  const bool is_whole = size == 8 || format == FloatFormat::float32;
  if (count >= size && is_whole) return *reinterpret_cast<const FloatWords*>(source);
  FloatWords loaded{};
  if (count >= size) {
    const auto half = *reinterpret_cast<const HalfOfFloatWords*>(source);
    loaded.words[0] = half.words[0];
    loaded.words[1] = half.words[1];
    return loaded;
  }
#pragma unroll
  for (uint32_t i = 0; i < 8; ++i) {
    if (i >= count) continue;
    if (format != FloatFormat::float32)
      loaded.words[i / 2] |= uint32_t{reinterpret_cast<const uint16_t*>(source)[i]} << (i % 2 * 16);
    else if (i < 4)
      loaded.words[i] = reinterpret_cast<const uint32_t*>(source)[i];
  }
  return loaded;
}

// The numbers in `loaded`; of float32, the first four.
__device__ inline void widen_words(const FloatWords& loaded, FloatFormat format, float (&values)[8]) {
  const auto bits = [&](int i) { return static_cast<uint16_t>(loaded.words[i / 2] >> (i % 2 * 16)); };
  if (format == FloatFormat::float32) {
#pragma unroll
    for (int i = 0; i < 8; ++i) values[i] = c10::detail::float_of_bits(loaded.words[i % 4]);
  } else if (format == FloatFormat::bfloat16) {
#pragma unroll
    for (int i = 0; i < 8; ++i) values[i] = widen(bits(i), FloatFormat::bfloat16);
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i) values[i] = widen(bits(i), FloatFormat::float16);
  }
}

// Writes the first `count` of `size` numbers.
__device__ inline void store_words(char* target, const float (&values)[8], FloatFormat format, uint32_t size,
                                   uint32_t count) {
  if (count < size) {
#pragma unroll
    for (uint32_t i = 0; i < 8; ++i) {
      if (i < count) store_float(target + i * (format == FloatFormat::float32 ? 4 : 2), values[i], format);
    }
    return;
  }
  FloatWords words;
  const auto narrow_all = [&](FloatFormat known) {
#pragma unroll
    for (int i = 0; i < 4; ++i) words.words[i] = narrow_two(values[2 * i], values[2 * i + 1], known);
  };
  if (format == FloatFormat::bfloat16) {
    narrow_all(FloatFormat::bfloat16);
  } else if (format == FloatFormat::float16) {
    narrow_all(FloatFormat::float16);
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) words.words[i] = c10::detail::bits_of_float(values[i]);
  }
  if (size == 8 || format == FloatFormat::float32) *reinterpret_cast<FloatWords*>(target) = words;
  else *reinterpret_cast<HalfOfFloatWords*>(target) = {{words.words[0], words.words[1]}};
}

}  // namespace at::native::cuda
