// Copies: same dtype as bytes (with blocks for transposes), other dtypes by conversion (Conversion.h).

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/Conversion.h>
#include <aten/native/cpu/JoinedPieces.h>

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/copy_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/CopyBytes-inl.h>
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

#if HWY_TARGET != HWY_SCALAR
template <typename D, typename V>
HWY_INLINE V reverse_lanes(D d, V values) {
  if constexpr (sizeof(hn::TFromD<D>) >= 4) {
    return hn::Reverse(d, values);
  } else {  // bytes [k, k + size) come from the opposite place
    constexpr size_t kBytes = 16;
    constexpr size_t size = sizeof(hn::TFromD<D>);
    HWY_ALIGN uint8_t from[kBytes];
    for (size_t k = 0; k < kBytes; ++k) from[k] = static_cast<uint8_t>(kBytes - size - k / size * size + k % size);
    return hn::TableLookupBytes(values, hn::BitCast(d, hn::Load(hn::Full128<uint8_t>(), from)));
  }
}
// What `in` has, backwards, a vector of the tag's size at a time; the last one overlaps the one before. False where a
// vector does not fit.
template <typename D, typename T = hn::TFromD<D>>
HWY_ATTR bool reverse_vectors(D d, T* out, const T* in, int64_t count) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (count < lanes) return false;
  const auto move = [&](int64_t i) HWY_ATTR {
    hn::StoreU(reverse_lanes(d, hn::LoadU(d, in + count - i - lanes)), d, out + i);
  };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) move(i);
  if (i < count) move(count - lanes);
  return true;
}
#endif
template <typename T>
HWY_ATTR void copy_reversed(T* out, const T* in, int64_t count) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    if (reverse_vectors(hn::ScalableTag<T>(), out, in, count)) return;
  }
  if constexpr (sizeof(T) <= 8) {
    if (reverse_vectors(hn::Full128<T>(), out, in, count)) return;
  }
#endif
  for (int64_t i = 0; i < count; ++i) out[i] = in[count - 1 - i];
}

template <typename T>
struct MoveLoop {
  TORCH_SIMD void operator()(char** data, const int64_t* strides, int64_t count) const {
    if (strides[0] == sizeof(T) && strides[1] == sizeof(T)) {
      std::memcpy(data[0], data[1], static_cast<size_t>(count) * sizeof(T));
    } else if (strides[0] == sizeof(T) && strides[1] == 0) {
      std::fill_n(reinterpret_cast<T*>(data[0]), count, *reinterpret_cast<const T*>(data[1]));
    } else if (strides[0] == sizeof(T) && strides[1] == -static_cast<int64_t>(sizeof(T))) {
      copy_reversed(reinterpret_cast<T*>(data[0]), reinterpret_cast<const T*>(data[1]) - (count - 1), count);
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

// A matrix whose fast dimension is the other's slow one, rows [first, last) of it: block by block, so that whole cache
// lines are used on both sides. out[r][c] with c contiguous, in[c][r] with r contiguous.
template <typename T>
HWY_ATTR void copy_transposed(char* out, const char* in, int64_t first, int64_t last, int64_t columns,
                              int64_t out_row_step, int64_t in_column_step) {
  constexpr auto size = static_cast<int64_t>(sizeof(T));
  // Through a small buffer: the input's columns are often a power of two apart, and would push each other out of the
  // cache while a row of the output is collected from them.
  T buffer[kBlock * kBlock];
  for (; first < last; first += kBlock) {
    const int64_t height = std::min(last - first, kBlock);
    for (int64_t column = 0; column < columns; column += kBlock) {
      const int64_t width = std::min(columns - column, kBlock);
      const char* source = in + column * in_column_step + first * size;
      auto* target = reinterpret_cast<T*>(out + first * out_row_step) + column;
      if (columns <= kBlock / 2) {  // too few to meet
        transpose_block(target, out_row_step / size, reinterpret_cast<const T*>(source), in_column_step / size, height,
                        width);
        continue;
      }
      for (int64_t c = 0; c < width; ++c, source += in_column_step) {
        std::memcpy(buffer + c * kBlock, source, static_cast<size_t>(height) * sizeof(T));
      }
      transpose_block(target, out_row_step / size, buffer, kBlock, height, width);
    }
  }
}

// out[i * n + k] = in[k][i] for n of 2 to 4 rows.
#if HWY_TARGET != HWY_SCALAR
template <typename D, typename T = hn::TFromD<D>>
HWY_ATTR int64_t interleave_vectors(D d, T* out, const T* const* in, int64_t n, int64_t i, int64_t count) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto load = [&](int64_t k) HWY_ATTR { return hn::LoadU(d, in[k] + i); };
  for (; i + lanes <= count; i += lanes) {
    if (n == 2) hn::StoreInterleaved2(load(0), load(1), d, out + 2 * i);
    else if (n == 3) hn::StoreInterleaved3(load(0), load(1), load(2), d, out + 3 * i);
    else hn::StoreInterleaved4(load(0), load(1), load(2), load(3), d, out + 4 * i);
  }
  return i;
}
#endif
template <typename T>
HWY_ATTR void interleave_rows(T* out, const T* const* in, int64_t n, int64_t count) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) <= 8) {
    i = interleave_vectors(hn::ScalableTag<T>(), out, in, n, i, count);
    i = interleave_vectors(hn::Full128<T>(), out, in, n, i, count);
  }
