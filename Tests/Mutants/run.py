"""run.py: makes a copy of the tree with many small bugs in it, each off, builds it once, and switches one after another on.

For each mutant, the suites and scenarios whose processes reach it run, nearest first, until one is red. A mutant that nothing
reaches, or that nothing finds, has survived: a test is missing, or equivalents.txt says why none can find it.

Usage: run.py [--seed N] [--count N] [--folders "A B"] [--jobs N] [--seconds N] [--least N] [--only "N N"]
              [--again | --longer | --changed [--suites "A B"]] [--as-built] [--by-scenarios] [--near "A B"] [--kinds "A,B"]
              (make mutation)
Seed 1 takes the mutants in drawn.txt, as long as their text stands, so that its table keeps its meaning; another seed draws anew.
  --count    mutants in each folder
  --least    the percent of those not equivalent that must be found; with fewer the exit status is 1
  --seconds  the suites and scenarios that one mutant gets may take so long, undisturbed; the nearest come first
  --again    go on with the copy and the results that are there: only mutants without a result, or those of --only, run
  --longer   as --again, for the mutants that survived: they get so many seconds more, of what has not run for them
  --changed  as --again, after tests were added: what each suite reaches is recorded again, and the mutants that survived run
  --suites   with --changed: only these (`EngineTests.SpanTests …`) are recorded again, and run
  --as-built       the copy is taken as it is: nothing is copied into it, and it is not built
  --by-scenarios   the engine's mutants are judged by the shipped scenarios alone, each with a budget of 250 states
  --kinds          only mutants of these kinds are drawn: "comparison flipped", "bound moved" … as the list has them
  --near           only the suites of these test targets run, and only what they need is built: minutes for a layer of few needs
Needs root (the copy is mounted over the tree, so that a build that is there serves) and what the tests need.
Everything is in .build-mutation: list.json, checks.json, results.jsonl, table.md.
"""
import argparse
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WORK = os.path.join(ROOT, ".build-mutation")
COPY = os.path.join(WORK, "tree")
FOLDERS = "Sources/Engine Sources/CrashSim/CrashStates Sources/CrashSim/FaultFS Sources/CrashSim/Oracles"
# Targets, and suites of others.
NEAR = "EngineTests CrashSimTests ScenarioTests CommandTests.WriteBackTests SyncCoreTests SyncWorldTests"
SHIPPED = "scenarios"
HISTORIES = SHIPPED + "/histories"
SLOW = re.compile(r"^tags:.*\bslow\b", re.M)
RED = re.compile(r"✘ Test .* recorded an issue|✘ Test .* failed after")
# Everything that a run leaves is in its own namespaces: when its first process dies, so do the others, and their mounts go.
ENTER = ["unshare", "-m", "-p", "--fork", "--kill-child=KILL", "--mount-proc", "sh", "-c"]
MOUNTS = 'mount --bind "$0" "$1" && mount -t tmpfs tmpfs /dev/shm && cd "$1" && shift && exec "$@"'

parser = argparse.ArgumentParser(add_help=True, usage=__doc__)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--count", type=int, default=90)
parser.add_argument("--folders", default=FOLDERS)
parser.add_argument("--jobs", type=int, default=os.cpu_count())
parser.add_argument("--seconds", type=float, default=60)
parser.add_argument("--again", action="store_true")
parser.add_argument("--changed", action="store_true")
parser.add_argument("--longer", action="store_true")
parser.add_argument("--suites", default="")
parser.add_argument("--as-built", action="store_true")
parser.add_argument("--by-scenarios", action="store_true")
parser.add_argument("--near", default="")
parser.add_argument("--kinds", default="-")
parser.add_argument("--least", type=float, default=100)
parser.add_argument("--only", default="")
options = parser.parse_args()
scratch = tempfile.mkdtemp(prefix="mu")
children = set()
children_lock = threading.Lock()
stopping = threading.Event()


class Ended(Exception):
    """A signal asks the run to end."""


def end(number, frame):
    raise Ended(number)


def path(name):
    return os.path.join(WORK, name)


def load(name):
    with open(path(name)) as file:
        return json.load(file)


def save(name, value):
    with open(path(name) + ".new", "w") as file:
        json.dump(value, file, indent=1)
    os.replace(path(name) + ".new", path(name))


def kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run(command, limit, environment=None, until=None):
    """Runs a command in the copy. Returns its status (None: killed at the limit), the line that `until` met, and its lines."""
    if stopping.is_set():
        raise Ended()
    folder = tempfile.mkdtemp(dir=scratch)
    values = dict(os.environ, FAULTLINE_OPTIMIZED="1", TMPDIR=folder, FAULTLINE_SCRATCH=folder, **(environment or {}))
    if options.near:
        values["FAULTLINE_ONLY"] = options.near
    process = subprocess.Popen(
        ENTER + [MOUNTS, COPY, ROOT] + command, env=values, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True)
    with children_lock:
        children.add(process)
    late = threading.Event()

    def stop():
        late.set()
        kill(process)

    timer = threading.Timer(limit, stop)
    timer.start()
    lines, met = [], None
    try:
        for raw in process.stdout:
            line = clean(raw.decode(errors="replace"))
            lines.append(line)
            if until is not None and until.search(line):
                met = line
                break
    finally:
        timer.cancel()
        if met is not None:
            kill(process)
        process.stdout.close()
        status = process.wait()
        kill(process)
        with children_lock:
            children.discard(process)
        shutil.rmtree(folder, ignore_errors=True)
    if stopping.is_set():
        raise Ended()
    return (None if late.is_set() else status), met, lines


def clean(line):
    """Without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", line).strip()


def say(text):
    print(text, flush=True)


def tool(without):
    scratch_path = os.path.join(ROOT, ".build", "mutation", "tool")
    subprocess.run(
        ["swift", "build", "-q", "--package-path", HERE, "--scratch-path", scratch_path], check=True)
    words = [os.path.join(scratch_path, "debug", "mutants"), ROOT, COPY, path("list.json"), str(options.seed), str(options.count)]
    is_kept = options.seed == 1 and set(options.folders.split()) <= set(FOLDERS.split())
    words += [",".join(map(str, sorted(without))) or "-", os.path.join(HERE, "drawn.txt") if is_kept else "-"]
    words += [options.kinds]
    subprocess.run(words + options.folders.split(), check=True)


def sources():
    names = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True, capture_output=True)
    return [name for name in names.stdout.decode().split("\0") if name and os.path.isfile(os.path.join(ROOT, name))]


def copy_file(name):
    """Leaves a file alone that is the same already, so that nothing is built again for it."""
    source, target = os.path.join(ROOT, name), os.path.join(COPY, name)
    with open(source, "rb") as file:
        content = file.read()
    if os.path.isfile(target):
        with open(target, "rb") as file:
            if file.read() == content:
                return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copy2(source, target)


def make_copy():
    """The tree's files and its build, if it has one, with the switch in CSystem and nothing mutated yet."""
    shutil.rmtree(COPY, ignore_errors=True)
    os.makedirs(COPY)
    for name in sources():
        copy_file(name)
    shutil.copytree(os.path.join(ROOT, ".git"), os.path.join(COPY, ".git"), symlinks=True)
    if os.path.isdir(os.path.join(ROOT, ".build")) and not options.near:
        # Times stay, or everything would be built again.
        subprocess.run(["cp", "-a", os.path.join(ROOT, ".build"), os.path.join(COPY, ".build")], check=True)
        shutil.rmtree(os.path.join(COPY, ".build", "mutation"), ignore_errors=True)
    system = os.path.join(COPY, "Sources", "CSystem")
    shutil.copy2(os.path.join(HERE, "Mutants.c"), system)
    shutil.copy2(os.path.join(HERE, "Mutants.h"), os.path.join(system, "include"))
    with open(os.path.join(system, "include", "CSystem.h"), "a") as header:
        header.write('#include "Mutants.h"\n')
    package = os.path.join(COPY, "Package.swift")
    with open(package) as file:
        text = file.read()
    text = re.sub(r'(name: "Oracles",\s*dependencies: \[)', r'\1 "CSystem",', text)
    text = text.replace('(name: "SyncCore", swift', '(name: "SyncCore", dependencies: ["CSystem"], swift')
    with open(package, "w") as file:
        file.write(text)


def build_checked():
    status, _, lines = run(["swift", "build", "--build-tests"], 7200)
    return status == 0, lines


