"""small.py: small programs that keep data safe, each in the usual way for its kind. With all syncs they are correct; a line that
ends in `#-NAME` (`//-NAME` in C) can be left out, which makes a broken program of that name. programs.py explores all of them, with
those of idioms.py, habits.py, stores.py and doubts.py."""

PRELUDE = r"""
import json, mmap, os, struct, sys, zlib

def sync(path):
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)

def say(text):
    print(text, flush=True)

def record(text):
    data = text.encode()
    return struct.pack("<II", len(data), zlib.crc32(data)) + data

"""

# name: (language, setup, source)
SMALL = {
    "replace, Python": ("py", "echo '{\"n\": 0}' > state.json", r"""
for n in (1, 2):
    with open("state.json.tmp", "w") as file:
        json.dump({"n": n, "list": list(range(900))}, file)
        file.flush()
        os.fsync(file.fileno())  #-file
    os.rename("state.json.tmp", "state.json")
    sync(".")  #-directory
    say("saved %d" % n)
"""),
    "replace, shell": ("sh", "seq 100 > list", r"""
for n in 1 2; do
  seq $n 3000 > list.new
  sync list.new  #-file
  mv list.new list
  sync .  #-directory
  echo updated $n
done
"""),
    "replace, C": ("c", "seq 100 > list", r"""
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  FILE *file = fopen("list.tmp", "w");
  for (int i = 0; i < 3000; i++) fprintf(file, "line %d\n", i);
  fflush(file);
  fsync(fileno(file)); //-file
  fclose(file);
  rename("list.tmp", "list");
  int directory = open(".", O_RDONLY | O_DIRECTORY);
  fsync(directory); //-directory
  puts("stored");
  return 0;
}
"""),
    "replace with a backup": ("py", "seq 2000 > list", r"""
if os.path.exists("list.bak"):
    os.unlink("list.bak")
os.link("list", "list.bak")
with open("list.tmp", "w") as file:
    file.writelines("row %d\n" % n for n in range(2000))
    file.flush()
    os.fsync(file.fileno())  #-file
os.rename("list.tmp", "list")
sync(".")  #-directory
say("saved")
"""),
    "log": ("py", "true", r"""
log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
sync(".")  #-directory
for n in range(4):
    os.write(log, record("entry %d " % n + "x" * 700 * n))
    os.fsync(log)  #-file
    say("appended %d" % n)
"""),
    "log, reopened": ("py", "true", r"""
for n in range(3):
    fresh = not os.path.exists("app.journal")
    with open("app.journal", "ab") as file:
        file.write(record("event %d" % n))
        file.flush()
        os.fdatasync(file.fileno())  #-file
    fresh and sync(".")  #-directory
    say("ack %d" % n)
"""),
    "O_TMPFILE and link": ("py", "true", r"""
for n in (1, 2):
    file = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
    os.write(file, b"content %d " % n * 800)
    os.fsync(file)  #-file
    os.link("/proc/self/fd/%d" % file, "object-%d" % n, src_dir_fd=os.open("/", 0), follow_symlinks=True)
    sync(".")  #-directory
    say("stored object-%d" % n)
"""),
    "two copies with checksums": ("py", "true", r"""
def write(path, text):
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    os.pwrite(file, record(text).ljust(6000, b"\0"), 0)
    os.fsync(file)  #-file
    os.close(file)

for name in ("copy-a", "copy-b"):
    write(name, "version 0 of the settings")
sync(".")
say("created")
for n in (1, 2, 3):
    for name in ("copy-a", "copy-b"):
        write(name, "version %d of the settings %s" % (n, "abcdefgh" * 600))
    say("saved %d" % n)
"""),
    "SQLite, WAL": ("py", "sqlite3 d 'pragma journal_mode=wal; create table t(a)' > /dev/null", r"""
import sqlite3
base = sqlite3.connect("d")
base.execute("pragma synchronous=full")
base.execute("pragma synchronous=normal") if False else None  #-none
for n in range(3):
    base.execute("insert into t values(?)", ("row %d " % n * 100,))
    base.commit()
    say("committed %d" % n)
"""),
    "SQLite, rollback journal": ("py", "sqlite3 d 'create table t(a); insert into t values(1)'", r"""
import sqlite3
base = sqlite3.connect("d")
base.execute("pragma synchronous=off")
base.execute("pragma synchronous=extra")  #-syncs
for n in range(2):
    base.executemany("insert into t values(?)", [("row %d " % n * 100,)] * 40)
    base.commit()
    say("committed %d" % n)
"""),
    "pages copied on write": ("py", "true", r"""
# Two heads of 4,096 bytes, then pages; a commit writes new pages, then the older head.
file = os.open("store", os.O_RDWR | os.O_CREAT, 0o644)
os.pwrite(file, b"\0" * 8192, 0)
os.fsync(file)
sync(".")  #-directory
end = 8192
for n in range(1, 5):
    page = os.urandom(3000) + b"page of version %d" % n
    os.pwrite(file, page.ljust(4096, b"\0"), end)
    os.fsync(file)  #-pages
    head = struct.pack("<QQI", n, end, zlib.crc32(page))
    os.pwrite(file, head + struct.pack("<I", zlib.crc32(head)), n % 2 * 4096)
    os.fsync(file)  #-head
    end += 4096
    say("committed %d" % n)
"""),
    "redo journal": ("py", "python3 -c 'print(\"account %04d has 100 coins\\n\" * 400 % tuple(range(400)), end=\"\")' > data", r"""
width = len("account 0000 has 100 coins\n")
data = os.open("data", os.O_RDWR)
journal = os.open("journal", os.O_RDWR | os.O_CREAT, 0o644)
sync(".")  #-directory
for n in (1, 2):
    changes = [(account * width, b"account %04d has %03d coins\n" % (account, 100 + n * account)) for account in (3, 170, 333)]
    body = b"".join(struct.pack("<QI", offset, len(new)) + new for offset, new in changes)
    os.pwrite(journal, struct.pack("<II", len(body), zlib.crc32(body)) + body, 0)
    os.fsync(journal)  #-journal
    for offset, new in changes:
        os.pwrite(data, new, offset)
    os.fsync(data)  #-data
    os.ftruncate(journal, 0)
    os.fsync(journal)
    say("applied %d" % n)
"""),
    "undo journal": ("py", "python3 -c 'print(\"account %04d has 100 coins\\n\" * 400 % tuple(range(400)), end=\"\")' > data", r"""
width = len("account 0000 has 100 coins\n")
data = os.open("data", os.O_RDWR)
for n in (1, 2):
    journal = os.open("undo", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
    for account in (3, 170, 333):
        old = os.pread(data, width, account * width)
        os.write(journal, struct.pack("<QI", account * width, zlib.crc32(old)) + old)
    os.fsync(journal)  #-journal
    sync(".")  #-name
    for account in (3, 170, 333):
        os.pwrite(data, b"account %04d has %03d coins\n" % (account, 100 + n * account), account * width)
    os.fsync(data)  #-data
    os.close(journal)
    os.unlink("undo")
    sync(".")  #-end
    say("applied %d" % n)
"""),
    "journal of whole files": ("py", "seq 300 > a && seq 400 > b", r"""
new = {"a": "new a\n" * 300, "b": "new b\n" * 300}
with open("journal.tmp", "w") as file:
    json.dump(new, file)
    file.flush()
    os.fsync(file.fileno())  #-journal
os.rename("journal.tmp", "journal")
sync(".")  #-name
for name, text in new.items():
    with open(name, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())  #-data
os.unlink("journal")
sync(".")  #-end
say("committed")
"""),
    "log rotation": ("py", "echo begin > app.log && sync app.log .", r"""
def append(text):
    with open("app.log", "a") as log:
        log.write(text + "\n")
        log.flush()
        os.fsync(log.fileno())  #-file

for n in range(3):
    append("request %d" % n + " x" * 400)
    say("recorded %d" % n)
    if n == 1:
        os.rename("app.log", "app.log.1")
        with open("app.log", "w"):
            pass
        sync(".")  #-directory
"""),
    "generations and CURRENT": ("py", "seq 500 > data-0 && echo data-0 > CURRENT", r"""
for n in (1, 2):
    with open("data-%d" % n, "w") as file:
        file.writelines("row %d %d\n" % (n, row) for row in range(500))
        file.flush()
        os.fsync(file.fileno())  #-data
    sync(".")  #-name
    with open("CURRENT.tmp", "w") as file:
        file.write("data-%d\n" % n)
        file.flush()
        os.fsync(file.fileno())  #-pointer
    os.rename("CURRENT.tmp", "CURRENT")
    sync(".")  #-directory
    os.unlink("data-%d" % (n - 1))
    say("published %d" % n)
"""),
    "a directory for each version": ("py", "mkdir v0 && seq 300 > v0/data && ln -s v0 current", r"""
for n in (1, 2):
    os.mkdir("v%d" % n)
    with open("v%d/data" % n, "w") as file:
        file.writelines("row %d %d\n" % (n, row) for row in range(300))
        file.flush()
        os.fsync(file.fileno())  #-data
    sync("v%d" % n)  #-inside
    sync(".")  #-name
    os.symlink("v%d" % n, "current.tmp")
    os.rename("current.tmp", "current")
    sync(".")  #-directory
    os.unlink("v%d/data" % (n - 1))
    os.rmdir("v%d" % (n - 1))
    say("installed v%d" % n)
"""),
    "locks and process numbers": ("py", "echo 0 > count", r"""
lock = os.open("app.lock", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
with open("app.pid", "w") as file:
    file.write("%d\n" % os.getpid())
for n in (1, 2):
    with open("count.tmp", "w") as file:
        file.write("%d\n" % n)
        file.flush()
        os.fsync(file.fileno())  #-file
    os.replace("count.tmp", "count")
    sync(".")  #-directory
    say("stored %d" % n)
os.unlink("app.pid")
os.unlink("app.lock")
"""),
    "preallocated log": ("py", "true", r"""
log = os.open("wal", os.O_RDWR | os.O_CREAT, 0o644)
os.posix_fallocate(log, 0, 1 << 16)
os.fsync(log)
sync(".")  #-directory
end = 0
for n in range(4):
    data = record("entry %d " % n * (50 * n + 3))
    os.pwrite(log, data, end)
    os.fdatasync(log)  #-file
    end += len(data)
    say("stored %d" % n)
"""),
    "temporary files left": ("py", "seq 900 > list", r"""
for n in (1, 2):
    with open(".list.%d.tmp" % n, "w") as file:
        file.write("draft of %d\n" % n * 500)
    with open("list.new", "w") as file:
        file.writelines("line %d %d\n" % (n, row) for row in range(900))
        file.flush()
        os.fsync(file.fileno())  #-file
    os.rename("list.new", "list")
    sync(".")  #-directory
    say("saved %d" % n)
"""),
    "mapped records": ("py", "head -c 65536 /dev/zero > map", r"""
file = os.open("map", os.O_RDWR)
pages = mmap.mmap(file, 65536)
for n in range(1, 4):
    pages[4096 * n:4096 * n + 2000] = (b"record %d " % n).ljust(2000, b"r")
    pages.flush(4096 * n, 4096)  #-record
    pages[0:8] = struct.pack("<Q", n)
    pages.flush(0, 4096)  #-head
    say("stored %d" % n)
"""),
    "snapshot and log": ("py", "echo '{}' > snapshot", r"""
state = {}
log = os.open("log", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
sync(".")  #-begin
for n in range(4):
    state["key%d" % n] = "value %d" % n
    os.write(log, record(json.dumps({"key%d" % n: "value %d" % n})))
    os.fsync(log)  #-log
    say("put key%d" % n)
    if n == 2:
        with open("snapshot.tmp", "w") as file:
            json.dump(state, file)
            file.flush()
            os.fsync(file.fileno())  #-snapshot
        os.rename("snapshot.tmp", "snapshot")
        sync(".")  #-name
        os.ftruncate(log, 0)
        os.fsync(log)
"""),
    "mail delivery": ("py", "mkdir tmp new cur", r"""
for n in range(3):
    with open("tmp/%d.mail" % n, "w") as file:
        file.write("Subject: %d\n\n" % n + "text " * 900)
        file.flush()
        os.fsync(file.fileno())  #-file
    os.link("tmp/%d.mail" % n, "new/%d.mail" % n)
    sync("new")  #-directory
    os.unlink("tmp/%d.mail" % n)
    say("delivered %d" % n)
"""),
    "a queue's jobs": ("py", "mkdir todo done && for i in 1 2 3; do seq $i 900 > todo/$i; done", r"""
for name in sorted(os.listdir("todo")):
    with open("done/.%s" % name, "w") as file:
        file.write("result of " + open("todo/" + name).read())
        file.flush()
        os.fsync(file.fileno())  #-file
    os.rename("done/.%s" % name, "done/" + name)
    sync("done")  #-result
    os.unlink("todo/" + name)
    sync("todo")
    say("finished and stored %s" % name)
"""),
    "counter in place": ("py", "printf 00000000 > counter", r"""
file = os.open("counter", os.O_RDWR)
for n in range(1, 4):
    os.pwrite(file, b"%08d" % n, 0)
    os.fdatasync(file)  #-file
    say("count %d stored" % n)
"""),
    "O_SYNC": ("py", "true", r"""
flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
flags |= os.O_DSYNC  #-flag
log = os.open("log", flags, 0o644)
sync(".")
for n in range(3):
    os.write(log, record("entry %d" % n))
    say("appended %d" % n)
"""),
}

# Broken programs in which no state can be told from a correct program's by its files alone, with the reason.
UNSEEN = {
    "pages copied on write": {
        "pages": "only the program's checksum tells a page that is lost from one that was never written",
        "head": "the new pages make the file one that it never was before, so that it does not go back"},
    "counter in place": {"file": "a program that syncs nothing promises nothing"},
    "journal of whole files": {"end": "a journal that is there again is applied again, which changes nothing"},
    "mapped records": {
        "record": "the kernel keeps a mapped page until it writes it back: a warning, since nobody sees when it was stored",
        "head": "as its records"},
}


def broken(name):
    """The names of the lines that can be left out."""
    names = []
    for line in SMALL[name][2].splitlines():
        for sign in ("#-", "//-"):
            if sign in line and line.rpartition(sign)[2] not in names + ["none"]:
                names.append(line.rpartition(sign)[2])
    return names


def source(name, without=None):
    """A program's text, without the lines of a name."""
    kind, _, text = SMALL[name]
    lines = [line for line in text.splitlines() if without is None or not line.endswith("-" + without) or "-" not in line
             or line.rpartition("#-")[2] != without and line.rpartition("//-")[2] != without]
    return (PRELUDE if kind == "py" else "") + "\n".join(lines) + "\n"