#endif
  for (; i < count; ++i) {
    for (int64_t k = 0; k < n; ++k) out[i * n + k] = in[k][i];
  }
}
constexpr int64_t kMostInterleaved = 4;

// Rows of pieces, one of each source after the other; all pieces of a source are of one size.
template <typename T>
void interleave_pieces(char* out, ArrayRef<JoinedPieces> sources, int64_t rows) {
  const auto n = static_cast<int64_t>(sources.size());
  parallel_for(0, rows, kGrainSize / n, [&](int64_t first, int64_t last) {
    const T* in[kMostInterleaved];
    for (int64_t k = 0; k < n; ++k) in[k] = reinterpret_cast<const T*>(sources[k].from) + first;
    interleave_rows(reinterpret_cast<T*>(out) + first * n, in, n, last - first);
  });
}

void JoinImpl(char* out, ArrayRef<JoinedPieces> sources, int64_t rows) {
  constexpr int64_t kGrain = 128 << 10;  // bytes that are worth a thread
  int64_t whole = 0;
  bool are_even = true;
  for (const JoinedPieces& source : sources) {
    whole += source.bytes;
    are_even = are_even && source.bytes == sources[0].bytes;
  }
  const int64_t unit = sources[0].bytes;
  const bool is_word = unit == 1 || unit == 2 || unit == 4 || unit == 8;
  const auto n = static_cast<int64_t>(sources.size());
  if (are_even && is_word && n >= 2 && n <= kMostInterleaved) {
    return dispatch_word(static_cast<size_t>(unit),
                         [&](auto word) { interleave_pieces<decltype(word)>(out, sources, rows); });
  }
  parallel_for(0, rows, std::max<int64_t>(1, kGrain / whole), [&](int64_t first, int64_t last) HWY_ATTR {
    if (whole <= 2 * n * kFewBytes && n > 1) {
      // A source at a time, so that its pieces' size is known; a few rows, which the cache holds meanwhile.
      constexpr int64_t kRows = 128;
      for (; first < last; first += kRows) {
        char* to = out + first * whole;
        const int64_t some = std::min(last - first, kRows);
        for (const JoinedPieces& source : sources) {
          const char* from = source.from + first * source.bytes;
          for (int64_t row = 0; row < some; ++row, from += source.bytes) {
            copy_bytes(to + row * whole, from, source.bytes);
          }
          to += source.bytes;
        }
      }
      return;
    }
    char* to = out + first * whole;
    for (int64_t row = first; row < last; ++row) {
      for (const JoinedPieces& source : sources) {
        std::memcpy(to, source.from + row * source.bytes, static_cast<size_t>(source.bytes));
        to += source.bytes;
      }
    }
  });
}

