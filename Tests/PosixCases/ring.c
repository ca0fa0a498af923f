// ring.c: a small io_uring(7) by system calls, and the cases of rings.
#include "ring.h"
#include "cases.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

int ring_open(ring *r) {
  struct io_uring_params params = {0};
  r->count = 0;
  r->fd = (int)syscall(SYS_io_uring_setup, RING_ENTRIES, &params);
  if (r->fd < 0 && (errno == ENOSYS || errno == EPERM)) return 0;
  CHECK(r->fd >= 0 && params.features & IORING_FEAT_SINGLE_MMAP);
  size_t bytes = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
  int protection = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_POPULATE;
  char *queues = mmap(NULL, bytes, protection, flags, r->fd, IORING_OFF_SQ_RING);
  CHECK(queues != MAP_FAILED);
  r->entries = mmap(NULL, params.sq_entries * sizeof *r->entries, protection, flags, r->fd,
                    IORING_OFF_SQES);
  CHECK(r->entries != MAP_FAILED);
  r->tail = (unsigned *)(queues + params.sq_off.tail);
  r->array = (unsigned *)(queues + params.sq_off.array);
  r->head_done = (unsigned *)(queues + params.cq_off.head);
  r->tail_done = (unsigned *)(queues + params.cq_off.tail);
  r->mask_done = (unsigned *)(queues + params.cq_off.ring_mask);
  r->done = (struct io_uring_cqe *)(queues + params.cq_off.cqes);
  return 1;
}

struct io_uring_sqe *ring_add(ring *r, int operation, int fd) {
  CHECK(r->count < RING_ENTRIES);
  struct io_uring_sqe *entry = &r->entries[r->count];
  *entry = (struct io_uring_sqe){.opcode = (uint8_t)operation, .fd = fd, .user_data = r->count};
  r->count++;
  return entry;
}

void ring_run(ring *r, int results[RING_ENTRIES]) {
  unsigned tail = *r->tail;
  for (unsigned i = 0; i < r->count; i++) r->array[(tail + i) % RING_ENTRIES] = i;
  __atomic_store_n(r->tail, tail + r->count, __ATOMIC_RELEASE);
  CHECK(syscall(SYS_io_uring_enter, r->fd, r->count, r->count, IORING_ENTER_GETEVENTS, NULL, 0) ==
        r->count);
  for (unsigned taken = 0; taken < r->count;) {
    unsigned head = *r->head_done;
    if (head == __atomic_load_n(r->tail_done, __ATOMIC_ACQUIRE)) {
      OK(syscall(SYS_io_uring_enter, r->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0));
      continue;
    }
    struct io_uring_cqe *done = &r->done[head & *r->mask_done];
    CHECK(done->user_data < RING_ENTRIES);
    results[done->user_data] = done->res;
    __atomic_store_n(r->head_done, head + 1, __ATOMIC_RELEASE);
    taken++;
  }
  r->count = 0;
}

CASE("a ring reads and writes at offsets, in vectors too, and syncs") {
  ring r;
  if (!ring_open(&r)) return;
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644)), results[RING_ENTRIES];
  struct iovec pieces[2] = {{"cd", 2}, {"ef", 2}};
  struct io_uring_sqe *entry = ring_add(&r, IORING_OP_WRITE, fd);
  entry->addr = (uintptr_t) "ab";
  entry->len = 2;
  entry->flags = IOSQE_IO_LINK;
  entry = ring_add(&r, IORING_OP_WRITEV, fd);
  entry->addr = (uintptr_t)pieces;
  entry->len = 2;
  entry->off = 2;
  entry->flags = IOSQE_IO_LINK;
  ring_add(&r, IORING_OP_FSYNC, fd);
  ring_run(&r, results);
  CHECK(results[0] == 2 && results[1] == 4 && results[2] == 0);
  char bytes[8] = "";
  entry = ring_add(&r, IORING_OP_READ, fd);
  entry->addr = (uintptr_t)bytes;
  entry->len = 3;
  entry->off = 3;
  ring_run(&r, results);
  CHECK(results[0] == 3 && !strcmp(bytes, "def") && holds("f", "abcdef"));
}

CASE("what is linked behind a request that fails does not happen") {
  ring r;
  if (!ring_open(&r)) return;
  put("f", "x");
  int fd = OK(open("f", O_RDWR)), reader = OK(open("f", O_RDONLY)), results[RING_ENTRIES];
  struct io_uring_sqe *entry = ring_add(&r, IORING_OP_WRITE, reader);
  entry->addr = (uintptr_t) "y";
  entry->len = 1;
  entry->flags = IOSQE_IO_LINK;
  entry = ring_add(&r, IORING_OP_WRITE, fd);
  entry->addr = (uintptr_t) "z";
  entry->len = 1;
  entry->flags = IOSQE_IO_LINK;
  ring_add(&r, IORING_OP_FSYNC, fd);
  ring_run(&r, results);
  CHECK(results[0] == -EBADF && results[1] == -ECANCELED && results[2] == -ECANCELED);
  CHECK(holds("f", "x"));
}

CASE("a ring opens, allocates, renames, links and unlinks") {
  ring r;
  if (!ring_open(&r)) return;
  int results[RING_ENTRIES];
  struct io_uring_sqe *entry = ring_add(&r, IORING_OP_OPENAT, AT_FDCWD);
  entry->addr = (uintptr_t) "f";
  entry->len = 0640;
  entry->open_flags = O_CREAT | O_RDWR;
  ring_run(&r, results);
  int fd = results[0];
  CHECK(fd >= 0 && (look("f").st_mode & 07777) == 0640);
  entry = ring_add(&r, IORING_OP_FALLOCATE, fd);
  entry->addr = 8192;  // the length; `len` is the mode
  entry->flags = IOSQE_IO_LINK;
  entry = ring_add(&r, IORING_OP_RENAMEAT, AT_FDCWD);
  entry->addr = (uintptr_t) "f";
  entry->len = (unsigned)AT_FDCWD;
  entry->off = (uintptr_t) "g";
  entry->flags = IOSQE_IO_LINK;
  entry = ring_add(&r, IORING_OP_LINKAT, AT_FDCWD);
  entry->addr = (uintptr_t) "g";
  entry->len = (unsigned)AT_FDCWD;
  entry->off = (uintptr_t) "h";
  entry->flags = IOSQE_IO_LINK;
  entry = ring_add(&r, IORING_OP_UNLINKAT, AT_FDCWD);
  entry->addr = (uintptr_t) "g";
  ring_run(&r, results);
  for (int i = 0; i < 4; i++) CHECK(results[i] == 0);
  CHECK(is_missing("f") && is_missing("g") && look("h").st_size == 8192);
}
