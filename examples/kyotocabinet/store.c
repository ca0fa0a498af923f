/* store.c: Kyoto Cabinet 1.2.79 as an example, a hash database. Modes: sync (each commit a transaction,
 * hard: with physical synchronization), tran (soft), syncs (no transaction, kcdbsync after each commit),
 * nosync. */
#include "../store.h"

#include <kclangc.h>
#include <stdbool.h>

static KCDB *database;
static bool is_transaction, is_hard, is_syncing;

static void damaged(const char *call) {
  char detail[200];
  snprintf(detail, sizeof detail, "%s: %s", call, kcdbemsg(database));
  broken("corruption: the store cannot be read", detail);
}

static void sound(const char *call, int is_done) {
  if (!is_done) damaged(call);
}

static void open_database(uint32_t mode) {
  database = kcdbnew();
  sound("kcdbopen", kcdbopen(database, "store.kch#bnum=100#msiz=0", mode));
}

static void store_setup(const char *mode) {
  if (strcmp(mode, "new") == 0) return; /* the workload makes the file */
  open_database(KCOWRITER | KCOCREATE);
  sound("kcdbclose", kcdbclose(database));
}

static void store_open(const char *mode, int is_check) {
  is_hard = strcmp(mode, "sync") == 0;
  is_transaction = is_hard || strcmp(mode, "tran") == 0;
  is_syncing = strcmp(mode, "syncs") == 0;
  if (is_check) demand_file("store.kch");
  open_database(is_check ? KCOWRITER : KCOWRITER | KCOCREATE);
}

static void store_commit(int n) {
  char key[key_bytes], value[value_bytes];
  if (is_transaction) sound("kcdbbegintran", kcdbbegintran(database, is_hard));
  key_of(n, key);
  value_of(n, value);
  sound("kcdbset", kcdbset(database, key, strlen(key), value, value_bytes));
  sound("kcdbset", kcdbset(database, "last", 4, value, value_bytes));
  if (n > kept) {
    key_of(n - kept, key);
    sound("kcdbremove", kcdbremove(database, key, strlen(key)));
  }
  if (is_transaction) sound("kcdbendtran", kcdbendtran(database, 1));
  if (is_syncing) sound("kcdbsync", kcdbsync(database, 1, NULL, NULL));
}

static int store_get(const char *key, char *value) {
  size_t bytes = 0;
  char *found = kcdbget(database, key, strlen(key), &bytes);
  if (!found) {
    if (kcdbecode(database) != KCENOREC) damaged("kcdbget");
    return -1;
  }
  memcpy(value, found, bytes < value_bytes ? bytes : value_bytes);
  kcfree(found);
  return (int)bytes;
}

static int store_count(void) {
  KCCUR *cursor = kcdbcursor(database);
  int count = 0;
  size_t bytes;
  if (kccurjump(cursor))
    for (char *key; count < 1000 && (key = kccurgetkey(cursor, &bytes, 1)); count++) kcfree(key);
  if (kcdbecode(database) != KCENOREC) damaged("kccurgetkey");
  kccurdel(cursor);
  return count;
}

static void store_close(void) { sound("kcdbclose", kcdbclose(database)); }
