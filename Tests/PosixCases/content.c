// content.c: reading, writing, sizes, holes, fallocate, mappings.
#include "cases.h"

#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/uio.h>

static int is_zero(const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (bytes[i]) return 0;
  return 1;
}
CASE("write: across pages and chunks, unaligned, comes back as written") {
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644));
  static unsigned char in[300000], out[300000];
  for (size_t i = 0; i < sizeof in; i++) in[i] = (unsigned char)(i * 7 + i / 251);
  CHECK(pwrite(fd, in, sizeof in, 12345) == sizeof in);
  CHECK(pread(fd, out, sizeof out, 12345) == sizeof out && memcmp(in, out, sizeof in) == 0);
  CHECK(pread(fd, out, 12345, 0) == 12345 && is_zero((char *)out, 12345));
  CHECK(look("f").st_size == 312345);
}
CASE("write: over the page cache of another descriptor") {
  put("f", "aaaaaaaaaa");
  int a = OK(open("f", O_RDWR)), b = OK(open("f", O_RDWR));
  char text[10];
  CHECK(pread(b, text, 10, 0) == 10);
  CHECK(pwrite(a, "bbb", 3, 4) == 3);
  CHECK(pread(b, text, 10, 0) == 10 && memcmp(text, "aaaabbbaaa", 10) == 0);
}
CASE("write: 16 MiB in one call") {
  size_t size = 16 << 20;
  char *bytes = malloc(size), *back = malloc(size);
  for (size_t i = 0; i < size; i++) bytes[i] = (char)(i / 4099);
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644));
  CHECK(pwrite(fd, bytes, size, 0) == (ssize_t)size);
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  CHECK(pread(fd, back, size, 0) == (ssize_t)size && memcmp(bytes, back, size) == 0);
}
CASE("write: O_DIRECT, vectors, zero bytes, EBADF") {
  int fd = OK(open("f", O_CREAT | O_RDWR | O_DIRECT, 0644));
  char *page;
  CHECK(posix_memalign((void **)&page, 4096, 4096) == 0);
  memset(page, 'd', 4096);
  CHECK(pwrite(fd, page, 4096, 4096) == 4096);
  struct iovec parts[2] = {{page, 2048}, {page + 2048, 2048}};
  int plain = OK(open("f", O_RDWR));
  CHECK(pwritev(plain, parts, 2, 0) == 4096);
  CHECK(pwrite(plain, page, 0, 99999) == 0 && look("f").st_size == 8192);
  int reader = OK(open("f", O_RDONLY));
  FAILS(EBADF, write(reader, "x", 1));
}
CASE("write: at a negative or impossible offset fails and changes nothing") {
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644));
  FAILS(EINVAL, pwrite(fd, "x", 1, -1));
  CHECK(pwrite(fd, "x", 1, LLONG_MAX) == -1 && (errno == EFBIG || errno == EINVAL));
  FAILS(EINVAL, ftruncate(fd, -1));
  CHECK(look("f").st_size == 0);
}
CASE("read: at and behind the end is 0 bytes, of a directory EISDIR") {
  put("f", "abc");
  int fd = OK(open("f", O_RDONLY));
  char text[8];
  CHECK(pread(fd, text, 8, 3) == 0 && pread(fd, text, 8, 1000000) == 0);
  CHECK(pread(fd, text, 8, 1) == 2);
  int directory = OK(open(".", O_RDONLY));
  FAILS(EISDIR, read(directory, text, 8));
}
CASE("truncate: down and up again leaves zeros, in the middle of a page too") {
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644));
  char bytes[20000];
  memset(bytes, 'x', sizeof bytes);
  CHECK(write(fd, bytes, sizeof bytes) == sizeof bytes);
  OK(ftruncate(fd, 5001));
  CHECK(look("f").st_size == 5001);
  OK(truncate("f", 20000));
  CHECK(pread(fd, bytes, sizeof bytes, 0) == sizeof bytes);
  CHECK(bytes[0] == 'x' && bytes[5000] == 'x' && is_zero(bytes + 5001, 14999));
  FAILS(EISDIR, truncate(".", 0));
  FAILS(ENOENT, truncate("none", 0));
}
CASE("sparse: a terabyte costs nothing, holes read as zeros") {
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644));
  OK(ftruncate(fd, 1LL << 40));
  CHECK(look("f").st_size == 1LL << 40 && look("f").st_blocks == 0);
  CHECK(pwrite(fd, "end", 3, (1LL << 40) - 3) == 3);
  CHECK(look("f").st_blocks <= 16);
  char text[4096];
  CHECK(pread(fd, text, sizeof text, 1LL << 39) == sizeof text && is_zero(text, sizeof text));
  CHECK(pread(fd, text, sizeof text, (1LL << 40) - 3) == 3 && memcmp(text, "end", 3) == 0);
}
CASE("lseek: SEEK_DATA and SEEK_HOLE find the written pages") {
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644));
  CHECK(pwrite(fd, "x", 1, 1 << 20) == 1);
  OK(ftruncate(fd, 2 << 20));
  CHECK(lseek(fd, 0, SEEK_DATA) == 1 << 20);
  CHECK(lseek(fd, 0, SEEK_HOLE) == 0);
  CHECK(lseek(fd, 1 << 20, SEEK_HOLE) == (1 << 20) + 4096);
  FAILS(ENXIO, lseek(fd, (1 << 20) + 4096, SEEK_DATA));
  FAILS(ENXIO, lseek(fd, 2 << 20, SEEK_HOLE));
}
CASE("fallocate: grows, keeps the size, punches, zeroes") {
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644));
  char bytes[16384];
  memset(bytes, 'x', sizeof bytes);
  CHECK(pwrite(fd, bytes, 8192, 0) == 8192);
  OK(fallocate(fd, 0, 4096, 12288));
  CHECK(look("f").st_size == 16384);
  CHECK(pread(fd, bytes, 16384, 0) == 16384 && bytes[8191] == 'x' && is_zero(bytes + 8192, 8192));
  OK(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 1 << 20));
  CHECK(look("f").st_size == 16384 && look("f").st_blocks >= 2048);
  OK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 1000, 5000));
  CHECK(pread(fd, bytes, 16384, 0) == 16384 && look("f").st_size == 16384);
  CHECK(bytes[999] == 'x' && is_zero(bytes + 1000, 5000) && bytes[6000] == 'x');
}
CASE("fallocate: errors EINVAL, EBADF, EFBIG, EOPNOTSUPP") {
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644));
  FAILS(EINVAL, fallocate(fd, 0, 0, 0));
  FAILS(EINVAL, fallocate(fd, 0, -1, 5));
  FAILS(EFBIG, fallocate(fd, 0, LLONG_MAX - 10, 100));
  FAILS(EOPNOTSUPP, fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, 4096));
  int reader = OK(open("f", O_RDONLY));
  FAILS(EBADF, fallocate(reader, 0, 0, 10));
}
CASE("mmap: a shared store is in the file after msync, and a private one is not") {
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644));
  OK(ftruncate(fd, 8192));
  char *shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  char *private = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  CHECK(shared != MAP_FAILED && private != MAP_FAILED);
  memcpy(private + 100, "private", 7);
  memcpy(shared + 5000, "shared", 6);
  OK(msync(shared, 8192, MS_SYNC));
  char text[8192];
  CHECK(pread(fd, text, 8192, 0) == 8192);
  CHECK(memcmp(text + 5000, "shared", 6) == 0 && is_zero(text, 5000));
  CHECK(pwrite(fd, "written", 7, 200) == 7 && memcmp(shared + 200, "written", 7) == 0);
}
CASE("mmap: stores of a closed and unlinked file stay visible to a second mapping") {
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644));
  OK(ftruncate(fd, 4096));
  char *a = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  char *b = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
  OK(close(fd));
  OK(unlink("f"));
  strcpy(a, "hello");
  CHECK(strcmp(b, "hello") == 0);
  OK(msync(a, 4096, MS_SYNC));
}
CASE("statvfs: sizes add up and a name may have 255 bytes") {
  struct statvfs s;
  OK(statvfs(".", &s));
  CHECK(s.f_namemax == 255 && s.f_bfree <= s.f_blocks && s.f_bavail <= s.f_bfree);
  CHECK(s.f_blocks > 0 && s.f_frsize > 0);
}
CASE("copy_file_range and sendfile copy bytes") {
  put("a", "copy me");
  int in = OK(open("a", O_RDONLY)), out = OK(open("b", O_CREAT | O_RDWR, 0644));
  CHECK(copy_file_range(in, NULL, out, NULL, 7, 0) == 7);
  CHECK(holds("b", "copy me"));
}
