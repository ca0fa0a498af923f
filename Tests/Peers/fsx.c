// fsx.c: random operations on one file, held against a model of it in memory. The seed decides everything.
// Usage: fsx [-s SEED] [-n OPERATIONS] [-l BYTES] [-d] [-x] [-c OPERATION] FILE
//   -d  reads and writes go past the page cache (O_DIRECT), and nothing is mapped
//   -x  they go past it or through it, and the file is mapped, in turn
//   -c  changes one byte behind the model's back after that operation: a self-test, which must fail
// After each operation the size is compared, after each read what was read, and every 64 operations, with the last, the
// whole file. Status: 0 all as in the model, 1 a byte or a size differs, 2 usage, 3 a call failed.
// Invariant: what is drawn depends on the seed and the model only, so -s SEED -n OPERATION plays a failure again.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { block = 4096, logged = 12 };

static uint64_t state, seed = 1;
static long count = 10000, corrupted = -1, number;
static long size_max = 256 * 1024, size;
static bool is_direct, is_mixed;
static const char *path;
static unsigned char *model, *buffer;
static int plain, direct = -1;
static char log_lines[logged][120];

static uint64_t next(void) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// A number from 0 to limit - 1; 0 where limit is 0.
static long below(long limit) { return limit > 0 ? (long)(next() % (uint64_t)limit) : 0; }

static void stop(int status) {
  printf("seed %" PRIu64 ", operation %ld; the last operations:\n", seed, number);
  for (long n = number >= logged ? number - logged + 1 : 1; n <= number; n++)
    printf("  %ld %s\n", n, log_lines[n % logged]);
  printf("again: fsx -s %" PRIu64 " -n %ld -l %ld%s%s %s\n", seed, number, size_max,
         is_direct ? " -d" : "", is_mixed ? " -x" : "", path);
  fflush(stdout);
  _exit(status);
}

static void refuse(const char *call) {
  printf("FAILED %s: %s\n", call, strerror(errno));
  stop(3);
}

#define OK(call) ({ __auto_type result_ = (call); if (result_ == -1) refuse(#call); result_; })
#define SAY(...) snprintf(log_lines[number % logged], sizeof log_lines[0], __VA_ARGS__)

static void compare(const char *how, const unsigned char *got, long offset, long length) {
  for (long i = 0; i < length; i++) {
    if (got[i] == model[offset + i]) continue;
    long wrong = 0;
    for (long j = i; j < length; j++) wrong += got[j] != model[offset + j];
    printf("DIFFERS %s: byte %ld is %d instead of %d; %ld of %ld bytes from %ld on differ\n", how, offset + i, got[i],
           model[offset + i], wrong, length, offset);
    stop(1);
  }
}

static void compare_size(void) {
  struct stat about;
  OK(fstat(plain, &about));
  if (about.st_size == size) return;
  printf("DIFFERS size: %ld instead of %ld\n", (long)about.st_size, size);
  stop(1);
}

// Makes the model larger where needed; what is new there is zeros already.
static void grow(long to) {
  if (to > size) size = to;
}

static void shrink(long to) {
  if (to < size) memset(model + to, 0, size - to);
  size = to;
}

// The descriptor of a read or write, and its range made fit for it.
static int descriptor(long *offset, long *length) {
  if (direct < 0 || (is_mixed && below(2))) return plain;
  *offset -= *offset % block;
  *length += (block - *length % block) % block;
  if (*offset + *length > size_max) *length = size_max - *offset;
  return direct;
}

static void fill(long offset, long length) {
  unsigned char value = (unsigned char)next() | 1;
  for (long i = 0; i < length; i++) buffer[i] = (unsigned char)(value + (offset + i) / 7 + number);
}

static void read_range(long offset, long length) {
  int from = descriptor(&offset, &length);
  SAY("read%s %ld+%ld", from == direct ? " direct" : "", offset, length);
  long got = OK(pread(from, buffer, length, offset));
  long expected = offset >= size ? 0 : length < size - offset ? length : size - offset;
  if (got != expected) {
    printf("DIFFERS read: %ld bytes instead of %ld\n", got, expected);
    stop(1);
  }
  compare("read", buffer, offset, got);
}

static void write_range(long offset, long length) {
  int to = descriptor(&offset, &length);
  fill(offset, length);
  SAY("write%s %ld+%ld", to == direct ? " direct" : "", offset, length);
  if (OK(pwrite(to, buffer, length, offset)) != length) {
    printf("DIFFERS write: fewer than %ld bytes were written\n", length);
    stop(1);
  }
  grow(offset + length);
  memcpy(model + offset, buffer, length);
}

static void map_range(long offset, long length, bool writes) {
  SAY("map %s %ld+%ld", writes ? "write" : "read", offset, length);
  long start = offset - offset % block, end = offset + length;
  if (writes && end > size) {
    OK(ftruncate(plain, end));
    grow(end);
  }
  if (end > size) end = size;
  if (end <= offset) return;
  int access = writes ? PROT_READ | PROT_WRITE : PROT_READ;
  unsigned char *map = mmap(NULL, end - start, access, MAP_SHARED, plain, start);
  if (map == MAP_FAILED) refuse("mmap");
  if (writes) {
    fill(offset, end - offset);
    memcpy(map + (offset - start), buffer, end - offset);
    memcpy(model + offset, buffer, end - offset);
    if (below(4) == 0) OK(msync(map, end - start, below(2) ? MS_SYNC : MS_ASYNC));
  }
  compare("map", map, start, end - start);
  // Bytes of the last page behind the end read as zeros.
  if (end == size)
    for (long i = end; i % block; i++)
      if (map[i - start]) {
        printf("DIFFERS map: byte %ld behind the end is %d\n", i, map[i - start]);
        stop(1);
      }
  OK(munmap(map, end - start));
}

