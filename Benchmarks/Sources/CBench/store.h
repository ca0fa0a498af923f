// store.h: what the two peers share.

#pragma once

#include <stdint.h>

int64_t cbench_now_ns(void);

/// Keeps the text for cbench_store_error and returns -1.
int64_t cbench_store_fail(const char *what, const char *why);
