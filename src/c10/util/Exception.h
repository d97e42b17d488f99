#pragma once
// Error types and the two kinds of checks: TORCH_CHECK* for what users can cause, TORCH_INTERNAL_ASSERT for our bugs.
// The Python bindings turn each type into the Python exception of its name.

#include <c10/macros/Export.h>

#include <cstddef>
#include <exception>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

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

// A part of a message, and what writes it.
struct MessagePart {
  void (*write)(std::ostream& stream, const void* value);
  const void* value;
};
C10_API std::string join_parts(const MessagePart* parts, size_t count);
[[noreturn]] C10_API void throw_parts(const MessagePart* parts, size_t count, void (*thrower)(std::string&& message));

template <typename T>
void write_part(std::ostream& stream, const void* value) {
  stream << *static_cast<const T*>(value);
}
template <typename E>
void throw_as(std::string&& message) {
  throw E(std::move(message));
}

// What a part is passed on as: texts are alike whatever their length, so that the functions below, which are not
// inline, stand in a library once for all messages with such parts.
template <typename T>
using PartOf = std::conditional_t<std::is_convertible_v<const T&, const char*>, const char*,
                                  std::conditional_t<std::is_scalar_v<T>, T, const T&>>;

template <typename... Parts>
C10_NOINLINE std::string concatenate_parts(Parts... parts) {
  const MessagePart list[] = {{&write_part<std::decay_t<Parts>>, &parts}...};
  return join_parts(list, sizeof...(Parts));
}
template <typename E, typename... Parts>
[[noreturn]] C10_NOINLINE void throw_concatenated(Parts... parts) {
  const MessagePart list[] = {{&write_part<std::decay_t<Parts>>, &parts}...};
  throw_parts(list, sizeof...(Parts), &throw_as<E>);
}

[[noreturn]] C10_API void throw_internal_assert(const char* condition, const char* file, int line,
                                                const std::string& message);
template <typename... Parts>
[[noreturn]] C10_NOINLINE void throw_failed(const char* condition, const char* file, int line, Parts... parts) {
  throw_internal_assert(condition, file, line, concatenate_parts<Parts...>(parts...));
}

template <typename... Parts>
std::string concatenate(const Parts&... parts) {
  return concatenate_parts<PartOf<Parts>...>(parts...);
}
template <typename E, typename... Parts>
[[noreturn]] void throw_error(const Parts&... parts) {
  if constexpr (sizeof...(Parts) == 0) throw E(std::string());
  else throw_concatenated<E, PartOf<Parts>...>(parts...);
}
template <typename... Parts>
[[noreturn]] void fail_assert(const char* condition, const char* file, int line, const Parts&... parts) {
  throw_failed<PartOf<Parts>...>(condition, file, line, parts...);
}

}  // namespace detail

}  // namespace c10

#define TORCH_CHECK_AS(error_type, condition, ...)           \
  do {                                                       \
    if (C10_UNLIKELY(!(condition))) {                        \
      ::c10::detail::throw_error<error_type>(__VA_ARGS__);   \
    }                                                        \
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
      ::c10::detail::fail_assert(#condition, __FILE__, __LINE__, "" __VA_ARGS__);                    \
    }                                                                                                \
  } while (false)
