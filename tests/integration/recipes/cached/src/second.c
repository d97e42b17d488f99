#include "parts.h"

int second(void) { return 2; }
