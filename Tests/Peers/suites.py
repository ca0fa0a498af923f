"""suites.py: the test-suites of others, how each is run on a directory, and what its output says of each case.

Every `run` gets a Place (peers.py) and returns {case: (outcome, detail)}. Outcomes: passed, failed, skipped, late (its time
was up), missing (the suite did not come to it). Case names have no spaces.
"""

import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree

NOBODY = 65534


def version_of(*command):
    """The first number with a dot that a program says."""
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    return re.search(r"\d+\.[\d.]*\d", said.stdout + said.stderr)[0]


def unspaced(text):
    return re.sub(r"\s+", "_", text.strip())


def outcome_of(status):
    return {0: "passed", None: "late"}.get(status, "failed")


class Fsx:
    """Tests/Peers/fsx.c: one file against a model in memory."""

    name, cap_seconds = "fsx", 60

    def version(self, tools):
        return "own"

    def run(self, place, tools):
        cases = {}
        for mode in ("", "-d", "-x"):
            for seed in range(1, 5):
                case = f"{ {'': 'cached', '-d': 'direct', '-x': 'mixed'}[mode]}-{seed}"
                command = [tools.fsx, "-s", str(seed), "-n", "4000", *mode.split(), f"{place.path}/{case}"]
                status, output = place.run(command)
                cases[case] = (outcome_of(status), output[-2000:])
        return cases

    def self_test(self, place, tools):
        """A byte that is changed behind the model's back has to be found, in the operation that says so."""
        status, output = place.run([tools.fsx, "-n", "400", "-c", "400", f"{place.path}/planted"])
        return status == 1 and "DIFFERS whole file" in output and "again: fsx -s 1 -n 400 " in output


class Syscalls:
    """libfuse's test_syscalls, as root and as another user."""

    name, cap_seconds = "syscalls", 60

    def version(self, tools):
        return tools.sources["fuse3"]

    def run(self, place, tools):
        cases = {}
        for user in ("root", "user"):
            folder = place.folder(user, 0 if user == "root" else NOBODY)
            status, output = place.run([tools.syscalls, folder], user=None if user == "root" else NOBODY)
            at = None
            for line in output.splitlines():
                if found := re.match(r"\s*\d+ \[(.*?)\](.*)", line):
                    at = f"{user}:{unspaced(found[1])}"
                    cases[at] = ("passed" if found[2].strip() == "OK" else "failed", line)
                elif at and not line.endswith("tests failed"):
                    cases[at] = ("failed", f"{cases[at][1]}\n{line}")
            cases[f"{user}:(all)"] = (outcome_of(status), output[-500:])
        return cases


class StressNG:
    """The stressors of files and file systems, each with --verify and few operations."""

    name, cap_seconds = "stress-ng", 150
    # Of the class filesystem all but what is not about the file system below (binderfs, eventfd, ioprio, procfs) and
    # bind-mount, which does not run as root.
    names = (
        "access chattr chdir chmod chown copy-file dentry dir dirdeep dirmany dnotify dup fallocate fanotify "
        "fcntl fiemap file-ioctl filename flock fpunch fsize fstat getdent handle hdd inode-flags inotify io iomix lease "
        "link locka lockf lockofd mknod open rename symlink sync-file touch utime verity xattr "
        "aio aiol io-uring mmap msync readahead revio seek sendfile fault rmap mincore madvise fifo").split()
    options = {
        "hdd": "--hdd-bytes 4m", "fallocate": "--fallocate-bytes 4m", "iomix": "--iomix-bytes 4m",
        "copy-file": "--copy-file-bytes 128m", "sync-file": "--sync-file-bytes 4m", "readahead": "--readahead-bytes 4m",
        "seek": "--seek-size 4m", "mmap": "--mmap-file --mmap-bytes 4m", "msync": "--msync-bytes 4m",
        "revio": "--revio-bytes 4m", "sendfile": "--sendfile-size 1m",
    }

    def version(self, tools):
        return version_of("stress-ng", "--version")

    def run(self, place, tools):
        return {name: self.stress(name, place) for name in self.names}

    def stress(self, name, place):
        """Status 3 and 4: the kernel or the file system has not what the stressor is about."""
        folder = place.folder(name)
        command = ["stress-ng", f"--{name}", "1", f"--{name}-ops", "50", "--timeout", "2", "--verify", "--no-rand-seed",
                   "--temp-path", folder, *self.options.get(name, "").split()]
        status, output = place.run(command, cap=20)
        said = [line for line in output.splitlines() if re.search(r"fail:|error:|skipp|unsuccessful|not supported|unimpl", line)]
        text = "\n".join(said[:8])
        if status in (3, 4) or (status == 0 and "skipp" in text):
            return "skipped", text
        return outcome_of(status), text or output[-400:]


class Fio:
    """Random writes by each engine, read again and verified by their checksums."""

    name, cap_seconds = "fio", 90
    engines = {
        "sync": "01", "psync": "01", "vsync": "01", "pvsync2": "01", "libaio": "01", "io_uring": "01", "posixaio": "0",
        "mmap": "0", "splice": "0",
    }

    def version(self, tools):
        return version_of("fio", "--version")

    def run(self, place, tools):
        cases = {}
        for engine, direct in self.engines.items():
            for flag in direct:
                for pattern in ("randwrite", "randrw"):
                    case = f"{engine}-{'direct' if flag == '1' else 'cached'}-{pattern}"
                    command = [
                        "fio", f"--name={case}", f"--directory={place.path}", f"--ioengine={engine}", f"--direct={flag}",
                        f"--rw={pattern}", "--bs=4k", "--size=2m", "--iodepth=8", "--verify=crc32c", "--verify_fatal=1",
                        "--randseed=7", "--allrandrepeat=1", "--fsync=64", "--minimal",
                    ]
                    status, output = place.run(command, cap=30)
                    cases[case] = (outcome_of(status), output[-800:])
        for engine in ("filecreate", "filestat", "filedelete", "ftruncate", "falloc"):
            size = "--size=2m --bs=64k" if engine in ("ftruncate", "falloc") else "--nrfiles=50 --filesize=4k"
            command = ["fio", f"--name={engine}", f"--directory={place.path}", f"--ioengine={engine}", "--rw=write",
                       "--fallocate=none", "--minimal", *size.split()]
            status, output = place.run(command, cap=30)
            cases[engine] = (outcome_of(status), output[-800:])
        return cases


class Python:
    """The modules of CPython's own tests that work on files, as Debian ships them."""

    name, cap_seconds = "python", 150
    modules = (
        "test_os test_posix test_io test_shutil test_tempfile test_mmap test_fileio test_file test_largefile test_glob "
        "test_pathlib test_zipfile test_dbm test_dbm_dumb test_dbm_gnu test_dbm_ndbm test_tarfile test_filecmp test_fcntl "
        "test_fileinput test_bufio test_posixpath test_genericpath test_mailbox test_gzip test_import test_zipimport "
        "test_file_eintr test_stat").split()
    # Signals of the interpreter for half a minute; files of 2.5 GB twice; compressors.
    left_out = ("*SignalsTest*", "test.test_largefile.TestCopyfile.*", "test.test_largefile.TestSocketSendfile.*",
                "test.test_zipfile.Lzma*", "test.test_zipfile.Bzip2*")

    def version(self, tools):
        return version_of("/usr/bin/python3", "--version")

    def run(self, place, tools):
        report = place.beside("python.xml")
        folder = place.folder("tmp")
        left_out = [word for pattern in self.left_out for word in ("--ignore", pattern)]
        command = ["/usr/bin/python3", "-m", "test", "-j2", "--timeout", "60", "--junit-xml", report, "--tempdir", folder,
                   *left_out, *self.modules]
        status, output = place.run(command, environment={"TMPDIR": folder, "HOME": folder})
        if not os.path.exists(report):
            return {"(all)": (outcome_of(status), output[-2000:])}
        cases = {}
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            name = unspaced(case.get("name").removeprefix("test."))
            inside = [child for child in case if child.tag in ("failure", "error", "skipped")]
            outcome = "passed"
            if inside:
                outcome = "skipped" if all(child.tag == "skipped" for child in inside) else "failed"
            # What a case does in parts may come several times; the worst counts.
            detail = "\n".join((child.text or child.get("message") or "")[-1500:] for child in inside)
            if name not in cases or outcome == "failed":
                cases[name] = (outcome, detail)
        return cases


class SQLite:
    """SQLite's own tests in Tcl, from Debian's source package; they refuse to run as root."""

    name, cap_seconds = "sqlite", 150
    files = (
        "attach attach2 attach3 backup2 busy chunksize cffault crashM delete_db e_uri "
        "e_walckpt e_walhook exclusive exclusive2 external_reader filectrl incrvacuum incrvacuum2 incrvacuum3 io journal1 "
        "journal2 journal3 jrnlmode jrnlmode2 jrnlmode3 lock lock2 lock3 lock4 lock5 lock6 lock7 manydb mmap1 mmap2 mmap3 "
        "multiplex multiplex2 nolock pager1 pager3 pager4 pageropt rollback rollback2 "
        "rollbackfault savepoint savepoint5 savepoint7 shared shared2 shared3 shared4 sharedlock "
        "snapshot snapshot2 subjournal superlock symlink symlink2 sync sync2 syscall tempdb tempdb2 "
        "unixexcl vacuum vacuum2 vacuum-into wal wal2 wal4 wal5 wal6 wal7 wal8 wal9 walbak walbig walblock "
        "walcksum walhook walmode walnoshm waloverwrite walpersist walro walro2 walshared "
        "zerodamage").split()

    def version(self, tools):
        return tools.sources["sqlite3"]

    def run(self, place, tools):
        cases = {}
        for name in self.files:
            cases |= self.file(name, place, tools)
        return cases

    def file(self, name, place, tools):
        folder = place.folder(name, NOBODY)
        status, output = place.run([tools.testfixture, f"{tools.sqlite_tests}/{name}.test"], cwd=folder, user=NOBODY, cap=60)
        cases, wrong = {}, {}
        for line in output.splitlines():
            if found := re.match(r"! (\S+) (expected|got): +(.*)", line):
                wrong.setdefault(found[1], []).append(line[:500])
        for found in re.finditer(r"^(\S+)\.\.\.( Ok| Omitted)?", output, re.MULTILINE):
            case, count = f"{name}:{found[1]}", 2
            while case in cases:
                case, count = f"{name}:{found[1]}#{count}", count + 1
            outcome = {" Ok": "passed", " Omitted": "skipped"}.get(found[2], "failed")
            cases[case] = (outcome, "\n".join(wrong.get(found[1], [])))
        cases[f"{name}:(all)"] = (outcome_of(status), output[-600:])
        return cases


SUITES = [Fsx(), Syscalls(), Fio(), StressNG(), Python(), SQLite()]
