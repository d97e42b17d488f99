// Copies: same dtype as bytes (with blocks for transposes), other dtypes by conversion (Conversion.h).

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/Conversion.h>
#include <aten/native/cpu/JoinedPieces.h>

#include <cstdlib>
#include <cstring>

#include <hwy/cache_control.h>

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

#if HWY_TARGET != HWY_SCALAR
template <typename D, typename V>
HWY_INLINE V reverse_lanes(D d, V values) {
  if constexpr (sizeof(hn::TFromD<D>) >= 4) {
    return hn::Reverse(d, values);
  } else {  // bytes [k, k + size) of 16 come from the opposite place, as these do
    constexpr size_t kBytes = 16;
    constexpr size_t size = sizeof(hn::TFromD<D>);
    HWY_ALIGN uint8_t from[kBytes];
    for (size_t k = 0; k < kBytes; ++k) from[k] = static_cast<uint8_t>(kBytes - size - k / size * size + k % size);
    const auto table = hn::LoadDup128(hn::Repartition<uint8_t, D>(), from);
    return hn::ReverseBlocks(d, hn::TableLookupBytes(values, hn::BitCast(d, table)));
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
  if constexpr (sizeof(T) <= 8) {
    if (reverse_vectors(hn::ScalableTag<T>(), out, in, count)) return;
    if (reverse_vectors(hn::Full128<T>(), out, in, count)) return;
  }
#endif
  for (int64_t i = 0; i < count; ++i) out[i] = in[count - 1 - i];
}

// Bits of one size, whatever they mean.
template <typename T>
struct MoveLoop {
  HWY_NOINLINE TORCH_SIMD void operator()(char* const* data, const int64_t* strides, int64_t count) const {
    if (strides[0] == sizeof(T) && strides[1] == sizeof(T)) {
      std::memcpy(data[0], data[1], static_cast<size_t>(count) * sizeof(T));
    } else if (strides[0] == sizeof(T) && strides[1] == 0) {
      std::fill_n(reinterpret_cast<T*>(data[0]), count, *reinterpret_cast<const T*>(data[1]));
    } else if (strides[0] == sizeof(T) && strides[1] == -static_cast<int64_t>(sizeof(T))) {
      copy_reversed(reinterpret_cast<T*>(data[0]), reinterpret_cast<const T*>(data[1]) - (count - 1), count);
    } else if (strides[0] == sizeof(T)) {
      collect_elements<sizeof(T)>(data[1], strides[1], count, data[0]);
    } else {
      move_elements<sizeof(T)>(data[1], strides[1], data[0], strides[0], count);
    }
  }
};

// How a matrix is turned round whose neighbours lie along rows in the result, and along columns in the input. All steps
// are in bytes; T stands for bits of one size below.
struct Transposition {
  int64_t out_step;    // from a row to the next
  int64_t in_step;     // from a column to the next
  int64_t in_element;  // from an element of a column to the next
  int64_t columns;
  bool streams = false;  // past the caches, which do not hold the result: whole lines, which are aligned
};

template <typename T>
void transpose_elements(char* out, const char* in, int64_t rows, int64_t columns, const Transposition& of) {
  for (int64_t r = 0; r < rows; ++r, out += of.out_step, in += of.in_element) {
    for (int64_t c = 0; c < columns; ++c)
      reinterpret_cast<T*>(out)[c] = *reinterpret_cast<const T*>(in + c * of.in_step);
  }
}

constexpr int64_t kPiece = 16;  // bytes within which instructions riffle elements
constexpr int64_t kLine = 64;   // bytes of a cache line

#if HWY_TARGET != HWY_SCALAR
// A vector of pieces, `step` apart.
template <typename D>
HWY_INLINE hn::Vec<D> load_pieces(D d, const char* from, int64_t step) {
  using Lane = hn::TFromD<D>;
  constexpr auto kPieces = static_cast<int64_t>(hn::MaxLanes(D()) * sizeof(Lane)) / kPiece;
  if constexpr (kPieces == 1) {
    return hn::LoadU(d, reinterpret_cast<const Lane*>(from));
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_pieces(half, from + kPieces / 2 * step, step), load_pieces(half, from, step));
  }
}
// As many rows as a piece has elements, of a vector each, in steps that riffle halves of the rows.
template <typename T, typename D>
HWY_INLINE void transpose_vectors(D d, char* out, const char* in, int64_t in_step, const Transposition& of) {
  constexpr int64_t kSide = kPiece / sizeof(T);
  hn::Vec<D> rows[kSide];
  for (int64_t i = 0; i < kSide; ++i) rows[i] = load_pieces(d, in + i * in_step, kSide * in_step);
  for (int64_t step = 1; step < kSide; step *= 2) {
    hn::Vec<D> riffled[kSide];
    for (int64_t i = 0; i < kSide / 2; ++i) {
      riffled[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + kSide / 2]);
      riffled[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + kSide / 2]);
    }
    for (int64_t i = 0; i < kSide; ++i) rows[i] = riffled[i];
  }
  for (int64_t i = 0; i < kSide; ++i, out += of.out_step) {
    auto* const to = reinterpret_cast<hn::TFromD<D>*>(out);
    if (of.streams) hn::Stream(rows[i], d, to);
    else hn::StoreU(rows[i], d, to);
  }
}
#endif

