// Copies: same dtype as bytes (with blocks for transposes), other dtypes by conversion (Conversion.h).

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/Conversion.h>

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/copy_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Bits of one size, whatever they mean.
template <typename T>
struct Move {
  TORCH_SIMD T operator()(T value) const { return value; }
};
template <typename T>
struct MoveLoop {
  TORCH_SIMD void operator()(char** data, const int64_t* strides, int64_t count) const {
    if (strides[0] == sizeof(T) && strides[1] == sizeof(T)) {
      std::memcpy(data[0], data[1], static_cast<size_t>(count) * sizeof(T));
    } else if (strides[0] == sizeof(T) && strides[1] == 0) {
      std::fill_n(reinterpret_cast<T*>(data[0]), count, *reinterpret_cast<const T*>(data[1]));
    } else if (strides[0] == sizeof(T) && strides[1] == -static_cast<int64_t>(sizeof(T))) {
      const T* last = reinterpret_cast<const T*>(data[1]);
      auto* out = reinterpret_cast<T*>(data[0]);
      TORCH_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) out[i] = last[-i];
    } else if (strides[0] == sizeof(T) && strides[1] != 2 * sizeof(T)) {
      auto* out = reinterpret_cast<T*>(data[0]);
      for (int64_t i = 0; i < count; ++i) out[i] = *reinterpret_cast<const T*>(data[1] + i * strides[1]);
    } else {
      UnaryLoop<T, T, Move<T>>{{}}(data, strides, count);
    }
  }
};

#if HWY_TARGET != HWY_SCALAR
// A square of as many rows as a vector of 16 bytes has elements, in steps that riffle its halves.
template <typename T>
HWY_ATTR void transpose_square(T* out, int64_t out_step, const T* in, int64_t in_step) {
  const hn::Full128<T> d;
  constexpr size_t kSide = 16 / sizeof(T);
  hn::Vec<decltype(d)> rows[kSide];
  for (size_t i = 0; i < kSide; ++i) rows[i] = hn::LoadU(d, in + static_cast<int64_t>(i) * in_step);
  for (size_t step = 1; step < kSide; step *= 2) {
    hn::Vec<decltype(d)> riffled[kSide];
    for (size_t i = 0; i < kSide / 2; ++i) {
      riffled[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + kSide / 2]);
      riffled[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + kSide / 2]);
    }
    for (size_t i = 0; i < kSide; ++i) rows[i] = riffled[i];
  }
  for (size_t i = 0; i < kSide; ++i) hn::StoreU(rows[i], d, out + static_cast<int64_t>(i) * out_step);
}
#endif

// out[r][c] = in[c][r], steps in elements.
template <typename T>
HWY_ATTR void transpose_block(T* out, int64_t out_step, const T* in, int64_t in_step, int64_t height, int64_t width) {
  int64_t r = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) <= 8) {
    constexpr int64_t kSide = 16 / sizeof(T);
    for (; r + kSide <= height; r += kSide) {
      int64_t c = 0;
      for (; c + kSide <= width; c += kSide)
        transpose_square(out + r * out_step + c, out_step, in + c * in_step + r, in_step);
      for (; c < width; ++c) {
        for (int64_t i = r; i < r + kSide; ++i) out[i * out_step + c] = in[c * in_step + i];
      }
    }
  }
#endif
  for (; r < height; ++r) {
    for (int64_t c = 0; c < width; ++c) out[r * out_step + c] = in[c * in_step + r];
  }
}

constexpr int64_t kBlock = 32;  // rows and columns of a transposed block: it fits in the first cache

