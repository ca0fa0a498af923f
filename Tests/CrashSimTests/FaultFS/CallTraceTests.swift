// CallTraceTests.swift: calls of Linux beyond POSIX on a mount: what of each is in the trace, and
// what a crash may then leave, by the trace that a program really made.

import CrashStates
import FaultFS
import Foundation
import LabCore
import Recording
import Requirements
import TestSupport
import Testing

@Suite("FaultFS calls beyond POSIX", .requires(.fuse), .serialized)
struct CallTraceTests {
  /// The trace of a program of syncs.c on a file `f` that holds `hello`.
  private func record(_ what: String) throws -> Trace {
    let mount = try MountedFaultFS()
    _ = try mount.shell("printf hello > f")
    let trace = try mount.recordSyncs(what).withoutCloses
    try mount.client.beginRecording()
    let tree = try mount.endRecording().finalTree
    #expect(trace.finalTree.firstDifference(from: tree) == nil)
    try mount.client.shutdown()
    return trace
  }

  /// The trees that a crash may leave once so many marks are acknowledged.
  private func trees(
    _ trace: Trace, _ model: PersistenceModel, marks: Int
  ) throws -> Set<String> {
    let enumerator = try CrashStateEnumerator(
      trace: trace, model: model, seed: Seed(rawValue: 1),
      options: ExplorationOptions(exhaustiveUpTo: 16, tornUnits: 0))
    var found: Set<String> = []
    try enumerator.visit(enumerator.plan()) { (state, image) throws(LabError) in
      if state.state.acknowledgedMarks == marks { found.insert(try image.line()) }
      return .goOn
    }
    return found
  }

  private func offsets(_ trace: Trace) -> [UInt64] {
    trace.events.compactMap { event in
      guard case .operation(.write(_, let offset, _)) = event.body else { return nil }
      return offset
    }
  }

  // MARK: Rings

  static let rings: [(what: String, words: [String])] = [
    ("ring-linked", ["write", "datasync", "write", "sync"]),
    ("ring-async", ["write", "datasync", "write", "sync"]),
    ("ring-dsync", ["write", "datasync", "write", "sync"]),
    ("ring-broken", ["write"]),
    ("ring-range", ["write"]),
    ("ring-names", ["create", "allocate", "rename", "link", "unlink"]),
  ]

  @Test(
    "requests of a ring are recorded in their order, as of its process", .requires(.ring),
    arguments: rings)
  func ring(_ what: String, _ words: [String]) throws {
    let trace = try record(what)
    #expect(trace.words == words)
    #expect(Set(trace.events.map(\.process)).count == 1)
    #expect(trace.events.allSatisfy { $0.process > 0 })
    if what == "ring-async" {
      // Workers of the kernel are threads of the process.
      #expect(trace.events.allSatisfy { $0.thread > 0 && $0.thread != $0.process })
    }
    let asked = trace.events.filter { $0.flags == .openFlagSync }.count
    #expect(asked == (what == "ring-dsync" ? 2 : 0))
  }

  @Test("between two linked requests the power may fail", .requires(.ring))
  func ringCrashes() throws {
    let trace = try record("ring-linked")
    for model in PersistenceModel.stock {
      let found = try trees(trace, model, marks: 0)
      #expect(found.isSuperset(of: ["f=hello", "f=onelo", "f=onetwo"]), "\(model.name): \(found)")
    }
  }

  // MARK: Flags of one write

  @Test("RWF_APPEND is a write at the size, RWF_HIPRI a write, RWF_NOWAIT an error")
  func otherFlags() throws {
    let trace = try record("rwf-others")
    #expect(trace.words == ["write", "write", "datasync", "write"])
    #expect(offsets(trace) == [5, 8, 6])
  }

