/* store.c: LevelDB 1.23 as an example. Modes: sync (every write with `sync`), nosync.
 * RocksDB has the same interface under another prefix: ../rocksdb/store.c says which. */
#include "../store.h"

#ifndef NAME
#include <leveldb/c.h>
#define NAME(name) leveldb_##name
#endif

static NAME(t) *database;
static NAME(options_t) *options;
static NAME(writeoptions_t) *writing;
static NAME(readoptions_t) *reading;

static void sound(const char *call, char *message) {
  if (!message) return;
  char detail[400];
  snprintf(detail, sizeof detail, "%s: %s", call, message);
  broken("corruption: the store cannot be read", detail);
}

static void open_database(const char *mode, int creates) {
  char *message = NULL;
  options = NAME(options_create)();
  NAME(options_set_create_if_missing)(options, (unsigned char)creates);
  NAME(options_set_compression)(options, NAME(no_compression));
  writing = NAME(writeoptions_create)();
  NAME(writeoptions_set_sync)(writing, strcmp(mode, "nosync") != 0);
  reading = NAME(readoptions_create)();
  NAME(readoptions_set_verify_checksums)(reading, 1);
  database = NAME(open)(options, "store", &message);
  sound("open", message);
}

static void store_setup(const char *mode) {
  if (strcmp(mode, "new") == 0) return; /* the workload makes the files */
  open_database("sync", 1);
  store_close();
}

static void store_open(const char *mode, int is_check) {
  if (is_check) demand_file("store/CURRENT");
  open_database(mode, !is_check);
}

static void store_commit(int n) {
  char key[key_bytes], value[value_bytes], *message = NULL;
  NAME(writebatch_t) *batch = NAME(writebatch_create)();
  key_of(n, key);
  value_of(n, value);
  NAME(writebatch_put)(batch, key, strlen(key), value, value_bytes);
  NAME(writebatch_put)(batch, "last", 4, value, value_bytes);
  if (n > kept) {
    key_of(n - kept, key);
    NAME(writebatch_delete)(batch, key, strlen(key));
  }
  NAME(write)(database, writing, batch, &message);
  sound("write", message);
  NAME(writebatch_destroy)(batch);
}

static int store_get(const char *key, char *value) {
  char *message = NULL;
  size_t bytes = 0;
  char *found = NAME(get)(database, reading, key, strlen(key), &bytes, &message);
  sound("get", message);
  if (!found) return -1;
  memcpy(value, found, bytes < value_bytes ? bytes : value_bytes);
  NAME(free)(found);
  return (int)bytes;
}

static int store_count(void) {
  char *message = NULL;
  int count = 0;
  NAME(iterator_t) *iterator = NAME(create_iterator)(database, reading);
  for (NAME(iter_seek_to_first)(iterator); NAME(iter_valid)(iterator);
       NAME(iter_next)(iterator))
    count++;
  NAME(iter_get_error)(iterator, &message);
  sound("iter_next", message);
  NAME(iter_destroy)(iterator);
  return count;
}

static void store_close(void) {
  NAME(close)(database);
  NAME(options_destroy)(options);
  NAME(writeoptions_destroy)(writing);
  NAME(readoptions_destroy)(reading);
}
