"""peers.py: test-suites of others on FaultFS mounts and on ext4, case by case.

Usage: /usr/bin/python3 Tests/Peers/peers.py FAULTLINE [--suites NAME,…] [--mounts KIND,…] [--faults FILE] [--keep FILE]
(as root; make peers)
Each suite runs on a loop-mounted ext4, then on a FaultFS mount of each kind, each with a directory of its own. Cases that
come out otherwise than on ext4 have to stand in Tests/Peers/differences with the reason. Recordings are played again
(replay.py) and have to lead to the tree that the mount had.
Exit: 0 as expected; 1 a difference that is not named, a named one that is gone, or a recording that leads elsewhere;
2 usage; 3 something could not be built, fetched or mounted; 130 interrupted.
All of it happens in namespaces of their own for processes and mounts, which end with this program, however it ends.
"""


import argparse
import concurrent.futures
import ctypes
import dataclasses
import fnmatch
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import replay
import suites

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = os.path.join(HERE, "../../.build-peers")
# What a mount is begun with. The numbers seed which dirty pages are written back, and how often.
KINDS = {"ext4": None, "plain": [], "trace": ["--trace=TRACE"], "write-back": ["--trace=TRACE", "--write-back=7:16"]}
CLONE_NEWNS, CLONE_NEWPID, PR_SET_PDEATHSIG = 0x20000, 0x20000000, 1
libc = ctypes.CDLL(None, use_errno=True)


class LabFailure(Exception):
    """Something that the comparison needs did not work."""


def call(*command, **options):
    """Runs a command that has to succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise LabFailure(f"{' '.join(command)}: status {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


class Tools:
    """Programs that are built here; sources of Debian's packages are fetched once."""

    def __init__(self, scratch):
        self.sources = {}
        os.makedirs(BUILT, exist_ok=True)
        programs = f"{scratch}/programs"
        os.mkdir(programs)
        self.fsx, self.syscalls = f"{programs}/fsx", f"{programs}/test_syscalls"
        self.testfixture, self.sqlite_tests = f"{programs}/testfixture", f"{programs}/sqlite/test"
        call("cc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", self.fsx, f"{HERE}/fsx.c")

    def fetch(self, package):
        """The unpacked source of a Debian package, of the release that this machine has."""
        folder = os.path.realpath(f"{BUILT}/{package}")
        done = f"{folder}/version"
        if not os.path.exists(done):
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(f"{folder}/lists/partial")
            release = re.search(r"VERSION_CODENAME=(\w+)", open("/etc/os-release").read())[1]
            with open(f"{folder}/sources.list", "w") as file:
                file.write(f"deb-src http://deb.debian.org/debian {release} main\n")
            apt = ["apt-get", "-qq", "-o", f"Dir::Etc::SourceList={folder}/sources.list", "-o", "Dir::Etc::SourceParts=-",
                   "-o", f"Dir::State::Lists={folder}/lists", "-o", "Dir::Cache::srcpkgcache=", "-o",
                   "Dir::Cache::pkgcache=", "-o", "APT::Sandbox::User=root"]
            call(*apt, "update")
            call(*apt, "source", "--download-only", package, cwd=folder)
            archive, = [name for name in os.listdir(folder) if re.search(r"\.orig\.tar\.\w+$", name)]
            call("tar", "xf", archive, cwd=folder)
            shutil.rmtree(f"{folder}/lists")
            with open(done, "w") as file:
                file.write(re.search(r"_(.*)\.orig", archive)[1])
        self.sources[package] = open(done).read()
        return f"{folder}/{'fuse' if package == 'fuse3' else package}-{self.sources[package]}"

    def prepare(self, wanted):
        if "syscalls" in wanted:
            source = self.fetch("fuse3")
            with open(f"{os.path.dirname(self.syscalls)}/fuse_config.h", "w") as file:
                file.write("#define HAVE_COPY_FILE_RANGE 1\n#define HAVE_STRUCT_STAT_ST_ATIM 1\n")
            call("cc", "-O1", "-w", f"-I{os.path.dirname(self.syscalls)}", "-o", self.syscalls,
                 f"{source}/test/test_syscalls.c")
        if "sqlite" in wanted:
            source = self.fetch("sqlite3")
            build = f"{source}/build"
            if not os.path.exists(f"{build}/testfixture"):
                os.makedirs(build, exist_ok=True)
                call("../configure", "--enable-all", "--with-tcl=/usr/lib/tcl8.6", "CFLAGS=-O1", cwd=build)
                call("make", "-j2", "testfixture", cwd=build)
            # The tests run as a user who may not look into everybody's checkout.
            shutil.copy(f"{build}/testfixture", self.testfixture)
            shutil.copytree(f"{source}/test", self.sqlite_tests)


