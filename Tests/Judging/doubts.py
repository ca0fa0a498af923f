"""doubts.py: programs that look broken and are not: what they print, give up, or leave to others. The form is that of small.py."""
from idioms import C

DOUBTS = {
    "verbose tools": ("sh", "seq 900 > list && mkdir old && sync", r"""
set -e
mkdir -v stage
seq 2 3000 > stage/list
sync stage/list
cp -v list old/list.1
sync old/list.1 old
mv -v stage/list list
sync .  #-directory
rmdir -v stage
sync .
echo "list updated"
"""),
    "headers between steps": ("py", "for i in a b c; do seq 500 > $i; done && sync", r"""
for n, name in enumerate("abc"):
    say("step %d of 3" % (n + 1))
    with open(name + ".new", "w") as file:
        file.write("%s %d\n" % (name, n) * 600)
        file.flush()
        os.fsync(file.fileno())  #-file
    os.rename(name + ".new", name)
sync(".")  #-directory
say("all saved")
"""),
    "names before files": ("py", "for i in a b c; do seq 500 > $i; done && sync", r"""
for n, name in enumerate("abc"):
    say(name)
    with open(name + ".new", "w") as file:
        file.write("%s %d\n" % (name, n) * 600)
        file.flush()
        os.fsync(file.fileno())  #-file
    os.rename(name + ".new", name)
sync(".")  #-directory
say("all saved")
"""),
    "writer ahead of its acknowledgements": ("py", "true", r"""
import threading, queue
log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
sync(".")
todo, lock = queue.Queue(), threading.Lock()
def syncer():
    while True:
        n = todo.get()
        if n is None:
            return
        os.fdatasync(log)  #-file
        go.set()
        time.sleep(0.03)
        say("ack %d" % n)

import time
go = threading.Event()
thread = threading.Thread(target=syncer)
thread.start()
for n in range(5):
    go.clear()
    os.write(log, record("entry %d " % n + "x" * 500))
    todo.put(n)
    go.wait(5)
todo.put(None)
thread.join()
"""),
    "log begun anew after a snapshot": ("py", "echo '{}' > snapshot && sync", r"""
state = {}
log = open("oplog", "ab")
sync(".")
for n in range(7):
    state["key%d" % n] = "value %d " % n * 60
    log.write(record(json.dumps(["key%d" % n, state["key%d" % n]])))
    log.flush()
    os.fsync(log.fileno())  #-log
    say("put key%d" % n)
    if n % 3 == 2:
        with open("snapshot.tmp", "w") as file:
            json.dump(state, file)
            file.flush()
            os.fsync(file.fileno())  #-snapshot
        os.rename("snapshot.tmp", "snapshot")
        sync(".")  #-name
        log.close()
        log = open("oplog", "wb")
"""),
    "journal in another encoding": ("py", "seq 300 > a && seq 400 > b && sync", r"""
import base64, zlib
for n in (1, 2):
    new = {name: "new %s %d\n" % (name, n) * 300 for name in "ab"}
    with open("journal.new", "wb") as file:
        file.write(base64.b64encode(zlib.compress(json.dumps(new).encode())))
        file.flush()
        os.fsync(file.fileno())  #-journal
    os.rename("journal.new", "journal")
    sync(".")  #-name
    for name, text in new.items():
        with open(name, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())  #-data
    os.unlink("journal")
    sync(".")
    say("committed %d" % n)
"""),
    "primary and mirror": ("py", "seq 300 > primary.db && seq 300 > mirror.db && sync", r"""
for n in (1, 2, 3):
    for name in ("primary.db", "mirror.db"):
        with open(name, "w") as file:
            file.write("table %d\n" % n * 500)
            file.flush()
            os.fsync(file.fileno())  #-file
    say("stored %d" % n)
"""),
    "old one kept by renames": ("py", "seq 800 > world.dat && sync", r"""
for n in (1, 2):
    with open("world.dat_new", "w") as file:
        file.write("chunk %d\n" % n * 900)
        file.flush()
        os.fsync(file.fileno())  #-file
    if os.path.exists("world.dat_old"):
        os.unlink("world.dat_old")
    os.rename("world.dat", "world.dat_old")
    os.rename("world.dat_new", "world.dat")
    sync(".")  #-directory
    say("Saved the game")
"""),
    "snapshots by hard links": ("sh", "mkdir cur && seq 500 > cur/a && seq 600 > cur/b && sync", r"""
set -e
for n in 1 2; do
  cp -al cur snap.new
  sync snap.new
  mv snap.new snap.$n
  seq $n 2000 > cur/.a
  sync cur/.a  #-file
  mv cur/.a cur/a
  sync cur .  #-directory
  echo "snap.$n created"
done
"""),
    "a directory replaced, with syncs of all": ("sh", "mkdir etc && echo a=1 > etc/one && echo b=1 > etc/two && sync", r"""
set -e
cp -a etc etc.new
seq 1500 > etc.new/one
seq 1600 > etc.new/two
sync  #-all
mv etc etc.old
mv etc.new etc
sync  #-names
rm -r etc.old
echo "configuration applied"
"""),
    "database dumped": ("sh", "sqlite3 d 'create table t(a); insert into t values(1),(2)' && sync", r"""
set -e
sqlite3 d .dump > d.sql.new
gzip -n d.sql.new
sync d.sql.new.gz  #-file
mv d.sql.new.gz d.sql.gz
sync .  #-directory
echo "d.sql.gz: dump complete"
"""),
    "messages of a logger": ("py", "echo '{}' > state.json && sync", r"""
import time
def info(text):
    say("2026-01-02 10:00:00,%03d [INFO] app: %s" % (len(text), text))
info("Starting up")
for n in (1, 2):
    info("Processing batch %d" % n)
    with open("state.json.new", "w") as file:
        json.dump({"n": n, "list": list(range(900))}, file)
        info("Wrote %d bytes" % file.tell())
        file.flush()
        os.fsync(file.fileno())  #-file
    os.rename("state.json.new", "state.json")
    sync(".")
    info("Batch %d done" % n)
"""),
    "undo copy of a whole file": ("py", "seq 800 > ledger && sync", r"""
import shutil
for n in (1, 2):
    shutil.copyfile("ledger", "ledger.undo")
    sync("ledger.undo")  #-undo
    sync(".")
    with open("ledger", "r+") as file:
        file.seek(0)
        file.write("posting %d\n" % n * 300)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())  #-data
    os.unlink("ledger.undo")
    sync(".")
    say("posted %d" % n)
"""),
    "stopped by a signal": ("sh", "echo 0 > n && sync", r"""
save() {
  echo $1 > n.new; seq 1500 >> n.new
  sync n.new  #-file
  mv n.new n
  sync .
  echo "saved $1"
}
trap 'save 9; exit 0' TERM
save 1
kill -TERM $$
sleep 1
save 2
"""),
    "many directories at once": ("py", "true", r"""
for n in range(3):
    path = "cas/%d/%d" % (n, n * 7)
    missing = [p for p in ("cas", "cas/%d" % n, path) if not os.path.isdir(p)]
    os.makedirs(path, exist_ok=True)
    with open(path + "/.tmp-data", "w") as file:
        file.write("object %d " % n * 700)
        file.flush()
        os.fsync(file.fileno())  #-file
    os.rename(path + "/.tmp-data", path + "/data")
    sync(path)
    for p in missing:
        sync(os.path.dirname(p) or ".")
    say("stored %d" % n)
"""),
    "copy on write tree in one file": ("py", "true", r"""
file = os.open("tree", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
sync(".")
root = 0
for n in range(4):
    body = b"node %d " % n * 200
    os.write(file, body)
    os.fsync(file)
    foot = struct.pack("<8sQI", b"ROOT%04d" % n, root, zlib.crc32(body))
    root = os.lseek(file, 0, 2)
    os.write(file, foot)
    os.fsync(file)  #-foot
    say("commit %d" % n)
"""),
    "padding cut off": ("py", "true", r"""
file = os.open("wal", os.O_RDWR | os.O_CREAT, 0o644)
sync(".")
end = 0
for n in range(3):
    os.posix_fallocate(file, end, 8192)
    data = record("entry %d " % n * 90)
    os.pwrite(file, data, end)
    end += len(data)
    os.fsync(file)  #-file
    say("stored %d" % n)
os.ftruncate(file, end)
os.fsync(file)
say("closed")
"""),
    "settings emptied on purpose": ("py", "seq 300 > queue && sync", r"""
os.truncate("queue", 0)
sync("queue")
say("queue cleared")
with open("queue", "a") as file:
    file.write("job 1\n" * 400)
    file.flush()
    os.fsync(file.fileno())  #-file
say("job 1 stored")
"""),
    "hash beside the file": ("py", "seq 300 > data && echo x > data.sha256 && sync", r"""
import hashlib
for n in (1, 2):
    body = b"content %d\n" % n * 900
    for name, content in (("data", body), ("data.sha256", hashlib.sha256(body).hexdigest().encode() + b"  data\n")):
        with open(name + ".tmp", "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  #-file
    os.rename("data.tmp", "data")
    os.rename("data.sha256.tmp", "data.sha256")
    sync(".")  #-directory
    say("saved %d" % n)
"""),
    "an entry taken back": ("py", "true", r"""
log = os.open("log", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
sync(".")
for n in range(5):
    end = os.lseek(log, 0, 2)
    os.write(log, record("entry %d " % n * 40))
    if n == 2:
        os.ftruncate(log, end)
        os.fsync(log)
        say("entry 2 refused")
        continue
    os.fsync(log)  #-file
    say("entry %d committed" % n)
"""),
    "last lines without a sync": ("py", "seq 20 > state && sync", r"""
with open("state.new", "w") as file:
    file.write("state\n" * 900)
    file.flush()
    os.fsync(file.fileno())  #-file
os.rename("state.new", "state")
sync(".")
say("state saved")
with open("last-run.txt", "w") as file:
    file.write("took 3 s\n")
say("done in 3 s")
"""),
}

# Broken programs in which no state can be told from a correct program's by its files alone, with the reason (small.py).
UNSEEN = {
}