template <typename T>
void copy_short_rows(const TensorIterator& iter) {
  const IntArrayRef out_strides = iter.strides(0);
  const IntArrayRef in_strides = iter.strides(1);
  const int64_t length = iter.shape()[0];
  const int64_t rows = iter.shape()[1];
  const int64_t planes = iter.numel() / (length * rows);
  constexpr int64_t size = sizeof(T);
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
          copy_bytes(out, in, length * size);
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

// Where both dimensions 0 and `dim` are steps of one element, the first one's in the result, the other one's in the
// input: a matrix for each place in the other dimensions.
template <typename T>
void copy_matrices(const TensorIterator& iter, int dim) {
  const IntArrayRef out_strides = iter.strides(0);
  const IntArrayRef in_strides = iter.strides(1);
  const int64_t columns = iter.shape()[0];
  const int64_t rows = iter.shape()[dim];
  const bool interleaves = columns <= kMostInterleaved && out_strides[dim] == columns * out_strides[0];
  constexpr int64_t kRowsOfStrip = 128;
  const int64_t strip = interleaves ? kGrainSize : kRowsOfStrip;
  const int64_t strips = (rows + strip - 1) / strip;
  const int64_t work = std::max<int64_t>(1, std::min(rows, strip) * columns);
  parallel_for(0, iter.numel() / (rows * columns) * strips, std::max<int64_t>(1, kGrainSize / work),
               [&](int64_t begin, int64_t end) {
                 for (int64_t task = begin; task < end; ++task) {
                   char* out = iter.data(0);
                   const char* in = iter.data(1);
                   int64_t place = task / strips;
                   for (int i = 1; i < iter.ndim(); ++i) {
                     if (i == dim) continue;
                     out += place % iter.shape()[i] * out_strides[i];
                     in += place % iter.shape()[i] * in_strides[i];
                     place /= iter.shape()[i];
                   }
                   const int64_t first = task % strips * strip;
                   const int64_t last = std::min(rows, first + strip);
                   if (!interleaves) {
                     copy_transposed<T>(out, in, first, last, columns, out_strides[dim], in_strides[0]);
                     continue;
                   }
                   const T* sources[kMostInterleaved];
                   for (int64_t k = 0; k < columns; ++k) {
                     sources[k] = reinterpret_cast<const T*>(in + k * in_strides[0]) + first;
                   }
                   interleave_rows(reinterpret_cast<T*>(out) + first * columns, sources, columns, last - first);
                 }
               });
}

template <typename T>
void copy_bits(TensorIterator& iter) {
  constexpr int64_t size = sizeof(T);
  const IntArrayRef out_strides = iter.strides(0);
  const IntArrayRef in_strides = iter.strides(1);
  constexpr int64_t kFewRows = 8;  // of results, which are collected one after the other
  if (iter.numel() == 0) return;
  for (int dim = 1; dim < iter.ndim() && out_strides[0] == size && in_strides[0] != size; ++dim) {
    const bool repeats = in_strides[0] == 0 && iter.shape()[0] > kMostInterleaved;
    if (in_strides[dim] == size && iter.shape()[dim] >= kFewRows && !repeats) return copy_matrices<T>(iter, dim);
  }
  constexpr int64_t kShortRow = 64;  // as for the iterator, which would lay them out first
  if (iter.ndim() >= 2 && iter.shape()[0] <= kShortRow) return copy_short_rows<T>(iter);
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

HWY_EXPORT(JoinImpl);
void join_pieces(char* out, ArrayRef<JoinedPieces> sources, int64_t rows) {
  HWY_DYNAMIC_DISPATCH(JoinImpl)(out, sources, rows);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