class Place:
    """One mounted directory for one suite, and the programs that run there."""

    numbers = iter(range(1, 10000))

    def __init__(self, kind, arguments, scratch, cap):
        self.kind, self.name = kind, f"place-{next(Place.numbers)}"
        self.faultline = os.path.realpath(arguments.faultline)
        self.options = [f"--faults={os.path.realpath(arguments.faults)}"] if arguments.faults else []
        self.home = f"{scratch}/{self.name}"
        self.path, self.trace, self.log = f"{self.home}/mount", f"{self.home}/trace", f"{self.home}/log"
        self.end = time.monotonic() + cap
        self.daemon = None
        os.makedirs(self.path)

    def __enter__(self):
        if self.kind == "ext4":
            image = f"{self.home}/image"
            with open(image, "wb") as file:
                file.truncate(8 << 30)
            call("mkfs.ext4", "-q", "-E", "lazy_itable_init=1,lazy_journal_init=1", image)
            call("mount", "-o", "loop", image, self.path)
            os.rmdir(f"{self.path}/lost+found")
        else:
            options = [word.replace("TRACE", self.trace) for word in KINDS[self.kind]] + self.options
            with open(self.log, "w") as log:
                self.daemon = subprocess.Popen([self.faultline, "mount", self.path, *options], stdout=log,
                                               stderr=log, start_new_session=True)
            for _ in range(200):
                if os.path.ismount(self.path):
                    break
                time.sleep(0.05)
            else:
                raise LabFailure(f"no mount within 10 s: {open(self.log).read()}")
        os.chmod(self.path, 0o755)
        return self

    def __exit__(self, *error):
        self.kill_programs()
        if self.kind == "ext4":
            call("umount", self.path)
        else:
            self.daemon.send_signal(signal.SIGINT)
            status = self.daemon.wait(timeout=120)
            if status not in (0, 130) and error[0] is None:
                raise LabFailure(f"faultline mount ended with {status}: {open(self.log).read()}")
        return False

    def folder(self, name, owner=0):
        path = f"{self.path}/{name}"
        os.makedirs(path)
        os.chown(path, owner, owner)
        return path

    def beside(self, name):
        return f"{self.home}/{name}"

    def run(self, command, cwd=None, user=None, cap=None, environment=None):
        """Status and output of a program; the status is None when its time, or that of the suite, was up."""
        seconds = max(0.0, self.end - time.monotonic())
        if cap is not None:
            seconds = min(seconds, cap)
        values = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": self.path, "PEERS_PLACE": self.name}
        with tempfile.TemporaryFile(dir=self.home) as output:
            program = subprocess.Popen(
                command, cwd=cwd or self.path, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                env=values | (environment or {}), start_new_session=True, user=user, group=user,
                extra_groups=None if user is None else [])
            try:
                status = program.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                status = None
            self.kill_programs()
            program.wait()
            output.seek(0)
            return status, output.read().decode(errors="replace")

    def kill_programs(self):
        """Ends what was started here, whatever group it is in."""
        mark = f"PEERS_PLACE={self.name}".encode()
        for _ in range(50):
            living = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self.is_marked(pid, mark)]
            if not living:
                return
            for pid in living:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.02)

    @staticmethod
    def is_marked(pid, mark):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                return mark in file.read().split(b"\0")
        except OSError:
            return False


