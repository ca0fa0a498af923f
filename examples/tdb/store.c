/* store.c: Samba's TDB 1.4 as an example. Modes: sync (each commit a transaction), nosync (the same
 * with TDB_NOSYNC), plain (no transactions); setup small: a file that has to grow; check all: with
 * tdb_check. */
#include "../store.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <tdb.h>

static struct tdb_context *database;
static bool is_plain;

static void sound(const char *call, int code) {
  if (code >= 0) return;
  char detail[200];
  snprintf(detail, sizeof detail, "%s: %s", call, database ? tdb_errorstr(database) : "failed");
  broken("corruption: the store cannot be read", detail);
}

static void open_database(const char *mode, int flags) {
  is_plain = strcmp(mode, "plain") == 0;
  database = tdb_open("store.tdb", 7, strcmp(mode, "nosync") == 0 ? TDB_NOSYNC : 0, flags, 0644);
  if (!database) sound("tdb_open", -1);
}

static TDB_DATA data(const char *bytes, size_t count) {
  TDB_DATA result = {(unsigned char *)bytes, count};
  return result;
}

static void store_setup(const char *mode) {
  if (strcmp(mode, "new") == 0) return; /* the workload makes the file */
  open_database("sync", O_RDWR | O_CREAT);
  if (strcmp(mode, "small") != 0) {
    /* Makes the file, and its recovery area, as large as the workload needs. */
    static char large[200000];
    TDB_DATA key = data("large", 5);
    sound("tdb_transaction_start", tdb_transaction_start(database));
    sound("tdb_store", tdb_store(database, key, data(large, sizeof large), 0));
    sound("tdb_transaction_commit", tdb_transaction_commit(database));
    sound("tdb_transaction_start", tdb_transaction_start(database));
    sound("tdb_delete", tdb_delete(database, key));
    sound("tdb_transaction_commit", tdb_transaction_commit(database));
  }
  tdb_close(database);
}

static void store_open(const char *mode, int is_check) {
  if (is_check) demand_file("store.tdb");
  open_database(mode, is_check ? O_RDWR : O_RDWR | O_CREAT);
  /* Looks at every byte, of space without a record too. */
  if (is_check && strcmp(mode, "all") == 0) sound("tdb_check", tdb_check(database, NULL, NULL));
}

static void store_commit(int n) {
  char key[key_bytes], value[value_bytes];
  if (!is_plain) sound("tdb_transaction_start", tdb_transaction_start(database));
  key_of(n, key);
  value_of(n, value);
  sound("tdb_store", tdb_store(database, data(key, strlen(key)), data(value, value_bytes), 0));
  sound("tdb_store", tdb_store(database, data("last", 4), data(value, value_bytes), 0));
  if (n > kept) {
    key_of(n - kept, key);
    sound("tdb_delete", tdb_delete(database, data(key, strlen(key))));
  }
  if (!is_plain) sound("tdb_transaction_commit", tdb_transaction_commit(database));
}

static int store_get(const char *key, char *value) {
  TDB_DATA found = tdb_fetch(database, data(key, strlen(key)));
  if (!found.dptr) {
    if (tdb_error(database) != TDB_ERR_NOEXIST) sound("tdb_fetch", -1);
    return -1;
  }
  memcpy(value, found.dptr, found.dsize < value_bytes ? found.dsize : value_bytes);
  free(found.dptr);
  return (int)found.dsize;
}

static int store_count(void) {
  int count = tdb_traverse_read(database, NULL, NULL);
  sound("tdb_traverse_read", count);
  return count;
}

static void store_close(void) { tdb_close(database); }
