// points.c: the VFS. A file of it is followed in memory by the file of SQLite's own VFS. Invariant:
// it offers exactly the functions that SQLite's own file offers, so SQLite behaves the same.
#include "CSQLitePoints.h"

#include <sqlite3.h>

typedef struct {
  sqlite3_file base;
  sqlite3_io_methods methods;
} points_file;

static sqlite3_vfs points;
static sqlite3_vfs *own;
static csqlitepoints_reach reach;
static csqlitepoints_sleep nap;
static int checkpointPages;
/// The connection that this thread opened last and that has locked nothing yet. SQLite sets its own
/// number of pages after extensions are called, so ours is set when it first locks the file.
static _Thread_local sqlite3 *opened;

static sqlite3_file *inner(sqlite3_file *file) { return (sqlite3_file *)((points_file *)file + 1); }

#define INNER(call, ...) inner(file)->pMethods->call(inner(file), ##__VA_ARGS__)

static int points_close(sqlite3_file *file) {
  int code = INNER(xClose);
  file->pMethods = 0;
  opened = 0;
  return code;
}

static int points_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  reach(CSQLITEPOINTS_READ);
  return INNER(xRead, bytes, count, offset);
}

static int points_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  reach(CSQLITEPOINTS_WRITE);
  return INNER(xWrite, bytes, count, offset);
}

static int points_truncate(sqlite3_file *file, sqlite3_int64 size) {
  reach(CSQLITEPOINTS_TRUNCATE);
  return INNER(xTruncate, size);
}

static int points_sync(sqlite3_file *file, int flags) {
  reach(CSQLITEPOINTS_SYNC);
  return INNER(xSync, flags);
}

static int points_size(sqlite3_file *file, sqlite3_int64 *size) { return INNER(xFileSize, size); }

static int points_lock(sqlite3_file *file, int level) {
  if (opened && checkpointPages) sqlite3_wal_autocheckpoint(opened, checkpointPages);
  opened = 0;
  reach(CSQLITEPOINTS_LOCK);
  return INNER(xLock, level);
}

static int points_unlock(sqlite3_file *file, int level) {
  reach(CSQLITEPOINTS_UNLOCK);
  int code = INNER(xUnlock, level);
  reach(CSQLITEPOINTS_FREED);
  return code;
}

static int points_reserved(sqlite3_file *file, int *is) { return INNER(xCheckReservedLock, is); }
static int points_control(sqlite3_file *file, int what, void *with) {
  return INNER(xFileControl, what, with);
}
static int points_sector(sqlite3_file *file) { return INNER(xSectorSize); }
static int points_device(sqlite3_file *file) { return INNER(xDeviceCharacteristics); }

static int points_map(sqlite3_file *file, int page, int size, int extends, void volatile **at) {
  return INNER(xShmMap, page, size, extends, at);
}

static int points_shared(sqlite3_file *file, int offset, int count, int flags) {
  int frees = flags & SQLITE_SHM_UNLOCK;
  reach(frees ? CSQLITEPOINTS_SHARED_UNLOCK : CSQLITEPOINTS_SHARED_LOCK);
  int code = INNER(xShmLock, offset, count, flags);
  if (frees) reach(CSQLITEPOINTS_FREED);
  return code;
}

static void points_barrier(sqlite3_file *file) {
  reach(CSQLITEPOINTS_BARRIER);
  INNER(xShmBarrier);
}

static int points_unmap(sqlite3_file *file, int deletes) { return INNER(xShmUnmap, deletes); }

static int points_fetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **bytes) {
  return INNER(xFetch, offset, count, bytes);
}

static int points_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *bytes) {
  reach(CSQLITEPOINTS_UNFETCH);
  return INNER(xUnfetch, offset, bytes);
}

static int points_open(
  sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *outFlags) {
  (void)vfs;
  points_file *mine = (points_file *)file;
  mine->base.pMethods = 0;
  int code = own->xOpen(own, name, inner(file), flags, outFlags);
  const sqlite3_io_methods *theirs = inner(file)->pMethods;
  if (!theirs) return code;
  sqlite3_io_methods *methods = &mine->methods;
  *methods = (sqlite3_io_methods){
    .iVersion = theirs->iVersion < 3 ? theirs->iVersion : 3,
    .xClose = points_close,
    .xRead = points_read,
    .xWrite = points_write,
    .xTruncate = points_truncate,
    .xSync = points_sync,
    .xFileSize = points_size,
    .xLock = points_lock,
    .xUnlock = points_unlock,
    .xCheckReservedLock = points_reserved,
    .xFileControl = points_control,
    .xSectorSize = points_sector,
    .xDeviceCharacteristics = points_device,
  };
  if (methods->iVersion >= 2 && theirs->xShmMap) {
    methods->xShmMap = points_map;
    methods->xShmLock = points_shared;
    methods->xShmBarrier = points_barrier;
    methods->xShmUnmap = points_unmap;
  }
  if (methods->iVersion >= 3 && theirs->xFetch) {
    methods->xFetch = points_fetch;
    methods->xUnfetch = points_unfetch;
  }
  mine->base.pMethods = methods;
  return code;
}

static int points_sleep(sqlite3_vfs *vfs, int microseconds) {
  (void)vfs;
  return nap() ? microseconds : own->xSleep(own, microseconds);
}

int csqlitepoints_install(csqlitepoints_reach with, csqlitepoints_sleep sleep) {
  if (own) return SQLITE_OK;
  sqlite3_vfs *usual = sqlite3_vfs_find(0);
  if (!usual) return SQLITE_ERROR;
  reach = with;
  nap = sleep;
  own = usual;
  // What is not replaced is SQLite's own function, which takes its own VFS's data from the copy.
  points = *usual;
  points.zName = "faultline-points";
  points.pNext = 0;
  points.szOsFile = (int)sizeof(points_file) + usual->szOsFile;
  points.xOpen = points_open;
  points.xSleep = points_sleep;
  return sqlite3_vfs_register(&points, 1);
}

static int points_opened(sqlite3 *database, char **message, const void *api) {
  (void)message;
  (void)api;
  opened = database;
  return SQLITE_OK;
}

int csqlitepoints_checkpoint_after(int pages) {
  checkpointPages = pages;
  return pages ? sqlite3_auto_extension((void (*)(void))points_opened) : SQLITE_OK;
}
