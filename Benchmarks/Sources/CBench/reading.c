// reading.c: the least that somebody who verifies a file must do: read it and hash it.

#define _GNU_SOURCE
#include "Stores.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { chunk_bytes = 1 << 20, lanes = 8 };

static void hash(uint64_t *state, const uint64_t *words, size_t count) {
  for (size_t i = 0; i + lanes <= count; i += lanes) {
    for (int lane = 0; lane < lanes; lane++) {
      uint64_t mixed = (state[lane] ^ words[i + lane]) * 0x9e3779b185ebca87u;
      state[lane] = mixed << 29 | mixed >> 35;
    }
  }
}

int64_t cbench_read_and_hash(const char *path, int64_t *bytes) {
  int64_t start = cbench_now_ns();
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return cbench_store_fail(path, strerror(errno));
  uint64_t *chunk = aligned_alloc(4096, chunk_bytes);
  uint64_t state[lanes] = {0};
  ssize_t count = chunk == NULL ? -1 : 0;
  *bytes = 0;
  while (chunk != NULL && (count = read(file, chunk, chunk_bytes)) > 0) {
    hash(state, chunk, (size_t)count / 8);
    *bytes += count;
  }
  close(file);
  free(chunk);
  // The hash must not be optimised away.
  uint64_t all = 0;
  for (int lane = 0; lane < lanes; lane++) all ^= state[lane];
  if (count < 0) return cbench_store_fail(path, "cannot be read");
  int64_t elapsed = cbench_now_ns() - start;
  return all == 1 ? elapsed + 1 : elapsed;
}