// A matrix whose fast dimension is the other's slow one: block by block,
// so that whole cache lines are used on both sides.
template <typename T>
void copy_transposed(char* out, const char* in, int64_t rows, int64_t columns, int64_t out_row_step,
                     int64_t in_column_step) {
  // out[r][c] with c contiguous, in[c][r] with r contiguous.
  const int64_t block_rows = (rows + kBlock - 1) / kBlock;
  parallel_for(0, block_rows, std::max<int64_t>(1, kGrainSize / (kBlock * std::max<int64_t>(columns, 1))),
               [&](int64_t first, int64_t last) HWY_ATTR {
                 // Through a small buffer: the input's columns are often a power of two apart, and would push each
                 // other out of the cache while a row of the output is collected from them.
                 T buffer[kBlock * kBlock];
                 for (int64_t block = first; block < last; ++block) {
                   const int64_t row_begin = block * kBlock;
                   const int64_t height = std::min(rows - row_begin, kBlock);
                   for (int64_t column = 0; column < columns; column += kBlock) {
                     const int64_t width = std::min(columns - column, kBlock);
                     for (int64_t c = 0; c < width; ++c) {
                       const char* source =
                           in + (column + c) * in_column_step + row_begin * static_cast<int64_t>(sizeof(T));
                       std::memcpy(buffer + c * kBlock, source, static_cast<size_t>(height) * sizeof(T));
                     }
                     auto* target = reinterpret_cast<T*>(out + row_begin * out_row_step) + column;
                     transpose_block(target, out_row_step / static_cast<int64_t>(sizeof(T)), buffer, kBlock, height,
                                     width);
                   }
                 }
               });
}

// The last word may overlap the one before: two moves of a fixed size take less than a call.
template <typename Word>
HWY_INLINE void copy_words(char* out, const char* in, int64_t bytes) {
  constexpr int64_t size = sizeof(Word);
  Word word;
  for (int64_t done = 0; done + size < bytes; done += size) {
    std::memcpy(&word, in + done, size);
    std::memcpy(out + done, &word, size);
  }
  std::memcpy(&word, in + bytes - size, size);
  std::memcpy(out + bytes - size, &word, size);
}
HWY_INLINE void copy_few_bytes(char* out, const char* in, int64_t bytes) {
  if (bytes >= 16) copy_words<WideWord>(out, in, bytes);
  else if (bytes >= 8) copy_words<uint64_t>(out, in, bytes);
  else if (bytes >= 4) copy_words<uint32_t>(out, in, bytes);
  else if (bytes >= 2) copy_words<uint16_t>(out, in, bytes);
  else *out = *in;
}

// Rows of a few elements, many of them: the walk from row to row is a loop here, not a call for each.
template <typename T>
void copy_short_rows(const TensorIterator& iter) {
  const IntArrayRef out_strides = iter.strides(0);
  const IntArrayRef in_strides = iter.strides(1);
  const int64_t length = iter.shape()[0];
  const int64_t rows = iter.shape()[1];
  const int64_t planes = iter.numel() / (length * rows);
  constexpr int64_t size = sizeof(T);
  constexpr int64_t kFewBytes = 128;  // up to which moves in line take less than a call
  constexpr int64_t kVectorRow = 16;  // elements from which a loop for their strides pays
  parallel_for(0, planes * rows, std::max<int64_t>(1, kGrainSize / length), [&](int64_t first, int64_t last) HWY_ATTR {
    for (int64_t begin = first; begin < last;) {
      const int64_t row = begin % rows;
      const int64_t end = std::min(last, begin - row + rows);
      char* out = iter.data(0) + row * out_strides[1];
      const char* in = iter.data(1) + row * in_strides[1];
      int64_t plane = begin / rows;
      for (int dim = 2; dim < iter.ndim(); ++dim) {
        out += plane % iter.shape()[dim] * out_strides[dim];
        in += plane % iter.shape()[dim] * in_strides[dim];
        plane /= iter.shape()[dim];
      }
      for (; begin < end; ++begin, out += out_strides[1], in += in_strides[1]) {
        if (out_strides[0] == size && in_strides[0] == size) {
          if (length * size <= kFewBytes) copy_few_bytes(out, in, length * size);
          else std::memcpy(out, in, static_cast<size_t>(length * size));
        } else if (length >= kVectorRow) {
          char* row[] = {out, const_cast<char*>(in)};
          const int64_t steps[] = {out_strides[0], in_strides[0]};
          MoveLoop<T>()(row, steps, length);
        } else {
          for (int64_t i = 0; i < length; ++i) {
            *reinterpret_cast<T*>(out + i * out_strides[0]) = *reinterpret_cast<const T*>(in + i * in_strides[0]);
          }
        }
      }
    }
  });
}

