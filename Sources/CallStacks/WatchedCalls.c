// WatchedCalls.c: the calls of libc that may change files or sync them. The stream functions are
// here because libc does not come by `write` when it empties a buffer.
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "CallStackCalls.h"

// MARK: - Names

/// open and its like, which take a mode only when they may make a file.
#define WATCH_OPEN(name, parameters, ...)                                                     \
  int name parameters {                                                                       \
    static _Atomic(void *) known;                                                             \
    int (*next) parameters = (int (*) parameters)call_stacks_next(&known, #name);             \
    mode_t mode = 0;                                                                          \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                                    \
      va_list rest;                                                                           \
      va_start(rest, flags);                                                                  \
      mode = va_arg(rest, mode_t);                                                            \
      va_end(rest);                                                                           \
    }                                                                                         \
    bool is_noted = call_stacks_enter(__builtin_frame_address(0), __builtin_return_address(0)); \
    int result = next(__VA_ARGS__, flags, mode);                                              \
    if (is_noted) call_stacks_leave();                                                        \
    return result;                                                                            \
  }

WATCH_OPEN(open, (const char *path, int flags, ...), path)
WATCH_OPEN(open64, (const char *path, int flags, ...), path)
WATCH_OPEN(openat, (int at, const char *path, int flags, ...), at, path)
WATCH_OPEN(openat64, (int at, const char *path, int flags, ...), at, path)
WATCH(int, creat, (const char *path, mode_t mode), (path, mode))
WATCH(int, creat64, (const char *path, mode_t mode), (path, mode))
WATCH(int, mkstemp, (char *path), (path))
WATCH(int, mkstemp64, (char *path), (path))
WATCH(int, mkdir, (const char *path, mode_t mode), (path, mode))
WATCH(int, mkdirat, (int at, const char *path, mode_t mode), (at, path, mode))
WATCH(int, mknod, (const char *path, mode_t mode, dev_t device), (path, mode, device))
WATCH(int, mkfifo, (const char *path, mode_t mode), (path, mode))
WATCH(int, link, (const char *from, const char *to), (from, to))
WATCH(int, linkat, (int a, const char *from, int b, const char *to, int flags),
      (a, from, b, to, flags))
