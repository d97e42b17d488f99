#include "editdistance.h"

#include <stdio.h>
#include <string.h>

int main(int count, char** words) {
  if (count == 2 && strcmp(words[1], "--version") == 0) return puts(EDITDISTANCE_VERSION) == EOF;
  if (count != 3) {
    fputs("usage: editdistance FIRST SECOND\n", stderr);
    return 2;
  }
  const size_t distance = editdistance(words[1], words[2]);
  if (distance == (size_t)-1) {
    fputs("editdistance: out of memory\n", stderr);
    return 1;
  }
  return printf("%zu\n", distance) < 0;
}
