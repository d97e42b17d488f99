#include <hello.h>

#include <cstdio>

int main() {
  int threads = 0;
  const double dot = hello_dot(3, &threads);
  std::printf("dot %g with %d thread(s)\n", dot, threads);
  return dot == 14.0 && threads >= 1 ? 0 : 1;
}
