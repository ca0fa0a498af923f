// CSystem.c: see CSystem.h. Nothing here decides anything: each function is one system call, and
// csystem_fork_and_exec uses only async-signal-safe calls between fork and exec.
#define _GNU_SOURCE
#include "CSystem.h"
#include "SyncCalls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/btrfs.h>
#include <linux/futex.h>
#include <linux/loop.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <sys/uio.h>
#include <unistd.h>

const uint64_t csystem_checksum_multiplier = 0x9e3779b185ebca87u;

int csystem_open(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }

int csystem_fallocate(int fd, int mode, off_t offset, off_t length) {
  return fallocate(fd, mode, offset, length);
}

int csystem_open_direct(void) { return O_DIRECT; }

int csystem_write_dirty_pages(int fd) {
  return sync_file_range(
      fd, 0, 0,
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
}

ssize_t csystem_write_with(int fd, const void *bytes, size_t count, off_t offset, int flags) {
  struct iovec piece = {.iov_base = (void *)bytes, .iov_len = count};
  return pwritev2(fd, &piece, 1, offset, flags);
}

ssize_t csystem_copy_range(int from, int to, size_t count) {
  return copy_file_range(from, NULL, to, NULL, count, 0);
}

int csystem_open_nameless(const char *directory) {
  return open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
}

int csystem_name(int fd, const char *path) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

int csystem_renameat2(const char *from, const char *to, unsigned int flags) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
}

int csystem_memfd_create(const char *name, unsigned int flags) {
  return memfd_create(name, flags);
}

int csystem_pipe(int descriptors[2], int packets) {
  return pipe2(descriptors, O_CLOEXEC | (packets ? O_DIRECT : 0));
}

int csystem_output_socket(int descriptors[2]) {
  int on = 1;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, descriptors) != 0) return -1;
  return setsockopt(descriptors[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
}

ssize_t csystem_receive(int fd, void *buffer, size_t count, pid_t *writer) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(struct ucred))];
  } control;
  struct iovec piece = {.iov_base = buffer, .iov_len = count};
  struct msghdr message = {
      .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  ssize_t received = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  struct cmsghdr *found = received > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  *writer = 0;
  if (found != NULL && found->cmsg_level == SOL_SOCKET && found->cmsg_type == SCM_CREDENTIALS) {
    struct ucred credentials;
    memcpy(&credentials, CMSG_DATA(found), sizeof credentials);
    *writer = credentials.pid;
  }
  return received;
}

int csystem_unnamed_file(const char *directory) {
  return open(directory, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
}

void *csystem_grow_mapping(void *memory, size_t bytes, size_t new_bytes) {
  void *grown = mremap(memory, bytes, new_bytes, MREMAP_MAYMOVE);
  return grown == MAP_FAILED ? NULL : grown;
}

static atomic_int arrivals = 1;

static void note_arrival(int signal) {
  (void)signal;
  atomic_store_explicit(&arrivals, 1, memory_order_relaxed);
}

int csystem_note_arrivals(int fd) {
  struct sigaction action = {.sa_handler = note_arrival, .sa_flags = SA_RESTART};
  struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = (pid_t)syscall(SYS_gettid)};
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || sigaction(SIGIO, &action, NULL) != 0) return -1;
  if (fcntl(fd, F_SETOWN_EX, &owner) != 0) return -1;
  return fcntl(fd, F_SETFL, flags | O_ASYNC);
}

int csystem_take_arrivals(void) {
  if (atomic_load_explicit(&arrivals, memory_order_relaxed) == 0) return 0;
  return atomic_exchange_explicit(&arrivals, 0, memory_order_relaxed);
}

int csystem_set_thread_name(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

int csystem_set_parent_death_signal(int signal) { return prctl(PR_SET_PDEATHSIG, signal); }

int csystem_set_child_subreaper(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1); }

int csystem_pin_to_cpu(pid_t pid, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(pid, sizeof set, &set);
}

