// main.c: a program that breaks only when a mapped page reaches the disk between two stores.
// Each record has a number and a copy of it, in one sector of a mapped file. The number is stored
// first, then a line goes to a log, then the copy is stored, then msync. That is safe as long as
// the page reaches the disk by msync alone, which nobody promises.
// Usage: mapped-order FILE LOG ROUNDS [safe]: `safe` stores both next to each other.
// Or: mapped-order check FILE: exit status 1 when number and copy differ.

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct record {
  volatile uint64_t number;
  volatile uint64_t copy;
};

static int fail(const char *what) {
  perror(what);
  return 2;
}

static int check(const char *path) {
  struct record record;
  int file = open(path, O_RDONLY);
  if (file < 0) return fail(path);
  if (read(file, (void *)&record, sizeof record) != sizeof record) return fail("read");
  if (record.number == record.copy) return 0;
  printf("torn record: number %llu, copy %llu\n", (unsigned long long)record.number,
         (unsigned long long)record.copy);
  return 1;
}

int main(int count, char **arguments) {
  if (count == 3 && strcmp(arguments[1], "check") == 0) return check(arguments[2]);
  if (count < 4) return fail("usage: mapped-order FILE LOG ROUNDS [safe]");
  int is_safe = count > 4;
  int file = open(arguments[1], O_RDWR);
  int log = open(arguments[2], O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || log < 0) return fail("open");
  struct record *record = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (record == MAP_FAILED) return fail("mmap");
  for (long round = 1; round <= atol(arguments[3]); round++) {
    record->number = (uint64_t)round;
    if (is_safe) record->copy = (uint64_t)round;
    if (write(log, "round\n", 6) != 6) return fail("write");
    record->copy = (uint64_t)round;
    if (msync(record, 4096, MS_SYNC) != 0) return fail("msync");
  }
  return 0;
}
