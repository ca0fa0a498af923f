/* store.h: the frame of the examples that are key-value stores. A store says how it is set up, how a
 * number is committed and how all numbers are read back; the frame writes twelve commits and
 * acknowledges each, and judges what a crash left.
 *
 *   STORE setup [MODE]       an empty store in the recorded directory, durable before the workload
 *   STORE workload [MODE]    commits 1 ... 12; prints each number when its commit has returned
 *   STORE check [MODE]       0: every promise held; 1: the first line names the broken one
 *
 * A commit of number n puts record n, replaces the record "last" and deletes record n - 3, so pages
 * become free and are used again. The checker knows all of it from the number alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { commits = 12, value_bytes = 900, kept = 3, key_bytes = 32 };

/* What a store provides. Each ends the process by `broken` when the store says that it is damaged. */
static void store_setup(const char *mode);
static void store_open(const char *mode, int is_check);
static void store_commit(int n); /* returns when the store says that the commit is durable */
static int store_get(const char *key, char *value); /* bytes of the value, -1: no such key */
static int store_count(void);                       /* records found by walking all of it */
static void store_close(void);

/* The first line groups the findings; the second has the details. */
static void broken(const char *promise, const char *detail) {
  printf("%s\n%s\n", promise, detail);
  exit(1);
}

/* A failure that says nothing about the store. */
static void unexpected(const char *call, const char *message) {
  fprintf(stderr, "%s: %s\n", call, message);
  exit(3);
}

static void key_of(int n, char *key) { snprintf(key, key_bytes, "record-%03d", n); }

static void value_of(int n, char *value) {
  int written = snprintf(value, value_bytes, "%03d:", n);
  for (int i = written; i < value_bytes; i++) value[i] = (char)('a' + (n * 7 + i) % 26);
}

static int last_acknowledged(void) {
  const char *path = getenv("FAULTLINE_OUTPUT");
  FILE *output = path ? fopen(path, "r") : NULL;
  if (!output) unexpected("FAULTLINE_OUTPUT", "is not set, or cannot be read");
  int acknowledged = 0, n;
  while (fscanf(output, "%d", &n) == 1) acknowledged = n;
  fclose(output);
  return acknowledged;
}

/* Called by the checker before it opens a store: without one there is nothing to judge, or all is lost. */
static void demand_file(const char *path) {
  if (access(path, F_OK) == 0) return;
  if (last_acknowledged() > 0) broken("lost: the store is not there", path);
  exit(0);
}

/* `lag` acknowledged commits may be missing, where a mode promises no more. */
static void check(const char *mode, int lag) {
  int acknowledged = last_acknowledged();
  char key[key_bytes], expected[value_bytes], value[value_bytes], detail[200];
  store_open(mode, 1);
  int bytes = store_get("last", value), last = 0;
  if (bytes > 0) last = atoi(value);
  snprintf(detail, sizeof detail, "the last commit found is %d, acknowledged are 1..%d", last,
           acknowledged);
  if (last + lag < acknowledged) broken("lost: an acknowledged commit is missing", detail);
  if (last > acknowledged + 1 || last > commits) broken("extra: a commit exists that had not begun", detail);
  int count = store_count(), present = 0;
  for (int n = 1; n <= commits; n++) {
    key_of(n, key);
    value_of(n, expected);
    bytes = store_get(key, value);
    int is_there = n <= last && n > last - kept;
    if ((bytes >= 0) != is_there) {
      snprintf(detail, sizeof detail, "%s is %s, though the last commit found is %d", key,
               bytes >= 0 ? "there" : "missing", last);
      broken("torn: a commit is there in part", detail);
    }
    if (is_there && (bytes != value_bytes || memcmp(value, expected, value_bytes) != 0))
      broken("corruption: a record has other contents than were written", key);
    present += is_there;
  }
  if (count != present + (last > 0)) {
    snprintf(detail, sizeof detail, "a walk finds %d records, lookups %d", count, present + (last > 0));
    broken("corruption: a walk and lookups disagree", detail);
  }
  store_close();
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "", *mode = argc > 2 ? argv[2] : "sync";
  const char *directory = getenv("FAULTLINE_DIR");
  if (directory && chdir(directory) != 0) unexpected("chdir", directory);
  if (strcmp(what, "setup") == 0) {
    store_setup(mode);
  } else if (strcmp(what, "workload") == 0) {
    store_open(mode, 0);
    for (int n = 1; n <= commits; n++) {
      store_commit(n);
      /* The acknowledgement: one write to standard output. */
      dprintf(STDOUT_FILENO, "%d\n", n);
    }
    store_close();
  } else if (strcmp(what, "check") == 0) {
    check(mode, strcmp(mode, "may-lose-last") == 0 ? 1 : 0);
  } else {
    fprintf(stderr, "usage: %s setup|workload|check [MODE]\n", argv[0]);
    return 2;
  }
  return 0;
}
