#ifndef EDITDISTANCE_H
#define EDITDISTANCE_H

#include <stddef.h>

#if defined(_WIN32)
#define EDITDISTANCE_API
#else
#define EDITDISTANCE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

// How many bytes must be inserted, deleted or replaced to turn one text into the other (Levenshtein's distance).
// Returns (size_t)-1 if there is no memory for it.
EDITDISTANCE_API size_t editdistance(const char* first, const char* second);

#ifdef __cplusplus
}
#endif

#endif
