#include <c10/util/AcceleratorError.h>
#include <c10/util/Exception.h>

#include <cstdlib>
#include <cstring>

namespace c10 {

// Out of line: one copy of each vtable and type_info, so that errors can be caught across libraries.
Error::~Error() = default;
IndexError::~IndexError() = default;
ValueError::~ValueError() = default;
TypeError::~TypeError() = default;
NotImplementedError::~NotImplementedError() = default;
LinAlgError::~LinAlgError() = default;
OutOfMemoryError::~OutOfMemoryError() = default;
AcceleratorError::~AcceleratorError() = default;

namespace detail {

std::string join_parts(const MessagePart* parts, size_t count) {
  std::ostringstream stream;
  for (size_t i = 0; i < count; ++i) parts[i].write(stream, parts[i].value);
  return stream.str();
}

void throw_parts(const MessagePart* parts, size_t count, void (*thrower)(std::string&& message)) {
  thrower(join_parts(parts, count));
  std::abort();  // it throws
}

void throw_internal_assert(const char* condition, const char* file, int line, const std::string& message) {
  const char* name = std::strrchr(file, '/');
  throw Error(concatenate("internal assertion failed: ", condition, " (", name ? name + 1 : file, ":", line, ") ",
                          message, "\nThis is a bug in torch; please report it with the program that shows it."));
}

}  // namespace detail
}  // namespace c10
