// syncs.c: `posix-cases --syncs WHAT DIR`: short programs whose traces the tests know by heart.
#include "syncs.h"
#include "cases.h"
#include "ring.h"

#include <linux/aio_abi.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

// A page to write, aligned for O_DIRECT.
static char *page_of(char content) {
  char *page;
  CHECK(posix_memalign((void **)&page, 4096, 4096) == 0);
  memset(page, content, 4096);
  return page;
}

static void pwrite_through(int flag, int count) {
  int fd = OK(open("f", O_RDWR | flag));
  char *page = page_of('p');
  for (int i = 0; i < count; i++) CHECK(pwrite(fd, page, 4096, i * 4096) == 4096);
}

// One direct write by io_submit(2), awaited.
static void aio_write(int open_flags, int write_flags) {
  int fd = OK(open("f", O_RDWR | O_DIRECT | open_flags));
  aio_context_t context = 0;
  OK(syscall(SYS_io_setup, 1, &context));
  struct iocb block = {.aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = fd,
                       .aio_buf = (uintptr_t)page_of('a'), .aio_nbytes = 4096,
                       .aio_rw_flags = write_flags};
  struct iocb *blocks[] = {&block};
  struct io_event event;
  CHECK(syscall(SYS_io_submit, context, 1, blocks) == 1);
  CHECK(syscall(SYS_io_getevents, context, 1, 1, &event, NULL) == 1);
  CHECK(event.res == 4096);
}

// One direct write by io_uring(7), awaited.
static void uring_write(int open_flags, int write_flags) {
  ring r;
  CHECK(ring_open(&r));
  int fd = OK(open("f", O_RDWR | O_DIRECT | open_flags)), results[RING_ENTRIES];
  struct io_uring_sqe *entry = ring_add(&r, IORING_OP_WRITE, fd);
  entry->addr = (uintptr_t)page_of('u');
  entry->len = 4096;
  entry->rw_flags = write_flags;
  ring_run(&r, results);
  CHECK(results[0] == 4096);
}

static struct io_uring_sqe *add_write(ring *r, int fd, const char *text, long offset) {
  struct io_uring_sqe *entry = ring_add(r, IORING_OP_WRITE, fd);
  entry->addr = (uintptr_t)text;
  entry->len = (unsigned)strlen(text);
  entry->off = (uint64_t)offset;
  return entry;
}

// Chains of linked requests, which worker threads of the kernel may do.
static int run_ring(const char *what) {
  ring r;
  CHECK(ring_open(&r));
  int fd = OK(open("f", O_RDWR)), results[RING_ENTRIES];
  struct io_uring_sqe *entry;
  if (strcmp(what, "linked") == 0 || strcmp(what, "async") == 0) {
    unsigned flags = IOSQE_IO_LINK | (*what == 'a' ? IOSQE_ASYNC : 0);
    add_write(&r, fd, "one", 0)->flags = (uint8_t)flags;
    entry = ring_add(&r, IORING_OP_FSYNC, fd);
    entry->fsync_flags = IORING_FSYNC_DATASYNC;
    entry->flags = (uint8_t)flags;
    add_write(&r, fd, "two", 3)->flags = (uint8_t)flags;
    ring_add(&r, IORING_OP_FSYNC, fd)->flags = (uint8_t)(flags & ~IOSQE_IO_LINK);
    ring_run(&r, results);
    CHECK(results[0] == 3 && results[1] == 0 && results[2] == 3 && results[3] == 0);
  } else if (strcmp(what, "dsync") == 0) {
    entry = add_write(&r, fd, "one", 0);
    entry->rw_flags = RWF_DSYNC;
    entry->flags = IOSQE_IO_LINK;
    add_write(&r, fd, "two", 3)->rw_flags = RWF_SYNC;
    ring_run(&r, results);
    CHECK(results[0] == 3 && results[1] == 3);
  } else if (strcmp(what, "broken") == 0) {
    int reader = OK(open("f", O_RDONLY));
    add_write(&r, fd, "one", 0)->flags = IOSQE_IO_LINK;
    add_write(&r, reader, "two", 3)->flags = IOSQE_IO_LINK;
    ring_add(&r, IORING_OP_FSYNC, fd);
    ring_run(&r, results);
    CHECK(results[0] == 3 && results[1] == -EBADF && results[2] == -ECANCELED);
  } else if (strcmp(what, "range") == 0) {
    add_write(&r, fd, "one", 0)->flags = IOSQE_IO_LINK;
    entry = ring_add(&r, IORING_OP_SYNC_FILE_RANGE, fd);
    entry->sync_range_flags = SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    ring_run(&r, results);
    CHECK(results[0] == 3 && results[1] == 0);
  } else if (strcmp(what, "names") == 0) {
    entry = ring_add(&r, IORING_OP_OPENAT, AT_FDCWD);
    entry->addr = (uintptr_t) "g";
    entry->len = 0644;
    entry->open_flags = O_CREAT | O_RDWR;
    ring_run(&r, results);
    int made = results[0];
    CHECK(made >= 0);
    entry = ring_add(&r, IORING_OP_FALLOCATE, made);
    entry->addr = 4096;
    entry->flags = IOSQE_IO_LINK;
    entry = ring_add(&r, IORING_OP_RENAMEAT, AT_FDCWD);
    entry->addr = (uintptr_t) "g";
    entry->len = (unsigned)AT_FDCWD;
    entry->off = (uintptr_t) "h";
    entry->flags = IOSQE_IO_LINK;
    entry = ring_add(&r, IORING_OP_LINKAT, AT_FDCWD);
    entry->addr = (uintptr_t) "h";
    entry->len = (unsigned)AT_FDCWD;
    entry->off = (uintptr_t) "i";
    entry->flags = IOSQE_IO_LINK;
    entry = ring_add(&r, IORING_OP_UNLINKAT, AT_FDCWD);
    entry->addr = (uintptr_t) "h";
    ring_run(&r, results);
    for (int i = 0; i < 4; i++) CHECK(results[i] == 0);
  } else {
    return 2;
  }
  return 0;
}

