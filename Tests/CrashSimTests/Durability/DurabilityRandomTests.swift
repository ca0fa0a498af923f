// DurabilityRandomTests.swift: the explorer against the second opinion, on random traces: after
// each operation both must allow the very same trees.

import CrashStates
import LabCore
import Recording
import TestSupport
import Testing

@Suite("Durability: explorer and reference on random traces")
struct DurabilityRandomTests {
  /// The trace with some attributes instead of modes, and with changes that came while a sync of
  /// everything waited.
  private func varied(_ trace: Trace) -> Trace {
    var varied = trace
    varied.events = trace.events.enumerated().map { index, event in
      switch event.body {
      case .operation(.setOwnership(let inode, _)) where index.isMultiple(of: 2):
        let name = FileName("user.x")
        return TraceEvent(
          .operation(.setExtendedAttribute(inode: inode, name: name, value: [UInt8(index)])))
      case .operation(.syncAll) where index.isMultiple(of: 2):
        return TraceEvent(.operation(.syncAll(late: min(index, 2))))
      default: return event
      }
    }
    return varied
  }

  @Test(
    "after each operation of a random trace both allow the same trees",
    arguments: PersistenceModel.stock)
  func sameTrees(model: PersistenceModel) throws {
    let documented = try #require(try DocumentedModel.all().first { $0.name == model.name })
    let pendingMax = 8
    var compared = 0
    for number in 0..<(FullSize.isOn ? 100 : 10) {
      let trace = varied(
        makeRandomTrace(
          seed: Seed(rawValue: 5000 + UInt64(number)), operations: FullSize.isOn ? 9 : 7,
          syncChance: Ratio(1, in: 3)))
      let reference = DurabilityReference(trace, documented)
      let found = try exploredTrees(of: trace, model, pendingMax: pendingMax)
      for point in 1...trace.events.count {
        guard let expected = reference.possible(at: point, pendingMax: pendingMax) else { continue }
        compared += 1
        let seen = found[point] ?? []
        guard seen != expected else { continue }
        Issue.record(
          Comment(
            rawValue: DurabilityDifference(
              model: model.name, trace: trace, crashPoint: point, explorer: seen,
              reference: expected
            ).text))
        break
      }
    }
    #expect(compared > 45, "\(compared)")
  }
}

/// What two opinions differ in, in words.
struct DurabilityDifference {
  let model: String
  let trace: Trace
  let crashPoint: Int
  let explorer: Set<VisibleTree>
  let reference: Set<VisibleTree>

  var text: String {
    var lines = ["\(model), after \(crashPoint) events:"]
    for event in trace.events.prefix(crashPoint) {
      guard case .operation(let operation) = event.body else { continue }
      lines.append("  \(operation.words) \(event.flags.contains(.failed) ? "FAILED" : "")")
    }
    lines += sorted(explorer.subtracting(reference)).map { "only the explorer allows: \($0)" }
    lines += sorted(reference.subtracting(explorer)).map { "only the page allows: \($0)" }
    return lines.joined(separator: "\n")
  }

  private func sorted(_ trees: Set<VisibleTree>) -> [String] {
    Array(trees.map(\.line).sorted().prefix(4))
  }
}

extension Operation {
  /// The operation with its bytes as a count.
  fileprivate var words: String {
    guard case .write(let inode, let offset, let payload) = self else { return "\(self)" }
    return "write \(inode) at \(offset): \(payload.countBytes) of \(payload.bytes.prefix(1))"
  }
}

extension VisibleTree {
  /// Names with the runs of their bytes.
  var line: String {
    files.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { path, file in
      var runs: [(byte: UInt8, count: Int)] = []
      for byte in file.bytes {
        if runs.last?.byte == byte {
          runs[runs.count - 1].count += 1
        } else {
          runs.append((byte, 1))
        }
      }
      let content = runs.map { "\($0.byte)*\($0.count)" }.joined(separator: "+")
      let attributes = file.attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      return "\(String(decoding: path, as: UTF8.self))(0\(String(file.ownership.mode, radix: 8)) "
        + "\(file.ownership.user) \(attributes))\(content)"
    }.joined(separator: " ") + (linkGroups.isEmpty ? "" : " \(linkGroups.count) linked")
  }
}
