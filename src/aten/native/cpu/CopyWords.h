#pragma once
// Copies of a few bytes, in line: a call would take longer.

#include <aten/Dispatch.h>

#include <cstdint>
#include <cstring>

namespace at::native::cpu {

// Bytes in words, the last of which may overlap the one before; at least one.
template <typename Word>
inline void copy_words(char* out, const char* in, int64_t bytes) {
  constexpr int64_t size = sizeof(Word);
  Word word;
  for (int64_t done = 0; done + size < bytes; done += size) {
    std::memcpy(&word, in + done, size);
    std::memcpy(out + done, &word, size);
  }
  std::memcpy(&word, in + bytes - size, size);
  std::memcpy(out + bytes - size, &word, size);
}
inline void copy_few_words(char* out, const char* in, int64_t bytes) {
  if (bytes >= 16) copy_words<WideWord>(out, in, bytes);
  else if (bytes >= 8) copy_words<uint64_t>(out, in, bytes);
  else if (bytes >= 4) copy_words<uint32_t>(out, in, bytes);
  else if (bytes >= 2) copy_words<uint16_t>(out, in, bytes);
  else if (bytes == 1) *out = *in;
}
// Up to this many; more are a call.
inline void copy_row(void* out, const void* in, int64_t bytes) {
  constexpr int64_t kFewBytes = 64;
  if (bytes > kFewBytes) std::memcpy(out, in, static_cast<size_t>(bytes));
  else copy_few_words(static_cast<char*>(out), static_cast<const char*>(in), bytes);
}

}  // namespace at::native::cpu
