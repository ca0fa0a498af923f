/* store.c: Berkeley DB 5.3 as an example: a B-tree in a transactional environment, which the checker
 * opens with recovery, as its manual demands after a crash. Modes: sync (each commit durable, the
 * default), wnosync (DB_TXN_WRITE_NOSYNC: the log is written, not synced), nosync (DB_TXN_NOSYNC),
 * plain (no environment; DB->sync after each commit); setup sector: pages of 512 bytes, setup new: the
 * workload makes all files. */
#include "../store.h"

#include <db.h>

static DB_ENV *environment;
static DB *database;
static DB_TXN *transaction;

static void sound(const char *call, int code) {
  char detail[200];
  if (code == 0) return;
  snprintf(detail, sizeof detail, "%s: %s", call, db_strerror(code));
  broken("corruption: the store cannot be read", detail);
}

static void quiet(const DB_ENV *of, const char *prefix, const char *message) {
  (void)of, (void)prefix;
  fprintf(stderr, "%s\n", message);
}

static void open_database(const char *mode, int recovers) {
  if (strcmp(mode, "plain") != 0) {
    u_int32_t flags = DB_CREATE | DB_PRIVATE | DB_INIT_MPOOL | DB_INIT_LOG | DB_INIT_LOCK | DB_INIT_TXN;
    sound("db_env_create", db_env_create(&environment, 0));
    environment->set_errcall(environment, quiet);
    /* It fills a log file with zeros when it makes one: 10 MiB by default. */
    sound("set_lg_bsize", environment->set_lg_bsize(environment, 16 << 10));
    sound("set_lg_max", environment->set_lg_max(environment, 128 << 10));
    if (strcmp(mode, "nosync") == 0)
      sound("set_flags", environment->set_flags(environment, DB_TXN_NOSYNC, 1));
    if (strcmp(mode, "wnosync") == 0)
      sound("set_flags", environment->set_flags(environment, DB_TXN_WRITE_NOSYNC, 1));
    sound("DB_ENV->open", environment->open(environment, ".", flags | (recovers ? DB_RECOVER : 0), 0644));
  }
  sound("db_create", db_create(&database, environment, 0));
  database->set_errcall(database, quiet);
  /* A page that is no larger than what the disk writes whole. */
  if (strcmp(mode, "sector") == 0) sound("set_pagesize", database->set_pagesize(database, 512));
  sound("DB->open", database->open(database, NULL, "store.db", NULL, DB_BTREE,
                                   DB_CREATE | (environment ? DB_AUTO_COMMIT : 0), 0644));
}

static void store_setup(const char *mode) {
  if (strncmp(mode, "new", 3) == 0) return;
  open_database(mode, 1);
  store_close();
}

static void store_open(const char *mode, int is_check) {
  int is_plain = strcmp(mode, "plain") == 0;
  /* Without its log an environment is as one that was never made. */
  if (is_check) demand_file(is_plain ? "store.db" : "log.0000000001");
  open_database(mode, 1);
}

static DBT bytes_of(const char *bytes, size_t count) {
  DBT result;
  memset(&result, 0, sizeof result);
  result.data = (void *)bytes;
  result.size = (u_int32_t)count;
  return result;
}

static void put(const char *key, const char *value) {
  DBT k = bytes_of(key, strlen(key)), v = bytes_of(value, value_bytes);
  sound("DB->put", database->put(database, transaction, &k, &v, 0));
}

static void store_commit(int n) {
  char key[key_bytes], value[value_bytes];
  if (environment)
    sound("txn_begin", environment->txn_begin(environment, NULL, &transaction, 0));
  key_of(n, key);
  value_of(n, value);
  put(key, value);
  put("last", value);
  if (n > kept) {
    key_of(n - kept, key);
    DBT k = bytes_of(key, strlen(key));
    sound("DB->del", database->del(database, transaction, &k, 0));
  }
  if (environment) {
    sound("commit", transaction->commit(transaction, 0));
    transaction = NULL;
    /* Pages reach the file between commits, too, so that recovery has something to do. */
    if (n % 4 == 0) sound("txn_checkpoint", environment->txn_checkpoint(environment, 0, 0, DB_FORCE));
  } else {
    sound("DB->sync", database->sync(database, 0));
  }
}

static int store_get(const char *key, char *value) {
  DBT k = bytes_of(key, strlen(key)), v = bytes_of(NULL, 0);
  int code = database->get(database, NULL, &k, &v, 0);
  if (code == DB_NOTFOUND) return -1;
  sound("DB->get", code);
  memcpy(value, v.data, v.size < value_bytes ? v.size : value_bytes);
  return (int)v.size;
}

static int store_count(void) {
  DBC *cursor;
  DBT k = bytes_of(NULL, 0), v = bytes_of(NULL, 0);
  int count = 0, code;
  sound("DB->cursor", database->cursor(database, NULL, &cursor, 0));
  while ((code = cursor->get(cursor, &k, &v, DB_NEXT)) == 0) count++;
  if (code != DB_NOTFOUND) sound("DBC->get", code);
  sound("DBC->close", cursor->close(cursor));
  return count;
}

static void store_close(void) {
  sound("DB->close", database->close(database, 0));
  if (environment) sound("DB_ENV->close", environment->close(environment, 0));
}
