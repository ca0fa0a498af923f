// main.c: `posix-cases DIR [NAME]` runs all cases, or one, below DIR; `--list` names them.
// Status 0: all held. Each failed case prints its name, place, and the error.
#include "cases.h"
#include "container.h"
#include "parent.h"
#include "random.h"
#include "steps.h"
#include "syncs.h"

#include <sys/wait.h>

static posix_case *cases;

void register_case(posix_case *added) {
  posix_case **place = &cases;
  while (*place && strcmp((*place)->name, added->name) < 0) place = &(*place)->next;
  added->next = *place;
  *place = added;
}

void fail(const char *file, int line, const char *what, int error) {
  const char *base = strrchr(file, '/');
  printf("%s:%d: %s: %s\n", base ? base + 1 : file, line, what, strerror(error));
  fflush(stdout);
  _exit(1);
}

int in_child(void (*body)(void)) {
  fflush(stdout);
  pid_t pid = OK(fork());
  if (pid == 0) {
    body();
    _exit(0);
  }
  int status;
  OK(waitpid(pid, &status, 0));
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static posix_case *current;

static void run_current(void) {
  alarm(30);
  current->run();
}

int main(int count, char **arguments) {
  if (count == 2 && strcmp(arguments[1], "--list") == 0) {
    for (posix_case *c = cases; c; c = c->next) puts(c->name);
    return 0;
  }
  if (count == 5 && strcmp(arguments[1], "--random") == 0 && chdir(arguments[4]) == 0)
    return run_random(strtoull(arguments[2], NULL, 10), atoi(arguments[3]));
  if (count == 4 && strcmp(arguments[1], "--syncs") == 0 && chdir(arguments[3]) == 0)
    return run_syncs(arguments[2]);
  if (count > 3 && strcmp(arguments[1], "--steps") == 0 && chdir(arguments[2]) == 0)
    return run_steps(count - 3, arguments + 3);
  if (count > 2 && strcmp(arguments[1], "--without-seccomp") == 0)
    return run_without_seccomp(arguments + 2);
  if (count == 3 && strcmp(arguments[1], "--socket") == 0) return run_socket(arguments[2]);
  if (count == 5 && strcmp(arguments[1], "--parent") == 0)
    return run_parent(arguments[2], arguments[3], arguments[4]);
  if (count < 2 || chdir(arguments[1]) != 0) {
    fprintf(stderr, "usage: posix-cases DIR [NAME] | --list\n");
    return 2;
  }
  umask(022);
  int run = 0, failed = 0;
  for (current = cases; current; current = current->next) {
    if (count > 2 && strcmp(arguments[2], current->name) != 0) continue;
    char folder[] = "case-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0) return 3;
    run++;
    int status = in_child(run_current);
    if (status != 0) {
      failed++;
      printf("FAILED (%d) %s\n", status, current->name);
    }
    if (chdir("..") != 0) return 3;
  }
  printf("%d cases, %d failed\n", run, failed);
  return run == 0 || failed ? 1 : 0;
}