def build():
    """Builds the copy, and leaves mutants out that do not compile, until it does."""
    without = set(load("left-out.json")) if os.path.exists(path("left-out.json")) else set()
    while True:
        tool(without)
        held, lines = build_checked()
        if held:
            return
        errors = {}
        for line in lines:
            match = re.match(re.escape(ROOT) + r"/(.*?):(\d+):\d+: error: (.*)", line)
            if match:
                errors[match.group(1), int(match.group(2))] = match.group(3)
        bad = set()
        for mutant in load("list.json"):
            for (name, line), words in errors.items():
                if name == mutant["file"] and mutant["written"][0] <= line <= mutant["written"][1]:
                    bad.add(mutant["number"])
        if not bad:
            # An error beside a mutant, as of a variable that nothing assigns any more: those of the same function.
            for mutant in load("list.json"):
                if any(name == mutant["file"] and abs(line - mutant["written"][0]) < 60 for name, line in errors):
                    bad.add(mutant["number"])
        if not bad:
            sys.exit("\n".join(lines[-40:]) + "\nthe copy does not build, and no mutant is near the error")
        without |= bad
        save("left-out.json", sorted(without))
        say(f"left out, since they do not compile: {' '.join(map(str, sorted(bad)))}")


def bundle():
    return os.path.join(".build", "debug", "faultlinePackageTests.xctest")


def command(names):
    """The command that runs suites, or one scenario."""
    if names[0].startswith("scenarios/"):
        return [os.path.join(".build", "debug", "faultline"), "run", names[0], "--budget", "250"]
    pattern = "|".join("^" + re.escape(name) + "[/.]" for name in names)
    return [bundle(), "--testing-library", "swift-testing", "--no-parallel", "--filter", pattern]


def all_checks():
    _, _, lines = run([bundle(), "--testing-library", "swift-testing", "--list-tests"], 120)
    near = set((options.near or NEAR).split())
    suites = {line.split("/")[0] for line in lines if "/" in line}
    names = {suite for suite in suites if suite in near or suite.split(".")[0] in near}
    return sorted(names) + ([] if options.near else scenarios(HISTORIES))


def scenarios(below, slow=False):
    """The scenarios below a folder; those that are slow only if asked for."""
    names = []
    for folder, _, files in os.walk(os.path.join(COPY, below)):
        for name in files:
            file_path = os.path.join(folder, name)
            with open(file_path) as file:
                if name.endswith(".yaml") and (slow or not SLOW.search(file.read())):
                    names.append(os.path.relpath(file_path, COPY))
    return sorted(names)


def side_by_side(items, work):
    """Calls `work` for each item on as many threads as there are jobs; ends when a signal comes."""
    rest = collections.deque(items)
    failures = []

    def loop():
        while rest and not failures:
            try:
                item = rest.popleft()
            except IndexError:
                return
            try:
                work(item)
            except BaseException as error:  # The main thread ends the run with it.
                failures.append(error)

    threads = [threading.Thread(target=loop, daemon=True) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.2)
    if failures:
        raise failures[0]


def look(names, checks, kept="checks.json"):
    """Runs each check undisturbed, and keeps its seconds and what it reaches."""
    def one(name):
        handle, reached = tempfile.mkstemp(dir=scratch)
        os.truncate(handle, 16384)
        os.close(handle)
        start = time.monotonic()
        status, _, _ = run(command([name]), 900, {"FAULTLINE_MUTANTS_REACHED": reached})
        seconds = time.monotonic() - start
        with open(reached, "rb") as file:
            numbers = [number for number, byte in enumerate(file.read()) if byte]
        os.remove(reached)
        checks[name] = {"seconds": round(seconds, 2), "held": status == 0, "reached": numbers}
        say(f"{name}: {seconds:.1f} s, reaches {len(numbers)}" + ("" if status == 0 else "; red without any mutant, left out"))
        save(kept, checks)
    side_by_side(names, one)


def batches(number, checks, ran):
    """What runs for a mutant beside what ran, in processes of more and more seconds; each scenario alone.

    A suite that is short, or that reaches few mutants, is near: whoever looks at few things looks at them closely.
    """
    near = sorted(
        (max(check["seconds"], 0.05) * len(check["reached"]), name) for name, check in checks.items()
        if check["held"] and number in check["reached"] and name not in ran)
    result, batch, total, batch_seconds, limit = [], [], 0.0, 0.0, 3.0
    for _, name in near:
        seconds = checks[name]["seconds"]
        if total + seconds > options.seconds and result + batch:
            break
        total += seconds
        if name.startswith("scenarios/"):
            result.append(([name], seconds))
            continue
        batch.append(name)
        batch_seconds += seconds
        if batch_seconds > limit:
            result.append((batch, batch_seconds))
            batch, batch_seconds, limit = [], 0.0, limit * 2
    if batch:
        result.append((batch, batch_seconds))
    return result