int csystem_leave_cpu(int cpu) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return -1;
  CPU_CLR(cpu, &set);
  return CPU_COUNT(&set) == 0 ? 0 : sched_setaffinity(0, sizeof set, &set);
}

int csystem_first_allowed_cpu(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &set)) return cpu;
  return -1;
}

static int lock_range(int fd, int command, int type, off_t start, off_t count) {
  struct flock lock = {
      .l_type = (short)type, .l_whence = SEEK_SET, .l_start = start, .l_len = count};
  return fcntl(fd, command, &lock);
}

int csystem_lock_range(int fd, int kind, off_t start, off_t count, int waits) {
  int type = kind == 0 ? F_UNLCK : kind == 1 ? F_RDLCK : F_WRLCK;
  return lock_range(fd, waits ? F_OFD_SETLKW : F_OFD_SETLK, type, start, count);
}

int csystem_is_range_locked(int fd, off_t start, off_t count) {
  struct flock lock = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = count};
  if (fcntl(fd, F_OFD_GETLK, &lock) != 0) return -1;
  return lock.l_type != F_UNLCK;
}

// Descriptors that a child of fork must let go of, in blocks that are never freed: the handler that
// runs in the child may not allocate, lock or wait.
struct descriptor_block {
  _Atomic(int) descriptors[64];  // descriptor + 1; 0 is an empty place
  _Atomic(struct descriptor_block *) next;
};
static struct descriptor_block first_block;
unsigned int csystem_forks;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void after_fork_in_child(void) {
  __atomic_fetch_add(&csystem_forks, 1, __ATOMIC_SEQ_CST);
  for (struct descriptor_block *block = &first_block; block; block = atomic_load(&block->next))
    for (int index = 0; index < 64; index++) {
      int descriptor = atomic_exchange(&block->descriptors[index], 0);
      if (descriptor) close(descriptor - 1);
    }
}

static void install_fork_handler(void) { pthread_atfork(NULL, NULL, after_fork_in_child); }

int csystem_close_after_fork(int fd) {
  pthread_once(&fork_once, install_fork_handler);
  for (struct descriptor_block *block = &first_block;;) {
    for (int index = 0; index < 64; index++) {
      int empty = 0;
      if (atomic_compare_exchange_strong(&block->descriptors[index], &empty, fd + 1)) return 0;
    }
    struct descriptor_block *next = atomic_load(&block->next);
    if (!next) {
      struct descriptor_block *made = calloc(1, sizeof *made);
      if (!made) return -1;
      if (atomic_compare_exchange_strong(&block->next, &next, made))
        next = made;
      else
        free(made);
    }
    block = next;
  }
}

void csystem_keep_after_fork(int fd) {
  for (struct descriptor_block *block = &first_block; block; block = atomic_load(&block->next))
    for (int index = 0; index < 64; index++) {
      int wanted = fd + 1;
      if (atomic_compare_exchange_strong(&block->descriptors[index], &wanted, 0)) return;
    }
}

int csystem_thread_id(void) {
  static _Thread_local int thread_id;
  static _Thread_local unsigned int generation;
  unsigned int now = csystem_fork_generation();
  if (thread_id == 0 || generation != now) {
    thread_id = (int)syscall(SYS_gettid);
    generation = now;
  }
  return thread_id;
}

int csystem_futex_wait(const void *word, uint32_t expected, int64_t timeout_nanoseconds) {
  struct timespec timeout = {
      .tv_sec = timeout_nanoseconds / 1000000000, .tv_nsec = timeout_nanoseconds % 1000000000};
  return (int)syscall(
      SYS_futex, word, FUTEX_WAIT, expected, timeout_nanoseconds < 0 ? NULL : &timeout, NULL, 0);
}

int csystem_futex_wake(const void *word, int count) {
  return (int)syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}

int csystem_make_edge_poll(int fd) {
  int poll = epoll_create1(EPOLL_CLOEXEC);
  if (poll < 0) return -1;
  struct epoll_event event = {.events = EPOLLIN | EPOLLET};
  if (epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) == 0) return poll;
  int error = errno;
  close(poll);
  errno = error;
  return -1;
}

