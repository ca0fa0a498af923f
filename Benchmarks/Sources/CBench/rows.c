// rows.c: the data set, and what the stores share.

#include "Stores.h"
#include "store.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static _Thread_local char last_error[256];

int64_t cbench_now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t cbench_store_fail(const char *what, const char *why) {
  snprintf(last_error, sizeof last_error, "%s: %s", what, why);
  return -1;
}

const char *cbench_store_error(void) { return last_error; }

static uint64_t mixed(uint64_t number) {
  number = (number + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
  return number ^ (number >> 31);
}

/// Names repeat: 10,000 different ones.
static void name_of(uint64_t draw, char *name) {
  uint64_t letters = mixed(draw % 10000 + 77);
  for (int i = 0; i < 12; i++) {
    name[i] = (char)('a' + letters % 26);
    letters /= 26;
  }
}

void cbench_rows(cbench_row *rows, int64_t first, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    uint64_t draw = mixed((uint64_t)(first + i));
    rows[i].id = first + i;
    rows[i].age = (int64_t)(draw % 100);
    rows[i].score = (double)(draw / 100 % 256000) / 256;
    name_of(draw >> 40, rows[i].name);
  }
}

uint64_t cbench_row_checksum(int64_t age, double score, const void *name) {
  uint64_t first;
  uint32_t last;
  memcpy(&first, name, 8);
  memcpy(&last, (const char *)name + 8, 4);
  return (uint64_t)age + (uint64_t)(score * 256) * 1000003 + first * 31 + last;
}
