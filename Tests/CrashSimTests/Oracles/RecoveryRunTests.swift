// RecoveryRunTests.swift: crashes during recovery are recorded and judged.

import Engine
import Foundation
import Testing

@testable import CrashStates
@testable import Findings
@testable import LabCore
@testable import Oracles
@testable import Recording

func withTemporaryDirectory(_ body: (String) throws -> Void) throws {
  let directory = NSTemporaryDirectory() + "faultline-" + UUID().uuidString
  try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: directory) }
  try body(directory)
}

func write(_ bytes: [UInt8], to path: String) throws {
  try Data(bytes).write(to: URL(fileURLWithPath: path))
}

@Suite struct RecoveryRunTests {
  /// All images that prefixes of a trace's writes leave, with the number of marks before each.
  func prefixes(_ trace: Trace) throws -> [(bytes: [UInt8], marksSeen: Int)] {
    let file = try #require(trace.initial.inodes[EngineCheck.recoveryInode])
    let backend = ImageBackend()
    backend.load(file)
    var bytes = backend.bytes
    var seen = 0
    var images = [(bytes, 0)]
    for event in trace.events {
      switch event.body {
      case .mark: seen += 1
      case .operation(.write(_, let offset, let payload)):
        bytes.replaceSubrange(Int(offset)..<Int(offset) + payload.countBytes, with: payload.bytes)
      case .operation(.allocate(_, _, _, _, _, let size)):
        bytes += [UInt8](repeating: 0, count: Int(size) - bytes.count)
      default: continue
      }
      images.append((bytes, seen))
    }
    return images
  }

  @Test("a recovery and the commit after it are recorded, and every prefix of it recovers")
  func recorded() throws {
    let run = try RecordedRun.ordinary()
    let check = try run.check()
    let backend = ImageBackend()
    for seen in 0..<run.images.count {
      backend.load(run.images[seen])
      let recovery = try #require(check.recoveryRun(backend, marksSeen: seen))
      let images = try prefixes(recovery.trace)
      #expect(images.count >= 6)
      for (bytes, marksSeen) in images {
        #expect(judge(recovery.check, bytes, marksSeen: marksSeen) == [], "mark \(seen)")
      }
      let syncs = recovery.trace.events.count {
        if case .operation(.sync) = $0.body { true } else { false }
      }
      #expect(syncs >= 2)
    }
  }

  @Test("a recording says which step of the commit an operation is of, and where it was asked for")
  func places() throws {
    let run = try RecordedRun.ordinary()
    let check = try run.check()
    let backend = ImageBackend()
    backend.load(try #require(run.images.last))
    let plain = try #require(check.recoveryRun(backend, marksSeen: run.marks.count)).trace
    backend.load(try #require(run.images.last))
    let trace = try #require(
      check.recoveryRun(backend, marksSeen: run.marks.count, recordsCallStacks: true)
    ).trace
    #expect(trace.shape == plain.shape)
    #expect(plain.callStacks.stacks.isEmpty)
    let sites = CallSites(trace)
    let writes = trace.events.indices.filter {
      if case .operation(.write) = trace.events[$0].body { true } else { false }
    }
    let last = try #require(writes.last)
    #expect(trace.phase(at: last) == CommitStep.writeRootSlot.description)
    #expect(try #require(trace.phases.last).phase == nil, "the commit is over")
    for write in writes {
      let places = try #require(sites.places(of: write))
      #expect(places.contains(".swift:") && !places.contains("ImageBackend"), "\(places)")
    }
    #expect(try #require(sites.places(of: last)).hasPrefix("CommitWriter.swift:"))
  }

  @Test("losing the commit after a recovery is found")
  func lost() throws {
    let run = try RecordedRun.ordinary()
    let check = try run.check()
    let backend = ImageBackend()
    backend.load(try #require(run.images.last))
    let recovery = try #require(check.recoveryRun(backend, marksSeen: run.marks.count))
    let first = try #require(try prefixes(recovery.trace).first)
    #expect(judge(recovery.check, first.bytes, marksSeen: 3).map(\.oracle) == [.durability])
  }

  @Test("a recovery after a crash in a recovery is judged alike, and a commit lost there found")
  func nested() throws {
    let run = try RecordedRun.ordinary()
    let check = try run.check()
    let backend = ImageBackend()
    backend.load(try #require(run.images.last))
    let first = try #require(check.recoveryRun(backend, marksSeen: run.marks.count))
    for (bytes, marksSeen) in try prefixes(first.trace) {
      backend.load(bytes)
      let second = try #require(first.check.recoveryRun(backend, marksSeen: marksSeen))
      let images = try prefixes(second.trace)
      for (bytes, marksSeen) in images {
        #expect(judge(second.check, bytes, marksSeen: marksSeen) == [], "mark \(marksSeen)")
      }
      let lost = try #require(images.first)
      #expect(judge(second.check, lost.bytes, marksSeen: 3).map(\.oracle) == [.durability])
    }
  }

  @Test("a path of recoveries is written and read, and nonsense refused")
  func paths() throws {
    let text = "posix@4:p7:kept=1-3>posix@4:p2:lost=none"
    let path = try RecoveryPath(parsing: text)
    #expect(path.keys.count == 2)
    #expect(path.description == text)
    #expect(try RecoveryPath(parsing: "").keys.isEmpty)
    let key = "posix@4:p7:kept=1-3"
    for wrong in [">", "\(key)>", "x>\(key)", [key, key, key, key].joined(separator: ">")] {
      #expect(throws: LabError.self, "\(wrong)") { try RecoveryPath(parsing: wrong) }
    }
  }

  @Test("an image that breaks a promise has no recovery to explore")
  func broken() throws {
    let run = try RecordedRun.ordinary()
    let check = try run.check()
    let backend = ImageBackend()
    backend.load(run.images[4])
    #expect(check.recoveryRun(backend, marksSeen: run.marks.count) == nil)
  }
}