@dataclasses.dataclass
class Result:
    """What one suite did in one place."""

    cases: dict
    seconds: float
    replay_seconds: float = 0
    replayed: str = ""
    complaint: str = ""


@dataclasses.dataclass
class Difference:
    """A line of the file `differences`."""

    suite: str
    kinds: list
    case: str
    here: str
    ext4: str
    reason: str
    line: int

    def covers(self, suite, kind, case, here, ext4):
        pattern = re.escape(self.case).replace(r"\*", ".*")
        return (suite == self.suite and kind in self.kinds and (here, ext4) == (self.here, self.ext4)
                and re.fullmatch(pattern, case) is not None)


def named_differences():
    found = []
    for number, line in enumerate(open(f"{HERE}/differences"), 1):
        fields = line.split(None, 5)
        if not fields or line.startswith("#"):
            continue
        if len(fields) < 6:
            raise LabFailure(f"differences:{number}: suite, mounts, case, outcome here, outcome on ext4, reason")
        kinds = [k for k in KINDS if k != "ext4"] if fields[1] == "all" else fields[1].split(",")
        found.append(Difference(fields[0], kinds, *fields[2:5], fields[5].strip(), number))
    return found


def run_suite(suite, kind, tools, arguments, scratch):
    """One suite in one place of its own."""
    begin = time.monotonic()
    place = Place(kind, arguments, scratch, suite.cap_seconds)
    result = Result({}, 0)
    there = None
    with place:
        result.cases = suite.run(place, tools)
        if hasattr(suite, "self_test") and not suite.self_test(place, tools):
            result.complaint = f"{suite.name} on {kind} does not find the byte that its self-test plants"
        if kind in ("trace", "write-back"):
            call("sync", "-f", place.path)
            there = replay.mounted(place.path)
    replay_begin = time.monotonic()
    if there is not None:
        recording = replay.Replay(place.trace)
        try:
            count = recording.play()
            wrong = replay.difference(recording.tree(), there)
        except replay.Mismatch as mismatch:
            count, wrong = recording.operations, str(mismatch)
        result.replayed = f"{count:,}"
        if wrong:
            result.complaint = f"{suite.name} on {kind}: the recording does not lead to the tree: {wrong}"
    shutil.rmtree(place.home, ignore_errors=True)
    result.seconds, result.replay_seconds = replay_begin - begin, time.monotonic() - replay_begin
    return result


def compare(suite, kind, here, ext4, named, used):
    """The cases that differ from ext4, and which of them nobody has named."""
    differing, unnamed = 0, []
    for case in sorted(here.keys() | ext4.keys()):
        one, other = (side.get(case, ("missing", "")) for side in (here, ext4))
        if one[0] == other[0]:
            continue
        differing += 1
        cover = next((n for n in named if n.covers(suite, kind, case, one[0], other[0])), None)
        if cover:
            used.add((cover.line, kind))
        else:
            unnamed.append(f"{suite} {kind} {case} {one[0]} {other[0]}\n{one[1] or other[1]}")
    return differing, unnamed