// A square of `kSide` bytes each way.
template <typename T, int64_t kSide>
HWY_ATTR void transpose_square(char* out, const char* in, const Transposition& of) {
  constexpr int64_t size = sizeof(T);
  constexpr int64_t kElements = kSide / size;
#if HWY_TARGET == HWY_SCALAR
  transpose_elements<T>(out, in, kElements, kElements, of);
#else
  constexpr int64_t kWays = 8;    // lines of so many columns stay in the first cache,
  constexpr int64_t kNear = 512;  // even if they are a multiple of so many bytes apart
  int64_t in_step = of.in_step;
  alignas(kLine) char buffer[kElements * kSide];
  if (of.in_element != size || (kElements > kWays && in_step % kNear == 0)) {
    for (int64_t c = 0; c < kElements; ++c) {
      const char* column = in + c * in_step;
      if (of.in_element == size) {
        std::memcpy(buffer + c * kSide, column, kSide);
        continue;
      }
      auto* const to = reinterpret_cast<T*>(buffer + c * kSide);
      for (int64_t r = 0; r < kElements; ++r) to[r] = *reinterpret_cast<const T*>(column + r * of.in_element);
    }
    in = buffer;
    in_step = kSide;
  }
  using Lane = std::conditional_t<size <= 8, T, uint64_t>;
  const hn::CappedTag<Lane, kSide / sizeof(Lane)> d;
  constexpr auto kVector = static_cast<int64_t>(hn::MaxLanes(d) * sizeof(Lane));
  for (int64_t r = 0; r < kSide; r += kPiece) {
    for (int64_t c = 0; c < kSide; c += kVector)
      transpose_vectors<T>(d, out + r / size * of.out_step + c, in + c / size * in_step + r, in_step, of);
  }
#endif
}

