/* store.c: GDBM 1.23 as an example. Modes: sync (gdbm_sync after each commit), always (GDBM_SYNC, which asks
 * for it after each call), nosync, replace (each commit is a copy of the store that is synced, renamed over it,
 * and made durable by a sync of the directory), atomic (gdbm_failure_atomic, the manual's "Crash Tolerance";
 * needs a file system that clones files: --on xfs, --on btrfs); always-nommap and nommap: without a mapping.
 * setup plain: a file that does not count its syncs; setup new: none. */
#include "../store.h"

#include <errno.h>
#include <fcntl.h>
#include <gdbm.h>
#include <stdbool.h>

static GDBM_FILE database;
static bool is_replace, is_nosync;

static void damaged(const char *call) {
  char detail[200];
  snprintf(detail, sizeof detail, "%s: %s", call, gdbm_strerror(gdbm_errno));
  broken("corruption: the store cannot be read", detail);
}

static void sound(const char *call, int code) {
  if (code != 0) damaged(call);
}

static void open_database(const char *path, int flags) {
  database = gdbm_open(path, 0, flags, 0644, NULL);
  if (!database) damaged("gdbm_open");
}

static datum data(const char *bytes, size_t count) {
  datum result = {(char *)bytes, (int)count};
  return result;
}

static void sync_path(const char *path) {
  int file = open(path, O_RDONLY);
  if (file < 0 || fsync(file) != 0) unexpected("fsync", strerror(errno));
  close(file);
}

static void store_setup(const char *mode) {
  if (strcmp(mode, "new") == 0) return; /* the workload makes the file */
  bool is_plain = strcmp(mode, "plain") == 0;
  open_database("store.gdbm", GDBM_WRCREAT | (is_plain ? 0 : GDBM_NUMSYNC));
  sound("gdbm_close", gdbm_close(database));
}

/* What the manual's "Crash Tolerance" says to do after a crash: the newer snapshot is the store. */
static void open_snapshot(void) {
  const char *newest = NULL;
  int status = gdbm_latest_snapshot("even", "odd", &newest);
  if (status == GDBM_SNAPSHOT_OK) {
    open_database(newest, GDBM_READER);
    return;
  }
  /* gdbm_close takes a last snapshot without counting it; when both are the same, each will do. */
  if (status == GDBM_SNAPSHOT_SAME && system("cmp -s even odd") == 0) {
    open_database("even", GDBM_READER);
    return;
  }
  char detail[100];
  snprintf(detail, sizeof detail, "gdbm_latest_snapshot: %d (errno %d)", status, errno);
  if (last_acknowledged() > 0) broken("lost: no snapshot can be used", detail);
  exit(0); /* the workload had not begun */
}

static int flags_of(const char *mode) {
  return (strncmp(mode, "always", 6) == 0 ? GDBM_SYNC : 0) | (strstr(mode, "nommap") ? GDBM_NOMMAP : 0);
}

static void store_open(const char *mode, int is_check) {
  is_replace = strcmp(mode, "replace") == 0;
  is_nosync = strcmp(mode, "nosync") == 0 || strncmp(mode, "always", 6) == 0;
  if (is_check) demand_file("store.gdbm");
  if (is_check && strcmp(mode, "atomic") == 0) {
    open_snapshot();
    return;
  }
  open_database("store.gdbm", is_check ? GDBM_READER : GDBM_WRCREAT | flags_of(mode));
  if (strcmp(mode, "atomic") == 0 && gdbm_failure_atomic(database, "even", "odd") != 0)
    unexpected("gdbm_failure_atomic", gdbm_strerror(gdbm_errno));
}

static int set(const char *key, const char *value) {
  return gdbm_store(database, data(key, strlen(key)), data(value, value_bytes), GDBM_REPLACE);
}

static void put(int n) {
  char key[key_bytes], value[value_bytes];
  key_of(n, key);
  value_of(n, value);
  sound("gdbm_store", set(key, value));
  sound("gdbm_store", set("last", value));
  if (n > kept) {
    key_of(n - kept, key);
    sound("gdbm_delete", gdbm_delete(database, data(key, strlen(key))));
  }
}

static void store_commit(int n) {
  if (!is_replace) {
    put(n);
    if (!is_nosync) sound("gdbm_sync", gdbm_sync(database));
    return;
  }
  /* A new file, written whole. */
  gdbm_close(database);
  if (system("cp store.gdbm store.new") != 0) unexpected("cp", "failed");
  open_database("store.new", GDBM_WRITER);
  put(n);
  sound("gdbm_sync", gdbm_sync(database));
  sync_path("store.new");
  if (rename("store.new", "store.gdbm") != 0) unexpected("rename", strerror(errno));
  sync_path(".");
}

static int store_get(const char *key, char *value) {
  datum found = gdbm_fetch(database, data(key, strlen(key)));
  if (!found.dptr) {
    if (gdbm_errno != GDBM_ITEM_NOT_FOUND) damaged("gdbm_fetch");
    return -1;
  }
  memcpy(value, found.dptr, found.dsize < value_bytes ? found.dsize : value_bytes);
  free(found.dptr);
  return found.dsize;
}

static int store_count(void) {
  int count = 0;
  datum key = gdbm_firstkey(database);
  while (key.dptr && count < 1000) {
    datum next = gdbm_nextkey(database, key);
    free(key.dptr);
    key = next;
    count++;
  }
  free(key.dptr);
  if (gdbm_errno != GDBM_ITEM_NOT_FOUND && gdbm_errno != GDBM_NO_ERROR) damaged("gdbm_nextkey");
  return count;
}

static void store_close(void) { gdbm_close(database); }
