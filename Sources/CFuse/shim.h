// libfuse3's low-level API. _FILE_OFFSET_BITS stays undefined: it would clash with Glibc's module,
// and off_t is 64 bits wide on the machines we build for anyway.
#ifndef FAULTLINE_CFUSE_SHIM_H
#define FAULTLINE_CFUSE_SHIM_H
#define FUSE_USE_VERSION 35
#include <fuse3/fuse.h>
#include <fuse3/fuse_lowlevel.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// The answer to FUSE_STATX (protocol 7.39), which is newer than the headers that we build with.
typedef struct {
  int64_t tv_sec;
  uint32_t tv_nsec;
  int32_t padding;
} cfuse_sx_time;

typedef struct {
  uint64_t attr_valid;
  uint32_t attr_valid_nsec, flags;
  uint64_t spare[2];
  // struct fuse_statx
  uint32_t mask, blksize;
  uint64_t attributes;
  uint32_t nlink, uid, gid;
  uint16_t mode, mode_padding;
  uint64_t ino, size, blocks, attributes_mask;
  cfuse_sx_time atime, btime, ctime, mtime;
  uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
  uint64_t more_spare[14];
} cfuse_statx_out;
_Static_assert(sizeof(cfuse_statx_out) == 288, "as the kernel has it");

// read(2), and write(2) or writev(2) of two parts. As bare system calls they are no points where a thread can be
// cancelled, which costs two atomic operations each in a process of many threads.
static inline ssize_t cfuse_read(int fd, void *buffer, size_t bytes) { return syscall(SYS_read, fd, buffer, bytes); }
static inline ssize_t cfuse_write(int fd, const void *first, size_t first_bytes, const void *second, size_t second_bytes) {
  if (second_bytes == 0) return syscall(SYS_write, fd, first, first_bytes);
  struct iovec parts[2] = {{(void *)first, first_bytes}, {(void *)second, second_bytes}};
  return syscall(SYS_writev, fd, parts, 2);
}

// Writes two parts, CFUSE_JOINED_BYTES together at most, from one place: the kernel pins the pages of each part, and
// that costs more than to copy some bytes. The place is the caller's own, because several threads answer at a time, and
// lies in one page.
enum { CFUSE_JOINED_BYTES = 512 };
static inline ssize_t cfuse_write_joined(int fd, const struct iovec *parts) {
  _Alignas(CFUSE_JOINED_BYTES) char joined[CFUSE_JOINED_BYTES];
  memcpy(joined, parts[0].iov_base, parts[0].iov_len);
  memcpy(joined + parts[0].iov_len, parts[1].iov_base, parts[1].iov_len);
  return syscall(SYS_write, fd, joined, parts[0].iov_len + parts[1].iov_len);
}
#endif
