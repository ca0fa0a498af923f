// process.c: processes that are pinned to one CPU and leave nothing behind.

#define _GNU_SOURCE
#include "CBench.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// What this process may use, before it was pinned.
static cpu_set_t allowed;

int cbench_unpin(void) { return sched_setaffinity(0, sizeof allowed, &allowed) == 0 ? 0 : -errno; }

int cbench_pin(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return -errno;
  if (CPU_COUNT(&allowed) == 0) allowed = set;
  int cpu = CPU_SETSIZE - 1;
  while (cpu > 0 && !CPU_ISSET(cpu, &set)) cpu--;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0 ? cpu : -errno;
}

pid_t cbench_spawn(char *const arguments[], const char *log) {
  pid_t parent = getpid();
  pid_t child = fork();
  if (child < 0) return -errno;
  if (child > 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(126);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  int input = open("/dev/null", O_RDONLY);
  int output = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (input < 0 || output < 0) _exit(126);
  dup2(input, 0);
  dup2(output, 1);
  dup2(output, 2);
  execvp(arguments[0], arguments);
  _exit(127);
}

extern char **environ;

int cbench_run(char *const arguments[]) {
  pid_t child;
  int error = posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ);
  if (error != 0) return -error;
  int status;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -errno;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int cbench_overwrite(const char *path, const void *bytes, size_t count) {
  int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return -errno;
  int error = 0;
  if (pwrite(file, bytes, count, 0) != (ssize_t)count) error = errno ? errno : EIO;
  if (error == 0 && ftruncate(file, (off_t)count) != 0) error = errno;
  close(file);
  return -error;
}

int cbench_has_ended(pid_t process) { return waitpid(process, NULL, WNOHANG) != 0; }

int cbench_stop(pid_t process, int patience_ms) {
  kill(process, SIGTERM);
  for (int waited = 0; waited < patience_ms; waited++) {
    if (cbench_has_ended(process)) return 0;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  kill(process, SIGKILL);
  waitpid(process, NULL, 0);
  return -ETIMEDOUT;
}

int cbench_is_tmpfs(const char *directory) {
  struct statfs status;
  if (statfs(directory, &status) != 0) return -errno;
  return status.f_type == TMPFS_MAGIC;
}

int cbench_is_mounted(const char *directory) {
  char parent[4096];
  struct stat inside, outside;
  if (snprintf(parent, sizeof parent, "%s/..", directory) >= (int)sizeof parent) return -EINVAL;
  if (stat(directory, &inside) != 0) return -errno;
  if (stat(parent, &outside) != 0) return -errno;
  return inside.st_dev != outside.st_dev;
}

long cbench_heap_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return (long)(info.uordblks + info.hblkhd);
}
