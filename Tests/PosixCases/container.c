// container.c: `posix-cases --without-seccomp PROGRAM…`: runs a program for which seccomp(2) fails
// with EPERM, as in some containers.
#include "container.h"
#include "cases.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

int run_without_seccomp(char **program) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {.len = sizeof rules / sizeof *rules, .filter = rules};
  OK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
  execv(program[0], program);
  return 3;
}
