"""stores.py: stores, queues and logs, and what stands beside them, in the form that small.py describes."""
from idioms import C

STORES = {
    "rows of a table in CSV": ("pl", "printf 'id,name,amount\\n' > sales.csv && sync", r"""
use strict; use IO::Handle;
$| = 1;
for my $n (1 .. 4) {
  open(my $csv, '>>', 'sales.csv') or die;
  printf $csv "%d,\"customer %s\",%d.50\n", $n, 'x' x (500 * $n), $n * 10;
  $csv->flush;
  $csv->sync;  #-file
  close($csv);
  print "row $n\n";
}
"""),
    "sparse file": ("c", "true", C + r"""
int main(void) {
  int file = open("blocks", O_RDWR | O_CREAT | O_EXCL, 0600), directory = open(".", O_RDONLY);
  if (ftruncate(file, 1 << 20)) return 1;
  fsync(file);
  fsync(directory); //-directory
  for (int n = 1; n < 5; n++) {
    char block[512];
    memset(block, 'p' + n, sizeof block);
    if (pwrite(file, block, sizeof block, (off_t)n * 200 * 1024) != sizeof block) return 1;
    fdatasync(file); //-file
    printf("block %d written\n", n);
    fflush(stdout);
  }
  return 0;
}
"""),
    "content-addressed store": ("py", "mkdir -p objects && : > index && sync", r"""
import hashlib
def put(data):
    name = hashlib.sha256(data).hexdigest()
    folder = "objects/" + name[:2]
    if not os.path.isdir(folder):
        os.mkdir(folder)
        sync("objects")  #-fan
    path = folder + "/" + name[2:]
    if not os.path.exists(path):
        with open(folder + "/.new", "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  #-file
        os.rename(folder + "/.new", path)
        sync(folder)  #-directory
    return name

for n in range(4):
    name = put(b"blob %d " % (n % 3) * 700)
    with open("index", "a") as index:
        index.write("%d %s\n" % (n, name))
        index.flush()
        os.fsync(index.fileno())  #-index
    say("put %d as %s" % (n, name[:8]))
"""),
    "sockets and pipes beside data": ("py", "seq 10 > orders && sync", r"""
import socket
server = socket.socket(socket.AF_UNIX)
server.bind("control")
server.listen(1)
os.mkfifo("input")
child = os.fork()
if child == 0:
    with open("input", "w") as pipe:
        for n in range(3):
            pipe.write("order %d\n" % n)
    os._exit(0)
with open("input") as pipe:
    for line in pipe:
        with open("orders", "a") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())  #-file
        say("taken and stored: " + line.strip())
os.waitpid(child, 0)
server.close()
os.unlink("control")
os.unlink("input")
"""),
    "odd names": ("py", "true", r"""
names = ["two words", "-rf", "line\nbreak", "q'u\"ote", "100%s", "back\\slash", "\u00fcml\u00e4ut", "$HOME", "[x]*?", " "]
for n in (1, 2):
    for name in names:
        with open("./" + name + " .new", "w") as file:
            file.write("%s %d\n" % (name, n) * 400)
            file.flush()
            os.fsync(file.fileno())  #-file
        os.rename("./" + name + " .new", "./" + name)
    sync(".")  #-directory
    say("saved %d" % n)
"""),
    "children write, the parent publishes": ("py", "mkdir parts && echo '[]' > MANIFEST && sync", r"""
def work(n):
    with open("parts/part-%d" % n, "w") as file:
        file.writelines("row %d %d\n" % (n, i) for i in range(700))
        file.flush()
        os.fsync(file.fileno())  #-part
    os._exit(0)

children = []
for n in range(3):
    child = os.fork()
    if child == 0:
        work(n)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
sync("parts")  #-parts
with open("MANIFEST.new", "w") as file:
    json.dump(sorted(os.listdir("parts")), file)
    file.flush()
    os.fsync(file.fileno())  #-manifest
os.rename("MANIFEST.new", "MANIFEST")
sync(".")  #-directory
say("published 3 parts")
"""),
    "jobs side by side in shell": ("sh", "mkdir out && seq 3 > out/old && sync", r"""
set -e
for n in 1 2 3; do
  ( seq $n 1800 > out/.$n; sync out/.$n; mv out/.$n out/$n ) &  #-files
done
wait
sync out  #-directory
echo "all stored"
"""),
    "compressed log": ("py", "true", r"""
import gzip
log = os.open("events.gz", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
sync(".")
for n in range(3):
    os.write(log, gzip.compress(os.urandom(1500) + b"event %d" % n))
    os.fsync(log)  #-file
    say("event %d recorded" % n)
"""),
    "archive made and named": ("py", "mkdir in && for i in 1 2 3; do seq $i 800 > in/$i; done && sync", r"""
import tarfile
for n in (1, 2):
    with open("backup.tar.gz.partial", "wb") as file:
        with tarfile.open(fileobj=file, mode="w:gz") as archive:
            archive.add("in")
        file.flush()
        os.fsync(file.fileno())  #-file
    os.rename("backup.tar.gz.partial", "backup-%d.tar.gz" % n)
    sync(".")  #-directory
    say("backup-%d.tar.gz written" % n)
"""),
    "direct writes": ("c", "head -c 65536 /dev/zero > ring && sync", C + r"""
int main(void) {
  int flags = O_RDWR | O_DIRECT;
  flags |= O_DSYNC; //-flag
  int file = open("ring", flags), other = open("ring", O_RDWR);
  void *block;
  if (posix_memalign(&block, 4096, 4096)) return 1;
  fsync(other);
  for (int n = 0; n < 4; n++) {
    memset(block, 'a' + n, 4096);
    if (pwrite(file, block, 4096, n * 8192) != 4096) return 1;
    printf("block %d stored\n", n);
    fflush(stdout);
  }
  return 0;
}
"""),
    "a torn tail cut off": ("py", "python3 -c 'open(\"log\", \"wb\").write(b\"000 good\\n001 good\\n002 go\")' && sync", r"""
# The last run ended in the middle of a line.
with open("log", "rb") as file:
    good = file.read().rpartition(b"\n")[0] + b"\n"
log = os.open("log", os.O_RDWR)
os.ftruncate(log, len(good))
os.fsync(log)
end = len(good)
for n in range(2, 6):
    line = b"%03d good %s\n" % (n, b"y" * 600 * n)
    os.pwrite(log, line, end)
    os.fsync(log)  #-file
    end += len(line)
    say("%03d logged" % n)
"""),
    "count in the head of a file": ("c", "true", C + r"""
int main(void) {
  uint64_t head[2] = {0x5441424c, 0};
  int file = open("table", O_RDWR | O_CREAT, 0644), directory = open(".", O_RDONLY);
  pwrite(file, head, sizeof head, 0);
  fsync(file);
  fsync(directory); //-directory
  for (uint64_t n = 0; n < 4; n++) {
    char row[900];
    memset(row, 'a' + (int)n, sizeof row);
    pwrite(file, row, sizeof row, 4096 + (off_t)(n * sizeof row));
    fdatasync(file);
    head[1] = n + 1;
    pwrite(file, head, sizeof head, 0);
    fdatasync(file);
    printf("row %d stored\n", (int)n);
    fflush(stdout);
  }
  return 0;
}
"""),
    "files removed": ("py", "mkdir keys && for i in 1 2 3 4; do seq $i 200 > keys/$i; done && echo 0 > generation && sync", r"""
for n in (1, 2, 3):
    os.unlink("keys/%d" % n)
    sync("keys")  #-directory
    say("key %d deleted" % n)
with open("generation.new", "w") as file:
    file.write("1\n")
    file.flush()
    os.fsync(file.fileno())
os.rename("generation.new", "generation")
sync(".")
say("generation 1 committed")
"""),
    "intent, then many renames": ("py", "for i in a b c; do seq 500 > $i; done && sync", r"""
for n in (1, 2):
    for name in "abc":
        with open(name + ".next", "w") as file:
            file.write("%s %d\n" % (name, n) * 600)
            file.flush()
            os.fsync(file.fileno())  #-file
    with open("intent", "w") as file:
        json.dump(["a", "b", "c"], file)
        file.flush()
        os.fsync(file.fileno())
    sync(".")
    for name in "abc":
        os.rename(name + ".next", name)
    sync(".")  #-directory
    os.unlink("intent")
    sync(".")
    say("transaction %d committed" % n)
"""),
    "numbers handed out from a reserve": ("py", "echo 0 > next && sync", r"""
limit = n = int(open("next").read())
while n < 25:
    if n == limit:
        limit += 10
        with open("next.new", "w") as file:
            file.write("%d\n" % limit)
            file.flush()
            os.fsync(file.fileno())  #-file
        os.rename("next.new", "next")
        sync(".")  #-directory
    n += 1
    say("id %d" % n)
"""),
    "marker files": ("py", "mkdir txn && sync", r"""
for n in range(3):
    with open("txn/%d.data" % n, "w") as file:
        file.write("change %d\n" % n * 700)
        file.flush()
        os.fsync(file.fileno())  #-file
    sync("txn")
    os.close(os.open("txn/%d.commit" % n, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    sync("txn")  #-directory
    say("transaction %d committed" % n)
"""),
    "two logs in turn": ("py", "true", r"""
# When a log is full, the other one begins with the whole state.
state, which = {}, 0
logs = [os.open("log.%d" % k, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644) for k in (0, 1)]
sync(".")
for n in range(8):
    state["k%d" % (n % 2)] = "v%d" % n * 60
    os.write(logs[which], record(json.dumps(["k%d" % (n % 2), "v%d" % n * 60])))
    os.fsync(logs[which])  #-entry
    say("put %d" % n)
    if n % 3 == 2:
        which = 1 - which
        os.ftruncate(logs[which], 0)
        os.write(logs[which], record(json.dumps(state)))
        os.fsync(logs[which])  #-state
"""),
    "segments merged": ("py", "mkdir db && for i in 1 2 3; do seq $i 3 900 > db/seg$i; done && sync", r"""
lines = [line for n in (1, 2, 3) for line in open("db/seg%d" % n)]
with open("db/merged.tmp", "w") as file:
    file.writelines(lines)
    file.flush()
    os.fsync(file.fileno())  #-file
os.rename("db/merged.tmp", "db/seg4")
sync("db")  #-directory
for n in (1, 2, 3):
    os.unlink("db/seg%d" % n)
sync("db")
say("compacted 3 segments")
"""),
    "moved between directories": ("py", "mkdir a b && for i in 1 2 3; do seq $i 1000 > a/$i; done && sync", r"""
for n in (1, 2, 3):
    os.rename("a/%d" % n, "b/%d" % n)
    sync("b")  #-to
    sync("a")
    say("%d moved" % n)
"""),
    "copied, then removed": ("sh", "mkdir from to && for i in 1 2; do seq $i 2500 > from/f$i; done && sync", r"""
set -e
for n in 1 2; do
  cp from/f$n to/.f$n
  sync to/.f$n  #-file
  mv to/.f$n to/f$n
  sync to  #-directory
  rm from/f$n
  sync from
  echo "f$n archived"
done
"""),
    "backup, then in place": ("sh", "seq 900 > fstab && sync", r"""
set -e
cp -p fstab fstab.bak
sync fstab.bak .  #-backup
{ cat fstab.bak; echo "new line"; } > fstab
sync fstab  #-file
echo "fstab updated"
"""),
    "a download that goes on": ("py", "seq 9 > have && sync", r"""
part = os.open("image.iso.part", os.O_WRONLY | os.O_CREAT, 0o644)
for n in range(4):
    os.write(part, b"chunk %d " % n * 600)
    os.fdatasync(part)
    say("%d%%" % (25 * n + 25))
os.fsync(part)
os.close(part)
os.rename("image.iso.part", "image.iso")
sync(".")  #-directory
say("saved image.iso")
"""),
    "Node, appended": ("js", "echo '[]' > done.json", r"""
const fs = require('fs');
const log = fs.openSync('queue.ndjson', 'a');
const directory = fs.openSync('.', 'r');
fs.fsyncSync(directory); //-directory
for (let n = 0; n < 4; n++) {
  fs.writeSync(log, JSON.stringify({ n, text: 'm'.repeat(700 * n) }) + '\n');
  fs.fdatasyncSync(log); //-file
  console.log(JSON.stringify({ ok: true, n }));
}
"""),
    "a lock by a link": ("sh", "echo 5 > balance && sync", r"""
set -e
for n in 6 7; do
  echo $$ > lock.$$
  until ln lock.$$ lock 2> /dev/null; do sleep 0.1; done
  rm lock.$$
  echo $n > balance.new
  sync balance.new  #-file
  mv balance.new balance
  sync .  #-directory
  rm lock
  echo "balance is $n"
done
"""),
    "permissions before the name": ("py", "echo old > secret && chmod 600 secret && sync", r"""
for n in (1, 2):
    new = os.open(".secret.%d" % os.getpid(), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(new, b"key %d " % n * 900)
    os.fchmod(new, 0o640)
    os.utime(new, (1600000000, 1600000000))
    os.setxattr(new, "user.version", b"%d" % n)
    os.fsync(new)  #-file
    os.close(new)
    os.rename(".secret.%d" % os.getpid(), "secret")
    sync(".")  #-directory
    say("secret %d saved" % n)
"""),
    "a file that shrinks": ("py", "seq 4000 > stack && sync", r"""
stack = os.open("stack", os.O_RDWR)
size = os.fstat(stack).st_size
for n in range(3):
    size -= 3000
    os.ftruncate(stack, size)
    os.fsync(stack)
    say("popped %d" % n)
    os.pwrite(stack, b"pushed %d " % n * 100, size)
    size += 900
    os.fsync(stack)  #-push
    say("pushed %d" % n)
"""),
}

# Broken programs in which no state can be told from a correct program's by its files alone, with the reason (small.py).
UNSEEN = {
}
