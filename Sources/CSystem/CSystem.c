// CSystem.c: see CSystem.h. Nothing here decides anything: each function is one system call, and
// csystem_fork_and_exec uses only async-signal-safe calls between fork and exec.
#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

const uint64_t csystem_checksum_multiplier = 0x9e3779b185ebca87u;

int csystem_open(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }

int csystem_fallocate(int fd, int mode, off_t offset, off_t length) {
  return fallocate(fd, mode, offset, length);
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

int csystem_set_parent_death_signal(int signal) { return prctl(PR_SET_PDEATHSIG, signal); }

int csystem_set_child_subreaper(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1); }

int csystem_pin_to_cpu(pid_t pid, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(pid, sizeof set, &set);
}

int csystem_first_allowed_cpu(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &set)) return cpu;
  return -1;
}

int csystem_try_lock_whole_file(int fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(fd, F_OFD_SETLK, &lock);
}

int csystem_unlock_whole_file(int fd) {
  struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
  return fcntl(fd, F_OFD_SETLK, &lock);
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

int csystem_detach_mount(const char *path) { return umount2(path, MNT_DETACH); }
int csystem_unmount(const char *path) { return umount2(path, UMOUNT_NOFOLLOW); }

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

static void run_child(const csystem_spawn *spawn) {
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
  execve(spawn->arguments[0], spawn->arguments, spawn->environment);
}

pid_t csystem_fork_and_exec(const csystem_spawn *spawn) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return -1;
  // The report pipe must not sit where the child's descriptors go.
  int report_end = fcntl(report[1], F_DUPFD_CLOEXEC, 64);
  close(report[1]);
  if (report_end < 0) {
    close(report[0]);
    return -1;
  }
  pid_t pid = fork();
  if (pid == 0) {
    run_child(spawn);
    int error = errno;
    ssize_t ignored = write(report_end, &error, sizeof error);
    (void)ignored;
    _exit(127);
  }
  int fork_error = errno;
  close(report_end);
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
