#include <editdistance.h>

int main(void) {
  return editdistance("kitten", "sitting") == 3 && editdistance("", "abc") == 3 && editdistance("a", "a") == 0 ? 0 : 1;
}
