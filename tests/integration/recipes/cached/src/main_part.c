#include <stdio.h>

#include "parts.h"

int main_part(void) { return printf("%d from %s\n", first() + second(), __FILE__); }
