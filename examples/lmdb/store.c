/* store.c: LMDB 0.9 as an example. Modes: sync (the defaults), nosync, nometasync, writemap, mapasync. */
#include "../store.h"

#include <lmdb.h>

static MDB_env *environment;
static MDB_dbi table;
static MDB_txn *reading;

static unsigned flags_of(const char *mode) {
  if (strcmp(mode, "nosync") == 0) return MDB_NOSYNC;
  if (strcmp(mode, "nometasync") == 0) return MDB_NOMETASYNC;
  if (strcmp(mode, "writemap") == 0) return MDB_WRITEMAP;
  if (strcmp(mode, "mapasync") == 0) return MDB_WRITEMAP | MDB_MAPASYNC;
  return 0;
}

static void sound(const char *call, int code) {
  if (code == 0) return;
  char detail[200];
  snprintf(detail, sizeof detail, "%s: %s", call, mdb_strerror(code));
  broken("corruption: the store cannot be read", detail);
}

static void open_environment(const char *mode) {
  sound("mdb_env_create", mdb_env_create(&environment));
  sound("mdb_env_set_mapsize", mdb_env_set_mapsize(environment, 1 << 20));
  sound("mdb_env_open", mdb_env_open(environment, ".", flags_of(mode), 0644));
}

static void begin(unsigned flags, MDB_txn **transaction) {
  sound("mdb_txn_begin", mdb_txn_begin(environment, NULL, flags, transaction));
  sound("mdb_dbi_open", mdb_dbi_open(*transaction, NULL, 0, &table));
}

static void store_setup(const char *mode) {
  if (strcmp(mode, "new") == 0) return; /* the workload makes the files */
  open_environment("sync");
  mdb_env_close(environment);
}

static void store_open(const char *mode, int is_check) {
  if (is_check) demand_file("data.mdb");
  open_environment(is_check ? "sync" : mode);
  if (is_check) begin(MDB_RDONLY, &reading);
}

static void put(MDB_txn *transaction, const char *key, const char *value) {
  MDB_val k = {strlen(key), (void *)key}, v = {value_bytes, (void *)value};
  sound("mdb_put", mdb_put(transaction, table, &k, &v, 0));
}

static void store_commit(int n) {
  MDB_txn *transaction;
  char key[key_bytes], value[value_bytes];
  begin(0, &transaction);
  key_of(n, key);
  value_of(n, value);
  put(transaction, key, value);
  put(transaction, "last", value);
  if (n > kept) {
    key_of(n - kept, key);
    MDB_val old = {strlen(key), key};
    sound("mdb_del", mdb_del(transaction, table, &old, NULL));
  }
  sound("mdb_txn_commit", mdb_txn_commit(transaction));
}

static int store_get(const char *key, char *value) {
  MDB_val k = {strlen(key), (void *)key}, v;
  int code = mdb_get(reading, table, &k, &v);
  if (code == MDB_NOTFOUND) return -1;
  sound("mdb_get", code);
  memcpy(value, v.mv_data, v.mv_size < value_bytes ? v.mv_size : value_bytes);
  return (int)v.mv_size;
}

static int store_count(void) {
  MDB_cursor *cursor;
  MDB_val key, value;
  int count = 0, code;
  sound("mdb_cursor_open", mdb_cursor_open(reading, table, &cursor));
  while ((code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) count++;
  if (code != MDB_NOTFOUND) sound("mdb_cursor_get", code);
  mdb_cursor_close(cursor);
  return count;
}

static void store_close(void) {
  if (reading) mdb_txn_abort(reading);
  mdb_env_close(environment);
}
