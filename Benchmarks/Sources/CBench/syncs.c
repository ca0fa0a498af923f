// syncs.c: counts syncs. These definitions stand before the C library's for every library that the
// program loads, so SQLite's and LMDB's calls come here too; each goes on to the kernel unchanged.

#define _GNU_SOURCE
#include "Stores.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int is_counting;
static atomic_long syncs;

void cbench_sync_count_start(void) {
  syncs = 0;
  is_counting = 1;
}

int64_t cbench_sync_count_stop(void) {
  is_counting = 0;
  return syncs;
}

int fsync(int fd) {
  if (is_counting) syncs++;
  return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
  if (is_counting) syncs++;
  return (int)syscall(SYS_fdatasync, fd);
}

int msync(void *address, size_t size, int flags) {
  if (is_counting && (flags & MS_SYNC)) syncs++;
  return (int)syscall(SYS_msync, address, size, flags);
}

/// LMDB writes its meta page through a descriptor of its own that syncs each write.
static void count_write(int fd) {
  if (is_counting && (fcntl(fd, F_GETFL) & O_DSYNC)) syncs++;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
  count_write(fd);
  return syscall(SYS_pwrite64, fd, bytes, count, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  return pwrite64(fd, bytes, count, offset);
}
