// cases.h: a case is a sentence about POSIX and the code that holds a file system to it.
// Each case runs in a process and an empty directory of its own; the first failed check ends it.
#ifndef FAULTLINE_POSIX_CASES_H
#define FAULTLINE_POSIX_CASES_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

typedef struct posix_case {
  const char *name;
  void (*run)(void);
  struct posix_case *next;
} posix_case;

void register_case(posix_case *added);
_Noreturn void fail(const char *file, int line, const char *what, int error);

#define CASE_(sentence, id)                                                                       \
  static void run_##id(void);                                                                     \
  __attribute__((constructor)) static void register_##id(void) {                                  \
    static posix_case self = {sentence, run_##id, NULL};                                          \
    register_case(&self);                                                                         \
  }                                                                                               \
  static void run_##id(void)
#define CASE_AT(sentence, line) CASE_(sentence, line)
#define CASE(sentence) CASE_AT(sentence, __LINE__)

// The call must succeed; its value is the expression's.
#define OK(call)                                                                                  \
  ({                                                                                              \
    errno = 0;                                                                                    \
    long result_ = (long)(call);                                                                  \
    if (result_ == -1) fail(__FILE__, __LINE__, #call, errno);                                    \
    result_;                                                                                      \
  })
// The call must fail with this error.
#define FAILS(error, call)                                                                        \
  do {                                                                                            \
    errno = 0;                                                                                    \
    if ((long)(call) != -1) fail(__FILE__, __LINE__, #call " succeeded", 0);                      \
    if (errno != (error)) fail(__FILE__, __LINE__, #call, errno);                                 \
  } while (0)
#define CHECK(condition)                                                                          \
  do {                                                                                            \
    if (!(condition)) fail(__FILE__, __LINE__, #condition, errno);                                \
  } while (0)

// Makes a file with this text.
static inline void put(const char *path, const char *text) {
  int fd = OK(open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644));
  CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
  OK(close(fd));
}

// True when a file holds exactly this text.
static inline int holds(const char *path, const char *text) {
  char buffer[4096];
  int fd = OK(open(path, O_RDONLY));
  ssize_t count = read(fd, buffer, sizeof buffer);
  close(fd);
  return count == (ssize_t)strlen(text) && memcmp(buffer, text, count) == 0;
}

static inline struct stat look(const char *path) {
  struct stat result;
  OK(lstat(path, &result));
  return result;
}

static inline int is_missing(const char *path) {
  struct stat result;
  return lstat(path, &result) == -1 && errno == ENOENT;
}

// Runs `body` in a child and waits: the child's exit status, or 128 + its signal.
int in_child(void (*body)(void));

#endif
