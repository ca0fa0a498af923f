// random.h: see random.c.
#include <stdint.h>
int run_random(uint64_t seed, int count);
