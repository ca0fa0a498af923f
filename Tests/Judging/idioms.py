"""idioms.py: more small programs that keep data safe, in the form that small.py describes: other languages, other idioms.
A source in C whose first line is `// -lNAME` is linked with that library."""

C = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
"""

IDIOMS = {
    "replace, Perl": ("pl", "seq 100 > list", r"""
use strict; use Fcntl; use IO::Handle;
$| = 1;
for my $n (1, 2) {
  open(my $file, '>', 'list.new') or die;
  print $file "line $_ of $n\n" for 1 .. 900;
  $file->flush;
  $file->sync;  #-file
  close($file);
  rename('list.new', 'list') or die;
  sysopen(my $directory, '.', O_RDONLY) or die;
  $directory->sync;  #-directory
  print "saved $n\n";
}
"""),
    "replace, Node": ("js", "echo '{}' > settings.json", r"""
const fs = require('fs');
for (const n of [1, 2]) {
  const file = fs.openSync('settings.json.tmp', 'w', 0o600);
  fs.writeSync(file, JSON.stringify({ n, list: [...Array(900).keys()] }));
  fs.fsyncSync(file); //-file
  fs.closeSync(file);
  fs.renameSync('settings.json.tmp', 'settings.json');
  const directory = fs.openSync('.', 'r');
  fs.fsyncSync(directory); //-directory
  fs.closeSync(directory);
  console.log('saved ' + n);
}
"""),
    "exchange": ("c", "seq 500 > config && sync", C + r"""
int main(void) {
  for (int n = 1; n < 3; n++) {
    FILE *file = fopen("config.new", "w");
    for (int i = 0; i < 900; i++) fprintf(file, "setting %d of %d\n", i, n);
    fflush(file);
    fsync(fileno(file)); //-file
    fclose(file);
    int directory = open(".", O_RDONLY | O_DIRECTORY);
    if (renameat2(directory, "config.new", directory, "config", RENAME_EXCHANGE)) return 1;
    fsync(directory); //-directory
    unlink("config.new");
    close(directory);
    printf("saved %d\n", n);
    fflush(stdout);
  }
  return 0;
}
"""),
    "mapping with msync, C": ("c", "true", C + r"""
int main(void) {
  int file = open("table", O_RDWR | O_CREAT, 0644), directory = open(".", O_RDONLY);
  if (ftruncate(file, 1 << 16)) return 1;
  char *map = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  fsync(file);
  fsync(directory); //-directory
  for (int n = 1; n < 4; n++) {
    memset(map + 4096 * n, 'a' + n, 3000);
    msync(map + 4096 * n, 4096, MS_SYNC); //-record
    map[0] = (char)n;
    msync(map, 4096, MS_SYNC); //-head
    printf("stored %d\n", n);
    fflush(stdout);
  }
  return 0;
}
"""),
    "SQLite, truncated journal": ("py", "sqlite3 d 'create table t(a); insert into t values(1)'", r"""
import sqlite3
base = sqlite3.connect("d")
base.execute("pragma journal_mode=truncate")
base.execute("pragma synchronous=off")
base.execute("pragma synchronous=full")  #-syncs
for n in range(2):
    base.executemany("insert into t values(?)", [("row %d " % n * 100,)] * 40)
    base.commit()
    say("committed %d" % n)
"""),
    "SQLite, kept journal": ("py", "sqlite3 d 'create table t(a); insert into t values(1)'", r"""
import sqlite3
base = sqlite3.connect("d")
base.execute("pragma journal_mode=persist")
base.execute("pragma synchronous=off")
base.execute("pragma synchronous=full")  #-syncs
for n in range(2):
    base.executemany("insert into t values(?)", [("row %d " % n * 100,)] * 40)
    base.commit()
    say("committed %d" % n)
"""),
    "SQLite, WAL with checkpoints": ("py", "sqlite3 d 'pragma journal_mode=wal; create table t(a)' > /dev/null", r"""
import sqlite3
base = sqlite3.connect("d")
base.execute("pragma synchronous=off")
base.execute("pragma synchronous=full")  #-syncs
for n in range(3):
    base.executemany("insert into t values(?)", [("row %d " % n * 100,)] * 20)
    base.commit()
    say("committed %d" % n)
    base.execute("pragma wal_checkpoint(truncate)")
base.close()
"""),
    "LMDB": ("c", "true", "// -llmdb" + C + r"""