def judge(mutant, checks, ran):
    """Runs what reaches the mutant and has not run for it, until something is red."""
    start = time.monotonic()
    result = {"number": mutant["number"], "verdict": "survived" if ran else "not reached", "by": "", "ran": sorted(ran)}
    for names, seconds in batches(mutant["number"], checks, ran):
        result["verdict"] = "survived"
        result["ran"] += names
        is_scenario = names[0].startswith("scenarios/")
        until, on = None if is_scenario else RED, {"FAULTLINE_MUTANT": str(mutant["number"])}
        status, met, lines = run(command(names), 20 + 4 * seconds, on, until)
        if status is None and met is None:
            # On a machine that others use, too, slow looks like hanging.
            status, met, lines = run(command(names), 60 + 12 * seconds, on, until)
        if status == 0 and met is None:
            continue
        result["verdict"] = "found"
        if met is not None:
            result["by"] = met[:160]
        elif status is None:
            result["by"] = f"hangs: {names[0]} and others" if len(names) > 1 else f"hangs: {names[0]}"
        elif is_scenario:
            result["by"] = names[0]
        else:
            last = next((line for line in reversed(lines) if line), f"status {status}")
            result["by"] = "dies: " + next((line for line in lines if "Fatal error" in line), last)[:140]
        result["ran"] = []
        break
    result["seconds"] = round(time.monotonic() - start, 1)
    return result


def key(mutant):
    words = [mutant["file"], mutant["function"], mutant["kind"], " ".join(mutant["before"].split())]
    return " | ".join(words + [" ".join(mutant["after"].split())])


def equivalents():
    """The mutants that no test can find: key to reason."""
    known, last = {}, None
    with open(os.path.join(HERE, "equivalents.txt")) as file:
        for line in file:
            line = line.rstrip("\n")
            if line.startswith("  ") and last:
                known[last] = (known[last] + " " + line.strip()).strip()
            elif line and not line.startswith("#"):
                last = line
                known[last] = ""
    return known


