#include "editdistance.h"

#include <stdlib.h>
#include <string.h>

static size_t least(size_t a, size_t b, size_t c) {
  const size_t smaller = a < b ? a : b;
  return smaller < c ? smaller : c;
}

size_t editdistance(const char* first, const char* second) {
  const size_t width = strlen(second);
  // One row of the table of distances between the beginnings of both texts.
  size_t* row = malloc((width + 1) * sizeof *row);
  if (row == NULL) return (size_t)-1;
  for (size_t column = 0; column <= width; ++column) row[column] = column;
  for (size_t line = 1; *first != '\0'; ++first, ++line) {
    size_t diagonal = row[0];
    row[0] = line;
    for (size_t column = 1; column <= width; ++column) {
      const size_t replaced = diagonal + (*first != second[column - 1]);
      diagonal = row[column];
      row[column] = least(replaced, row[column] + 1, row[column - 1] + 1);
    }
  }
  const size_t distance = row[width];
  free(row);
  return distance;
}
