// lock-turns.c: a robust mutex in shared memory against locks of file bytes: what an uncontended
// lock and unlock cost, and how two processes take turns. Decision 0421 has the figures.
//   cc -O2 -pthread lock-turns.c -o /tmp/lock-turns && /tmp/lock-turns /tmp/lock-turns.file
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { costs = 100000, turns_each = 1500 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static void lock_byte(int fd, int command, int type, off_t at) {
  struct flock lock = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
  fcntl(fd, command, &lock);
}

static void take(int kind, pthread_mutex_t *mutex, int fd) {
  if (kind == 0) {
    pthread_mutex_lock(mutex);
    return;
  }
  if (kind == 2) lock_byte(fd, F_OFD_SETLKW, F_WRLCK, 3);
  lock_byte(fd, F_OFD_SETLKW, F_WRLCK, 4);
  if (kind == 2) lock_byte(fd, F_OFD_SETLK, F_UNLCK, 3);
}

static void give(int kind, pthread_mutex_t *mutex, int fd) {
  if (kind == 0)
    pthread_mutex_unlock(mutex);
  else
    lock_byte(fd, F_OFD_SETLK, F_UNLCK, 4);
}

int main(int count, char **arguments) {
  if (count < 2) return 64;
  const char *names[] = {"robust mutex", "writer byte", "entry and writer byte"};
  int fd = open(arguments[1], O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, 4096) != 0) return 1;
  pthread_mutex_t *mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(mutex, &attributes);
  int *turns = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int locks = open(arguments[1], O_RDWR);
  for (int kind = 0; kind < 3; kind++) {
    double start = now();
    for (int index = 0; index < costs; index++) {
      take(kind, mutex, locks);
      give(kind, mutex, locks);
    }
    double cost = (now() - start) / costs * 1e9;
    turns[0] = 1;
    for (int child = 0; child < 2; child++)
      if (fork() == 0) {
        int own = open(arguments[1], O_RDWR);
        for (int index = 0; index < turns_each; index++) {
          take(kind, mutex, own);
          turns[turns[0]++] = child;
          // As long as a commit waits for the medium.
          struct timespec pause = {0, 100000};
          nanosleep(&pause, NULL);
          give(kind, mutex, own);
        }
        _exit(0);
      }
    while (wait(NULL) > 0) {
    }
    int changes = 0, run = 1, longest = 1;
    for (int index = 2; index < turns[0]; index++) {
      run = turns[index] == turns[index - 1] ? run + 1 : 1;
      changes += run == 1;
      longest = run > longest ? run : longest;
    }
    printf("%s: %.0f ns, changes of process %d of %d, longest run of one %d\n", names[kind], cost,
           changes, 2 * turns_each - 1, longest);
  }
  if (fork() == 0) {
    pthread_mutex_lock(mutex);
    kill(getpid(), SIGKILL);
  }
  wait(NULL);
  printf("mutex of a killed process: %s\n",
         pthread_mutex_lock(mutex) == EOWNERDEAD ? "EOWNERDEAD" : "lost");
}
