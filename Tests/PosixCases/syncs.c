// syncs.c: `posix-cases --syncs WHAT DIR`: short programs whose traces the tests know by heart.
#include "syncs.h"
#include "cases.h"

#include <linux/aio_abi.h>
#include <linux/io_uring.h>
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
  int fd = OK(open("f", O_RDWR | O_DIRECT | open_flags));
  struct io_uring_params params = {0};
  int ring = OK(syscall(SYS_io_uring_setup, 1, &params));
  CHECK(params.features & IORING_FEAT_SINGLE_MMAP);
  struct io_uring_sqe *entry = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                                    ring, IORING_OFF_SQES);
  char *queues = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring,
                      IORING_OFF_SQ_RING);
  CHECK(entry != MAP_FAILED && queues != MAP_FAILED);
  *entry = (struct io_uring_sqe){.opcode = IORING_OP_WRITE, .fd = fd,
                                 .addr = (uintptr_t)page_of('u'), .len = 4096,
                                 .rw_flags = write_flags};
  ((unsigned *)(queues + params.sq_off.array))[0] = 0;
  __atomic_store_n((unsigned *)(queues + params.sq_off.tail), 1, __ATOMIC_RELEASE);
  CHECK(syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1);
  CHECK(((struct io_uring_cqe *)(queues + params.cq_off.cqes))->res == 4096);
}

static void write_with(int flags) {
  int fd = OK(open("f", O_RDWR));
  struct iovec piece = {"abc", 3};
  CHECK(pwritev2(fd, &piece, 1, 0, flags) == 3);
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
