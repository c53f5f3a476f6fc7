#include "shared.h"
int dwz2(void) { return 0; }
