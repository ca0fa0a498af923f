/* store.c: LevelDB 1.23 as an example. Modes: sync (every write with `sync`), nosync. */
#include "../store.h"

#include <leveldb/c.h>

static leveldb_t *database;
static leveldb_options_t *options;
static leveldb_writeoptions_t *writing;
static leveldb_readoptions_t *reading;

static void sound(const char *call, char *message) {
  if (!message) return;
  char detail[400];
  snprintf(detail, sizeof detail, "%s: %s", call, message);
  broken("corruption: the store cannot be read", detail);
}

static void open_database(const char *mode, int creates) {
  char *message = NULL;
  options = leveldb_options_create();
  leveldb_options_set_create_if_missing(options, (unsigned char)creates);
  leveldb_options_set_compression(options, leveldb_no_compression);
  writing = leveldb_writeoptions_create();
  leveldb_writeoptions_set_sync(writing, strcmp(mode, "nosync") != 0);
  reading = leveldb_readoptions_create();
  leveldb_readoptions_set_verify_checksums(reading, 1);
  database = leveldb_open(options, "store", &message);
  sound("leveldb_open", message);
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
  leveldb_writebatch_t *batch = leveldb_writebatch_create();
  key_of(n, key);
  value_of(n, value);
  leveldb_writebatch_put(batch, key, strlen(key), value, value_bytes);
  leveldb_writebatch_put(batch, "last", 4, value, value_bytes);
  if (n > kept) {
    key_of(n - kept, key);
    leveldb_writebatch_delete(batch, key, strlen(key));
  }
  leveldb_write(database, writing, batch, &message);
  sound("leveldb_write", message);
  leveldb_writebatch_destroy(batch);
}

static int store_get(const char *key, char *value) {
  char *message = NULL;
  size_t bytes = 0;
  char *found = leveldb_get(database, reading, key, strlen(key), &bytes, &message);
  sound("leveldb_get", message);
  if (!found) return -1;
  memcpy(value, found, bytes < value_bytes ? bytes : value_bytes);
  leveldb_free(found);
  return (int)bytes;
}

static int store_count(void) {
  char *message = NULL;
  int count = 0;
  leveldb_iterator_t *iterator = leveldb_create_iterator(database, reading);
  for (leveldb_iter_seek_to_first(iterator); leveldb_iter_valid(iterator);
       leveldb_iter_next(iterator))
    count++;
  leveldb_iter_get_error(iterator, &message);
  sound("leveldb_iter_next", message);
  leveldb_iter_destroy(iterator);
  return count;
}

static void store_close(void) {
  leveldb_close(database);
  leveldb_options_destroy(options);
  leveldb_writeoptions_destroy(writing);
  leveldb_readoptions_destroy(reading);
}
