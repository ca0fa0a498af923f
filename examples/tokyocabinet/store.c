/* store.c: Tokyo Cabinet 1.4.48 as an example, a hash database. Modes: sync (each commit a transaction,
 * HDBOTSYNC), tran (the same without HDBOTSYNC), syncs (no transaction, tchdbsync after each commit),
 * nosync. */
#include "../store.h"

#include <stdbool.h>
#include <stdint.h>
#include <tchdb.h>

static TCHDB *database;
static bool is_transaction, is_syncing;

static void damaged(const char *call) {
  char detail[200];
  snprintf(detail, sizeof detail, "%s: %s", call, tchdberrmsg(tchdbecode(database)));
  broken("corruption: the store cannot be read", detail);
}

static void sound(const char *call, bool is_done) {
  if (!is_done) damaged(call);
}

static void open_database(int mode) {
  database = tchdbnew();
  sound("tchdbtune", tchdbtune(database, 100, -1, -1, 0));
  sound("tchdbopen", tchdbopen(database, "store.tch", mode));
}

static void store_setup(const char *mode) {
  if (strcmp(mode, "new") == 0) return; /* the workload makes the file */
  open_database(HDBOWRITER | HDBOCREAT | HDBOTSYNC);
  if (strcmp(mode, "wal") == 0) {
    /* The log file is there before. */
    sound("tchdbtranbegin", tchdbtranbegin(database));
    sound("tchdbput", tchdbput(database, "x", 1, "x", 1));
    sound("tchdbtrancommit", tchdbtrancommit(database));
    sound("tchdbout", tchdbout(database, "x", 1));
  }
  sound("tchdbclose", tchdbclose(database));
}

static void store_open(const char *mode, int is_check) {
  is_transaction = strcmp(mode, "sync") == 0 || strcmp(mode, "tran") == 0;
  is_syncing = strcmp(mode, "syncs") == 0;
  if (is_check) demand_file("store.tch");
  int sync = strcmp(mode, "sync") == 0 ? HDBOTSYNC : 0;
  open_database(is_check ? HDBOWRITER : HDBOWRITER | HDBOCREAT | sync);
}

static void store_commit(int n) {
  char key[key_bytes], value[value_bytes];
  if (is_transaction) sound("tchdbtranbegin", tchdbtranbegin(database));
  key_of(n, key);
  value_of(n, value);
  sound("tchdbput", tchdbput(database, key, (int)strlen(key), value, value_bytes));
  sound("tchdbput", tchdbput(database, "last", 4, value, value_bytes));
  if (n > kept) {
    key_of(n - kept, key);
    sound("tchdbout", tchdbout(database, key, (int)strlen(key)));
  }
  if (is_transaction) sound("tchdbtrancommit", tchdbtrancommit(database));
  if (is_syncing) sound("tchdbsync", tchdbsync(database));
}

static int store_get(const char *key, char *value) {
  int bytes = 0;
  char *found = tchdbget(database, key, (int)strlen(key), &bytes);
  if (!found) {
    if (tchdbecode(database) != TCENOREC) damaged("tchdbget");
    return -1;
  }
  memcpy(value, found, bytes < value_bytes ? bytes : value_bytes);
  free(found);
  return bytes;
}

static int store_count(void) {
  int count = 0, bytes;
  sound("tchdbiterinit", tchdbiterinit(database));
  for (char *key; count < 1000 && (key = tchdbiternext(database, &bytes)); count++) free(key);
  if (tchdbecode(database) != TCENOREC) damaged("tchdbiternext");
  return count;
}

static void store_close(void) { tchdbclose(database); }
