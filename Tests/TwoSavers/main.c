// main.c: a program with one mistake in two places: it acknowledges files that it never syncs.
// Usage: two-savers FIRST SECOND: overwrites the first byte of both files, one after the other.
// The lines of the two calls are what a finding has to name.

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int open_file(const char *path) {
  int file = open(path, O_WRONLY);
  if (file < 0) {
    perror(path);
    exit(2);
  }
  return file;
}

static void say(const char *text, size_t count) {
  if (write(STDOUT_FILENO, text, count) != (ssize_t)count) exit(2);
}

__attribute__((noinline)) static int save_first(int file) {
  return pwrite(file, "1", 1, 0) == 1 ? 0 : 2;  // the first mistake
}

__attribute__((noinline)) static int save_second(int file) {
  return pwrite(file, "1", 1, 0) == 1 ? 0 : 2;  // the second mistake
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  int first = open_file(arguments[1]);
  int second = open_file(arguments[2]);
  int result = save_first(first);
  say("first saved\n", 12);
  if (result == 0) result = save_second(second);
  say("second saved\n", 13);
  return result;
}