WATCH(int, symlink, (const char *text, const char *path), (text, path))
WATCH(int, symlinkat, (const char *text, int at, const char *path), (text, at, path))
WATCH(int, unlink, (const char *path), (path))
WATCH(int, unlinkat, (int at, const char *path, int flags), (at, path, flags))
WATCH(int, rmdir, (const char *path), (path))
WATCH(int, remove, (const char *path), (path))
WATCH(int, rename, (const char *from, const char *to), (from, to))
WATCH(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
WATCH(int, renameat2, (int a, const char *from, int b, const char *to, unsigned flags),
      (a, from, b, to, flags))

// MARK: - Content

WATCH(ssize_t, write, (int file, const void *bytes, size_t count), (file, bytes, count))
WATCH(ssize_t, pwrite, (int file, const void *bytes, size_t count, off_t at),
      (file, bytes, count, at))
WATCH(ssize_t, pwrite64, (int file, const void *bytes, size_t count, off64_t at),
      (file, bytes, count, at))
WATCH(ssize_t, writev, (int file, const struct iovec *pieces, int count), (file, pieces, count))
WATCH(ssize_t, pwritev, (int file, const struct iovec *pieces, int count, off_t at),
      (file, pieces, count, at))
WATCH(ssize_t, pwritev64, (int file, const struct iovec *pieces, int count, off64_t at),
      (file, pieces, count, at))
WATCH(ssize_t, pwritev2, (int file, const struct iovec *pieces, int count, off_t at, int flags),
      (file, pieces, count, at, flags))
WATCH(ssize_t, copy_file_range,
      (int from, off64_t *from_at, int to, off64_t *to_at, size_t count, unsigned flags),
      (from, from_at, to, to_at, count, flags))
WATCH(ssize_t, sendfile, (int to, int from, off_t *at, size_t count), (to, from, at, count))
WATCH(ssize_t, sendfile64, (int to, int from, off64_t *at, size_t count), (to, from, at, count))
WATCH(int, truncate, (const char *path, off_t size), (path, size))
WATCH(int, truncate64, (const char *path, off64_t size), (path, size))
WATCH(int, ftruncate, (int file, off_t size), (file, size))
WATCH(int, ftruncate64, (int file, off64_t size), (file, size))
WATCH(int, fallocate, (int file, int mode, off_t at, off_t count), (file, mode, at, count))
WATCH(int, fallocate64, (int file, int mode, off64_t at, off64_t count), (file, mode, at, count))
WATCH(int, posix_fallocate, (int file, off_t at, off_t count), (file, at, count))
WATCH(int, posix_fallocate64, (int file, off64_t at, off64_t count), (file, at, count))
WATCH(int, fsync, (int file), (file))
WATCH(int, fdatasync, (int file), (file))
WATCH(int, msync, (void *start, size_t count, int flags), (start, count, flags))
WATCH(int, syncfs, (int file), (file))
WATCH_NOTHING(sync, (void), ())

// MARK: - Attributes

WATCH(int, chmod, (const char *path, mode_t mode), (path, mode))
WATCH(int, fchmod, (int file, mode_t mode), (file, mode))
WATCH(int, fchmodat, (int at, const char *path, mode_t mode, int flags), (at, path, mode, flags))
WATCH(int, chown, (const char *path, uid_t user, gid_t group), (path, user, group))
WATCH(int, lchown, (const char *path, uid_t user, gid_t group), (path, user, group))
WATCH(int, fchown, (int file, uid_t user, gid_t group), (file, user, group))
WATCH(int, fchownat, (int at, const char *path, uid_t user, gid_t group, int flags),
      (at, path, user, group, flags))
WATCH(int, setxattr, (const char *path, const char *name, const void *value, size_t count, int how),
      (path, name, value, count, how))
WATCH(int, lsetxattr,
      (const char *path, const char *name, const void *value, size_t count, int how),
      (path, name, value, count, how))
WATCH(int, fsetxattr, (int file, const char *name, const void *value, size_t count, int how),
      (file, name, value, count, how))
WATCH(int, removexattr, (const char *path, const char *name), (path, name))
WATCH(int, lremovexattr, (const char *path, const char *name), (path, name))
WATCH(int, fremovexattr, (int file, const char *name), (file, name))

// MARK: - Streams

WATCH(FILE *, fopen, (const char *path, const char *mode), (path, mode))
WATCH(FILE *, fopen64, (const char *path, const char *mode), (path, mode))
WATCH(FILE *, freopen, (const char *path, const char *mode, FILE *stream), (path, mode, stream))
WATCH(int, fclose, (FILE *stream), (stream))
WATCH(int, fflush, (FILE *stream), (stream))
WATCH(int, fseek, (FILE *stream, long at, int whence), (stream, at, whence))
WATCH(int, fseeko, (FILE *stream, off_t at, int whence), (stream, at, whence))
WATCH(size_t, fwrite, (const void *bytes, size_t size, size_t count, FILE *stream),
      (bytes, size, count, stream))
WATCH(int, fputs, (const char *text, FILE *stream), (text, stream))
WATCH(int, fputc, (int byte, FILE *stream), (byte, stream))
WATCH(int, putc, (int byte, FILE *stream), (byte, stream))
WATCH(int, vfprintf, (FILE *stream, const char *format, va_list rest), (stream, format, rest))

int fprintf(FILE *stream, const char *format, ...) {
  static _Atomic(void *) known;
  int (*next)(FILE *, const char *, va_list) =
      (int (*)(FILE *, const char *, va_list))call_stacks_next(&known, "vfprintf");
  bool is_noted = call_stacks_enter(__builtin_frame_address(0), __builtin_return_address(0));
  va_list rest;
  va_start(rest, format);
  int result = next(stream, format, rest);
  va_end(rest);
  if (is_noted) call_stacks_leave();
  return result;
}
