#!/usr/bin/env python3
"""programs.py FAULTLINE [NAME-PART]: explores programs of Debian, and the small ones of small.py, without a checker.

Prints docs/generated/programs.md to standard output. Exit 0 when each program is judged as expected: `silent` programs have no
error, `broken` ones have one; 1 when any differs. Programs that are not installed are said to be skipped.
"""
import contextlib
import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
import doubts
import habits
import idioms
import reported
import small
import stores

# The programs whose syncs are left out one after the other; of the others only the whole ones are explored.
VARIED = set(small.SMALL) | set(idioms.IDIOMS)
for module, programs in (
        (idioms, idioms.IDIOMS), (habits, habits.HABITS), (stores, stores.STORES), (doubts, doubts.DOUBTS)):
    small.SMALL.update(programs)
    small.UNSEEN.update(module.UNSEEN)
# How a small program is run; one in C is compiled.
INTERPRETERS = {"py": "python3", "sh": "sh", "pl": "perl", "js": "node", "tcl": "tclsh", "c": "cc"}
# Each model, and the file system of the kernel that it stands for.
SYSTEMS = {"ext4-ordered": "ext4", "xfs": "xfs", "btrfs": "btrfs"}
MODELS = list(SYSTEMS)
# The time goes into what gzip and zip make of it, and the program runs twice.
TEXT = "seq 1 4000 > words && touch -d 2020-01-01 words"
TREE = "mkdir src && seq 1 3000 > src/a && seq 5 9000 > src/b"
REPO = 'export HOME="$PWD/h" GIT_CONFIG_NOSYSTEM=1 HGUSER=a; mkdir -p h; '
GIT = REPO + "git config --global user.email a@b && git config --global user.name a && "
SAFE = r"""
import json, os
def save(path, value):
    with open(path + ".tmp", "w") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".tmp", path)
    directory = os.open(".", os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)
"""

DPKG = (
     "mkdir -p root/var/lib/dpkg/info root/var/lib/dpkg/updates d/DEBIAN d/usr/share/pk && touch root/var/lib/dpkg/status"
     " root/var/lib/dpkg/available && seq 2000 > d/usr/share/pk/data && printf 'Package: pk\\nVersion: 1\\nArchitecture: all\\n"
     "Maintainer: a <a@b>\\nDescription: d\\n' > d/DEBIAN/control && dpkg-deb -b d pk.deb > /dev/null")

WHEEL = r"""
import zipfile
with zipfile.ZipFile("pk-1-py3-none-any.whl", "w") as wheel:
    wheel.writestr("pk.py", "x = 1\n" * 3000)
    wheel.writestr("pk-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: pk\nVersion: 1\n")
    wheel.writestr("pk-1.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: a\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr("pk-1.dist-info/RECORD", "pk.py,,\npk-1.dist-info/METADATA,,\npk-1.dist-info/WHEEL,,\npk-1.dist-info/RECORD,,\n")
"""

# name, program that must be there, setup, workload, expected, why
PROGRAMS = [
    ("sort -o", "sort", TEXT, "sort -r -o words words", "broken",
     "It empties the only copy before it writes the sorted one, and never syncs."),
    ("sed -i", "sed", TEXT, "sed -i s/1/x/ words", "any",
     "It renames a new file over the old one without a sync: ext4 writes it out first, other file systems do not."),
    ("perl -i", "perl", TEXT, "perl -pi -e s/1/x/ words", "any", "As sed -i."),
    ("gzip", "gzip", TEXT, "gzip words", "broken", "It removes the source before the copy is durable."),
    ("gzip --synchronous", "gzip", TEXT, "gzip --synchronous words", "silent", "It syncs the copy and the directory first."),
    ("xz", "xz", TEXT, "xz words", "broken", "Before version 5.7.1 it removes the source before the copy is durable."),
    ("ed", "ed", TEXT, "printf '1d\\nw\\nq\\n' | ed -s words", "broken", "It writes over the only copy."),
    ("vim", "vim", TEXT, "vim -u NONE -N -es -c 1d -c wq words < /dev/null", "silent",
     "It keeps a backup until the new content is synced."),
    ("nano", "nano", TEXT, "{ sleep 2; printf '\\013\\017'; sleep 1; printf '\\r'; sleep 1; printf '\\030'; } |"
     " TERM=xterm timeout 60 script -qc 'nano -I words' /dev/null > /dev/null", "broken",
     "It empties the only copy, then writes it and syncs it."),
    ("cp", "cp", TEXT, "cp words copy", "silent", "It makes a new file, and the source stays."),
    ("cp over a file", "cp", TEXT + " && echo old > copy", "cp words copy", "silent",
     "The new content is still in the source."),
    ("mv", "mv", TEXT, "mv words other", "silent", "A rename is atomic."),
    ("rsync", "rsync", TREE, "rsync -a src/ dst", "silent", "New files only; the source stays."),
    ("rsync --fsync", "rsync", TREE, "rsync -a --fsync src/ dst", "silent", "Each file is synced before it gets its name."),
    ("tar -x", "tar", TREE + " && tar cf a.tar src && rm -r src", "tar xf a.tar", "silent",
     "New files only; the archive stays."),
    ("tar -c", "tar", TREE, "tar cf a.tar src", "silent", "A new file only."),
    ("unzip", "unzip", TREE + " && zip -qr a.zip src && rm -r src", "unzip -q a.zip", "silent", "As tar -x."),
    ("zip, updating", "zip", TREE + " && zip -qr a.zip src/a", "zip -q a.zip src/b", "any",
     "It renames a new archive over the old one without a sync."),
    ("git commit", "git", GIT + "git init -q r && seq 9 > r/f", 'export HOME="$PWD/h"; cd r && git add f && git commit -qm m',
     "any", "By default it does not sync loose objects, which a reference names then."),
    ("git commit, fsync=all", "git", GIT + "git init -q r && git -C r config core.fsync all && seq 9 > r/f",
     'export HOME="$PWD/h"; cd r && git add f && git commit -qm m', "silent", "It syncs what it renames."),
    ("hg commit", "hg", REPO + "hg init r && seq 9 > r/f", REPO + "cd r && hg add f && hg commit -m m -u a", "any",
     "It never syncs; it appends to its files, and keeps a journal that says how long each was."),
    ("useradd --prefix", "useradd",
     "mkdir etc && cp /etc/passwd /etc/group /etc/shadow /etc/gshadow /etc/login.defs etc/",
     'useradd --prefix "$PWD" -M bob', "silent", "It syncs each new file before it renames it, and keeps a backup."),
    ("ssh-keygen", "ssh-keygen", None, "ssh-keygen -q -t ed25519 -N '' -f key", "silent", "New files only, never synced."),
    ("gpg --import", "gpg", None,
     'export GNUPGHOME="$PWD/g"; mkdir -m 700 g; gpg --batch --quiet --passphrase "" --quick-gen-key a@b default default 0 2> /dev/null;'
     ' gpgconf --kill all', "any", "It writes its key box without a sync."),
    ("pip install", "pip3", "python3 wheel.py",
     'export HOME="$PWD"; pip3 install -q --no-index --no-compile --no-deps --target t pk-1-py3-none-any.whl 2> /dev/null', "silent",
     "New files only."),
    ("dpkg --root", "dpkg",
     DPKG,
     'dpkg --no-force-unsafe-io --force-not-root --force-script-chrootless --root="$PWD/root" --log=/dev/null -i pk.deb', "silent",
     "It syncs files and its database."),
    ("make", "make", "printf 'a.o: a.c\\n\\tgcc -c a.c\\n' > Makefile && echo 'int a;' > a.c", "make -s", "silent",
     "New files only; the sources stay."),
    ("gcc -o", "gcc", "echo 'int main(void) { return 0; }' > a.c", "gcc -o a a.c", "silent", "New files only."),
    ("sqlite3", "sqlite3", "sqlite3 d 'create table t(a); insert into t values(1)'",
     "for i in 2 3; do sqlite3 d \"insert into t values($i)\" && echo saved $i; done", "any",
     "Its rollback journal is removed without a sync of the directory: a transaction may come back undone."),
    ("sqlite3, synchronous=extra", "sqlite3", "sqlite3 d 'create table t(a); insert into t values(1)'",
     "for i in 2 3; do sqlite3 d \"pragma synchronous=extra; insert into t values($i)\" && echo saved $i; done", "silent",
     "It syncs the directory, too."),
    ("sqlite3, WAL", "sqlite3", "sqlite3 d 'pragma journal_mode=wal; create table t(a); insert into t values(1)' > /dev/null",
     "for i in 2 3; do sqlite3 d \"pragma synchronous=full; insert into t values($i)\" && echo saved $i; done", "silent",
     "It syncs its log before it says so."),
    ("sqlite3, synchronous=off", "sqlite3", "sqlite3 d 'create table t(a); insert into t values(1)'",
     "sqlite3 d 'pragma synchronous=off; with r(i) as (select 1 union all select i+1 from r limit 2000) insert into t select i from r'",
     "broken", "It never syncs, and its file is damaged."),
    ("python3 shelve", "python3", "python3 -c 'import shelve; shelve.open(\"s\")[\"a\"] = 1'",
     "python3 -c 'import shelve; d = shelve.open(\"s\"); d[\"b\"] = [2] * 2000; d.close()'", "any", "It never syncs."),
    ("dpkg --force-unsafe-io", "dpkg", DPKG,
     'dpkg --force-unsafe-io --force-not-root --force-script-chrootless --root="$PWD/root" --log=/dev/null -i pk.deb', "broken",
     "It renames files that it has not synced, and goes on to sync its database."),
    ("python3 dbm.dumb", "python3", "python3 -c 'import dbm.dumb; d = dbm.dumb.open(\"s\"); d[\"a\"] = b\"1\"; d.close()'",
     "python3 -c 'import dbm.dumb; d = dbm.dumb.open(\"s\"); d[\"b\"] = b\"2\"; d.close()'", "any",
     "It renames its index away and writes another, in steps, and never syncs."),
    ("python3 json.dump", "python3", "echo '{\"a\": 1}' > c.json",
     "python3 -c 'import json; json.dump({\"a\": 2}, open(\"c.json\", \"w\"))'", "broken",
     "It empties the only copy before it writes the new one."),
    ("python3 logging", "python3", "echo begin > app.log",
     "python3 -c 'import logging; logging.basicConfig(filename=\"app.log\"); [logging.warning(\"%d\", i) for i in range(50)]'",
     "silent", "It appends; any beginning of a log is one."),
    ("python3 temporary file", "python3", "echo '{\"a\": 1}' > c.json", "python3 save.py", "silent",
     "It syncs the new file, renames it, and syncs the directory."),
    ("python3 temporary file, unsynced", "python3", "echo '{\"a\": 1}' > c.json",
     "python3 -c 'import json, os; f = open(\"t\", \"w\"); json.dump({\"a\": [2] * 3000}, f); f.close(); os.rename(\"t\", \"c.json\")'",
     "any", "ext4 writes a file out before it replaces another; XFS and Btrfs may leave an empty one."),
    ("crontab", "crontab", "mkdir spool && echo '0 1 * * * true' > table",
     'unshare -m sh -c \'mount --bind "$PWD/spool" /var/spool/cron/crontabs && crontab table && crontab table\'', "any",
     "It syncs the new table, and renames it over the old one."),
    ("apt-get update", "apt-get",
     "mkdir -p repo state/lists/partial cache/archives/partial && : > state/status && printf 'Package: pk\\nVersion: 1\\nArchitecture: all\\n"
     "Filename: ./pk.deb\\nSize: 1\\nMD5sum: 0\\nDescription: d\\n\\n' > repo/Packages",
     'printf "deb [trusted=yes] copy:%s/repo ./\\n" "$PWD" > sources && apt-get -qq -o Dir::State="$PWD/state"'
     ' -o Dir::State::status="$PWD/state/status" -o Dir::Cache="$PWD/cache" -o Dir::Etc::sourcelist="$PWD/sources"'
     ' -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=root update 2> /dev/null', "silent", "New files only."),
    ("curl -o", "curl", None, "curl -sf -o got LOOPBACK/words", "silent", "A new file only, from a server on the loopback."),
    ("O_TMPFILE and link", "python3", None,
     "python3 -c 'import os; d0 = os.open(\"/\", 0); f = os.open(\".\", os.O_TMPFILE | os.O_RDWR, 0o600); os.write(f, b\"x\" * 9000); os.fsync(f);"
     " os.link(\"/proc/self/fd/%d\" % f, \"new\", src_dir_fd=d0, follow_symlinks=True); d = os.open(\".\", 0); os.fsync(d); print(\"saved\")'",
     "silent", "The file gets its name when it is durable."),
]


def explore(faultline, setup, workload, models=MODELS, budget=2000, systems=()):
    with tempfile.TemporaryDirectory() as scratch:
        report = os.path.join(scratch, "report.json")
        command = [faultline, "explore", "--workload", workload, "--budget", str(budget), "--json", report, "--explain-time", "5s"]
        for system in systems:
            command += ["--on", system]
        if models:
            command += ["--model", ",".join(models)]
        if setup:
            command += ["--setup", setup]
        done = subprocess.run(command, capture_output=True, text=True, cwd=scratch)
        if done.returncode not in (0, 1):
            return None, done.stdout[-600:] + done.stderr[-600:]
        with open(report) as file:
            return json.load(file)["cases"][0], done.stdout


@contextlib.contextmanager
def loopback():
    """A server of one file on the loopback; gives its address."""
    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "words"), "w") as file:
            file.writelines(f"{n}\n" for n in range(1, 4001))
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder)) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield "http://127.0.0.1:%d" % server.server_port
            server.shutdown()


def main():
    with loopback() as address:
        sys.exit(1 if explore_all(address) else 0)


def explore_all(address):
    """Explores all programs and prints the page; how many are not judged as they should be."""
    faultline = os.path.abspath(sys.argv[1])
    part = sys.argv[2] if len(sys.argv) > 2 else ""
    wrong = 0
    print("# Programs of Debian, judged without a checker\n")
    print("Made by `make judge-programs`. Each program runs once under each of three models; a cell says how many findings it has, and")
    print("how many warnings. [Judging without a checker](../reference/judging.md) has the rules. A program with findings runs on the")
    print("kernel's own file systems as well (`--on`), up to 300 states on each: which of them show an error, too, and why others do not.\n")
    print("| program | " + " | ".join(MODELS) + " | first finding | on the kernel's own | why |\n|---|" + "---|" * (len(MODELS) + 3))
    for name, needs, setup, workload, expected, why in PROGRAMS:
        if part not in name:
            continue
        if shutil.which(needs) is None:
            print(f"| {name} | " + "– | " * len(MODELS) + f"not installed |  | {why} |")
            continue
        if "save.py" in workload:
            setup = f"cat > save.py <<'END'\n{SAFE}save('c.json', {{'a': [2] * 3000}})\nprint('saved')\nEND\n" + setup
        workload = workload.replace("LOOPBACK", address)
        if "wheel.py" in (setup or ""):
            setup = f"cat > wheel.py <<'END'\n{WHEEL}END\n" + setup
        case, output = explore(faultline, setup, workload)
        if case is None:
            print(f"{name}: failed\n{output}", file=sys.stderr)
            wrong += 1
            continue
        cells, first = [], ""
        for exploration in case["explorations"]:
            findings = exploration["findings"]
            remarks = [r for r in exploration.get("remarks", []) if r["level"] == "warning"]
            warnings = f", {len(remarks)} warning" + ("s" if len(remarks) > 1 else "")
            text = str(len(findings)) + (warnings if remarks else "")
            cells.append(text)
            if findings and not first:
                first = findings[0]["headline"]
        count = sum(len(exploration["findings"]) for exploration in case["explorations"])
        isWrong = expected == "silent" and count > 0 or expected == "broken" and count == 0
        if isWrong:
            wrong += 1
            print(f"{name}: {count} findings, expected {expected}\n{output}", file=sys.stderr)
        systems = [SYSTEMS[e["model"]] for e in case["explorations"] if e["findings"]]
        own = reproduce(faultline, name, setup, workload, systems)
        print(f"| {name} | " + " | ".join(cells) + f" | {first.replace('|', '/')} | {own} | {why} |", flush=True)
    wrong += explore_small(faultline, part)
    return wrong + explore_reported(faultline, part)


