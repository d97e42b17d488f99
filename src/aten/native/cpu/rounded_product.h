#pragma once
// Products of bfloat16 matrices, rounded to bfloat16, by tiles (bfloat16_tiles.h).

#include <aten/native/cpu/Scratch.h>
#include <aten/native/cpu/bfloat16_tiles.h>
#include <aten/native/cpu/blas.h>

#include <cstdint>
#include <vector>

namespace at::native::cpu {

// Of matrices of these sizes that lie like these.
class RoundedProduct {
 public:
  // Whether there are tiles, and they are made for it.
  static bool is_worth(int64_t m, int64_t n, int64_t k, bool a_is_transposed);
  RoundedProduct(int64_t m, int64_t n, int64_t k, MatrixOperand<uint16_t> a, MatrixOperand<uint16_t> b,
                 int64_t out_leading);
  // out = a b, or (`adds`) out + a b; over threads.
  void multiply(const uint16_t* a, const uint16_t* b, bool adds, uint16_t* out);

 private:
  int64_t m_, n_, k_, a_leading_, out_leading_;
  MatrixOperand<uint16_t> right_;
  std::vector<int64_t> rows_, depths_;
  Scratch<uint32_t> panels_;
  TiledRows tiles_;  // of calls that are not divided
};

}  // namespace at::native::cpu
