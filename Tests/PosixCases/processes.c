// processes.c: what several processes share on a file system: locks, FIFOs, sockets, mappings.
#include "cases.h"

#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

CASE("fifo: bytes flow between two processes") {
  OK(mkfifo("p", 0600));
  pid_t pid = OK(fork());
  if (pid == 0) {
    int fd = open("p", O_WRONLY);
    _exit(write(fd, "through", 7) == 7 ? 0 : 1);
  }
  int fd = OK(open("p", O_RDONLY));
  char text[16];
  CHECK(read(fd, text, 16) == 7 && memcmp(text, "through", 7) == 0);
  OK(waitpid(pid, NULL, 0));
}
CASE("socket: a Unix socket bound to a name accepts connections") {
  int server = OK(socket(AF_UNIX, SOCK_STREAM, 0));
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "s"};
  OK(bind(server, (struct sockaddr *)&address, sizeof address));
  OK(listen(server, 1));
  int client = OK(socket(AF_UNIX, SOCK_STREAM, 0));
  OK(connect(client, (struct sockaddr *)&address, sizeof address));
}
static void flock_is_taken(void) {
  int fd = OK(open("f", O_RDWR));
  FAILS(EWOULDBLOCK, flock(fd, LOCK_EX | LOCK_NB));
}
static void flock_is_free(void) {
  int fd = OK(open("f", O_RDWR));
  OK(flock(fd, LOCK_EX | LOCK_NB));
}
CASE("flock: excludes another process until it is released") {
  put("f", "x");
  int fd = OK(open("f", O_RDWR));
  OK(flock(fd, LOCK_EX));
  CHECK(in_child(flock_is_taken) == 0);
  OK(flock(fd, LOCK_UN));
  CHECK(in_child(flock_is_free) == 0);
}
static struct flock whole(short type) {
  return (struct flock){.l_type = type, .l_whence = SEEK_SET};
}
static void record_lock_is_taken(void) {
  int fd = OK(open("f", O_RDWR));
  struct flock lock = whole(F_WRLCK);
  errno = 0;
  CHECK(fcntl(fd, F_SETLK, &lock) == -1 && (errno == EAGAIN || errno == EACCES));
  OK(fcntl(fd, F_GETLK, &lock));
  CHECK(lock.l_pid == getppid());
}
CASE("fcntl: a record lock excludes another process, which can ask who holds it") {
  put("f", "x");
  int fd = OK(open("f", O_RDWR));
  struct flock lock = whole(F_WRLCK);
  OK(fcntl(fd, F_SETLK, &lock));
  CHECK(in_child(record_lock_is_taken) == 0);
}
CASE("locks of a killed process are free") {
  put("f", "x");
  int report[2];
  OK(pipe(report));
  pid_t pid = OK(fork());
  if (pid == 0) {
    int fd = open("f", O_RDWR);
    struct flock lock = whole(F_WRLCK);
    if (fcntl(fd, F_SETLK, &lock) == 0 && flock(fd, LOCK_EX) == 0 && write(report[1], "1", 1) == 1)
      pause();
    _exit(1);
  }
  char byte;
  CHECK(read(report[0], &byte, 1) == 1);
  OK(kill(pid, SIGKILL));
  OK(waitpid(pid, NULL, 0));
  int fd = OK(open("f", O_RDWR));
  struct flock lock = whole(F_WRLCK);
  OK(fcntl(fd, F_SETLK, &lock));
  OK(flock(fd, LOCK_EX | LOCK_NB));
}
CASE("a robust mutex in a mapped file reports EOWNERDEAD after SIGKILL") {
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644));
  OK(ftruncate(fd, 4096));
  pthread_mutex_t *mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(mutex != MAP_FAILED);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  CHECK(pthread_mutex_init(mutex, &attributes) == 0);
  pid_t pid = OK(fork());
  if (pid == 0) {
    int mine = open("f", O_RDWR);
    pthread_mutex_t *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, mine, 0);
    pthread_mutex_lock(m);
    kill(getpid(), SIGKILL);
  }
  OK(waitpid(pid, NULL, 0));
  CHECK(pthread_mutex_lock(mutex) == EOWNERDEAD);
  CHECK(pthread_mutex_consistent(mutex) == 0 && pthread_mutex_unlock(mutex) == 0);
}
CASE("dirty mapped pages of a killed process are in the file") {
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644));
  OK(ftruncate(fd, 1 << 20));
  pid_t pid = OK(fork());
  if (pid == 0) {
    int mine = open("f", O_RDWR);
    char *map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, mine, 0);
    for (int i = 0; i < 1 << 20; i += 4096) map[i] = 'm';
    kill(getpid(), SIGKILL);
  }
  OK(waitpid(pid, NULL, 0));
  char byte;
  for (int i = 0; i < 1 << 20; i += 4096) CHECK(pread(fd, &byte, 1, i) == 1 && byte == 'm');
}
CASE("an executable file on the mount runs") {
  put("script", "#!/bin/sh\nexit 7\n");
  OK(chmod("script", 0755));
  CHECK(WEXITSTATUS(system("./script")) == 7);
}
