// SyncCalls.c: sync(2) and syncfs(2) of other processes, held until somebody answers for the kernel: seccomp(2),
// SECCOMP_RET_USER_NOTIF; seccomp_unotify(2). So is fallocate(2) with a mode that the kernel refuses a FUSE file system,
// which never hears of it. All other calls pass, at the price of a bit in a bitmap; fallocate costs this filter's steps.
#define _GNU_SOURCE
#include "SyncCalls.h"

#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/falloc.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

// Numbers of the calls differ by architecture; the machine also runs programs of its 32-bit one.
#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#define OTHER_ARCHITECTURE AUDIT_ARCH_I386
#define OTHER_SYNC 36
#define OTHER_SYNCFS 344
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#define OTHER_ARCHITECTURE AUDIT_ARCH_ARM
#define OTHER_SYNC 36
#define OTHER_SYNCFS 373
#endif

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

// Modes of fallocate that fuse_file_fallocate (fs/fuse/file.c) refuses itself; the last has no name in old headers.
#define REFUSED_MODES (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE | FALLOC_FL_UNSHARE_RANGE | 0x80)
// Where the low half of an argument lies: both architectures store it first.
#define MODE_OFFSET offsetof(struct seccomp_data, args[1])

// Installs the filter; returns the descriptor of the calls, or -1.
static int install_with(unsigned long flags) {
#ifdef OWN_ARCHITECTURE
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OTHER_ARCHITECTURE, 7, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 0, 9),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sync, 8, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_syncfs, 7, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, MODE_OFFSET),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, REFUSED_MODES, 4, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OTHER_SYNC, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OTHER_SYNCFS, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
  };
  struct sock_fprog program = {.len = sizeof rules / sizeof *rules, .filter = rules};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                      flags | SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                      &program);
#else
  (void)flags;
  errno = ENOSYS;
  return -1;
#endif
}

static int install(void) {
  // A signal that does not kill shall not end the wait (Linux 5.19).
  int calls = install_with(SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
  return calls < 0 && errno == EINVAL ? install_with(0) : calls;
}

void csystem_catch_syncs(int socket) {
  int calls = install();
  // Not root: the kernel wants programs below to gain no privileges by their files.
  if (calls < 0 && errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) calls = install();
  if (calls < 0) {
    unsigned char error = (unsigned char)errno;
    while (send(socket, &error, 1, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
    return;
  }
  char byte = 0;
  struct iovec part = {.iov_base = &byte, .iov_len = 1};
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  memset(&control, 0, sizeof control);
  control.header =
      (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(&control.header), &calls, sizeof calls);
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  while (sendmsg(socket, &message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
  close(calls);
}

int csystem_receive_descriptor(int socket) {
  unsigned char byte = 0;
  struct iovec part = {.iov_base = &byte, .iov_len = 1};
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  ssize_t count;
  do count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (count < 0 && errno == EINTR);
  struct cmsghdr *header = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (!header || header->cmsg_type != SCM_RIGHTS) return byte ? -byte : -EIO;
  int descriptor;
  memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return descriptor;
}

// The kernel fills as many bytes as its own structure has, which may be longer than ours.
union notice {
  struct seccomp_notif call;
  char bytes[512];
};

int csystem_next_sync(int calls, csystem_sync_call *call) {
  struct seccomp_notif_sizes sizes;
  if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0) return -1;
  union notice notice;
  if (sizes.seccomp_notif > sizeof notice) {
    errno = E2BIG;
    return -1;
  }
  memset(&notice, 0, sizeof notice);
  if (ioctl(calls, SECCOMP_IOCTL_NOTIF_RECV, &notice) != 0) return -1;
  call->id = notice.call.id;
  call->thread = (pid_t)notice.call.pid;
#ifdef OWN_ARCHITECTURE
  bool is_own = notice.call.data.arch == OWN_ARCHITECTURE;
  call->is_of_file = notice.call.data.nr != (is_own ? SYS_sync : OTHER_SYNC);
  bool allocates = is_own && notice.call.data.nr == SYS_fallocate;
  call->refused_modes = allocates ? (int)notice.call.data.args[1] & REFUSED_MODES : 0;
  call->file = (int)notice.call.data.args[0];
#endif
  return 0;
}

int csystem_is_sync_waiting(int calls, const csystem_sync_call *call) {
  return ioctl(calls, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->id) == 0;
}

int csystem_answer_sync(int calls, const csystem_sync_call *call, int goes_on) {
  union {
    struct seccomp_notif_resp answer;
    char bytes[512];
  } reply;
  memset(&reply, 0, sizeof reply);
  reply.answer.id = call->id;
  if (goes_on) reply.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  return ioctl(calls, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

int csystem_file_system(const char *path, uint64_t *device) {
  struct statx attributes;
  if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE, &attributes) != 0) return -1;
  *device = makedev(attributes.stx_dev_major, attributes.stx_dev_minor);
  return 0;
}