#include <lmdb.h>
int main(void) {
  MDB_env *env;
  MDB_txn *txn;
  MDB_dbi dbi;
  unsigned flags = MDB_NOSUBDIR | MDB_NOSYNC;
  flags &= ~(unsigned)MDB_NOSYNC; //-syncs
  mdb_env_create(&env);
  if (mdb_env_open(env, "store", flags, 0644)) return 1;
  int directory = open(".", O_RDONLY);
  fsync(directory); //-directory
  for (int n = 1; n < 4; n++) {
    char text[600];
    memset(text, 'a' + n, sizeof text);
    MDB_val key = {sizeof n, &n}, value = {sizeof text, text};
    if (mdb_txn_begin(env, NULL, 0, &txn) || mdb_dbi_open(txn, NULL, 0, &dbi)) return 1;
    if (mdb_put(txn, dbi, &key, &value, 0) || mdb_txn_commit(txn)) return 1;
    printf("committed %d\n", n);
    fflush(stdout);
  }
  mdb_env_close(env);
  return 0;
}
"""),
    "several writers of a log": ("py", "true", r"""
import fcntl
def write(writer):
    log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for n in range(3):
        fcntl.flock(log, fcntl.LOCK_EX)
        os.write(log, record("writer %d entry %d " % (writer, n) + "y" * 300))
        os.fdatasync(log)  #-file
        fcntl.flock(log, fcntl.LOCK_UN)
        say("stored %d of %d" % (n, writer))

os.close(os.open("log", os.O_WRONLY | os.O_CREAT, 0o644))
sync(".")  #-directory
children = []
for writer in range(2):
    child = os.fork()
    if child == 0:
        write(writer)
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
"""),
    "writer and publisher": ("py", "mkdir incoming public", r"""
import subprocess
WRITER = '''
import os, sys
with open(sys.argv[1], "w") as file:
    file.writelines("row %d\\n" % row for row in range(900))
    file.flush()
    os.fsync(file.fileno())  #-file
'''
for n in range(2):
    subprocess.run([sys.executable, "-c", WRITER, "incoming/%d" % n], check=True)
    os.rename("incoming/%d" % n, "public/%d" % n)
    sync("public")  #-directory
    sync("incoming")
    say("published and stored %d" % n)
"""),
    "ring buffer": ("py", "true", r"""
SLOT = 512
ring = os.open("ring", os.O_RDWR | os.O_CREAT, 0o644)
os.pwrite(ring, b"\0" * SLOT * 4, 0)
os.fsync(ring)
sync(".")  #-directory
for n in range(1, 10):
    body = struct.pack("<Q", n) + b"event %d " % n * 20
    os.pwrite(ring, (struct.pack("<I", zlib.crc32(body)) + body).ljust(SLOT, b"\0"), n % 4 * SLOT)
    os.fdatasync(ring)  #-slot
    say("stored %d" % n)
"""),
    "segments of a log": ("py", "true", r"""
