// CPrivileges.c: see CPrivileges.h. Each function is a few system calls; glibc has none for capabilities.
#define _GNU_SOURCE
#include "CPrivileges.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOUNT_BIT (1u << CAP_SYS_ADMIN)

int cprivileges_may_mount(void) {
  // EINVAL: it may be unmounted, but is no mount. EPERM comes first.
  return umount2("/proc/self/task", UMOUNT_NOFOLLOW) != 0 && errno == EINVAL;
}

int cprivileges_may_gain_mount(void) {
  return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 && prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 1;
}

static int get(struct __user_cap_data_struct sets[2]) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  return (int)syscall(SYS_capget, &header, sets);
}

static int set(const struct __user_cap_data_struct sets[2]) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  return (int)syscall(SYS_capset, &header, sets);
}

static int write_line(const char *path, const char *line) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return -1;
  int length = 0;
  while (line[length]) length++;
  ssize_t count = write(file, line, (size_t)length);
  int error = errno;
  close(file);
  errno = error;
  return count == length ? 0 : -1;
}

int cprivileges_enter_namespace(void) {
  unsigned int user = geteuid(), group = getegid();
  char line[32];
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return -1;
  // Before Linux 3.19 there is no such file, and nothing to deny.
  if (write_line("/proc/self/setgroups", "deny") != 0 && errno != ENOENT) return -1;
  snprintf(line, sizeof line, "%u %u 1", user, user);
  if (write_line("/proc/self/uid_map", line) != 0) return -1;
  snprintf(line, sizeof line, "%u %u 1", group, group);
  if (write_line("/proc/self/gid_map", line) != 0) return -1;
  // Files must not open to us that are closed to their owner.
  if (user == 0) return 0;
  struct __user_cap_data_struct sets[2] = {{.effective = MOUNT_BIT, .permitted = MOUNT_BIT}};
  return set(sets);
}

int cprivileges_try_namespace(void) {
  pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) {
    int error = cprivileges_enter_namespace() == 0 ? 0 : errno;
    if (error == 0 && !cprivileges_may_mount()) error = EPERM;
    _exit(error);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return errno;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

int cprivileges_hand_on_mount(int on) {
  struct __user_cap_data_struct sets[2];
  if (get(sets) != 0) return -1;
  if (!on) {
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    sets[0].inheritable &= ~MOUNT_BIT;
    return set(sets);
  }
  if (!(sets[0].permitted & MOUNT_BIT)) {
    errno = EPERM;
    return -1;
  }
  sets[0].inheritable |= MOUNT_BIT;
  if (set(sets) != 0) return -1;
  return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0);
}

int cprivileges_peer(int socket, uid_t *user) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return -1;
  *user = peer.uid;
  return 0;
}