static void write_with(int flags) {
  int fd = OK(open("f", O_RDWR));
  struct iovec piece = {"abc", 3};
  CHECK(pwritev2(fd, &piece, 1, 0, flags) == 3);
}

// Flags that do not ask for a sync, and one that FUSE files do not have.
static void write_with_others(void) {
  int fd = OK(open("f", O_RDWR));
  struct iovec piece = {"abc", 3};
  CHECK(pwritev2(fd, &piece, 1, 0, RWF_APPEND) == 3);
  CHECK(pwritev2(fd, &piece, 1, 0, RWF_APPEND | RWF_DSYNC) == 3);
  CHECK(pwritev2(fd, &piece, 1, 6, RWF_HIPRI) == 3);
  FAILS(EOPNOTSUPP, pwritev2(fd, &piece, 1, 0, RWF_NOWAIT));
}

// One write that asks for its data, one that asks for all of its file; `g` is asked for by none.
static void write_pair(void) {
  int fd = OK(open("f", O_RDWR)), other = OK(open("g", O_CREAT | O_WRONLY, 0644));
  struct iovec piece = {"abc", 3};
  CHECK(write(other, "g", 1) == 1);
  OK(fchmod(fd, 0600));
  CHECK(pwritev2(fd, &piece, 1, 0, RWF_DSYNC) == 3);
  dprintf(3, "data");
  CHECK(pwritev2(fd, &piece, 1, 1, RWF_SYNC) == 3);
  dprintf(3, "all");
}

// What looks like a sync: dirty pages are written out, and nothing is promised.
static void sync_range(void) {
  int fd = OK(open("f", O_RDWR));
  OK(ftruncate(fd, 8192));
  char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(map != MAP_FAILED);
  CHECK(pwrite(fd, "abc", 3, 0) == 3);
  map[5000] = 'm';
  OK(sync_file_range(fd, 0, 8192,
                     SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                       SYNC_FILE_RANGE_WAIT_AFTER));
  dprintf(3, "written out");
}

// From a page, a hole and a page that only a mapping has, into the middle of a new file.
static void copy_range(void) {
  int from = OK(open("f", O_RDWR)), to = OK(open("g", O_CREAT | O_RDWR, 0644));
  OK(ftruncate(from, 0));
  CHECK(pwrite(from, page_of('a'), 4096, 0) == 4096);
  OK(ftruncate(from, 3 * 4096));
  char *map = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, from, 0);
  CHECK(map != MAP_FAILED);
  memset(map + 2 * 4096, 'm', 4096);
  dprintf(3, "copy");
  off_t in = 0, out = 100;
  for (long left = 3 * 4096; left > 0;) {
    long copied = OK(copy_file_range(from, &in, to, &out, (size_t)left, 0));
    CHECK(copied > 0);
    left -= copied;
  }
}

// `aio-` or `uring-`, then how the write asks for its sync.
static int run_asynchronous(const char *what) {
  void (*write_one)(int, int) = strncmp(what, "aio-", 4) == 0 ? aio_write : uring_write;
  const char *how = strchr(what, '-') + 1;
  if (strcmp(how, "dsync") == 0) {
    write_one(O_DSYNC, 0);
  } else if (strcmp(how, "sync") == 0) {
    write_one(O_SYNC, 0);
  } else if (strcmp(how, "rwf-dsync") == 0) {
    write_one(0, RWF_DSYNC);
  } else if (strcmp(how, "rwf-sync") == 0) {
    write_one(0, RWF_SYNC);
  } else {
    return 2;
  }
  return 0;
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
    write_with(RWF_DSYNC);
  } else if (strcmp(what, "rwf-sync") == 0) {
    write_with(RWF_SYNC);
  } else if (strncmp(what, "aio-", 4) == 0 || strncmp(what, "uring-", 6) == 0) {
    return run_asynchronous(what);
  } else if (strncmp(what, "ring-", 5) == 0) {
    return run_ring(what + 5);
  } else if (strcmp(what, "rwf-others") == 0) {
    write_with_others();
  } else if (strcmp(what, "rwf-pair") == 0) {
    write_pair();
  } else if (strcmp(what, "sync-file-range") == 0) {
    sync_range();
  } else if (strcmp(what, "copy-file-range") == 0) {
    copy_range();
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
