#include "parts.h"

int first(void) { return 1; }
