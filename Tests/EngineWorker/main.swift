// main.swift [U]: one process of several that use one database. Usage:
//   engine-worker PATH COMMAND [NUMBER…]
// Each command opens the database, prints a line when it is where the test wants it, and then goes
// on, waits for the end of standard input, or kills itself.
// Safety: the child of `fork` uses the engine only as far as it must refuse, and a database of its
// own; standard output is written by one thread.

import CSystem
import Engine
import Glibc

func say(_ line: String) {
  print(line)
  fflush(nil)
}

func die() {
  kill(getpid(), SIGKILL)
  while true { pause() }
}

func waitForEnd() {
  while readLine() != nil {}
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
  say("usage: engine-worker PATH COMMAND [NUMBER…]")
  exit(64)
}
let numbers = arguments.dropFirst(3).map { Int($0) ?? 0 }
do {
  try run(arguments[1], arguments[2], numbers)
} catch {
  say("error \(error)")
  exit(1)
}

func run(_ path: String, _ command: String, _ numbers: [Int]) throws {
  switch command {
  case "hold": try hold(path)
  case "hold-many": try holdMany(path, count: numbers[0])
  case "append": try append(path, commits: numbers[0])
  case "open-write": try openWrite(path)
  case "die-at-write": try dieAtCall(path, number: numbers[0])
  case "die-at-store": try dieAtStore(path, number: numbers[0])
  case "mix": try mix(path, threads: numbers[0], milliseconds: numbers[1], seed: numbers[2])
  case "wait": try wait(path, rounds: numbers[0], allowsFIFO: numbers[1] != 0)
  case "compact": try compact(path, dyingAt: numbers[0])
  case "compact-slowly": try compactSlowly(path)
  case "copy": try copy(path, dyingAt: numbers[0])
  case "open-limited": try openLimited(path, addressBytes: numbers[0])
  case "fork": try forkAndUse(path)
  case "fork-in-write": try forkInWrite(path)
  default: say("no command \(command)")
  }
}

/// Pins the newest version until the end of standard input.
func hold(_ path: String) throws {
  let database = try Database.open(path: path)
  let snapshot = try database.snapshot()
  say("held \(snapshot.version)")
  waitForEnd()
  snapshot.release()
  try database.close()
  say("closed")
}

func holdMany(_ path: String, count: Int) throws {
  let database = try Database.open(path: path)
  let snapshots = try (0..<count).map { _ in try database.snapshot() }
  say("held \(snapshots.count)")
  waitForEnd()
}

func append(_ path: String, commits: Int) throws {
  let database = try Database.open(path: path)
  for _ in 0..<commits { try Accounts.transfer(in: database, seed: 7) }
  say("appended \(database.version)")
  try database.close()
}

func openWrite(_ path: String) throws {
  let database = try Database.open(path: path)
  let write = try database.beginWrite()
  say("writing")
  waitForEnd()
  write.cancel()
  say("ended")
}

/// Opens the database in an address space of that size.
func openLimited(_ path: String, addressBytes: Int) throws {
  var limit = rlimit()
  limit.rlim_cur = rlim_t(addressBytes)
  limit.rlim_max = rlim_t(addressBytes)
  guard unsafe setrlimit(__rlimit_resource_t(9), &limit) == 0 else { return say("no setrlimit") }
  let database = try Database.open(path: path)
  say("opened \(database.version)")
}

/// Dies before the numbered call of a commit to the backend.
func dieAtCall(_ path: String, number: Int) throws {
  var options = Database.Options()
  options.coordination.decorate = { MortalBackend($0, dyingAt: number) }
  try Accounts.mark(in: Database.open(path: path, options: options))
  say("alive")
}

/// Dies before the numbered store of a publication.
func dieAtStore(_ path: String, number: Int) throws {
  var options = Database.Options()
  let armed = Armed()
  options.coordination.beforePublishStore = { index in if armed.isSet, index == number { die() } }
  let database = try Database.open(path: path, options: options)
  armed.set()
  try Accounts.mark(in: database)
  say("alive")
}

/// Waits for changes, and prints the version and the moment of each.
func wait(_ path: String, rounds: Int, allowsFIFO: Bool) throws {
  var options = Database.Options()
  options.coordination.allowsFIFO = allowsFIFO
  let database = try Database.open(path: path, options: options)
  let watcher = try database.makeChangeWatcher()
  guard (watcher.descriptor != nil) == allowsFIFO else { return say("error: FIFO") }
  var version = database.version
  say("waiting \(version)")
  for _ in 0..<rounds {
    let newest = try watcher.wait(after: version, timeoutMilliseconds: 20_000)
    guard newest > version else { return say("timeout at \(version)") }
    version = newest
    say("saw \(version) \(Accounts.nanoseconds())")
  }
}

/// A child of fork that uses what it inherited, then a database of its own.
func forkAndUse(_ path: String) throws {
  let database = try Database.open(path: path)
  let snapshot = try database.snapshot()
  let write = try database.beginWrite()
  let child = fork()
  if child == 0 {
    let codes = [
      Accounts.code { _ = try database.snapshot() },
      Accounts.code { _ = try database.beginWrite() },
      Accounts.code { try database.close() }, Accounts.code { _ = try write.commit() },
      Accounts.code { _ = try snapshot.row(in: "Account", key: 0) },
      Accounts.code { _ = try database.waitForChange(after: .first, timeoutMilliseconds: 1) },
    ]
    snapshot.release()
    say(codes.joined(separator: " "))
    let own = try Database.open(path: path)
    say("busy \(Accounts.code { _ = try own.tryBeginWrite() }) sum \(try Accounts.sum(in: own))")
    say("pins \(try own.activePins().count)")
    try own.close()
    exit(0)
  }
  var status: Int32 = 0
  unsafe waitpid(child, &status, 0)
  // What the child did must not have given anything of ours back.
  try write.commit()
  say("parent \(try Accounts.sum(in: database)) child \(status)")
}

/// A child that outlives its parent, which dies with the writer lock.
func forkInWrite(_ path: String) throws {
  let database = try Database.open(path: path)
  let write = try database.beginWrite()
  if fork() == 0 {
    // Said by the child: by now it has let go of the locks that it inherited.
    say("forked \(getpid())")
    waitForEnd()
    exit(0)
  }
  withExtendedLifetime(write) { die() }
}

/// Readers and writers over one database; every reader checks the sum.
func mix(_ path: String, threads: Int, milliseconds: Int, seed: Int) throws {
  let database = try Database.open(path: path)
  let work = MixedWork(database: database, milliseconds: milliseconds)
  work.run(threads: threads, seed: UInt64(seed))
  try database.close()
  say("mixed \(work.summary)")
}
