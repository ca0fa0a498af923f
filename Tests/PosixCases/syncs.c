// syncs.c: `posix-cases --syncs WHAT DIR`: short programs whose traces the tests know by heart.
#include "syncs.h"
#include "cases.h"

#include <sys/mman.h>
#include <sys/uio.h>

static void pwrite_through(int flag, int count) {
  int fd = OK(open("f", O_RDWR | flag));
  char *page;
  CHECK(posix_memalign((void **)&page, 4096, 4096) == 0);
  memset(page, 'p', 4096);
  for (int i = 0; i < count; i++) CHECK(pwrite(fd, page, 4096, i * 4096) == 4096);
}

int run_syncs(const char *what) {
  if (strcmp(what, "dsync") == 0) {
    pwrite_through(O_DSYNC, 2);
  } else if (strcmp(what, "sync") == 0) {
    pwrite_through(O_SYNC, 2);
  } else if (strcmp(what, "direct-dsync") == 0) {
    pwrite_through(O_DSYNC | O_DIRECT, 2);
  } else if (strcmp(what, "dsync-unaligned") == 0) {
    int fd = OK(open("f", O_RDWR | O_DSYNC));
    char text[4096] = "x";
    CHECK(pwrite(fd, text, 4096, 100) == 4096);
    OK(fsync(fd));
  } else if (strcmp(what, "rwf-dsync") == 0) {
    int fd = OK(open("f", O_RDWR));
    struct iovec piece = {"abc", 3};
    CHECK(pwritev2(fd, &piece, 1, 0, RWF_DSYNC) == 3);
  } else if (strcmp(what, "msync") == 0) {
    int fd = OK(open("f", O_RDWR));
    OK(ftruncate(fd, 8192));
    char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(map != MAP_FAILED);
    map[5000] = 'm';
    OK(msync(map, 8192, MS_SYNC));
  } else if (strcmp(what, "alternate") == 0) {
    // Marks on descriptor 3 and writes in turn: the trace must have them in this order.
    int fd = OK(open("f", O_RDWR));
    for (int i = 0; i < 500; i++) {
      char text[32];
      int count = sprintf(text, "mark %d", i);
      CHECK(write(3, text, count) == count);
      CHECK(pwrite(fd, text, count, i * 16) == count);
    }
  } else if (strcmp(what, "marks-only") == 0) {
    for (int i = 0; i < 5000; i++) CHECK(write(3, "m", 1) == 1);
  } else if (strcmp(what, "hang-with-dirty-map") == 0) {
    int fd = OK(open("f", O_RDWR | O_CREAT, 0644));
    OK(ftruncate(fd, 65536));
    char *map = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memset(map, 'd', 65536);
    CHECK(write(3, "dirty", 5) == 5);
    pause();
  } else if (strcmp(what, "commits") == 0) {
    // A two-phase commit: data behind 8,192, sync, a root slot below, sync.
    int fd = OK(open("f", O_RDWR));
    for (int i = 0; i < 4; i++) {
      char page[4096];
      memset(page, 'a' + i, sizeof page);
      CHECK(pwrite(fd, page, 4096, 8192 + 4096 * i) == 4096);
      if (fdatasync(fd) != 0) dprintf(3, "data sync failed: %d", errno);
      CHECK(pwrite(fd, page, 64, 4096 * (i % 2)) == 64);
      if (fdatasync(fd) != 0) dprintf(3, "root sync failed: %d", errno);
      dprintf(3, "commit %d", i);
    }
  } else {
    return 2;
  }
  return 0;
}
