// Copies of a few bytes, in line, included once per instruction set.

#if defined(TORCH_COPY_BYTES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_COPY_BYTES_INL_H_
#undef TORCH_COPY_BYTES_INL_H_
#else
#define TORCH_COPY_BYTES_INL_H_
#endif

#include <aten/native/cpu/CopyWords.h>
#include <aten/native/cpu/Highway-inl.h>

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Bytes in vectors of the tag's size, the last of which may overlap the one before; at least one.
template <typename D>
HWY_INLINE void copy_vectors(D d, uint8_t* out, const uint8_t* in, int64_t bytes) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t done = 0; done + lanes < bytes; done += lanes) {
#if defined(__GNUC__)
    asm("" : "+r"(done));  // else a compiler that sees the sizes makes a string instruction of it, which starts slowly
#endif
    hn::StoreU(hn::LoadU(d, in + done), d, out + done);
  }
  hn::StoreU(hn::LoadU(d, in + bytes - lanes), d, out + bytes - lanes);
}
constexpr int64_t kFewBytes = 512;  // up to which moves in line take less than a call
HWY_INLINE void copy_bytes(char* out, const char* in, int64_t bytes) {
  const hn::CappedTag<uint8_t, 32> d;
  if (bytes > kFewBytes) std::memcpy(out, in, static_cast<size_t>(bytes));
  else if (bytes >= 32) copy_vectors(d, reinterpret_cast<uint8_t*>(out), reinterpret_cast<const uint8_t*>(in), bytes);
  else copy_few_words(out, in, bytes);
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif
