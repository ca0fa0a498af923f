// TraceWords.swift: traces as lists of words, for comparison in tests.

import Foundation
import LabCore
import Recording

extension TraceEvent {
  /// The operation's word, or `mark` and the mark's text.
  public var word: String {
    switch body {
    case .mark(let mark): "mark " + mark.text
    case .operation(let operation): operation.word
    }
  }
}

extension Trace {
  /// Without closes, which arrive at any time and may be from before the recording.
  public var withoutCloses: Trace {
    Trace(initial: initial, events: events.filter { $0.word != "close" })
  }

  /// The words of all events.
  public var words: [String] { events.map(\.word) }
}

/// The program with the POSIX cases, next to the tests' own program.
public let posixCasesProgram =
  URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
  .appendingPathComponent("posix-cases").path

extension MountedFaultFS {
  /// The trace of one of the short programs in syncs.c.
  public func recordSyncs(_ what: String) throws -> Trace {
    try client.beginRecording()
    let result = try RunningProgram(
      [posixCasesProgram, "--syncs", what, path], in: "/",
      marksDescriptor: client.marksWriteDescriptor
    ).wait()
    guard result.status == 0 else { throw LabError.lab("\(what): \(result.output)") }
    return try endRecording()
  }
}

extension TreeImage {
  /// Describes the first difference of two trees that should be equal; nil if they are.
  public func firstDifference(from other: TreeImage) -> String? {
    for number in Set(inodes.keys).union(other.inodes.keys).sorted() {
      guard let a = inodes[number], let b = other.inodes[number] else {
        return "inode \(number) is only in \(inodes[number] == nil ? "the second" : "the first")"
      }
      if a == b { continue }
      let extents = { (inode: InodeImage) in
        inode.extents.map { "\($0.offsetBytes)+\($0.bytes.count)" }
      }
      if extents(a) != extents(b) || a.sizeBytes != b.sizeBytes {
        return "\(number): size \(a.sizeBytes) \(extents(a)) and \(b.sizeBytes) \(extents(b))"
      }
      for (x, y) in zip(a.extents, b.extents) where x != y {
        let index = zip(x.bytes, y.bytes).enumerated().first { $1.0 != $1.1 }?.offset ?? -1
        return "\(number): bytes differ first at \(x.offsetBytes)+\(index)"
      }
      func text(_ inode: InodeImage) -> String {
        let time = inode.modificationTime.map { " at \($0.seconds)" } ?? ""
        return "\(inode.ownership) \(inode.entries) \(inode.extendedAttributes)\(time)"
      }
      return "\(number): \(text(a)) and \(text(b))"
    }
    return nil
  }
}
