#include <linefit.h>
#include <math.h>
#include <stdio.h>

int main(void) {
  const double x[] = {0, 1, 2, 3}, y[] = {1, 3, 5, 7};
  double intercept = 0, slope = 0;
  if (linefit(4, x, y, &intercept, &slope) != 0) return 1;
  printf("%.3f + %.3f x\n", intercept, slope);
  return fabs(intercept - 1) > 1e-9 || fabs(slope - 2) > 1e-9;
}
