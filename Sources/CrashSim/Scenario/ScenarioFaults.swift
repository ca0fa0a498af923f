// ScenarioFaults.swift: a scenario's faults and kills as rules of the faulty filesystem.

import Glibc

extension FaultDeclaration {
  /// How a `begin` mark of any transaction starts.
  private static let anyBegin = "begin "

  /// The rule that does what the declaration says.
  /// - Throws: `LabError` with code `.usage` for an errno that is unknown.
  func rule() throws(LabError) -> FaultRule {
    var match = FaultRule.Match(kinds, path: fileGlob)
    match.fromByte = bytes?.first
    match.toByte = bytes?.behind
    switch which {
    case .each: break
    case .every(let k, let offset):
      match.everyKth = k
      match.offset = offset
    case .nth(let number): match.nth = number
    case .ofCommit(let number):
      match.nth = number
      match.scope = FaultRule.MarkScope(from: Self.anyBegin)
    case .ofCommitNumber(let number, let transaction):
      match.nth = number
      match.scope = Self.scope(of: transaction)
    case .eachOfTransaction(let transaction):
      match.scope = Self.scope(of: transaction)
    }
    switch effect {
    case .ignore: return FaultRule(when: match, what: .ignoreSync)
    case .error(let name):
      guard let number = Self.errnoNumbers[name] else {
        let known = Self.errnoNumbers.keys.sorted().joined(separator: ", ")
        throw .usage("\(position): errno \(name) is not known here; known are \(known)")
      }
      return FaultRule(when: match, what: .error(number))
    case .holdBehind(let span):
      let before = FaultRule.Match(
        [.write], path: fileGlob, fromByte: span.first, toByte: span.behind)
      return FaultRule(when: match, what: .reorder(before: before))
    }
  }

  /// From the `begin` mark of a transaction, its line feed included, to the next one.
  private static func scope(of transaction: Int) -> FaultRule.MarkScope {
    let begin = AckLog.Entry.begin(transaction).mark.text
    return FaultRule.MarkScope(from: begin, until: anyBegin)
  }

  private var kinds: Set<OperationKind> {
    switch on {
    case .fsync, .fdatasync, .sync: [.sync]
    case .syncDirectory: [.syncDirectory]
    case .write: [.write]
    case .allocate: [.allocate]
    case .truncate: [.truncate]
    case .create: [.create]
    }
  }

  private static let errnoNumbers: [String: Int32] = [
    "EIO": EIO, "ENOSPC": ENOSPC, "EDQUOT": EDQUOT, "EROFS": EROFS, "EFBIG": EFBIG,
    "EINTR": EINTR, "EACCES": EACCES, "EPERM": EPERM, "EMFILE": EMFILE, "ENFILE": ENFILE,
    "ENOMEM": ENOMEM, "EINVAL": EINVAL, "EBUSY": EBUSY, "EEXIST": EEXIST, "ENOENT": ENOENT,
    "EOPNOTSUPP": EOPNOTSUPP,
  ]
}

extension ByteSpan {
  /// First byte behind the span, as a rule names it; nil is the file's end.
  fileprivate var behind: UInt64? { last.flatMap { $0 == .max ? nil : $0 + 1 } }
}

extension KillDeclaration {
  /// Kills the process at the n-th place.
  func planned(number: Int, before: Bool) -> PlannedKill {
    switch place {
    case .everyCommand: return PlannedKill(process: process, moment: .command(number))
    case .everyCommitStep: return PlannedKill(process: process, moment: .commitStep(number))
    case .everyOperation, .everySync, .everyWrite, .operation: break
    }
    let kinds = self.kinds
    return PlannedKill(
      process: process,
      moment: .operation { process in
        FaultRule(
          when: FaultRule.Match(kinds, process: process, nth: number),
          what: .kill(before ? .before : .after))
      })
  }

  /// What a report calls the n-th place.
  func text(number: Int, before: Bool) -> String {
    switch place {
    case .everyCommand: "the process was killed instead of its command \(number)"
    case .everyCommitStep: "the process was killed before its commit step \(number)"
    case .everyOperation, .everySync, .everyWrite, .operation:
      "the process was killed \(before ? "before" : "after") its file operation \(number)"
    }
  }

  /// The sides to try.
  var sides: [Bool] {
    if place == .everyCommand || place == .everyCommitStep { return [true] }
    return switch side {
    case .before: [true]
    case .after: [false]
    case .both: [true, false]
    }
  }

  private var kinds: Set<OperationKind> {
    switch place {
    case .everySync: [.sync, .syncDirectory]
    case .everyWrite: [.write]
    case .everyCommand, .everyCommitStep: []
    case .everyOperation, .operation:
      [
        .write, .truncate, .allocate, .create, .link, .remove, .rename, .setOwnership,
        .setExtendedAttribute, .sync, .syncDirectory,
      ]
    }
  }
}
