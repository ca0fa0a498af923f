// LockFileTarget.swift: bytes → the content of the lock file before a database is opened, and bytes
// written over it while a handle has it open, reads and writes. Invariants checked: nothing traps
// or hangs; a handle returns correct results or an error; after all handles are closed, the next
// opener finds every acknowledged row. An overwritten lock file may cause a live reader's space to
// be reused: then it gets an error, and never a wrong row.

import Engine
import Fuzz

enum LockFileTarget {
  static let target = FuzzTarget(
    name: "lock-file",
    judges: "lock file bytes before and under a live handle: nothing acknowledged is lost",
    smokeCount: 60, seeds: { FuzzTarget.choiceSeeds("lock-file") }, run: { run($0) })

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    guard let fixture = FileFixture() else { return .finding("no folder in /tmp") }
    defer { fixture.folder.remove() }
    var choices = MutantChoices(bytes: input)
    do throws(EngineError) { try fixture.make() } catch { return .finding("\(error)") }
    if choices.below(3) == 0 {
      let count = choices.below(256) * 16
      fixture.folder.write(bytes(count, &choices), to: FileFixture.name + ".lock")
    }
    var (acked, maybe): ([Int64], [Int64]) = ([0, 1, 2], [])
    var wasRefused = false
    guard let database = try? Database.open(path: fixture.path, options: FileFixture.options)
    else { return .finding("bytes in an unused lock file keep an opener out") }
    let held = try? database.snapshot()
    var key: Int64 = 10
    repeat {
      scribble(fixture, &choices)
      if choices.below(2) == 0 {
        key += 1
        if FileFixture.add(key, to: database) { acked.append(key) } else { maybe.append(key) }
      }
      switch held.flatMap({ FileFixture.keys($0) }) {
      case .success([0, 1, 2]): break
      case .success(let keys): return .finding("a snapshot of rows 0, 1, 2 has \(keys) now")
      case .failure(let failure): return .finding(failure.text)
      case nil: wasRefused = true
      }
      if case .failure(let failure) = FileFixture.keys(database) { return .finding(failure.text) }
    } while !choices.isAtEnd && key < 20
    held?.release()
    _ = database.statistics()
    do throws(EngineError) { try database.close() } catch {
      return .finding("a handle without snapshots does not close: \(error)")
    }
    if let wrong = fixture.wrongAfterwards(acked: acked, maybe: maybe) { return .finding(wrong) }
    return wasRefused || !maybe.isEmpty ? .refused : .accepted
  }

  private static func bytes(_ count: Int, _ choices: inout MutantChoices) -> [UInt8] {
    (0..<count).map { _ in UInt8(choices.below(256)) }
  }

  /// A word or a run of bytes, most of them where the fields are.
  private static func scribble(_ fixture: FileFixture, _ choices: inout MutantChoices) {
    let name = FileFixture.name + ".lock"
    let size = fixture.folder.sizeBytes(of: name)
    guard size > 16 else { return }
    let isNear = choices.below(4) > 0
    let offset = choices.below(isNear ? min(size, 4096) : size)
    var content: [UInt8]
    if choices.below(2) == 0 {
      let number = choices.interesting()
      content = (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    } else {
      content = bytes(1 + choices.below(64), &choices)
    }
    content = Array(content.prefix(size - offset))
    fixture.folder.write(content, to: name, at: offset)
  }
}
