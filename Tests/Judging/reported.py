"""reported.py: programs with the faults that reports about well-known programs describe, in the form of small.py. Each is written
for this project; nothing is copied. Each must have an error under one of the models."""
from idioms import C

# name: (language, setup, source, where it was reported)
REPORTED = {
    "a log's segment renamed, not its directory synced": ("py", "mkdir wal && sync", r"""
for n in range(2):
    log = os.open("wal/%016d.wal.tmp" % n, os.O_RDWR | os.O_CREAT, 0o600)
    os.posix_fallocate(log, 0, 16384)
    os.pwrite(log, record("head %d" % n), 0)
    os.fdatasync(log)
    os.rename("wal/%016d.wal.tmp" % n, "wal/%016d.wal" % n)
    end = 64
    for k in range(2):
        entry = record("put %d %d " % (n, k) * 40)
        os.pwrite(log, entry, end)
        end += len(entry)
        os.fdatasync(log)
        say("OK %d.%d" % (n, k))
""", "etcd issue 6368"),
    "the log's record of a snapshot that has no name yet": ("py", "mkdir snap && printf begin > wal && sync", r"""
with open("snap/1.db.tmp", "w") as file:
    file.write("snapshot " * 900)
    file.flush()
    os.fsync(file.fileno())
os.rename("snap/1.db.tmp", "snap/1.db")
log = os.open("wal", os.O_WRONLY | os.O_APPEND)
os.write(log, record("snapshot 1.db"))
os.fsync(log)
say("snapshot 1 saved")
""", "etcd issue 22340"),
    "the backup before the cut": ("py", "python3 -c 'print(\"entry\\n\" * 900 + \"garb\", end=\"\")' > 0.wal && sync", r"""
data = open("0.wal", "rb").read()
with open("0.wal.broken", "wb") as backup:
    backup.write(data)
log = os.open("0.wal", os.O_RDWR)
os.ftruncate(log, 0)
os.write(log, data[:-4])
os.fsync(log)
say("repaired")
""", "etcd pull request 21372"),
    "a configuration rewritten, its directory not synced": ("c", "seq 100 > server.conf && sync", C + r"""
int main(void) {
  for (int n = 1; n < 3; n++) {
    int file = open("temp-1.conf", O_CREAT | O_WRONLY | O_TRUNC, 0644);
    for (int i = 0; i < 400; i++) dprintf(file, "option-%d %d\n", i, n);
    fsync(file);
    close(file);
    rename("temp-1.conf", "server.conf");
    puts("+OK");
    fflush(stdout);
  }
  return 0;
}
""", "redis pull request 10737"),
    "a block whose description is not synced": ("py", "mkdir data && sync", r"""
def write(path, data, safe=True):
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        safe and os.fsync(file.fileno())

for n in (1, 2):
    block = "data/01D5NZP%d" % n
    os.makedirs(block + ".tmp/chunks")
    write(block + ".tmp/chunks/000001", b"samples %d " % n * 900)
    write(block + ".tmp/index", b"series %d " % n * 300)
    write(block + ".tmp/meta.json", json.dumps({"ulid": n, "stats": list(range(900))}).encode(), safe=False)
    sync(block + ".tmp/chunks")
    sync(block + ".tmp")
    os.rename(block + ".tmp", block)
    sync("data")
    say("compaction %d completed" % n)
""", "prometheus issue 4058"),
    "a manifest that names tables not synced": ("py", "mkdir sst && echo '{\"files\": []}' > MANIFEST && sync", r"""
manifest = os.open("MANIFEST", os.O_WRONLY | os.O_APPEND)
for n in (1, 2):
    with open("sst/%d.sst" % n, "w") as file:
        file.writelines("key%05d value %d\n" % (i, n) for i in range(700))
    os.write(manifest, b'{"add": "sst/%d.sst"}\n' % n)
    os.fsync(manifest)
    say("flushed %d.sst" % n)
""", "horaedb issue 394"),
    "the next segment before the last one is synced": ("py", "mkdir wals && sync", r"""
for n in range(2):
    log = os.open("wals/wal-%d" % n, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    sync("wals")
    for k in range(3):
        os.write(log, record("op %d.%d " % (n, k) * 60))
        if n == 1:
            os.fsync(log)
            say("applied %d.%d" % (n, k))
    os.close(log)
""", "yugabyte-db issue 3490"),
    "a log dropped before its pages are synced": ("py",
        "python3 -c 'print(\"page %04d.\" * 2000 % tuple(range(2000)), end=\"\")' > pages && sync", r"""
pages = os.open("pages", os.O_RDWR)
for n in (1, 2):
    wal = os.open("txlog_%d.wal" % n, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
    sync(".")
    new = {k: b"NEWS %04d." % (k + n) for k in (5, 700, 1400)}
    os.write(wal, b"".join(struct.pack("<I", k) + page for k, page in new.items()))
    os.fsync(wal)
    for k, page in new.items():
        os.pwrite(pages, page, k * 10)
    os.close(wal)
    os.unlink("txlog_%d.wal" % n)
    sync(".")
    say("transaction %d committed" % n)
os.fsync(pages)
""", "arcadedb issue 4509"),
    "the old database removed before the new one is durable": ("py",
        "mkdir db && seq 900 > db/data && seq 90 > db/schema && sync", r"""
os.mkdir("db.new")
for name in ("data", "schema"):
    with open("db.new/" + name, "w") as file:
        file.writelines("new %s %d\n" % (name, i) for i in range(900))
open(".complete", "w").close()
sync(".")
os.rename("db", "db.old")
os.rename("db.new", "db")
for name in ("data", "schema"):
    os.unlink("db.old/" + name)
os.rmdir("db.old")
os.unlink(".complete")
sync(".")
say("snapshot installed")
""", "arcadedb issue 4830"),
    "the index of a repository": ("py", "mkdir data && seq 400 > index.1 && seq 500 > data/1 && sync", r"""
with open("data/2", "w") as segment:
    segment.writelines("chunk %d\n" % i for i in range(900))
    segment.flush()
    os.fsync(segment.fileno())
sync("data")
with open("index.tmp", "w") as index:
    index.writelines("%d 2\n" % i for i in range(900))
os.rename("index.tmp", "index.2")
os.unlink("index.1")
sync(".")
say("committed segment 2")
""", "borg issue 1195"),
    "a segment closed by a rename": ("py", "mkdir log && sync", r"""
for n in range(2):
    path = "log/log_inprogress_%020d" % (n * 4)
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    sync("log")
    for k in range(4):
        os.write(file, record("entry %d " % (n * 4 + k) * 50))
        if k < 3:
            os.fsync(file)
            say("entry %d appended" % (n * 4 + k))
    os.close(file)
    os.rename(path, "log/log_%020d_%020d" % (n * 4, n * 4 + 3))
    sync("log")
    say("entry %d appended" % (n * 4 + 3))
""", "braft issue 254"),
    "settings written over, thirty times": ("c", "seq 300 > game.cfg && sync", C + r"""
int main(void) {
  for (int n = 0; n < 3; n++) {
    FILE *file = fopen("game.cfg", "w");
    for (int i = 0; i < 400; i++) fprintf(file, "Option%d=%d\n", i, n);
    fflush(file);
    fsync(fileno(file));
    fclose(file);
    printf("option %d saved\n", n);
    fflush(stdout);
  }
  return 0;
}
""", "lba2-classic-community pull request 340"),
    "replaced without any sync": ("js", "echo '{\"a\": 1}' > config.json && sync", r"""
const fs = require('fs');
const file = fs.openSync('config.json.tmp.1', 'w');
fs.writeSync(file, JSON.stringify({ list: [...Array(1500).keys()] }));
fs.closeSync(file);
fs.renameSync('config.json.tmp.1', 'config.json');
console.log('Config saved.');
""", "akm issue 472"),
    "synced before it was flushed": ("py", "seq 300 > notes && sync", r"""
file = open("notes.new", "w", buffering=1 << 20)
file.writelines("note %d\n" % i for i in range(900))
os.fsync(file.fileno())
file.close()
os.rename("notes.new", "notes")
sync(".")
say("saved notes")
""", "the manual of Python's os.fsync warns of it"),
    "said first, synced then": ("py", "true", r"""
log = os.open("ledger", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
sync(".")
for n in range(4):
    os.write(log, record("booking %d " % n * 30))
    say("booking %d recorded" % n)
    os.fsync(log)
""", "redis: replies before the append-only file is synced (pull request 8347)"),
    "WAL with synchronous=normal": ("py",
        "sqlite3 d 'pragma journal_mode=wal; create table t(a); insert into t values(0)' > /dev/null", r"""
import sqlite3
base = sqlite3.connect("d")
base.execute("pragma synchronous=normal")
for n in range(3):
    base.execute("insert into t values(?)", ("row %d " % n * 100,))
    base.commit()
    base.execute("pragma wal_checkpoint(passive)") if n == 0 else None
    say("committed %d" % n)
""", "SQLite's manual of PRAGMA synchronous"),
    "the journal in memory": ("py", "sqlite3 d 'create table t(a); with r(i) as (select 1 union all select i+1 from r limit 3000)"
                              " insert into t select i from r'", r"""
import sqlite3
base = sqlite3.connect("d")
base.execute("pragma journal_mode=memory")
base.execute("pragma synchronous=full")
base.execute("update t set a = a + 1000000")
base.commit()
say("committed")
""", "SQLite's manual of PRAGMA journal_mode"),
    "MS_ASYNC": ("c", "head -c 16384 /dev/zero > table && sync", C + r"""
int main(void) {
  int file = open("table", O_RDWR), log = open("done", O_WRONLY | O_CREAT | O_APPEND, 0644);
  int directory = open(".", O_RDONLY);
  fsync(directory);
  char *map = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  for (int n = 1; n < 4; n++) {
    memset(map + 4096 * n, 'a' + n, 3000);
    msync(map + 4096 * n, 4096, MS_ASYNC);
    dprintf(log, "record %d\n", n);
    fsync(log);
    printf("record %d stored\n", n);
    fflush(stdout);
  }
  munmap(map, 16384);
  return 0;
}
""", "the manual of msync(2)"),
    "sync_file_range for a sync": ("c", "true", C + r"""
int main(void) {
  int file = open("log", O_WRONLY | O_CREAT | O_APPEND, 0644), directory = open(".", O_RDONLY);
  fsync(directory);
  off_t end = 0;
  for (int n = 0; n < 3; n++) {
    char entry[2000];
    memset(entry, 'a' + n, sizeof entry);
    if (write(file, entry, sizeof entry) != sizeof entry) return 1;
    sync_file_range(file, end, sizeof entry,
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    end += sizeof entry;
    printf("entry %d stored\n", n);
    fflush(stdout);
  }
  return 0;
}
""", "the manual of sync_file_range(2)"),
    "the wrong directory": ("py", "mkdir incoming library && seq 100 > library/list && sync", r"""
for n in (1, 2):
    with open("incoming/list", "w") as file:
        file.writelines("book %d %d\n" % (n, i) for i in range(700))
        file.flush()
        os.fsync(file.fileno())
    os.rename("incoming/list", "library/list")
    sync("incoming")
    say("saved list %d" % n)
""", "omarchy-leecher-plugin issue 36 has no sync of a directory at all; this one has the other one's"),
    "removed, then renamed": ("py", "seq 600 > db.script && seq 20 > db.properties && sync", r"""
with open("db.script.new", "w") as file:
    file.writelines("INSERT %d\n" % i for i in range(900))
    file.flush()
    os.fsync(file.fileno())
sync(".")
os.unlink("db.script")
sync(".")
os.rename("db.script.new", "db.script")
sync(".")
say("checkpoint done")
""", "HSQLDB in the ALICE study (Pillai et al., OSDI 2014)"),
    "the log emptied before its data is synced": ("py", "seq 300 > table && sync", r"""
log = os.open("redo", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
sync(".")
rows = {}
for n in range(3):
    rows[n] = "row %d " % n * 100
    os.write(log, record(json.dumps([n, rows[n]])))
    os.fsync(log)
    say("insert %d committed" % n)
with open("table.new", "w") as file:
    json.dump(rows, file)
os.ftruncate(log, 0)
os.fsync(log)
os.rename("table.new", "table")
sync(".")
say("checkpoint done")
""", "orientdb issue 10084"),
    "the source before the target": ("py", "mkdir a b && seq 900 > a/doc && sync", r"""
with open("a/doc") as source, open("b/doc", "w") as target:
    target.write(source.read())
os.unlink("a/doc")
sync("a")
with open("b/doc") as target:
    os.fsync(target.fileno())
sync("b")
say("moved doc")
""", "what mv does between file systems (coreutils)"),
    "a child's file": ("sh", "seq 40 > list && sync", r"""
set -e
for n in 1 2; do
  seq $n 2500 | tee list.new > /dev/null
  echo "$n" >> history
  sync history
  mv list.new list
  sync .
  echo "list $n and history saved"
done
""", "a script that syncs one of its two files"),
    "objects without syncs, a reference with one": ("py", "mkdir objects refs && echo 0000 > refs/main && sync", r"""
import hashlib
for n in (1, 2):
    data = ("tree %d\n" % n * 700).encode()
    name = hashlib.sha1(data).hexdigest()
    with open("objects/tmp_obj", "wb") as file:
        file.write(data)
    os.rename("objects/tmp_obj", "objects/" + name)
    with open("refs/main.lock", "w") as file:
        file.write(name + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.rename("refs/main.lock", "refs/main")
    sync("refs")
    say("[main %s] commit %d" % (name[:7], n))
""", "Git before core.fsync (version 2.36)"),
}

# Faults that no general rule finds by the files alone, with the reason (small.py).
UNSEEN = {
    "MS_ASYNC": "a warning: the kernel keeps a mapped page until it writes it back, and no recording shows when it was stored",
}