int csystem_wait_edge(int poll, int timeout_milliseconds) {
  struct epoll_event event;
  return epoll_wait(poll, &event, 1, timeout_milliseconds);
}

int csystem_is_fifo(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

int csystem_set_close_on_exec(int fd, int on) {
  int flags = fcntl(fd, F_GETFD);
  if (flags < 0) return -1;
  return fcntl(fd, F_SETFD, on ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC);
}

int csystem_set_nonblocking(int fd, int on) {
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0) return -1;
  return fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
}

off_t csystem_seek_data(int fd, off_t offset) { return lseek(fd, offset, SEEK_DATA); }
off_t csystem_seek_hole(int fd, off_t offset) { return lseek(fd, offset, SEEK_HOLE); }

void *csystem_remap(void *address, size_t old_size, size_t new_size) {
  return mremap(address, old_size, new_size, MREMAP_MAYMOVE);
}

int csystem_open_process(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int csystem_set_attribute(const char *path, const char *name, const void *value, size_t size) {
  return setxattr(path, name, value, size, 0);
}

ssize_t csystem_list_attributes(const char *path, char *names, size_t size) {
  return llistxattr(path, names, size);
}

ssize_t csystem_get_attribute(const char *path, const char *name, void *value, size_t size) {
  return lgetxattr(path, name, value, size);
}

int csystem_remove_attribute(const char *path, const char *name) { return lremovexattr(path, name); }

int csystem_detach_mount(const char *path) { return umount2(path, MNT_DETACH); }
int csystem_abort_mount(const char *path) { return umount2(path, MNT_FORCE | MNT_DETACH); }
int csystem_unmount(const char *path) { return umount2(path, UMOUNT_NOFOLLOW); }

int csystem_mount(const char *source, const char *target, const char *type, unsigned long flags,
                  const char *data) {
  return mount(source, target, type, flags, data);
}

int csystem_attach_loop(int file, int *number) {
  int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
  if (control < 0) return -1;
  struct loop_config config = {0};
  config.fd = (unsigned int)file;
  config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
  int device = -1;
  // Somebody else may take the free device before we do.
  for (int attempt = 0; attempt < 64 && device < 0; attempt++) {
    *number = ioctl(control, LOOP_CTL_GET_FREE);
    if (*number < 0) break;
    char path[32];
    snprintf(path, sizeof path, "/dev/loop%d", *number);
    device = open(path, O_RDWR | O_CLOEXEC);
    if (device < 0) break;
    if (ioctl(device, LOOP_CONFIGURE, &config) == 0) break;
    int error = errno;
    close(device);
    errno = error;
    device = -1;
    if (error != EBUSY) break;
  }
  int error = errno;
  close(control);
  errno = error;
  return device;
}

int csystem_sync_file_system(int fd) { return syncfs(fd); }

int csystem_write_out(int fd) {
  return sync_file_range(fd, 0, 0,
                         SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                             SYNC_FILE_RANGE_WAIT_AFTER);
}

int csystem_commit_btrfs(int fd) {
  uint64_t transaction = 0;
  if (ioctl(fd, BTRFS_IOC_START_SYNC, &transaction) != 0) return -1;
  return ioctl(fd, BTRFS_IOC_WAIT_SYNC, &transaction);
}

int csystem_termination_descriptor(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0) return -1;
  return signalfd(-1, &set, SFD_CLOEXEC);
}

void csystem_keep_freed_memory(int bytes) {
  mallopt(M_TRIM_THRESHOLD, bytes);
  mallopt(M_TOP_PAD, 1 << 24);
}

static void place_descriptor(int source, int target) {
  if (source < 0) source = open("/dev/null", O_RDWR);
  if (source == target)
    csystem_set_close_on_exec(target, 0);
  else
    dup2(source, target);
}

