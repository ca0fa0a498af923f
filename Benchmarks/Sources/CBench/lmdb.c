// lmdb.c: LMDB at work on the rows. MDB_NOTLS lets one thread hold a pin and read besides.

#include "Stores.h"
#include "store.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

/// What the hand-written loops read: no byte more than the values need.
typedef struct __attribute__((packed)) {
  double score;
  char name[12];
  uint8_t age;
} packed_row;

struct cbench_lmdb {
  MDB_env *environment;
  MDB_dbi rows;
  MDB_txn *pin;
};

static int64_t fail(const char *what, int status) {
  return cbench_store_fail(what, mdb_strerror(status));
}

static int open_store(cbench_lmdb *store, const char *path, int reads_ahead) {
  int status = mdb_env_create(&store->environment);
  if (status == 0) status = mdb_env_set_mapsize(store->environment, (size_t)16 << 30);
  unsigned flags = MDB_NOSUBDIR | MDB_NOTLS | (reads_ahead ? 0 : MDB_NORDAHEAD);
  if (status == 0) status = mdb_env_open(store->environment, path, flags, 0644);
  MDB_txn *txn = NULL;
  if (status == 0) status = mdb_txn_begin(store->environment, NULL, 0, &txn);
  if (status == 0) status = mdb_dbi_open(txn, NULL, MDB_INTEGERKEY, &store->rows);
  if (status == 0) status = mdb_txn_commit(txn);
  return status;
}

cbench_lmdb *cbench_lmdb_open(const char *path, int reads_ahead) {
  cbench_lmdb *store = calloc(1, sizeof *store);
  int status = store == NULL ? MDB_PANIC : open_store(store, path, reads_ahead);
  if (status == 0) return store;
  fail("LMDB open", status);
  if (store != NULL && store->environment != NULL) mdb_env_close(store->environment);
  free(store);
  return NULL;
}

void cbench_lmdb_close(cbench_lmdb *store) {
  if (store->pin != NULL) mdb_txn_abort(store->pin);
  mdb_env_close(store->environment);
  free(store);
}

int cbench_lmdb_pin(cbench_lmdb *store) {
  int status = mdb_txn_begin(store->environment, NULL, MDB_RDONLY, &store->pin);
  // A read transaction holds its version from its first read on.
  int64_t none = -1;
  MDB_val key = {sizeof none, &none}, value;
  if (status == 0) status = mdb_get(store->pin, store->rows, &key, &value);
  return status == MDB_NOTFOUND || status == 0 ? 0 : (int)fail("LMDB pin", status);
}

static int put(MDB_txn *txn, MDB_dbi dbi, const cbench_row *row, unsigned flags) {
  packed_row packed = {.score = row->score, .age = (uint8_t)row->age};
  memcpy(packed.name, row->name, sizeof packed.name);
  uint64_t id = (uint64_t)row->id;
  MDB_val key = {sizeof id, &id}, value = {sizeof packed, &packed};
  return mdb_put(txn, dbi, &key, &value, flags);
}

int64_t cbench_lmdb_insert(cbench_lmdb *store, const cbench_row *rows, int64_t count, int appends) {
  int64_t start = cbench_now_ns();
  MDB_txn *txn;
  int status = mdb_txn_begin(store->environment, NULL, 0, &txn);
  for (int64_t i = 0; i < count && status == 0; i++) {
    status = put(txn, store->rows, &rows[i], appends ? MDB_APPEND : 0);
  }
  if (status == 0) status = mdb_txn_commit(txn);
  return status == 0 ? cbench_now_ns() - start : fail("LMDB insert", status);
}

int64_t cbench_lmdb_commits(
    cbench_lmdb *store, const cbench_row *rows, int64_t count, int64_t *latencies) {
  int64_t start = cbench_now_ns(), before = start;
  for (int64_t i = 0; i < count; i++) {
    MDB_txn *txn;
    int status = mdb_txn_begin(store->environment, NULL, 0, &txn);
    if (status == 0) status = put(txn, store->rows, &rows[i], 0);
    if (status == 0) status = mdb_txn_commit(txn);
    if (status != 0) return fail("LMDB commit", status);
    cbench_note_latency(latencies, i, &before);
  }
  return cbench_now_ns() - start;
}