def table(mutants, results):
    known = equivalents()
    rows = {}
    for mutant in mutants:
        result = results.get(mutant["number"])
        if result is None:
            continue
        row = rows.setdefault(mutant["folder"], collections.Counter())
        row["made"] += 1
        verdict = result["verdict"]
        if verdict != "found" and key(mutant) in known:
            verdict = "equivalent"
        row[verdict] += 1
    columns = ["folder", "made", "found", "equivalent", "not reached", "survived", "found of those not equivalent"]
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    total = collections.Counter()
    for folder, row in list(rows.items()) + [("all", total)]:
        if row is not total:
            total.update(row)
        share = 100 * row["found"] / max(1, row["made"] - row["equivalent"])
        name = "all" if row is total else f"`{folder}`"
        cells = [name] + [str(row[column]) for column in columns[1:-1]] + [f"{share:.1f} %"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines, total["not reached"] + total["survived"], share


def report(mutants, results):
    known = equivalents()
    say("")
    for mutant in mutants:
        result = results.get(mutant["number"])
        if result is None or result["verdict"] == "found" or key(mutant) in known:
            continue
        before, after = " ".join(mutant["before"].split()), " ".join(mutant["after"].split())
        say(f"{result['verdict']}: {mutant['number']} {mutant['file']}:{mutant['line']} {mutant['kind']}")
        say(f"    {before[:200]}  ->  {after[:200] or '(nothing)'}\n    {key(mutant)}")
    lines, left, share = table(mutants, results)
    with open(path("table.md"), "w") as file:
        file.write("\n".join(lines) + "\n")
    say("\n".join(lines))
    return left, share


def read_results(name="results.jsonl"):
    results = {}
    if os.path.exists(path(name)):
        with open(path(name)) as file:
            for line in file:
                result = json.loads(line)
                results[result["number"]] = result
    return results


def by_scenarios(mutants):
    """Judges the engine's mutants by the shipped scenarios alone, and says how many these find.

    Called again it goes on: who was not found gets as many seconds more, of what has not run for it.
    """
    checks = load("scenarios.json") if os.path.exists(path("scenarios.json")) else {}
    look([name for name in scenarios(SHIPPED, slow=True) if name not in checks], checks, "scenarios.json")
    results = read_results("by-scenarios.jsonl")
    known = equivalents()
    engine = [mutant for mutant in mutants if mutant["folder"] == FOLDERS.split()[0] and key(mutant) not in known]
    lock = threading.Lock()

    def one(mutant):
        result = judge(mutant, checks, set(results.get(mutant["number"], {}).get("ran", [])))
        with lock:
            results[result["number"]] = result
            with open(path("by-scenarios.jsonl"), "a") as file:
                file.write(json.dumps(result) + "\n")
            say(f"{result['verdict']}: {mutant['number']} {mutant['file']}:{mutant['line']} {mutant['kind']}, "
                f"{result['seconds']} s {result['by']}")

    left = [mutant for mutant in engine if results.get(mutant["number"], {}).get("verdict") != "found"]
    side_by_side(left, one)
    verdicts = collections.Counter(results[mutant["number"]]["verdict"] for mutant in engine)
    share = 100 * verdicts["found"] / max(1, len(engine))
    say(f"{len(engine)} mutants of {FOLDERS.split()[0]} that are not equivalent: {verdicts['found']} found by scenarios alone "
        f"({share:.1f} %), {verdicts['survived']} not, {verdicts['not reached']} not reached")


def main():
    if os.geteuid() != 0:
        sys.exit("run.py: the copy is mounted over the tree: run as root")
    os.makedirs(WORK, exist_ok=True)
    begin = time.monotonic()
    checks = {}
    goes_on = options.again or options.changed or options.longer or options.by_scenarios
    if options.as_built or goes_on:
        checks = load("checks.json") if os.path.exists(path("checks.json")) else {}
        for name in [] if options.as_built else sources():
            if name.startswith(("Tests/", "scenarios/")):
                copy_file(name)
    else:
        for name in ("results.jsonl", "checks.json", "left-out.json"):
            if os.path.exists(path(name)):
                os.remove(path(name))
        make_copy()
    if not options.as_built:
        build()
        say(f"built after {time.monotonic() - begin:.0f} s")
    mutants = load("list.json")
    if options.by_scenarios:
        by_scenarios(mutants)
        return 0
    results = read_results()
    names = all_checks()
    chosen = options.suites.split() or [name for name in names if not name.startswith("scenarios/")]
    look([name for name in names if options.changed and name in chosen or name not in checks], checks)
    only = {int(number) for number in options.only.split()}
    if (options.changed or options.longer) and not only:
        only = {number for number, result in results.items() if result["verdict"] != "found"}
    todo = [mutant for mutant in mutants if mutant["number"] in only or (not only and mutant["number"] not in results)]
    lock = threading.Lock()
    done = [0]

    def one(mutant):
        ran = set(results.get(mutant["number"], {}).get("ran", [])) if options.longer or options.suites else set()
        chosen = {name: checks[name] for name in options.suites.split()} or checks
        result = judge(mutant, chosen, ran - set(options.suites.split()))
        if options.suites and result["verdict"] == "not reached":
            result["verdict"] = results[mutant["number"]]["verdict"]
        with lock:
            done[0] += 1
            results[result["number"]] = result
            with open(path("results.jsonl"), "a") as file:
                file.write(json.dumps(result) + "\n")
            say(f"{done[0]}/{len(todo)} {result['verdict']}: {mutant['number']} {mutant['file']}:{mutant['line']} "
                f"{mutant['kind']}, {result['seconds']} s {result['by']}")

    side_by_side(todo, one)
    left, share = report(mutants, results)
    say(f"{len(results)} mutants in {time.monotonic() - begin:.0f} s, {left} without a test or a reason")
    return 0 if share >= options.least else 1


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # As under nohup, what is ignored stays so.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end)
    status = 1
    try:
        status = main()
    except Ended:
        say("interrupted")
        status = 130
    except SystemExit as error:
        say(error.code)
    finally:
        stopping.set()
        while children:
            with children_lock:
                left = list(children)
            for process in left:
                kill(process)
            time.sleep(0.1)
        shutil.rmtree(scratch, ignore_errors=True)
        sys.stdout.flush()
    sys.exit(status)