template <typename T>
void copy_bits(TensorIterator& iter) {
  constexpr int64_t size = sizeof(T);
  const IntArrayRef out_strides = iter.strides(0);
  const IntArrayRef in_strides = iter.strides(1);
  // One matrix, or a batch of them, as images whose channels move from first to last are.
  const bool is_matrix = iter.ndim() == 2 || iter.ndim() == 3;
  constexpr int64_t kFewRows = 8;  // of results, which are collected one after the other
  if (is_matrix && out_strides[0] == size && in_strides[1] == size && in_strides[0] != size && in_strides[0] != 0 &&
      iter.shape()[1] >= kFewRows) {
    const int64_t batch = iter.ndim() == 3 ? iter.shape()[2] : 1;
    for (int64_t i = 0; i < batch; ++i) {
      const int64_t out_start = i == 0 ? 0 : i * out_strides[2];
      const int64_t in_start = i == 0 ? 0 : i * in_strides[2];
      copy_transposed<T>(iter.data(0) + out_start, iter.data(1) + in_start, iter.shape()[1], iter.shape()[0],
                         out_strides[1], in_strides[0]);
    }
    return;
  }
  constexpr int64_t kShortRow = 64;  // as for the iterator, which would lay them out first
  if (iter.ndim() >= 2 && iter.shape()[0] <= kShortRow && iter.numel() > 0) return copy_short_rows<T>(iter);
  iter.for_each(MoveLoop<T>());
}

void CopyImpl(TensorIterator& iter) {
  const ScalarType to = iter.dtype(0);
  const ScalarType from = iter.dtype(1);
  if (to == from) {
    if (iter.is_contiguous()) {
      const int64_t size = iter.element_size(0);
      parallel_for(0, iter.numel(), kGrainSize, [&](int64_t first, int64_t last) {
        std::memcpy(iter.data(0) + first * size, iter.data(1) + first * size,
                    static_cast<size_t>((last - first) * size));
      });
      return;
    }
    return dispatch_word(static_cast<size_t>(iter.element_size(0)),
                         [&](auto word) { copy_bits<decltype(word)>(iter); });
  }
  const Conversion convert(to, from);
  iter.for_each([&](char** data, const int64_t* strides, int64_t count) {
    convert(data[0], strides[0], data[1], strides[1], count);
  });
}

// Through a small buffer, as above, a few columns at a time.
template <typename T>
HWY_ATTR void transpose_columns(T* out, int64_t out_step, const T* in, int64_t in_step, int64_t rows, int64_t columns) {
  constexpr int64_t kColumn = 128 / sizeof(T);  // elements that are moved at once, the most that a tile has
  T buffer[kBlock * kColumn];
  for (int64_t done = 0; done < columns; done += kBlock) {
    const int64_t width = std::min(columns - done, kBlock);
    for (int64_t first = 0; first < rows; first += kColumn) {
      const int64_t height = std::min(rows - first, kColumn);
      for (int64_t c = 0; c < width; ++c) {
        const T* column = in + (done + c) * in_step + first;
        if (height == kColumn) std::memcpy(buffer + c * kColumn, column, kColumn * sizeof(T));
        else std::memcpy(buffer + c * kColumn, column, static_cast<size_t>(height) * sizeof(T));
      }
      transpose_block(out + first * out_step + done, out_step, buffer, kColumn, height, width);
    }
  }
}

void TransposeTile(char* out, int64_t out_step, const char* in, int64_t in_step, int64_t rows, int64_t columns,
                   int64_t size) {
  dispatch_word(static_cast<size_t>(size), [&](auto word) {
    using Word = decltype(word);
    transpose_columns(reinterpret_cast<Word*>(out), out_step / size, reinterpret_cast<const Word*>(in), in_step / size,
                      rows, columns);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(CopyImpl);
void copy_kernel(TensorIterator& iter, bool /*non_blocking*/) { HWY_DYNAMIC_DISPATCH(CopyImpl)(iter); }
HWY_EXPORT(TransposeTile);
void transpose_tile(char* out, int64_t out_step, const char* in, int64_t in_step, int64_t rows, int64_t columns,
                    int64_t size) {
  HWY_DYNAMIC_DISPATCH(TransposeTile)(out, out_step, in, in_step, rows, columns, size);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