int64_t cbench_lmdb_lookups(
    cbench_lmdb *store, const int64_t *keys, int64_t count, uint64_t *checksum) {
  int64_t start = cbench_now_ns();
  MDB_txn *txn;
  int status = mdb_txn_begin(store->environment, NULL, MDB_RDONLY, &txn);
  if (status != 0) return fail("LMDB lookups", status);
  uint64_t sum = 0;
  for (int64_t i = 0; i < count && status == 0; i++) {
    MDB_val key = {sizeof keys[i], (void *)&keys[i]}, value;
    status = mdb_get(txn, store->rows, &key, &value);
    if (status != 0) break;
    const packed_row *row = value.mv_data;
    sum += cbench_row_checksum(row->age, row->score, row->name);
  }
  mdb_txn_abort(txn);
  *checksum = sum;
  return status == 0 ? cbench_now_ns() - start : fail("LMDB lookups", status);
}

// The scans: one cursor, one pass, nothing in the loop but the cursor and the comparison.
#define SCAN(store, statement)                                                     \
  int64_t start = cbench_now_ns();                                                 \
  MDB_txn *txn;                                                                    \
  MDB_cursor *cursor;                                                              \
  int status = mdb_txn_begin((store)->environment, NULL, MDB_RDONLY, &txn);        \
  if (status != 0) return fail("LMDB scan", status);                               \
  status = mdb_cursor_open(txn, (store)->rows, &cursor);                           \
  if (status != 0) return fail("LMDB scan", status);                               \
  MDB_val key, value;                                                              \
  while ((status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {         \
    const packed_row *row = value.mv_data;                                         \
    statement;                                                                     \
  }                                                                                \
  mdb_cursor_close(cursor);                                                        \
  mdb_txn_abort(txn);                                                              \
  if (status != MDB_NOTFOUND) return fail("LMDB scan", status);                    \
  return cbench_now_ns() - start

int64_t cbench_lmdb_count_age(cbench_lmdb *store, int64_t age, int64_t *found) {
  *found = 0;
  int64_t count = 0;
  SCAN(store, *found = count += row->age < age);
}

int64_t cbench_lmdb_sum_score(cbench_lmdb *store, double *sum) {
  *sum = 0;
  double all = 0;
  SCAN(store, *sum = all += row->score);
}

int64_t cbench_lmdb_count_name(cbench_lmdb *store, const char *name, int64_t *found) {
  *found = 0;
  int64_t count = 0;
  SCAN(store, *found = count += memcmp(row->name, name, sizeof row->name) == 0);
}

int64_t cbench_lmdb_sum_age(cbench_lmdb *store, int64_t *sum) {
  *sum = 0;
  int64_t all = 0;
  SCAN(store, *sum = all += row->age);
}

int64_t cbench_lmdb_count_prefix(cbench_lmdb *store, const char *prefix, int64_t *found) {
  *found = 0;
  int64_t count = 0;
  size_t length = strlen(prefix);
  if (length > sizeof((packed_row *)0)->name) return cbench_store_fail("LMDB scan", "prefix");
  SCAN(store, *found = count += memcmp(row->name, prefix, length) == 0);
}

int64_t cbench_lmdb_count_both(cbench_lmdb *store, int64_t age, double score, int64_t *found) {
  *found = 0;
  int64_t count = 0;
  SCAN(store, *found = count += (row->age < age) & (row->score < score));
}

int64_t cbench_lmdb_changes(cbench_lmdb *store, int64_t *found) {
  *found = 0;
  if (store->pin == NULL) return cbench_store_fail("LMDB changes", "pin an older version first");
  int64_t start = cbench_now_ns(), count = 0;
  MDB_txn *txn;
  MDB_cursor *older = NULL, *newer = NULL;
  int status = mdb_txn_begin(store->environment, NULL, MDB_RDONLY, &txn);
  if (status != 0) return fail("LMDB changes", status);
  status = mdb_cursor_open(store->pin, store->rows, &older);
  if (status == 0) status = mdb_cursor_open(txn, store->rows, &newer);
  MDB_val key, other, old, new;
  while (status == 0 && (status = mdb_cursor_get(older, &key, &old, MDB_NEXT)) == 0) {
    status = mdb_cursor_get(newer, &other, &new, MDB_NEXT);
    // Pages that both versions share are one place in memory.
    if (status == 0 && old.mv_data != new.mv_data)
      count += memcmp(old.mv_data, new.mv_data, sizeof(packed_row)) != 0;
  }
  if (newer != NULL) mdb_cursor_close(newer);
  if (older != NULL) mdb_cursor_close(older);
  mdb_txn_abort(txn);
  *found = count;
  return status == MDB_NOTFOUND ? cbench_now_ns() - start : fail("LMDB changes", status);
}
