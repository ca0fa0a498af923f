// sqlite.c: SQLite at work on the rows.

#include "Stores.h"
#include "store.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct cbench_sqlite {
  sqlite3 *database;
};

static int64_t fail(cbench_sqlite *store, const char *what) {
  return cbench_store_fail(what, sqlite3_errmsg(store->database));
}

static int execute(cbench_sqlite *store, const char *text) {
  return sqlite3_exec(store->database, text, NULL, NULL, NULL);
}

cbench_sqlite *cbench_sqlite_open(const char *path, int wal, const char *key) {
  cbench_sqlite *store = calloc(1, sizeof *store);
  if (store == NULL) return NULL;
  int status = sqlite3_open(path, &store->database);
  if (status == SQLITE_OK) status = sqlite3_busy_timeout(store->database, 60000);
  if (status == SQLITE_OK && key != NULL) status = execute(store, key);
  if (status == SQLITE_OK && wal)
    status = execute(store, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;");
  if (status == SQLITE_OK)
    status = execute(
        store, "CREATE TABLE IF NOT EXISTS row("
               "id INTEGER PRIMARY KEY, age INTEGER, score REAL, name TEXT);");
  if (status == SQLITE_OK) return store;
  fail(store, "SQLite open");
  cbench_sqlite_close(store);
  return NULL;
}

void cbench_sqlite_close(cbench_sqlite *store) {
  sqlite3_close(store->database);
  free(store);
}

static int put(sqlite3_stmt *statement, const cbench_row *row) {
  sqlite3_bind_int64(statement, 1, row->id);
  sqlite3_bind_int64(statement, 2, row->age);
  sqlite3_bind_double(statement, 3, row->score);
  sqlite3_bind_text(statement, 4, row->name, sizeof row->name, SQLITE_STATIC);
  int status = sqlite3_step(statement);
  sqlite3_reset(statement);
  return status == SQLITE_DONE ? SQLITE_OK : status;
}

int64_t cbench_sqlite_insert(cbench_sqlite *store, const cbench_row *rows, int64_t count) {
  int64_t start = cbench_now_ns();
  sqlite3_stmt *statement = NULL;
  int status = sqlite3_prepare_v2(
      store->database, "INSERT INTO row VALUES (?, ?, ?, ?)", -1, &statement, NULL);
  if (status == SQLITE_OK) status = execute(store, "BEGIN");
  for (int64_t i = 0; i < count && status == SQLITE_OK; i++) status = put(statement, &rows[i]);
  if (status == SQLITE_OK) status = execute(store, "COMMIT");
  sqlite3_finalize(statement);
  return status == SQLITE_OK ? cbench_now_ns() - start : fail(store, "SQLite insert");
}

int64_t cbench_sqlite_commits(
    cbench_sqlite *store, const cbench_row *rows, int64_t count, int64_t *latencies) {
  int64_t start = cbench_now_ns(), before = start;
  sqlite3_stmt *statement = NULL;
  int status = sqlite3_prepare_v2(
      store->database, "REPLACE INTO row VALUES (?, ?, ?, ?)", -1, &statement, NULL);
  // Without BEGIN each statement is a transaction of its own.
  for (int64_t i = 0; i < count && status == SQLITE_OK; i++) {
    status = put(statement, &rows[i]);
    cbench_note_latency(latencies, i, &before);
  }
  sqlite3_finalize(statement);
  return status == SQLITE_OK ? cbench_now_ns() - start : fail(store, "SQLite commits");
}

int64_t cbench_sqlite_lookups(
    cbench_sqlite *store, const int64_t *keys, int64_t count, uint64_t *checksum) {
  int64_t start = cbench_now_ns();
  sqlite3_stmt *statement = NULL;
  int status = sqlite3_prepare_v2(
      store->database, "SELECT age, score, name FROM row WHERE id = ?", -1, &statement, NULL);
  if (status == SQLITE_OK) status = execute(store, "BEGIN");
  uint64_t sum = 0;
  for (int64_t i = 0; i < count && status == SQLITE_OK; i++) {
    sqlite3_bind_int64(statement, 1, keys[i]);
    status = sqlite3_step(statement) == SQLITE_ROW ? SQLITE_OK : SQLITE_ERROR;
    if (status == SQLITE_OK)
      sum += cbench_row_checksum(
          sqlite3_column_int64(statement, 0), sqlite3_column_double(statement, 1),
          sqlite3_column_text(statement, 2));
    sqlite3_reset(statement);
  }
  if (status == SQLITE_OK) status = execute(store, "COMMIT");
  sqlite3_finalize(statement);
  *checksum = sum;
  return status == SQLITE_OK ? cbench_now_ns() - start : fail(store, "SQLite lookups");
}

int64_t cbench_sqlite_insert_texts(
    cbench_sqlite *store, const char *statement_text, const char *texts, int64_t count) {
  int64_t start = cbench_now_ns();
  sqlite3_stmt *statement = NULL;
  int status = sqlite3_prepare_v2(store->database, statement_text, -1, &statement, NULL);
  if (status == SQLITE_OK) status = execute(store, "BEGIN");
  const char *text = texts;
  for (int64_t i = 0; i < count && status == SQLITE_OK; i++) {
    size_t length = strlen(text);
    sqlite3_bind_int64(statement, 1, i);
    sqlite3_bind_text(statement, 2, text, (int)length, SQLITE_STATIC);
    status = sqlite3_step(statement) == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR;
    sqlite3_reset(statement);
    text += length + 1;
  }
  if (status == SQLITE_OK) status = execute(store, "COMMIT");
  sqlite3_finalize(statement);
  return status == SQLITE_OK ? cbench_now_ns() - start : fail(store, "SQLite insert of texts");
}

int64_t cbench_sqlite_assign_ages(cbench_sqlite *store, int64_t count, int64_t turn) {
  int64_t start = cbench_now_ns();
  sqlite3_stmt *statement = NULL;
  int status = sqlite3_prepare_v2(
      store->database, "UPDATE row SET age = ? WHERE id = ?", -1, &statement, NULL);
  if (status == SQLITE_OK) status = execute(store, "BEGIN");
  for (int64_t i = 0; i < count && status == SQLITE_OK; i++) {
    sqlite3_bind_int64(statement, 1, (i + turn) % 100);
    sqlite3_bind_int64(statement, 2, i);
    status = sqlite3_step(statement) == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR;
    sqlite3_reset(statement);
  }
  if (status == SQLITE_OK) status = execute(store, "COMMIT");
  sqlite3_finalize(statement);
  return status == SQLITE_OK ? cbench_now_ns() - start : fail(store, "SQLite assign");
}

static int64_t timed(cbench_sqlite *store, const char *text) {
  int64_t start = cbench_now_ns();
  return execute(store, text) == SQLITE_OK ? cbench_now_ns() - start : fail(store, text);
}

int64_t cbench_sqlite_thin(cbench_sqlite *store) {
  return timed(store, "DELETE FROM row WHERE id % 2 = 1");
}

int64_t cbench_sqlite_compact(cbench_sqlite *store) { return timed(store, "VACUUM"); }

int64_t cbench_sqlite_totals(cbench_sqlite *store, int64_t *rows, double *sum) {
  int64_t start = cbench_now_ns();
  sqlite3_stmt *statement = NULL;
  int status = sqlite3_prepare_v2(
      store->database, "SELECT count(*), total(score) FROM row", -1, &statement, NULL);
  if (status == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
    *rows = sqlite3_column_int64(statement, 0);
    *sum = sqlite3_column_double(statement, 1);
  } else {
    status = SQLITE_ERROR;
  }
  sqlite3_finalize(statement);
  return status == SQLITE_OK ? cbench_now_ns() - start : fail(store, "SQLite totals");
}

int64_t cbench_sqlite_execute(cbench_sqlite *store, const char *text) {
  return timed(store, text);
}

int64_t cbench_sqlite_answer(cbench_sqlite *store, const char *text, int64_t *answer) {
  int64_t start = cbench_now_ns(), row = 0;
  uint64_t sum = 0;
  sqlite3_stmt *statement = NULL;
  int status = sqlite3_prepare_v2(store->database, text, -1, &statement, NULL);
  if (status == SQLITE_OK) {
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
      if (row % 1000 == 0) sum = sum * 31 + (uint64_t)sqlite3_column_int64(statement, 0);
      row++;
    }
  }
  sqlite3_finalize(statement);
  *answer = (int64_t)sum;
  return status == SQLITE_DONE ? cbench_now_ns() - start : fail(store, text);
}
