#pragma once
// Symbols are hidden by default (-fvisibility=hidden); what other libraries may call is marked with one of these.

#if defined(_WIN32)
#define C10_EXPORT __declspec(dllexport)
#define C10_IMPORT __declspec(dllimport)
#else
#define C10_EXPORT __attribute__((visibility("default")))
#define C10_IMPORT C10_EXPORT
#endif

#if defined(C10_BUILD)
#define C10_API C10_EXPORT
#else
#define C10_API C10_IMPORT
#endif

#if defined(TORCH_CPU_BUILD)
#define TORCH_API C10_EXPORT
#else
#define TORCH_API C10_IMPORT
#endif

#if defined(__GNUC__) || defined(__clang__)
#define C10_LIKELY(condition) (__builtin_expect(static_cast<bool>(condition), 1))
#define C10_UNLIKELY(condition) (__builtin_expect(static_cast<bool>(condition), 0))
#define C10_NOINLINE __attribute__((noinline))
#define C10_ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define C10_LIKELY(condition) (condition)
#define C10_UNLIKELY(condition) (condition)
#define C10_NOINLINE __declspec(noinline)
#define C10_ALWAYS_INLINE __forceinline
#endif
