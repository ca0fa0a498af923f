// random.c: `posix-cases --random SEED COUNT DIR`: many random operations on few names.
// The same seed does the same to any file system, so two of them can be compared afterwards.
// Descriptors stay open over renames and unlinks; errors are part of the game and ignored.
#include "cases.h"
#include "random.h"

#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/xattr.h>

static uint64_t state;
static uint64_t draw(uint64_t bound) {
  state += 0x9e3779b97f4a7c15;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31)) % bound;
}

static void draw_path(char *path) {
  static const char *folders[] = {"", "d0/", "d1/", "d0/e0/", "d1/e0/", "d1/e1/"};
  sprintf(path, "%sn%d", folders[draw(6)], (int)draw(6));
}
static void draw_folder(char *path) {
  static const char *folders[] = {"d0", "d1", "d0/e0", "d1/e0", "d1/e1", "d2"};
  strcpy(path, folders[draw(6)]);
}

static int files[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
static char bytes[200000];

static void change_content(int fd) {
  off_t offset = draw(4) ? draw(40000) : draw(3000000);
  size_t count = draw(3) ? draw(9000) : draw(sizeof bytes);
  for (size_t i = 0; i < count; i += 1 + draw(500)) bytes[i] = (char)draw(256);
  long ignored = 0;
  switch (draw(10)) {
    case 0: ignored = ftruncate(fd, draw(2) ? offset : 0); break;
    case 1: ignored = fallocate(fd, draw(2) ? FALLOC_FL_KEEP_SIZE : 0, offset, count + 1); break;
    case 2:
      ignored = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, count + 1);
      break;
    case 3: {
      struct stat s;
      if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode) || s.st_size < 5000) break;
      char *map = mmap(NULL, 5000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      if (map == MAP_FAILED) break;
      memcpy(map + draw(1000), bytes, 1 + draw(4000));
      if (draw(2)) msync(map, 5000, MS_SYNC);
      munmap(map, 5000);
      break;
    }
    case 4: ignored = draw(2) ? fsync(fd) : fdatasync(fd); break;
    case 5: ignored = write(fd, bytes, draw(300)); break;
    default: ignored = pwrite(fd, bytes, count, offset);
  }
  (void)ignored;
}

static void change_names(void) {
  char a[64], b[64];
  draw_path(a);
  draw_path(b);
  long ignored = 0;
  switch (draw(14)) {
    case 0: draw_folder(a); ignored = mkdir(a, 0700 + draw(64)); break;
    case 1: draw_folder(a); ignored = rmdir(a); break;
    case 2: ignored = link(a, b); break;
    case 3: ignored = symlink(b, a); break;
    case 4: case 5: ignored = unlink(a); break;
    case 6: case 7: ignored = rename(a, b); break;
    case 8: draw_folder(a); draw_folder(b); ignored = rename(a, b); break;
    case 9: ignored = renameat2(AT_FDCWD, a, AT_FDCWD, b, 1 + draw(2)); break;
    case 10: ignored = chmod(a, 0400 + draw(256)); break;
    case 11: ignored = lchown(a, draw(5), draw(5)); break;
    case 12: ignored = setxattr(a, draw(2) ? "user.one" : "user.two", b, draw(60), 0); break;
    default: ignored = draw(2) ? removexattr(a, "user.one") : mkfifo(a, 0600);
  }
  (void)ignored;
}

int run_random(uint64_t seed, int count) {
  state = seed;
  for (int i = 0; i < count; i++) {
    int slot = (int)draw(8);
    switch (draw(5)) {
      case 0: {
        char path[64];
        draw_path(path);
        if (files[slot] >= 0) close(files[slot]);
        int flags = O_RDWR | O_NONBLOCK | O_NOFOLLOW | (draw(2) ? O_CREAT : 0);
        if (draw(4) == 0) flags |= O_TRUNC;
        if (draw(4) == 0) flags |= O_APPEND;
        if (draw(8) == 0) flags |= O_DSYNC;
        // A FIFO of that name would be shared with nobody: only regular files are kept.
        files[slot] = open(path, flags, 0644);
        struct stat s;
        if (files[slot] >= 0 && (fstat(files[slot], &s) != 0 || !S_ISREG(s.st_mode))) {
          close(files[slot]);
          files[slot] = -1;
        }
        break;
      }
      case 1: case 2: if (files[slot] >= 0) change_content(files[slot]); break;
      default: change_names();
    }
  }
  for (int slot = 0; slot < 8; slot++)
    if (files[slot] >= 0) close(files[slot]);
  return 0;
}
