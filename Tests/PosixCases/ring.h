// ring.h: a small io_uring(7) by system calls, for cases and recorded programs.
#ifndef FAULTLINE_POSIX_RING_H
#define FAULTLINE_POSIX_RING_H

#include <linux/io_uring.h>

enum { RING_ENTRIES = 8 };

typedef struct {
  int fd;
  unsigned *tail, *array, *head_done, *tail_done, *mask_done;
  struct io_uring_sqe *entries;
  struct io_uring_cqe *done;
  unsigned count;
} ring;

// Opens a ring; 0 where the system has none (ENOSYS) or forbids it (EPERM).
int ring_open(ring *r);
// Adds a request, whose number is the one of its addition, from 0. Returns it, to be filled in.
struct io_uring_sqe *ring_add(ring *r, int operation, int fd);
// Submits what was added and waits for all of it; the results by number.
void ring_run(ring *r, int results[RING_ENTRIES]);

#endif