// In squares, of which the last ones of a row or column overlap those before. Columns of the input are followed from
// end to end, as processors foresee it.
template <typename T, int64_t kSide>
HWY_ATTR void transpose_squares(char* out, const char* in, int64_t rows, const Transposition& of) {
  constexpr int64_t size = sizeof(T);
  constexpr int64_t kElements = kSide / size;
  for (int64_t column = 0; column < of.columns; column += kElements) {
    const int64_t c = std::min(column, of.columns - kElements);
    for (int64_t row = 0; row < rows; row += kElements) {
      const int64_t r = std::min(row, rows - kElements);
      transpose_square<T, kSide>(out + r * of.out_step + c * size, in + c * of.in_step + r * of.in_element, of);
    }
  }
}
template <typename T>
HWY_ATTR void copy_transposed(char* out, const char* in, int64_t rows, const Transposition& of) {
  const int64_t least = std::min(rows, of.columns) * static_cast<int64_t>(sizeof(T));
  if (least >= kLine) transpose_squares<T, kLine>(out, in, rows, of);
  else if (least >= kPiece) transpose_squares<T, kPiece>(out, in, rows, of);
  else transpose_elements<T>(out, in, rows, of.columns, of);
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

// Rows of a few bytes that follow each other in the result, as words: what of these goes beyond a row, the next one
// takes. In the input it may be all but the nearest row's, so that the first and the last one are copied as they are.
constexpr int64_t kMostOfWord = 16;  // bytes
template <typename Word>
void move_words(char* out, const char* in, int64_t in_step, int64_t bytes, int64_t rows) {
  for (int64_t row = 0; row < rows; ++row, out += bytes, in += one_index(in_step)) std::memcpy(out, in, sizeof(Word));
}
HWY_NOINLINE TORCH_SIMD void move_short_rows(char* out, const char* in, int64_t in_step, int64_t bytes, int64_t rows) {
  int64_t size = 1;
  while (size < bytes) size *= 2;
  const auto places = reinterpret_cast<uintptr_t>(out) | reinterpret_cast<uintptr_t>(in) | uintptr_t(in_step);
  const bool are_words = size == bytes && places % size_t(size) == 0;
  dispatch_word(static_cast<size_t>(size), [&](auto zero) HWY_ATTR {
    char* row[] = {out, const_cast<char*>(in)};
    const int64_t steps[] = {bytes, in_step};
    if (are_words) return MoveLoop<decltype(zero)>()(row, steps, rows);
    move_words<decltype(zero)>(out + bytes, in + in_step, in_step, bytes, rows - 2);
  });
  for (int64_t i = 0; !are_words && i < rows; i += std::max<int64_t>(rows - 1, 1))
    copy_bytes(out + i * bytes, in + i * in_step, bytes);
}

constexpr int64_t kVectorRow = 16;  // elements from which a loop for their strides pays

template <typename T>
void copy_short_rows(const TensorIterator& iter) {
  const IntArrayRef out_strides = iter.strides(0);
  const IntArrayRef in_strides = iter.strides(1);
  const int64_t length = iter.shape()[0];
  const bool is_dense = out_strides[0] == sizeof(T) && in_strides[0] == sizeof(T);
  constexpr int64_t size = sizeof(T);
  constexpr int64_t kFewRows = 8;
  const bool are_words = is_dense && length * size <= kMostOfWord && out_strides[1] == length * size &&
                         std::abs(in_strides[1]) >= out_strides[1] && iter.shape()[1] >= kFewRows;
  const bool has_few_columns = !are_words && length < (is_dense ? kMostInterleaved : kVectorRow);
  int along = 1;  // the dimension whose places are gone through as rows
  for (int dim = 2; dim < iter.ndim() && has_few_columns; ++dim) {
    if (iter.shape()[dim] > iter.shape()[along]) along = dim;
  }
  const int64_t out_step = out_strides[along];
  const int64_t in_step = in_strides[along];
  const int64_t rows = iter.shape()[along];
  const int64_t planes = iter.numel() / (length * rows);
  auto copy_rows = [&](int64_t first, int64_t last) HWY_ATTR C10_NOINLINE {
    for (int64_t begin = first; begin < last;) {
      const int64_t row = begin % rows;
      const int64_t end = std::min(last, begin - row + rows);
      char* out = iter.data(0) + row * out_step;
      const char* in = iter.data(1) + row * in_step;
      int64_t plane = begin / rows;
      for (int dim = 1; dim < iter.ndim(); ++dim) {
        if (dim == along) continue;
        out += plane % iter.shape()[dim] * out_strides[dim];
        in += plane % iter.shape()[dim] * in_strides[dim];
        plane /= iter.shape()[dim];
      }
      if (are_words) {
        move_short_rows(out, in, in_step, out_step, end - begin);
        begin = end;
        continue;
      }
      if (has_few_columns) {  // columns, each through some rows, which the first cache holds
        constexpr int64_t kRows = 128;
        for (; begin < end; begin += kRows, out += kRows * out_step, in += kRows * in_step) {
          const int64_t some = std::min(kRows, end - begin);
          for (int64_t i = 0; i < length; ++i) {
            move_elements<sizeof(T)>(in + i * in_strides[0], in_step, out + i * out_strides[0], out_step, some);
          }
        }
        begin = end;
        continue;
      }
      for (; begin < end; ++begin, out += out_step, in += in_step) {
        if (is_dense) {
          copy_bytes(out, in, length * size);
        } else {
          char* row[] = {out, const_cast<char*>(in)};
          const int64_t steps[] = {out_strides[0], in_strides[0]};
          MoveLoop<T>()(row, steps, length);
        }
      }
    }
  };
  parallel_for(0, planes * rows, std::max<int64_t>(1, kGrainSize / length), copy_rows);
}

// Where neighbours lie along dimension 0 in the result, and along `dim` in the input: a matrix for each place in the
// other dimensions.
template <typename T>
void copy_matrices(const TensorIterator& iter, int dim) {
  const IntArrayRef out_strides = iter.strides(0);
  const IntArrayRef in_strides = iter.strides(1);
  constexpr int64_t size = sizeof(T);
  const int64_t columns = iter.shape()[0];
  const int64_t rows = iter.shape()[dim];
  const bool interleaves =
      columns <= kMostInterleaved && out_strides[dim] == columns * size && in_strides[dim] == size;
  constexpr int64_t kStreamed = 32 << 20;  // bytes of a result that no cache holds
  Transposition of{out_strides[dim], in_strides[0], in_strides[dim], columns};
  of.streams = iter.numel() * size >= kStreamed && columns * size % kLine == 0 && columns * size >= kLine &&
               rows * size >= kLine && reinterpret_cast<uintptr_t>(iter.data(0)) % kLine == 0;
  for (int i = 1; i < iter.ndim(); ++i) of.streams = of.streams && out_strides[i] % kLine == 0;
  // Threads share strips of rows; those of one matrix are copied at once.
  constexpr int64_t kRowsOfStrip = 128;
  const int64_t strip = interleaves ? kGrainSize : kRowsOfStrip;
  const int64_t strips = (rows + strip - 1) / strip;
  const int64_t work = std::max<int64_t>(1, std::min(rows, strip) * columns);
  parallel_for(0, iter.numel() / (rows * columns) * strips, std::max<int64_t>(1, kGrainSize / work),
               [&](int64_t begin, int64_t end) HWY_ATTR {
                 while (begin < end) {
                   char* out = iter.data(0);
                   const char* in = iter.data(1);
                   int64_t place = begin / strips;
                   const int64_t first = begin % strips * strip;
                   const int64_t last = std::min(rows, first + (end - begin) * strip);
                   begin = std::min(end, (place + 1) * strips);
                   for (int i = 1; i < iter.ndim(); ++i) {
                     if (i == dim) continue;
                     out += place % iter.shape()[i] * out_strides[i];
                     in += place % iter.shape()[i] * in_strides[i];
                     place /= iter.shape()[i];
                   }
                   out += first * of.out_step;
                   in += first * of.in_element;
                   if (!interleaves) {
                     copy_transposed<T>(out, in, last - first, of);
                     continue;
                   }
                   const T* sources[kMostInterleaved];
                   for (int64_t k = 0; k < columns; ++k) {
                     sources[k] = reinterpret_cast<const T*>(in + k * of.in_step);
                   }
                   interleave_rows(reinterpret_cast<T*>(out), sources, columns, last - first);
                 }
                 if (of.streams) hwy::FlushStream();
               });
}

template <typename T>
void copy_bits(TensorIterator& iter) {
  constexpr int64_t size = sizeof(T);
  const IntArrayRef out_strides = iter.strides(0);
  const IntArrayRef in_strides = iter.strides(1);
  constexpr int64_t kFewRows = 8;  // of results, which are collected one after the other
  if (iter.numel() == 0) return;
  int nearest = 0;  // the dimension along which the input's neighbours lie, if results collect them from afar
  const bool repeats = iter.ndim() > 0 && in_strides[0] == 0 && iter.shape()[0] > kMostInterleaved;
  for (int dim = 1; dim < iter.ndim() && out_strides[0] == size && in_strides[0] != size && !repeats; ++dim) {
    if (iter.shape()[dim] < kFewRows || in_strides[dim] == 0) continue;
    const bool is_near = nearest != 0 || in_strides[0] == 0 ? in_strides[dim] == size
                                                            : std::abs(in_strides[dim]) < std::abs(in_strides[0]);
    if (is_near) nearest = dim;
  }
  constexpr int64_t kManyMatrices = 64;  // smaller than a square of vectors: each place of them is gone through for all
  const bool are_small = nearest != 0 && std::max(iter.shape()[0], iter.shape()[nearest]) < kVectorRow;
  bool are_many = false;
  for (int dim = 1; dim < iter.ndim(); ++dim) are_many |= dim != nearest && iter.shape()[dim] >= kManyMatrices;
  if (nearest != 0 && !(are_small && are_many)) return copy_matrices<T>(iter, nearest);
  constexpr int64_t kShortRow = 128;  // as for the iterator, which would lay them out first
  if (iter.ndim() >= 2) {
    const bool is_dense = out_strides[0] == size && in_strides[0] == size;
    if (iter.shape()[0] <= (is_dense ? kFewBytes / size : kShortRow)) return copy_short_rows<T>(iter);
  }
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

void TransposeTile(char* out, int64_t out_step, const char* in, int64_t in_step, int64_t rows, int64_t columns,
                   int64_t size) {
  dispatch_word(static_cast<size_t>(size), [&](auto word) {
    copy_transposed<decltype(word)>(out, in, rows, {out_step, in_step, size, columns});
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
