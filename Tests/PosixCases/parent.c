// parent.c: `posix-cases --parent DAEMON MOUNTPOINT PIDFILE`: a parent of a daemon that waits to be
// killed. It registers a process group that keeps a file of the mount open.
#include "cases.h"
#include "parent.h"

#include <signal.h>
#include <sys/socket.h>

static void say(int socket, const char *json) {
  uint32_t size = (uint32_t)strlen(json);
  CHECK(write(socket, &size, 4) == 4 && write(socket, json, size) == (ssize_t)size);
  char answer[4096];
  CHECK(read(socket, answer, sizeof answer) > 4);
}

int run_parent(const char *daemon, const char *mount_point, const char *pid_file) {
  int pair[2];
  OK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
  pid_t server = OK(fork());
  if (server == 0) {
    setpgid(0, 0);
    OK(dup2(pair[1], 3));
    execl(daemon, daemon, mount_point, "--control-fd", "3", NULL);
    _exit(127);
  }
  close(pair[1]);
  char answer[4096];
  CHECK(read(pair[0], answer, sizeof answer) > 4);
  pid_t client = OK(fork());
  if (client == 0) {
    setpgid(0, 0);
    close(pair[0]);
    OK(chdir(mount_point));
    OK(open("held", O_CREAT | O_RDWR, 0644));
    for (;;) pause();
  }
  setpgid(client, client);
  char message[64];
  snprintf(message, sizeof message, "{\"registerGroup\":{\"_0\":%d}}", client);
  say(pair[0], message);
  while (access(mount_point, F_OK) != 0) usleep(1000);
  usleep(100000);
  snprintf(message, sizeof message, "%d %d", server, client);
  put(pid_file, message);
  for (;;) pause();
}
