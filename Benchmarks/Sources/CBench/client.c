// client.c: one client of a file system: the same system call again and again, timed inside.

#define _GNU_SOURCE
#include "CBench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { block_bytes = 4096, file_blocks = 1024 };

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/// Blocks in an order that no read-ahead guesses: 617 is odd, so every block comes once per lap.
static off_t offset_of(long i) { return (off_t)(i * 617 % file_blocks) * block_bytes; }

static int write_once(int file, char *block, long i, int sync) {
  block[0] = (char)i;
  if (pwrite(file, block, block_bytes, offset_of(i)) != block_bytes) return -EIO;
  return sync && fsync(file) != 0 ? -errno : 0;
}

/// The page is dropped first: a read that the kernel's page cache answers says nothing of the
/// file system behind it.
static int read_once(int file, char *block, long i) {
  off_t offset = offset_of(i);
  int dropped = posix_fadvise(file, offset, block_bytes, POSIX_FADV_DONTNEED);
  if (dropped != 0) return -dropped;
  return pread(file, block, block_bytes, offset) == block_bytes ? 0 : -EIO;
}

static int create_once(int directory, long i) {
  char name[32];
  snprintf(name, sizeof name, "file-%ld", i % 64);
  int file = openat(directory, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  if (file < 0) return -errno;
  close(file);
  return unlinkat(directory, name, 0) == 0 ? 0 : -errno;
}

static int run(const char *kind, int directory, int file, long count) {
  char block[block_bytes];
  memset(block, 'x', sizeof block);
  int status = 0;
  for (long i = 0; i < count && status == 0; i++) {
    if (strcmp(kind, "write") == 0) status = write_once(file, block, i, 0);
    else if (strcmp(kind, "write-fsync") == 0) status = write_once(file, block, i, 1);
    else if (strcmp(kind, "read") == 0) status = read_once(file, block, i);
    else if (strcmp(kind, "create") == 0) status = create_once(directory, i);
    else status = -EINVAL;
  }
  return status;
}

int64_t cbench_client(const char *kind, const char *path, long count) {
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return -errno;
  int file = openat(directory, "data", O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (file < 0) return -errno;
  posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
  int status = run("write", directory, file, file_blocks);  // Every block exists from here on.
  if (status == 0 && fsync(file) != 0) status = -errno;
  if (status == 0) status = run(kind, directory, file, count / 10);
  int64_t start = now_ns();
  if (status == 0) status = run(kind, directory, file, count);
  int64_t elapsed = now_ns() - start;
  close(file);
  close(directory);
  return status == 0 ? elapsed : status;
}
