#pragma once
// Error types and the two kinds of checks: TORCH_CHECK* for what users can cause, TORCH_INTERNAL_ASSERT for our bugs.
// The Python bindings turn each type into the Python exception of its name.

#include <c10/macros/Export.h>

#include <exception>
#include <sstream>
#include <string>

namespace c10 {

// Python: RuntimeError.
class C10_API Error : public std::exception {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}
  ~Error() override;
  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& message() const { return message_; }

 private:
  std::string message_;
};

class C10_API IndexError : public Error {
 public:
  using Error::Error;
  ~IndexError() override;
};
class C10_API ValueError : public Error {
 public:
  using Error::Error;
  ~ValueError() override;
};
class C10_API TypeError : public Error {
 public:
  using Error::Error;
  ~TypeError() override;
};
class C10_API NotImplementedError : public Error {
 public:
  using Error::Error;
  ~NotImplementedError() override;
};
// Python: torch.linalg.LinAlgError, a RuntimeError.
class C10_API LinAlgError : public Error {
 public:
  using Error::Error;
  ~LinAlgError() override;
};
// Python: torch.OutOfMemoryError, a RuntimeError.
class C10_API OutOfMemoryError : public Error {
 public:
  using Error::Error;
  ~OutOfMemoryError() override;
};

namespace detail {

template <typename... Parts>
std::string concatenate(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

[[noreturn]] C10_API void throw_internal_assert(const char* condition, const char* file, int line,
                                                const std::string& message);

}  // namespace detail

}  // namespace c10

#define TORCH_CHECK_AS(error_type, condition, ...)                    \
  do {                                                                \
    if (C10_UNLIKELY(!(condition))) {                                 \
      throw error_type(::c10::detail::concatenate(__VA_ARGS__));      \
    }                                                                 \
  } while (false)

#define TORCH_CHECK(condition, ...) TORCH_CHECK_AS(::c10::Error, condition, __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) TORCH_CHECK_AS(::c10::IndexError, condition, __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) TORCH_CHECK_AS(::c10::ValueError, condition, __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) TORCH_CHECK_AS(::c10::TypeError, condition, __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) TORCH_CHECK_AS(::c10::NotImplementedError, condition, __VA_ARGS__)
#define TORCH_CHECK_LINALG(condition, ...) TORCH_CHECK_AS(::c10::LinAlgError, condition, __VA_ARGS__)

#define TORCH_INTERNAL_ASSERT(condition, ...)                                                        \
  do {                                                                                               \
    if (C10_UNLIKELY(!(condition))) {                                                                \
      ::c10::detail::throw_internal_assert(#condition, __FILE__, __LINE__,                           \
                                           ::c10::detail::concatenate("" __VA_ARGS__));              \
    }                                                                                                \
  } while (false)
