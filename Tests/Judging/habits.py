"""habits.py: what scripts and small services do with their files every day, in the form that small.py describes."""
from idioms import C

HABITS = {
    "mktemp in shell": ("sh", "printf 'host=a\\nport=1\\n' > app.conf", r"""
set -e
for n in 1 2; do
  new=$(mktemp ./.app.conf.XXXXXX)
  { echo host=a$n; echo port=$n; seq 2000 | sed 's/^/# /'; } > "$new"
  chmod 644 "$new"
  sync -d "$new"  #-file
  mv -fT "$new" app.conf
  sync .  #-directory
  echo "app.conf: version $n written"
done
"""),
    "a stale temporary file": ("py", "echo 1 > table && seq 400 > table.new && sync", r"""
# The last run left table.new behind.
for n in (2, 3):
    new = os.open("table.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(new, b"row %d\n" % n * 1500)
    os.fsync(new)  #-file
    os.close(new)
    os.replace("table.new", "table")
    sync(".")  #-directory
    say("table %d stored" % n)
"""),
    "no syncs, no promises": ("py", "seq 50 > seen.log", r"""
with open("seen.log", "a") as log:
    for n in range(20):
        log.write("item %d seen\n" % n)
        log.flush()
        say("%d" % n)
"""),
    "group commit": ("py", "true", r"""
log = os.open("commit.wal", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
sync(".")
waiting = []
for n in range(12):
    os.write(log, record("transaction %d " % n + "z" * 90 * n))
    waiting.append(n)
    if len(waiting) == 4:
        os.fdatasync(log)  #-file
        for each in waiting:
            say("ack %d" % each)
        waiting = []
"""),
    "header and body by writev": ("c", "true", C + r"""
int main(void) {
  int log = open("events", O_WRONLY | O_CREAT | O_APPEND, 0640), directory = open(".", O_RDONLY);
  fsync(directory); //-directory
  for (unsigned n = 0; n < 4; n++) {
    char body[1500];
    memset(body, 'a' + n, sizeof body);
    unsigned head[2] = {n, sizeof body};
    struct iovec parts[2] = {{head, sizeof head}, {body, sizeof body}};
    if (writev(log, parts, 2) != sizeof head + sizeof body) return 1;
    fdatasync(log); //-file
    printf("%u\n", n);
    fflush(stdout);
  }
  return 0;
}
"""),
    "published by a hard link": ("sh", "mkdir spool", r"""
set -e
for n in 1 2 3; do
  seq $n 1500 > spool/.new.$$
  sync spool/.new.$$  #-file
  ln spool/.new.$$ spool/job.$n
  rm spool/.new.$$
  sync spool  #-directory
  echo "job.$n accepted and stored"
done
"""),
    "O_TMPFILE over an old file": ("c", "seq 3000 > state && sync", C + r"""
int main(void) {
  int directory = open(".", O_RDONLY | O_DIRECTORY);
  for (int n = 1; n < 3; n++) {
    int file = open(".", O_TMPFILE | O_RDWR, 0644);
    for (int i = 0; i < 2000; i++) dprintf(file, "value %d of %d\n", i, n);
    fsync(file); //-file
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (linkat(AT_FDCWD, path, directory, "state.next", AT_SYMLINK_FOLLOW)) return 1;
    if (renameat(directory, "state.next", directory, "state")) return 1;
    fsync(directory); //-directory
    close(file);
    printf("state %d stored\n", n);
    fflush(stdout);
  }
  return 0;
}
"""),
    "room kept ahead of a log": ("c", "true", C + r"""
int main(void) {
  int log = open("redo", O_RDWR | O_CREAT, 0644), directory = open(".", O_RDONLY);
  if (fallocate(log, FALLOC_FL_KEEP_SIZE, 0, 1 << 16)) return 1;
  fsync(log);
  fsync(directory); //-directory
  off_t end = 0;
  for (int n = 0; n < 4; n++) {
    char entry[3000];
    memset(entry, 'A' + n, sizeof entry);
    if (pwrite(log, entry, sizeof entry, end) != sizeof entry) return 1;
    end += sizeof entry;
    fdatasync(log); //-file
    printf("entry %d stored\n", n);
    fflush(stdout);
  }
  return 0;
}
"""),
    "a new file by mapping": ("c", "seq 2000 > index && sync", C + r"""
int main(void) {
  for (int n = 1; n < 3; n++) {
    int file = open("index.new", O_RDWR | O_CREAT | O_TRUNC, 0644);
    size_t size = 5 * 4096;
    if (ftruncate(file, (off_t)size)) return 1;
    char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    for (size_t i = 0; i < size; i++) map[i] = (char)('a' + (i / 100 + (size_t)n) % 26);
    msync(map, size, MS_SYNC);
    munmap(map, size);
    fsync(file); //-file
    close(file);
    rename("index.new", "index");
    int directory = open(".", O_RDONLY);
    fsync(directory); //-directory
    close(directory);
    printf("index %d saved\n", n);
    fflush(stdout);
  }
  return 0;
}
"""),
    "SQLite, two files in one transaction": ("py",
        "for i in a b; do sqlite3 $i 'create table t(v); insert into t values(0)'; done", r"""
import sqlite3
base = sqlite3.connect("a")
base.execute("attach 'b' as other")
for name in ("main", "other"):
    base.execute("pragma %s.synchronous=extra" % name)
for n in (1, 2):
    base.execute("update main.t set v = ?", (n,))
    base.execute("update other.t set v = ?", (n,))
    base.commit()
    say("committed %d" % n)
"""),
    "SQLite, WAL, one owner": ("py", "sqlite3 d 'pragma journal_mode=wal; create table t(k primary key, v)' > /dev/null", r"""
import sqlite3
base = sqlite3.connect("d", isolation_level=None)
base.execute("pragma locking_mode=exclusive")
base.execute("pragma synchronous=normal")
base.execute("pragma synchronous=full")  #-full
for n in range(4):
    base.execute("begin immediate")
    base.execute("insert or replace into t values(?, ?)", (n % 3, "text %d " % n * 90))
    base.execute("commit")
    say("stored %d" % n)
    if n == 2:
        base.execute("pragma wal_checkpoint(passive)")
"""),
    "SQLite, backup and vacuum": ("py",
        "sqlite3 d 'create table t(a); with r(i) as (select 1 union all select i+1 from r limit 800) insert into t select i"
        " from r'",
        r"""
import sqlite3
base = sqlite3.connect("d", isolation_level=None)
base.execute("pragma synchronous=extra")
if os.path.exists("backup.db.new"):
    os.unlink("backup.db.new")
base.execute("vacuum into 'backup.db.new'")
sync("backup.db.new")  #-file
os.rename("backup.db.new", "backup.db")
sync(".")  #-directory
say("backup written")
base.execute("delete from t where a % 2")
base.execute("vacuum")
say("vacuumed")
"""),
    "rotation with compression": ("sh", "for i in 1 2; do seq $i 900 > app.log.$i; done; seq 700 > app.log; sync", r"""
set -e
gzip -c app.log.2 > .app.log.3.gz
sync .app.log.3.gz  #-file
mv .app.log.3.gz app.log.3.gz
sync .  #-name
rm app.log.2
mv app.log.1 app.log.2
sync .
mv app.log app.log.1
: > app.log
sync .
echo "rotated"
echo "first line" >> app.log
sync app.log
echo "logged"
"""),
    "a service with a pid file": ("py", "echo '{\"n\": 0}' > state.json && echo 99999 > service.pid && sync", r"""
import fcntl
pid = os.open("service.pid", os.O_RDWR | os.O_CREAT, 0o644)
fcntl.lockf(pid, fcntl.LOCK_EX | fcntl.LOCK_NB)
os.ftruncate(pid, 0)
os.write(pid, b"%d\n" % os.getpid())
for n in (1, 2):
    with open("heartbeat.tmp", "w") as file:
        file.write("%d\n" % n)
    os.rename("heartbeat.tmp", "heartbeat.cache")
    with open(".state.json.swap", "w") as file:
        json.dump({"n": n, "list": ["x%d" % i for i in range(900)]}, file)
        file.flush()
        os.fsync(file.fileno())  #-file
    os.rename(".state.json.swap", "state.json")
    sync(".")  #-directory
    say("checkpoint %d" % n)
os.ftruncate(pid, 0)
say("bye")
"""),
    "mail delivered and read": ("py", "mkdir -p box/tmp box/new box/cur", r"""
for n in range(2):
    name = "17000000%02d.M%dP7.host" % (n, n)
    file = os.open("box/tmp/" + name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(file, b"Subject: letter %d\n\n" % n + b"hello " * 900)
    os.fsync(file)  #-file
    os.close(file)
    os.rename("box/tmp/" + name, "box/new/" + name)
    sync("box/new")  #-directory
    sync("box/tmp")
    say("250 ok %d" % n)
for name in sorted(os.listdir("box/new")):
    os.rename("box/new/" + name, "box/cur/" + name + ":2,S")
    sync("box/cur")  #-read
    sync("box/new")
    say("seen " + name)
"""),
    "a release renamed into place": ("py",
        "mkdir -p site/css && seq 300 > site/index.html && seq 20 > site/css/a.css && sync", r"""
def write(path, text):
    with open(path, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())  #-file

os.makedirs("site.new/css")
write("site.new/index.html", "<p>new</p>\n" * 800)
write("site.new/css/a.css", "b { }\n" * 900)
sync("site.new/css")  #-inside
sync("site.new")
sync(".")
os.rename("site", "site.old")
os.rename("site.new", "site")
sync(".")  #-directory
say("deployed")
for path in ("site.old/index.html", "site.old/css/a.css"):
    os.unlink(path)
os.rmdir("site.old/css")
os.rmdir("site.old")
sync(".")
say("old release removed")
"""),
    "symbolic link in shell": ("sh", "mkdir v1 && seq 500 > v1/app && ln -s v1 current && sync", r"""
set -e
for n in 2 3; do
  mkdir v$n
  seq $n 2500 > v$n/app
  sync v$n/app  #-file
  sync v$n .
  ln -s v$n .current.new
  mv -T .current.new current
  sync .  #-directory
  echo "v$n is live"
done
"""),
    "double-write area": ("py",
        "python3 -c 'print(\"page %05d \" * 1024 % tuple(range(1024)), end=\"\")' > pages && sync", r"""
# Pages go to the double-write file first, and stay there until the next round.
PAGE = 2048
area = os.open("pages.dblwr", os.O_RDWR | os.O_CREAT, 0o644)
os.pwrite(area, b"\0" * PAGE * 4, 0)
os.fsync(area)
sync(".")
pages = os.open("pages", os.O_RDWR)
for n in range(1, 4):
    fresh = {k: (b"round %d page %d " % (n, k) * 200)[:PAGE - 4] for k in (n, n + 1)}
    fresh = {k: page + struct.pack("<I", zlib.crc32(page)) for k, page in fresh.items()}
    body = b"".join(struct.pack("<I", k) + page for k, page in fresh.items())
    os.pwrite(area, struct.pack("<II", len(body), zlib.crc32(body)) + body, 0)
    os.fdatasync(area)  #-area
    for k, page in fresh.items():
        os.pwrite(pages, page, k * PAGE)
    os.fdatasync(pages)  #-pages
    say("round %d stored" % n)
"""),
    "redo log whose epoch rises": ("c",
        "head -c 40960 /dev/zero | tr '\\0' a > data && head -c 16384 /dev/zero > redo && sync", C + r"""
struct entry { uint32_t epoch, page; uint64_t sum; char body[1008]; };
static uint64_t sum_of(const struct entry *e) {
  uint64_t sum = 1469598103934665603u ^ e->epoch ^ ((uint64_t)e->page << 32);
  for (size_t i = 0; i < sizeof e->body; i++) sum = (sum ^ (unsigned char)e->body[i]) * 1099511628211u;
  return sum;
}
int main(void) {
  int data = open("data", O_RDWR), redo = open("redo", O_RDWR);
  for (uint32_t epoch = 1; epoch < 4; epoch++) {
    struct entry entries[2];
    for (uint32_t i = 0; i < 2; i++) {
      entries[i].epoch = epoch;
      entries[i].page = epoch * 3 + i;
      for (size_t b = 0; b < sizeof entries[i].body; b++)
        entries[i].body[b] = (char)('b' + (epoch * 7 + i + b / 9) % 20);
      entries[i].sum = sum_of(&entries[i]);
    }
    pwrite(redo, entries, sizeof entries, 0);
    fdatasync(redo); //-redo
    printf("transaction %u committed\n", epoch);
    fflush(stdout);
    for (int i = 0; i < 2; i++)
      pwrite(data, entries[i].body, sizeof entries[i].body, (off_t)entries[i].page * 1024);
    fdatasync(data); //-data
  }
  return 0;
}
"""),
    "hot undo journal with a header": ("py",
        "python3 -c 'print(\"cell %06d|\" * 900 % tuple(range(900)), end=\"\")' > cells && sync", r"""
WIDTH = len("cell 000000|")
cells = os.open("cells", os.O_RDWR)
undo = os.open("cells.undo", os.O_RDWR | os.O_CREAT, 0o644)
os.pwrite(undo, b"\0" * 4096, 0)
os.fsync(undo)
sync(".")
for n in (1, 2, 3):
    places = [n * 11, n * 170, n * 290]
    old = b"".join(struct.pack("<I", k) + os.pread(cells, WIDTH, k * WIDTH) for k in places)
    os.pwrite(undo, old, 512)
    os.fsync(undo)  #-journal
    os.pwrite(undo, struct.pack("<III", 0x1234, len(old), zlib.crc32(old)), 0)
    os.fsync(undo)  #-head
    for k in places:
        os.pwrite(cells, b"cell %06d|" % (k * 1000 + n), k * WIDTH)
    os.fsync(cells)  #-data
    os.pwrite(undo, b"\0" * 12, 0)
    os.fsync(undo)  #-end
    say("changed %d cells" % len(places))
"""),
    "slots A and B, written anew": ("py", "true", r"""
def write(slot, n):
    with open("settings." + slot, "wb") as file:
        file.write(record(json.dumps({"version": n, "values": list(range(n, n + 900))})))
        file.flush()
        os.fsync(file.fileno())  #-file

write("a", 0)
write("b", 0)
sync(".")
for n in range(1, 5):
    write("ab"[n % 2], n)
    say("saved version %d" % n)
"""),
    "slots A and B, in place": ("c", "head -c 8192 /dev/zero > boot.a && head -c 8192 /dev/zero > boot.b && sync", C + r"""
int main(void) {
  int slots[2] = {open("boot.a", O_RDWR), open("boot.b", O_RDWR)};
  for (unsigned n = 1; n < 5; n++) {
    unsigned char body[8000];
    for (size_t i = 0; i < sizeof body; i++) body[i] = (unsigned char)(n * 31 + i * 7 + i / 256);
    uint32_t head[3] = {0xb007, n, 0};
    for (size_t i = 0; i < sizeof body; i++) head[2] = head[2] * 33 + body[i];
    memcpy(body, head, sizeof head);
    if (pwrite(slots[n % 2], body, sizeof body, 0) != sizeof body) return 1;
    fsync(slots[n % 2]); //-file
    printf("generation %u stored\n", n);
    fflush(stdout);
  }
  return 0;
}
"""),
    "numbered checkpoints": ("py", "mkdir ckpt && seq 800 > ckpt/000000 && sync", r"""
for n in range(1, 5):
    path = "ckpt/%06d" % n
    with open(path + ".part", "w") as file:
        file.writelines("weight %d %d\n" % (n, i) for i in range(700))
        file.flush()
        os.fsync(file.fileno())  #-file
    os.rename(path + ".part", path)
    sync("ckpt")  #-directory
    say("checkpoint %d saved" % n)
    for name in sorted(os.listdir("ckpt"))[:-2]:
        os.unlink("ckpt/" + name)
"""),
}

# Broken programs in which no state can be told from a correct program's by its files alone, with the reason (small.py).
UNSEEN = {
}