def report(chosen, kinds, tools, results, named):
    """Prints the table; returns what is wrong."""
    wrong, used = [], set()
    print("| suite | version | mount | cases | passed | passed on ext4 | skipped | differ | events replayed | seconds |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for suite in chosen:
        reference = results[suite.name, "ext4"]
        on_ext4 = sum(outcome == "passed" for outcome, _ in reference.cases.values())
        for kind in kinds:
            result = results[suite.name, kind]
            if result.complaint:
                wrong.append(result.complaint)
            if kind == "ext4":
                if on_ext4 == 0:
                    wrong.append(f"{suite.name}: nothing passed on ext4\n{list(reference.cases.items())[:3]}")
                continue
            differing, unnamed = compare(suite.name, kind, result.cases, reference.cases, named, used)
            wrong += unnamed
            passed = sum(outcome == "passed" for outcome, _ in result.cases.values())
            skipped = sum(outcome == "skipped" for outcome, _ in result.cases.values())
            print(f"| {suite.name} | {suite.version(tools)} | {kind} | {len(result.cases):,} | {passed:,} | {on_ext4:,} "
                  f"| {skipped:,} | {differing:,} | {result.replayed or '–'} | {result.seconds:.0f} |")
    names = [suite.name for suite in chosen]
    for difference in named:
        gone = [k for k in difference.kinds if k in kinds and (difference.line, k) not in used]
        if difference.suite in names and gone:
            wrong.append(f"differences:{difference.line}: {difference.suite} {difference.case} does not differ so "
                         f"on {', '.join(gone)} any more; take the line out")
    return wrong


def main_inside(arguments, scratch):
    chosen = [s for s in suites.SUITES if arguments.suites is None or s.name in arguments.suites]
    named = named_differences()
    tools = Tools(scratch)
    tools.prepare([suite.name for suite in chosen])
    results, lock = {}, threading.Lock()

    def work(item):
        suite, kind = item
        result = run_suite(suite, kind, tools, arguments, scratch)
        with lock:
            results[suite.name, kind] = result
            print(f"{suite.name} on {kind}: {len(result.cases)} cases in {result.seconds:.0f} s, replayed in {result.replay_seconds:.0f} s", flush=True)

    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(arguments.side_by_side) as pool:
        for future in [pool.submit(work, (suite, kind)) for suite in chosen for kind in arguments.mounts]:
            future.result()
    print()
    wrong = report(chosen, arguments.mounts, tools, results, named)
    print()
    if arguments.keep:
        with open(arguments.keep, "w") as file:
            for (suite, kind), result in sorted(results.items()):
                for case, (outcome, detail) in sorted(result.cases.items()):
                    file.write(f"{suite} {kind} {case} {outcome} {detail!r}\n")
    for line in wrong:
        print("WRONG", line)
    print(f"{len(wrong)} wrong, {time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


def inside(arguments, scratch):
    """Process 1 of its namespace: when it ends, the kernel ends all others and takes the mounts away."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: os._exit(130))
    try:
        if libc.unshare(CLONE_NEWNS) != 0:
            raise LabFailure(f"unshare: {os.strerror(ctypes.get_errno())}")
        call("mount", "--make-rprivate", "/")
        call("mount", "-t", "proc", "proc", "/proc")
        return main_inside(arguments, scratch)
    except LabFailure as failure:
        print(f"peers: {failure}", file=sys.stderr)
        return 3


def main():
    parser = argparse.ArgumentParser(description="Test-suites of others on FaultFS mounts and on ext4.")
    parser.add_argument("faultline")
    parser.add_argument("--suites", type=lambda text: text.split(","), help="only these: " + ", ".join(
        suite.name for suite in suites.SUITES))
    parser.add_argument("--mounts", type=lambda text: ["ext4", *text.split(",")], default=list(KINDS),
                        help="only these FaultFS mounts: plain, trace, write-back")
    parser.add_argument("--faults", help="begin each FaultFS mount with these fault rules: a self-test, which must fail")
    parser.add_argument("--side-by-side", type=int, default=2, help="how many suites run at a time")
    parser.add_argument("--keep", help="write each case's outcome on each mount to this file")
    arguments = parser.parse_args()
    unknown = set(arguments.suites or []) - {suite.name for suite in suites.SUITES} | set(arguments.mounts) - set(KINDS)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    if os.geteuid() != 0:
        print("peers: loop devices and namespaces need root: sudo make peers", file=sys.stderr)
        return 2
    scratch = tempfile.mkdtemp(prefix="faultline-peers-", dir=os.environ.get("FAULTLINE_SCRATCH", "/var/tmp"))
    os.chmod(scratch, 0o755)
    os.environ["FAULTLINE_SCRATCH"] = scratch
    try:
        if libc.unshare(CLONE_NEWPID) != 0:
            print(f"peers: unshare: {os.strerror(ctypes.get_errno())}", file=sys.stderr)
            return 3
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            status = 3
            try:
                status = inside(arguments, scratch)
            except SystemExit as exit:
                status = exit.code
            except BaseException:
                import traceback
                traceback.print_exc()
            sys.stdout.flush()
            os._exit(status)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda n, _: os.kill(child, n))
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 130
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