log, end = None, 0
for n in range(6):
    if n % 2 == 0:
        log, end = os.open("wal.%04d" % (n // 2), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644), 0
        os.posix_fallocate(log, 0, 16384)
        os.fsync(log)
        sync(".")  #-name
    data = record("entry %d " % n * 90)
    os.pwrite(log, data, end)
    end += len(data)
    os.fdatasync(log)  #-entry
    say("appended %d" % n)
"""),
    "new directories, outer first": ("py", "true", r"""
os.makedirs("a/b/c")
for n in range(2):
    with open("a/b/c/%d" % n, "w") as file:
        file.write("object %d " % n * 700)
        file.flush()
        os.fsync(file.fileno())  #-file
    for directory in (".", "a", "a/b"):
        sync(directory)
    sync("a/b/c")  #-directory
    say("stored %d" % n)
"""),
    "dd and sync": ("sh", "seq 100 > image", r"""
for n in 1 2; do
  seq $n 3000 | dd of=image.part bs=4096 conv=fsync status=none
  ln -f image image.bak
  mv image.part image
  sync .  #-directory
  echo "image $n written"
done
"""),
    "sync of everything": ("sh", "seq 100 > a && seq 50 > b", r"""
for n in 1 2; do
  seq $n 2000 > a.new
  seq $n 3000 > b.new
  sync  #-files
  mv a.new a
  mv b.new b
  sync  #-names
  echo "saved $n"
done
"""),
    "syncfs": ("c", "mkdir store", C + r"""
int main(void) {
  int directory = open("store", O_RDONLY | O_DIRECTORY);
  for (int n = 0; n < 3; n++) {
    char name[32], data[5000];
    memset(data, 'a' + n, sizeof data);
    snprintf(name, sizeof name, "object.%d", n);
    int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (write(file, data, sizeof data) != sizeof data) return 1;
    close(file);
    syncfs(directory); //-file system
    printf("stored %s\n", name);
    fflush(stdout);
  }
  return 0;
}
"""),
    "writes with RWF_DSYNC": ("c", "head -c 16384 /dev/zero > slots && sync", C + r"""
int main(void) {
  int file = open("slots", O_RDWR);
  for (int n = 1; n < 4; n++) {
    char data[1024];
    memset(data, '0' + n, sizeof data);
    struct iovec part = {data, sizeof data};
    int flags = 0;
    flags = RWF_DSYNC; //-flag
    if (pwritev2(file, &part, 1, 4096 * n, flags) != sizeof data) return 1;
    if (n == 1) fsync(file);
    printf("stored %d\n", n);
    fflush(stdout);
  }
  return 0;
}
"""),
    "copy_file_range and replace": ("c", "seq 3000 > data && sync", C + r"""
int main(void) {
  for (int n = 1; n < 3; n++) {
    int from = open("data", O_RDONLY), to = open("data.new", O_RDWR | O_CREAT | O_TRUNC, 0644);
    struct stat about;
    fstat(from, &about);
    if (copy_file_range(from, NULL, to, NULL, (size_t)about.st_size, 0) != about.st_size) return 1;
    dprintf(to, "generation %d\n", n);
    fsync(to); //-file
    close(from);
    close(to);
    rename("data.new", "data");
    int directory = open(".", O_RDONLY);
    fsync(directory); //-directory
    close(directory);
    printf("saved generation %d\n", n);
    fflush(stdout);
  }
  return 0;
}
"""),
    "queue with holes": ("c", "true", C + r"""
int main(void) {
  struct { uint64_t head, tail; } state = {4096, 4096};
  int file = open("queue", O_RDWR | O_CREAT, 0644), directory = open(".", O_RDONLY);
  pwrite(file, &state, sizeof state, 0);
  fsync(file);
  fsync(directory); //-directory
  for (int n = 0; n < 4; n++) {
    char item[4096];
    memset(item, 'a' + n, sizeof item);
    pwrite(file, item, sizeof item, (off_t)state.tail);
    fdatasync(file); //-item
    state.tail += sizeof item;
    pwrite(file, &state, sizeof state, 0);
    fdatasync(file); //-state
    printf("stored %d\n", n);
    fflush(stdout);
    if (n % 2 == 0) continue;
    uint64_t done = state.head;
    state.head += 4096;
    pwrite(file, &state, sizeof state, 0);
    fdatasync(file);
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)done, 4096);
  }
  return 0;
}
"""),
    "removal": ("py", "mkdir box && for i in 1 2 3; do seq $i 300 > box/$i; done && sync", r"""
for n in (1, 2):
    os.unlink("box/%d" % n)
    sync("box")  #-directory
    say("removed box/%d" % n)
"""),
    "log compacted": ("py", "true", r"""
def append(log, text):
    os.write(log, text.encode())
    os.fsync(log)  #-entry

log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
sync(".")  #-begin
state = {}
for n in range(6):
    state["k%d" % (n % 2)] = "v%d" % n * 100
    append(log, json.dumps(["k%d" % (n % 2), "v%d" % n * 100]) + "\n")
    say("put %d: stored" % n)
    if n == 3:
        with open("log.compact", "w") as file:
            for key, value in state.items():
                file.write(json.dumps([key, value]) + "\n")
            file.flush()
            os.fsync(file.fileno())  #-compacted
        os.rename("log.compact", "log")
        sync(".")  #-name
        os.close(log)
        log = os.open("log", os.O_WRONLY | os.O_APPEND)
"""),
    "backups by number": ("sh", "seq 100 > conf && sync", r"""
for n in 1 2 3; do
  seq $n 1500 > conf.new
  sync conf.new  #-file
  [ ! -e conf.1 ] || mv conf.1 conf.2
  ln conf conf.1
  mv conf.new conf
  sync .  #-directory
  echo "conf $n saved"
done
"""),
    "Tcl, replaced and synced by sync(1)": ("tcl", "echo 0 > state", r"""
foreach n {1 2} {
  set file [open state.new w]
  puts $file [string repeat "value $n " 900]
  close $file
  exec sync state.new  ;#-file
  file rename -force state.new state
  exec sync .  ;#-directory
  puts "saved $n"
  flush stdout
}
"""),
}

# Broken programs in which no state can be told from a correct program's by its files alone, with the reason (small.py).
NO_SYNC = "a program that syncs nothing promises nothing"
UNSEEN = {
    "mapping with msync, C": {
        "record": "as of mapped records: a warning, since nobody sees when a mapped page was stored", "head": "as its records"},
    "syncfs": {"file system": NO_SYNC},
    "removal": {"directory": NO_SYNC},
    "queue with holes": {
        "item": "only the program's head tells an item that is lost from room that was never used",
        "state": "the new item makes the file one that it never was before, so that it does not go back"},
}
