// CSQLitePoints.h: a VFS in front of SQLite's own, which says before each call what SQLite is about
// to do to a file, a lock or the shared memory. C, because SQLite calls a table of C functions.
#ifndef FAULTLINE_CSQLITEPOINTS_H
#define FAULTLINE_CSQLITEPOINTS_H

/// What SQLite is about to do; `freed` comes after a lock was given back.
enum csqlitepoints_call {
  CSQLITEPOINTS_READ = 0,
  CSQLITEPOINTS_WRITE,
  CSQLITEPOINTS_TRUNCATE,
  CSQLITEPOINTS_SYNC,
  CSQLITEPOINTS_LOCK,
  CSQLITEPOINTS_UNLOCK,
  CSQLITEPOINTS_SHARED_LOCK,
  CSQLITEPOINTS_SHARED_UNLOCK,
  CSQLITEPOINTS_BARRIER,
  CSQLITEPOINTS_UNFETCH,
  CSQLITEPOINTS_FREED,
};

/// Called before each call, with a `csqlitepoints_call`, on the thread that makes it.
typedef void (*csqlitepoints_reach)(int call);
/// Called in the place of a sleep: whether there is no need to sleep any more.
typedef int (*csqlitepoints_sleep)(void);

/// Makes the VFS the default one; connections that are open stay as they are.
/// The first call decides the functions. Returns SQLite's result code.
int csqlitepoints_install(csqlitepoints_reach reach, csqlitepoints_sleep sleep);

/// Makes connections that are opened from now on checkpoint after each commit that leaves at least
/// this many pages in the log; 0 leaves SQLite's own number. Returns SQLite's result code.
int csqlitepoints_checkpoint_after(int pages);

#endif