static void run_child(const csystem_spawn *spawn, int sync_calls) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGHUP, SIG_DFL);
  if (spawn->parent_death_signal) prctl(PR_SET_PDEATHSIG, spawn->parent_death_signal);
  if (spawn->own_group) setpgid(0, 0);
  if (spawn->cpu >= 0) csystem_pin_to_cpu(0, spawn->cpu);
  if (spawn->working_directory && chdir(spawn->working_directory) != 0) return;
  place_descriptor(spawn->standard_input, 0);
  place_descriptor(spawn->standard_output, 1);
  place_descriptor(spawn->standard_error, 2);
  if (spawn->inherited >= 0) place_descriptor(spawn->inherited, spawn->inherited_as);
  if (sync_calls >= 0) csystem_catch_syncs(sync_calls);
  execve(spawn->arguments[0], spawn->arguments, spawn->environment);
}

// The end of a pair that a child reports through must not sit where the child's descriptors go.
static int move_end(int pair[2]) {
  int end = fcntl(pair[1], F_DUPFD_CLOEXEC, 64);
  close(pair[1]);
  if (end < 0) close(pair[0]);
  return end;
}

pid_t csystem_fork_and_exec(const csystem_spawn *spawn) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return -1;
  int report_end = move_end(report);
  if (report_end < 0) return -1;
  int calls[2], calls_end = -1;
  if (spawn->sync_calls) {
    *spawn->sync_calls = -EIO;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, calls) == 0) calls_end = move_end(calls);
  }
  pid_t pid = fork();
  if (pid == 0) {
    run_child(spawn, calls_end);
    int error = errno;
    ssize_t ignored = write(report_end, &error, sizeof error);
    (void)ignored;
    _exit(127);
  }
  int fork_error = errno;
  close(report_end);
  if (calls_end >= 0) {
    close(calls_end);
    if (pid > 0) *spawn->sync_calls = csystem_receive_descriptor(calls[0]);
    close(calls[0]);
  }
  int error = 0;
  ssize_t count = 0;
  if (pid > 0) {
    do count = read(report[0], &error, sizeof error);
    while (count < 0 && errno == EINTR);
  }
  close(report[0]);
  if (pid < 0) {
    errno = fork_error;
    return -1;
  }
  if (count == (ssize_t)sizeof error) {
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
    errno = error;
    return -1;
  }
  return pid;
}

pid_t csystem_fork(void) { return fork(); }

int csystem_wait_until_stopped(pid_t pid) {
  siginfo_t info;
  int result;
  do result = waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT);
  while (result != 0 && errno == EINTR);
  if (result != 0) return -1;
  return info.si_code == CLD_STOPPED;
}

static int resource_number(csystem_resource resource) {
  switch (resource) {
    case CSYSTEM_DESCRIPTORS: return RLIMIT_NOFILE;
    case CSYSTEM_FILE_BYTES: return RLIMIT_FSIZE;
    case CSYSTEM_MEMORY_BYTES: return RLIMIT_AS;
  }
  return -1;
}

int csystem_limit(csystem_resource resource, uint64_t bound) {
  struct rlimit limit;
  int number = resource_number(resource);
  if (getrlimit((__rlimit_resource_t)number, &limit) != 0) return -1;
  limit.rlim_cur = bound < limit.rlim_max ? bound : limit.rlim_max;
  return setrlimit((__rlimit_resource_t)number, &limit);
}

void csystem_share_one_heap(void) { mallopt(M_ARENA_MAX, 1); }

void csystem_reserve_heap(size_t count) {
  mallopt(M_MMAP_THRESHOLD, INT_MAX);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  // An optimiser may leave out memory that nobody touches; not so when the pointer could be read.
  void *volatile memory = malloc(count);
  free(memory);
}

// Of the Swift runtime (docs/Runtime.md of its repository); Swift itself may not name it.
extern void *swift_nonatomic_retain(void *object);

void csystem_retain_unshared(void *object) { swift_nonatomic_retain(object); }