  @Test("RWF_DSYNC secures the file's data, RWF_SYNC the file, and neither another one")
  func writesThatSync() throws {
    let trace = try record("rwf-pair")
    #expect(
      trace.words == [
        "create", "write", "setOwnership", "write", "datasync", "mark data", "write", "sync",
        "mark all",
      ])
    for model in PersistenceModel.stock {
      let data = try trees(trace, model, marks: 1)
      let all = try trees(trace, model, marks: 2)
      #expect(
        data.allSatisfy { $0.hasPrefix("f=abclo") || $0.hasPrefix("f=aabc") },
        "\(model.name): \(data)")
      #expect(all.allSatisfy { $0.hasPrefix("f=aabco(0600)") }, "\(model.name): \(all)")
    }
    for model in [PersistenceModel.posix, .prefixPerFile] {
      #expect(try trees(trace, model, marks: 2).contains("f=aabco(0600)"), "\(model.name)")
    }
    #expect(try trees(trace, .posix, marks: 1).contains("f=abclo"))
  }

  // MARK: What is no sync

  @Test("sync_file_range writes pages out and secures nothing")
  func rangeIsNoSync() throws {
    let trace = try record("sync-file-range")
    #expect(trace.words == ["truncate", "write", "write", "mark written out"])
    #expect(trace.events[2].flags == .writeBack)
    for model in PersistenceModel.stock {
      #expect(try trees(trace, model, marks: 1).contains("f=hello"), "\(model.name)")
    }
  }

  // MARK: Copies

  @Test("copy_file_range is recorded as writes of what it copied")
  func copy() throws {
    let trace = try record("copy-file-range")
    let mark = try #require(trace.words.firstIndex(of: "mark copy"))
    #expect(trace.words.prefix(mark).contains("create"))
    #expect(Set(trace.words[(mark + 1)...]) == ["write"])
    let tree = trace.finalTree
    let number = try #require(tree.inodes[.root]?.entries[FileName("g")])
    let file = try #require(tree.inodes[number])
    var bytes = [UInt8](repeating: 0, count: Int(file.sizeBytes))
    for extent in file.extents {
      let start = Int(extent.offsetBytes)
      bytes.replaceSubrange(start..<start + extent.countBytes, with: extent.bytes)
    }
    let page = { (letter: Character) in
      [UInt8](repeating: letter.asciiValue ?? 0, count: 4096)
    }
    #expect(bytes == [UInt8](repeating: 0, count: 100) + page("a") + page("\0") + page("m"))
  }

  @Test("a copy is durable after a sync of it and of its name, and has the holes of its source")
  func syncedCopy() throws {
    let mount = try MountedFaultFS()
    _ = try mount.shell("printf begin > f; truncate -s 40960 f; printf end >> f")
    let (result, trace) = try mount.record(
      "cp f g && echo copied >&3 && sync g . && echo synced >&3; stat -c %b f g")
    let blocks = result.output.split(separator: "\n")
    #expect(blocks.count == 2 && blocks.first == blocks.last, "\(result.output)")
    for model in PersistenceModel.stock {
      let synced = try trees(trace, model, marks: 2)
      #expect(synced.count == 1 && synced.first?.contains("g=begin") == true, "\(model.name)")
      let copied = try trees(trace, model, marks: 1)
      #expect(copied.contains { !$0.contains("g=begin") }, "\(model.name): \(copied)")
    }
    try mount.client.shutdown()
  }

  // MARK: Times

  @Test("times that a program chooses are recorded, and their end; the clock's are not")
  func times() throws {
    let mount = try MountedFaultFS()
    _ = try mount.shell("echo x > f; echo x > g; mkdir d; touch -d @9 f; ln -s f l")
    let (_, trace) = try mount.record(
      """
      touch -d @5 f; touch -m -d @6.25 g; touch -a -d @7 g; touch f; touch f; echo x >> g
      touch -d @8 d; touch d/x; touch -h -d @3 l; touch -m -d @4 g; truncate -s 4 g
      """)
    #expect(
      trace.withoutCloses.words == [
        "setTimes", "setTimes", "setTimes", "setTimes", "write", "setTimes", "create", "setTimes",
        "setTimes", "setTimes",
      ])
    let times = trace.events.compactMap { event -> Timestamp?? in
      guard case .operation(.setTimes(_, let time, _)) = event.body else { return nil }
      return time
    }
    let quarter = Timestamp(seconds: 6, nanoseconds: 250_000_000)
    #expect(
      times == [
        Timestamp(seconds: 5), quarter, quarter, nil, Timestamp(seconds: 8), Timestamp(seconds: 3),
        Timestamp(seconds: 4), nil,
      ])
    // What began with a chosen time has it in the file, and on a mount that loads it.
    #expect(trace.initial.inodes.values.compactMap(\.modificationTime) == [Timestamp(seconds: 9)])
    let tree = trace.finalTree
    try mount.client.beginRecording()
    #expect(tree.firstDifference(from: try mount.endRecording().finalTree) == nil)
    let file = mount.outside.file("times.sqlite")
    try TraceFile.save(Trace(initial: tree), to: file)
    #expect(try TraceFile.load(file).initial == tree)
    try mount.client.shutdown()
    let other = try MountedFaultFS()
    try other.client.load(file)
    #expect(try other.shell("stat -c %Y l").output == "3\n")
    try other.client.shutdown()
  }
}
