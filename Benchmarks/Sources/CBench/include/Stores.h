// Stores.h: the rows that every store gets, and LMDB and SQLite at work on them, through their C
// interfaces. Every call returns nanoseconds, or a negative number: cbench_store_error says why.

#pragma once

#include <stdint.h>
#include <sys/types.h>

/// One row: an object {id, age 0–99, score, name of 12 letters}.
/// Scores are multiples of 1/256 below 1,000: sums of a million are exact in any order.
typedef struct {
  int64_t id;
  int64_t age;
  double score;
  char name[12];
} cbench_row;

/// Fills in rows first, first + 1, … of the one data set that all sides use; ids are the numbers.
void cbench_rows(cbench_row *rows, int64_t first, int64_t count);

/// The last error's text.
const char *cbench_store_error(void);

/// What a row adds to the checksum of lookups; both sides add it up.
uint64_t cbench_row_checksum(int64_t age, double score, const void *name);

// MARK: LMDB. A row is 21 packed bytes under its id as an integer key: the best case for a loop.

typedef struct cbench_lmdb cbench_lmdb;

/// Opens the environment in a new or old file, with LMDB's defaults (two syncs a commit), or with
/// MDB_NORDAHEAD.
cbench_lmdb *cbench_lmdb_open(const char *path, int reads_ahead);
void cbench_lmdb_close(cbench_lmdb *store);
/// Puts rows in one transaction, durable at its end. `appends`: with MDB_APPEND.
int64_t cbench_lmdb_insert(cbench_lmdb *store, const cbench_row *rows, int64_t count, int appends);
/// One durable transaction per row given, each replacing that row. `latencies`: NULL, or room for
/// the nanoseconds of each.
int64_t cbench_lmdb_commits(
    cbench_lmdb *store, const cbench_row *rows, int64_t count, int64_t *latencies);
/// Gets each of the keys and sums the rows' checksums up.
int64_t cbench_lmdb_lookups(
    cbench_lmdb *store, const int64_t *keys, int64_t count, uint64_t *checksum);
/// Counts the rows younger than `age`.
int64_t cbench_lmdb_count_age(cbench_lmdb *store, int64_t age, int64_t *found);
/// Adds all scores up.
int64_t cbench_lmdb_sum_score(cbench_lmdb *store, double *sum);
/// Counts the rows of that name, 12 letters.
int64_t cbench_lmdb_count_name(cbench_lmdb *store, const char *name, int64_t *found);
/// Adds all ages up.
int64_t cbench_lmdb_sum_age(cbench_lmdb *store, int64_t *sum);
/// Counts the rows whose name begins with a text of at most 12 letters.
int64_t cbench_lmdb_count_prefix(cbench_lmdb *store, const char *prefix, int64_t *found);
/// Counts the rows younger than `age` with less than `score`.
int64_t cbench_lmdb_count_both(cbench_lmdb *store, int64_t age, double score, int64_t *found);
/// Counts the rows that differ from the pinned version, which has the same keys: two cursors side
/// by side, and no look at rows that stand at the same place.
int64_t cbench_lmdb_changes(cbench_lmdb *store, int64_t *found);
/// Begins a read transaction and keeps it open until the store is closed. 0, or negative.
int cbench_lmdb_pin(cbench_lmdb *store);

// MARK: SQLite

typedef struct cbench_sqlite cbench_sqlite;

/// Opens a database file; `wal`: journal_mode=WAL and synchronous=FULL, else SQLite's defaults.
/// A call that finds the file locked waits up to a minute. `key`: NULL, or SQLCipher's statement
/// that sets the key, run before any other.
cbench_sqlite *cbench_sqlite_open(const char *path, int wal, const char *key);
void cbench_sqlite_close(cbench_sqlite *store);
/// Inserts rows in one transaction by a prepared statement, durable at its end.
int64_t cbench_sqlite_insert(cbench_sqlite *store, const cbench_row *rows, int64_t count);
/// One durable transaction per row given, each replacing that row. `latencies`: NULL, or room for
/// the nanoseconds of each.
int64_t cbench_sqlite_commits(
    cbench_sqlite *store, const cbench_row *rows, int64_t count, int64_t *latencies);
/// Gets each of the keys and sums the rows' checksums up, in one read transaction.
int64_t cbench_sqlite_lookups(
    cbench_sqlite *store, const int64_t *keys, int64_t count, uint64_t *checksum);
/// Runs a statement of two parameters, a number from 0 on and a text, for each text, in one
/// transaction. The texts lie one behind the other, each ended by a zero.
int64_t cbench_sqlite_insert_texts(
    cbench_sqlite *store, const char *statement, const char *texts, int64_t count);
/// Gives row i the age (i + turn) % 100, by one prepared UPDATE for each row, in one transaction.
int64_t cbench_sqlite_assign_ages(cbench_sqlite *store, int64_t count, int64_t turn);
/// Deletes every row with an odd id.
int64_t cbench_sqlite_thin(cbench_sqlite *store);
/// VACUUM.
int64_t cbench_sqlite_compact(cbench_sqlite *store);
/// Runs statements that answer nothing.
int64_t cbench_sqlite_execute(cbench_sqlite *store, const char *text);
/// Prepares a query and steps through it. The answer is made of the first column of every 1,000th
/// row from the first one on: the number itself when there is one row.
int64_t cbench_sqlite_answer(cbench_sqlite *store, const char *text, int64_t *answer);
/// Counts the rows and adds up their scores, to compare.
int64_t cbench_sqlite_totals(cbench_sqlite *store, int64_t *rows, double *sum);

// MARK: syncs

/// Starts counting this process's syncs, by whichever library: fsync, fdatasync, msync with
/// MS_SYNC, and writes to descriptors opened with O_SYNC or O_DSYNC.
void cbench_sync_count_start(void);
/// Stops counting and returns the number.
int64_t cbench_sync_count_stop(void);

// MARK: reading

/// Reads a file from its beginning to its end, 1 MiB at a time, and hashes it with eight lanes of
/// multiply and rotate, the kind of hash the engine's nodes have.
int64_t cbench_read_and_hash(const char *path, int64_t *bytes);