# With ext4's own rule of thumb, which writes out what replaces a file, and without it.
VARIANTS = {"ext4": ["ext4", "ext4:noauto_da_alloc"]}
# Where the kernel was not brought to what a model allows.
FLUSHED = "the kernel writes out what was emptied when it is closed, and commits nothing before that"
REPLACED = "Btrfs begins to write a file when it replaces another, and commits nothing before that is done"
UNREPRODUCED = {
    "sort -o": FLUSHED,
    "ed": FLUSHED,
    "nano": "it syncs what it wrote, and the kernel commits nothing between emptying the file and that",
    "dpkg --force-unsafe-io": "it asks for the write-out before it renames (sync_file_range), and the next commit comes after that",
    "python3 json.dump": FLUSHED,
    "sed -i": REPLACED,
    "perl -i": REPLACED,
    "python3 temporary file, unsynced": REPLACED,
    "sqlite3, synchronous=off": "one transaction of the file system has all of its writes",
}


def reproduce(faultline, name, setup, workload, systems):
    """A cell: on which of the kernel's own file systems a program with findings has them, too, and why not on others."""
    seen, unseen = [], []
    for system in systems:
        for variant in VARIANTS.get(system, [system]):
            case, output = explore(faultline, setup, workload, (), 300, [variant])
            if case is None:
                print(f"{name} on {variant}: failed\n{output}", file=sys.stderr)
            elif any(exploration["findings"] for exploration in case["explorations"]):
                seen.append(variant)
                break
        else:
            unseen.append(system)
    cell = ", ".join(seen)
    if unseen:
        cell += ("; " if seen else "") + f"not {', '.join(unseen)}: " + UNREPRODUCED.get(name, "to be explained")
    return cell


