/* Announces the phases of LMDB transactions to Faultline, so that fault rules can say `during:`.
 * Build: cc -o lmdb_phases lmdb_phases.c -llmdb    Use: lmdb_phases MOUNT
 * A phase is announced by setting the extended attribute user.faultline.phase of the mount's root to
 * its name; the empty value ends it. On any other file system the call fails, which does no harm. */
#include <lmdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

static const char *mount;

static void phase(const char *name) {
  (void)setxattr(mount, "user.faultline.phase", name, strlen(name), 0);
}

int main(int count, char **words) {
  if (count != 2) {
    fprintf(stderr, "usage: lmdb_phases MOUNT\n");
    return 2;
  }
  mount = words[1];
  MDB_env *environment;
  if (mdb_env_create(&environment) || mdb_env_open(environment, mount, 0, 0644)) return 1;
  for (int number = 1; number <= 10; number++) {
    MDB_txn *transaction;
    MDB_dbi table;
    MDB_val key = {sizeof number, &number}, value = {3, "row"};
    phase("put");
    if (mdb_txn_begin(environment, NULL, 0, &transaction)) return 1;
    if (mdb_dbi_open(transaction, NULL, 0, &table) || mdb_put(transaction, table, &key, &value, 0))
      return 1;
    phase("commit");
    int status = mdb_txn_commit(transaction);
    phase("");
    if (status == 0) printf("row %d\n", number);
    else printf("row %d failed: %s\n", number, mdb_strerror(status));
    fflush(stdout);
  }
  mdb_env_close(environment);
  return 0;
}
