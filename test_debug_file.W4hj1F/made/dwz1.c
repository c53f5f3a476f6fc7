#include "shared.h"
int dwz1(void) { return 0; }
