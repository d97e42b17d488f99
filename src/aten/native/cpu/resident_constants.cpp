// Reads a byte of every page of this library's constants as it is loaded, which takes some ten microseconds.
//
// Vectors take many constants for some of their lanes only, by masked loads. Where no lane wants one, such a load does
// not bring in the page that the constant lies on; it is carried out by microcode, in hundreds of cycles, every time
// until somebody else reads that page: the logarithm of numbers among which there is no 0 took fifteen times as long.

#if defined(__linux__)

#include <cstdint>

#include <link.h>

// The linker's name for where the library lies in memory.
extern "C" __attribute__((visibility("hidden"))) const ElfW(Ehdr) __ehdr_start;

namespace at::native::cpu {

namespace {

constexpr uintptr_t kSmallestPage = 4096;

// Constants begin a segment that is only read, and end where the tables for exceptions begin. The bytes between them
// are read, too, which AddressSanitizer would not have.
__attribute__((no_sanitize_address)) bool read_constants() {
  const auto library = reinterpret_cast<uintptr_t>(&__ehdr_start);
  const auto* headers = reinterpret_cast<const ElfW(Phdr)*>(library + __ehdr_start.e_phoff);
  const ElfW(Phdr)* const end = headers + __ehdr_start.e_phnum;
  uintptr_t tables = 0;
  for (const auto* header = headers; header < end; ++header) {
    if (header->p_type == PT_GNU_EH_FRAME) tables = header->p_vaddr;
  }
  for (const auto* header = headers; header < end; ++header) {
    if (header->p_type != PT_LOAD || (header->p_flags & (PF_W | PF_X)) != 0) continue;
    if (tables < header->p_vaddr || tables >= header->p_vaddr + header->p_memsz) continue;
    for (uintptr_t place = header->p_vaddr; place < tables; place += kSmallestPage) {
      static_cast<void>(*reinterpret_cast<const volatile char*>(library + place));
    }
  }
  return true;
}

[[maybe_unused]] const bool are_read = read_constants();

}  // namespace

}  // namespace at::native::cpu

#endif
