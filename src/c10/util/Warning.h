#pragma once
// Warnings: what a caller should hear of and need not act on. Who embeds torch says where they go;
// without that, stderr.

#include <c10/util/Exception.h>

#include <string>

namespace c10 {

// May be called without Python's lock, from any thread, and may throw: a warning that its user made an error.
using WarningHandler = void (*)(const std::string& message);

// Replaces the handler and gives the one before; nullptr: stderr.
C10_API WarningHandler set_warning_handler(WarningHandler handler);
C10_API void warn(const std::string& message);

}  // namespace c10

#define TORCH_WARN(...) ::c10::warn(::c10::detail::concatenate(__VA_ARGS__))