SMALL_MODELS = MODELS + ["posix"]


def workload_of(folder, kind, source):
    """The command that runs a small program, whose file is in a folder of its own."""
    path = os.path.join(folder, f"program.{kind}")
    with open(path, "w") as file:
        file.write(source)
    if kind == "c":
        first = source.lstrip().splitlines()[0]
        libraries = first.split()[1:] if first.startswith("// -l") else []
        subprocess.run(["cc", "-O1", "-w", "-o", path + ".bin", path] + libraries, check=True)
        return path + ".bin"
    return f"{INTERPRETERS[kind]} {path}"


def explore_small(faultline, part):
    """All small programs, whole and with each sync left out; how many are not judged as they should be."""
    wrong = 0
    print("\n## Small programs\n")
    print("Each keeps data safe in a usual way, and is silent with all its syncs (`small.py` and the files that it names). Then each")
    print("sync is left out.")
    print("A cell says how many findings there are.\n")
    print("| program | left out | " + " | ".join(SMALL_MODELS) + " | first finding |\n|---|---|" + "---|" * (len(SMALL_MODELS) + 1))
    for name, (kind, setup, _) in small.SMALL.items():
        if part not in name:
            continue
        if shutil.which(INTERPRETERS[kind]) is None:
            print(f"| {name} | – | " + "– | " * len(SMALL_MODELS) + f"{INTERPRETERS[kind]} is not installed |")
            continue
        for without in [None] + (small.broken(name) if name in VARIED else []):
            with tempfile.TemporaryDirectory() as folder:
                case, output = explore(faultline, setup, workload_of(folder, kind, small.source(name, without)), SMALL_MODELS, 1000)
            if case is None:
                print(f"{name}, {without}: failed\n{output}", file=sys.stderr)
                wrong += 1
                continue
            counts = [len(exploration["findings"]) for exploration in case["explorations"]]
            findings = [finding["headline"] for exploration in case["explorations"] for finding in exploration["findings"]]
            unseen = small.UNSEEN.get(name, {}).get(without)
            first = findings[0] if findings else unseen or ""
            isWrong = bool(findings) if without is None else not findings and unseen is None
            if isWrong:
                wrong += 1
                print(f"{name}, without {without}: {counts}\n{output}", file=sys.stderr)
            print(f"| {name} | {without or '–'} | " + " | ".join(map(str, counts)) + f" | {first.replace('|', '/')} |", flush=True)
    return wrong


def explore_reported(faultline, part):
    """All programs with a reported fault; in how many of them nothing is found."""
    wrong = 0
    print("\n## Reported faults\n")
    print("Programs with faults that were reported of well-known ones, each written for this project (`reported.py`).\n")
    print("| program | reported | " + " | ".join(SMALL_MODELS) + " | first finding |\n|---|---|" + "---|" * (len(SMALL_MODELS) + 1))
    for name, (kind, setup, source, where) in reported.REPORTED.items():
        if part not in name:
            continue
        if shutil.which(INTERPRETERS[kind]) is None:
            print(f"| {name} | {where} | " + "– | " * len(SMALL_MODELS) + f"{INTERPRETERS[kind]} is not installed |")
            continue
        with tempfile.TemporaryDirectory() as folder:
            workload = workload_of(folder, kind, (small.PRELUDE if kind == "py" else "") + source)
            case, output = explore(faultline, setup, workload, SMALL_MODELS, 1000)
        if case is None:
            print(f"{name}: failed\n{output}", file=sys.stderr)
            wrong += 1
            continue
        counts = [len(exploration["findings"]) for exploration in case["explorations"]]
        findings = [finding["headline"] for exploration in case["explorations"] for finding in exploration["findings"]]
        unseen = reported.UNSEEN.get(name)
        if not findings and unseen is None:
            wrong += 1
            print(f"{name}: {counts}\n{output}", file=sys.stderr)
        first = findings[0] if findings else unseen or ""
        print(f"| {name} | {where} | " + " | ".join(map(str, counts)) + f" | {first.replace('|', '/')} |", flush=True)
    return wrong


main()