static void truncate_to(long to) {
  SAY("truncate from %ld to %ld", size, to);
  if (to < size) shrink(to);
  OK(below(2) ? ftruncate(plain, to) : truncate(path, to));
  grow(to);
}

static void allocate(int mode, const char *name, long offset, long length) {
  SAY("%s %ld+%ld%s", name, offset, length, mode & FALLOC_FL_KEEP_SIZE ? " keep size" : "");
  OK(fallocate(plain, mode, offset, length));
  bool zeroes = mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE);
  if (!(mode & FALLOC_FL_KEEP_SIZE)) grow(offset + length);
  long end = offset + length < size ? offset + length : size;
  if (zeroes && end > offset) memset(model + offset, 0, end - offset);
}

static void copy_range(long from, long length, long to) {
  if (from >= size) from = below(size);
  if (length > size - from) length = size - from;
  if (length > size_max - to) length = size_max - to;
  if (length > labs(to - from)) length = labs(to - from);
  SAY("copy %ld+%ld to %ld", from, length, to);
  while (length > 0) {
    off_t in = from, out = to;
    long copied = OK(copy_file_range(plain, &in, plain, &out, length, 0));
    if (copied <= 0 || copied > length) {
      printf("DIFFERS copy: %ld of %ld bytes were copied\n", copied, length);
      stop(1);
    }
    grow(to + copied);
    memmove(model + to, model + from, copied);
    from += copied, to += copied, length -= copied;
  }
}

static void open_file(void) {
  plain = OK(open(path, O_RDWR | O_CREAT, 0644));
  if (is_direct || is_mixed) direct = OK(open(path, O_RDWR | O_DIRECT));
}

static void reopen(void) {
  SAY("close and open");
  OK(close(plain));
  if (direct >= 0) OK(close(direct));
  open_file();
}

// Every byte is data or in a hole, and what SEEK_HOLE calls a hole reads as zeros.
static void seek_ranges(void) {
  SAY("seek data and holes");
  for (long at = 0; at < size;) {
    long data = lseek(plain, at, SEEK_DATA);
    if (data == -1 && errno != ENXIO) refuse("lseek SEEK_DATA");
    if (data == -1) data = size;
    for (long i = at; i < data; i++)
      if (model[i]) {
        printf("DIFFERS seek: byte %ld is %d, but in a hole\n", i, model[i]);
        stop(1);
      }
    if (data == size) break;
    at = OK(lseek(plain, data, SEEK_HOLE));
    if (at <= data || at > size) {
      printf("DIFFERS seek: the hole behind the data at %ld is at %ld of %ld\n", data, at, size);
      stop(1);
    }
  }
}

static void whole(void) {
  long got = OK(pread(plain, buffer, size_max, 0));
  if (got != size) {
    printf("DIFFERS read: %ld bytes instead of %ld\n", got, size);
    stop(1);
  }
  compare("whole file", buffer, 0, size);
}

static void step(void) {
  long offset = below(size_max - 1), length = 1 + below(below(4) ? 3 * block : size_max / 4);
  if (below(4) == 0) offset -= offset % block;
  if (length > size_max - offset) length = size_max - offset;
  long target = below(size_max);
  switch (below(is_direct ? 16 : 20)) {
  case 0 ... 3: return read_range(offset, length);
  case 4 ... 7: return write_range(offset, length);
  case 8: return truncate_to(target);
  case 9: return allocate(below(2) ? FALLOC_FL_KEEP_SIZE : 0, "allocate", offset, length);
  case 10: return allocate(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, "punch", offset, length);
  case 11: return allocate(FALLOC_FL_ZERO_RANGE | (below(2) ? FALLOC_FL_KEEP_SIZE : 0), "zero", offset, length);
  case 12: return copy_range(offset, length, target);
  case 13:
    SAY("sync");
    OK(below(2) ? fsync(plain) : fdatasync(plain));
    return;
  case 14: return reopen();
  case 15: return seek_ranges();
  case 16 ... 17: return map_range(offset, length, false);
  default: return map_range(offset, length, true);
  }
}

// Changes one byte of the file; the model is not told.
static void corrupt(void) {
  unsigned char byte;
  int file = OK(open(path, O_RDWR));
  if (size == 0) {
    puts("the file is empty at that operation");
    exit(2);
  }
  off_t at = below(size);
  OK(pread(file, &byte, 1, at));
  byte ^= 0x40;
  OK(pwrite(file, &byte, 1, at));
  OK(close(file));
}

int main(int argc, char **argv) {
  for (int option; (option = getopt(argc, argv, "s:n:l:dxc:")) != -1;) switch (option) {
    case 's': seed = strtoull(optarg, NULL, 10); break;
    case 'n': count = atol(optarg); break;
    case 'l': size_max = atol(optarg) / block * block; break;
    case 'd': is_direct = true; break;
    case 'x': is_mixed = true; break;
    case 'c': corrupted = atol(optarg); break;
    default: return 2;
    }
  if (optind != argc - 1 || size_max < 4 * block || (is_direct && is_mixed)) {
    fprintf(stderr, "usage: fsx [-s SEED] [-n OPERATIONS] [-l BYTES] [-d|-x] [-c OPERATION] FILE\n");
    return 2;
  }
  path = argv[optind];
  state = seed;
  model = calloc(1, size_max);
  if (!model || posix_memalign((void **)&buffer, block, size_max) != 0) return 3;
  unlink(path);
  open_file();
  for (number = 1; number <= count; number++) {
    step();
    compare_size();
    if (number == corrupted) corrupt();
    if (number % 64 == 0 || number == count) whole();
  }
  printf("%ld operations, seed %" PRIu64 ": as in the model\n", count, seed);
  return 0;
}
