// store.h: what the two peers share.

#pragma once

#include <stdint.h>

int64_t cbench_now_ns(void);

/// Keeps the text for cbench_store_error and returns -1.
int64_t cbench_store_fail(const char *what, const char *why);

/// Notes how long it has been since `before`, and sets it to now. Notes nothing without a place.
static inline void cbench_note_latency(int64_t *latencies, int64_t index, int64_t *before) {
  if (latencies == 0) return;
  int64_t now = cbench_now_ns();
  latencies[index] = now - *before;
  *before = now;
}
