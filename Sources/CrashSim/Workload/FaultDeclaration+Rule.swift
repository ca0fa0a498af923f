// FaultDeclaration+Rule.swift: converts a scenario's fault to a rule of the faulty file system.

import FaultFS
import LabCore

extension FaultDeclaration {
  /// Start of the `begin` mark of any transaction.
  private static let anyBegin = "begin "

  /// The fault of a sweep, moved to another place.
  /// - Parameter place: The number of the operation, from 1.
  /// - Returns: The fault, which hits only that operation, or that one and all later ones.
  package func moved(to place: Int) -> FaultDeclaration {
    var fault = self
    fault.which = lasts ? .every(1, offset: place - 1) : .nth(place)
    return fault
  }

  /// Whether the fault of a sweep also hits all later operations.
  package var lasts: Bool {
    if case .every = which { true } else { false }
  }

  /// The rule for the declaration.
  /// - Throws: `LabError` with code `.usage` for an unknown errno.
  package func rule() throws(LabError) -> FaultRule {
    var match = FaultRule.Match([], path: fileGlob)
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
    if let scope = conditions.scope { match.scope = scope }
    match.process = conditions.process
    match.command = conditions.command
    match.actor = conditions.actor
    match.chance = conditions.chance
    match.times = conditions.times
    match.phase = conditions.phase
    match.includesWriteBack = conditions.includesWriteBack
    let what = try what()
    match.kinds = kinds(for: what)
    return FaultRule(
      when: match, what: what, seed: conditions.seed,
      allowsAnyErrno: conditions.allowsAnyErrno)
  }

  private func what() throws(LabError) -> FaultRule.Effect {
    switch effect {
    case .ignore: return .ignoreSync
    case .error(let name):
      guard let number = ErrnoTable.numbers[name] else {
        let known = ErrnoTable.numbers.keys.sorted().joined(separator: ", ")
        throw .usage("\(position): errno \(name) is not known here; known are \(known)")
      }
      return conditions.isOncePerOpenFile ? .errorOncePerOpenFile(number) : .error(number)
    case .holdBehind(let span):
      return .reorder(
        before: FaultRule.Match(
          [.write], path: fileGlob, fromByte: span.first, toByte: span.behind))
    case .other(let effect): return effect
    }
  }

  /// From the `begin` mark of a transaction, including its line feed, to the next one.
  private static func scope(of transaction: Int) -> FaultRule.MarkScope {
    let begin = AckLog.Entry.begin(transaction).mark.text
    return FaultRule.MarkScope(from: begin, until: anyBegin)
  }

  /// `any` stands for all kinds that the effect can hit; for an error, all that may return it.
  private func kinds(for what: FaultRule.Effect) -> Set<OperationKind> {
    let operations = [on] + alsoOn
    guard operations.contains(.any) else { return Set(operations.flatMap(\.kinds)) }
    var kinds = what.kinds ?? Set(OperationKind.allCases)
    if !conditions.allowsAnyErrno {
      switch what {
      case .error(let number), .errorOncePerOpenFile(let number):
        kinds = kinds.filter { ErrnoTable.errors(of: $0).contains(number) }
      default: break
      }
    }
    return kinds
  }
}

extension FaultOperation {
  /// The kinds of file operations that the word stands for.
  var kinds: Set<OperationKind> {
    switch self {
    case .fsync, .fdatasync, .sync: [.sync]
    case .statfs: [.status]
    case .any: Set(OperationKind.allCases)
    default: OperationKind(rawValue: rawValue).map { [$0] } ?? []
    }
  }
}

extension ByteSpan {
  /// First byte after the span, as used in a rule; nil is the file's end.
  fileprivate var behind: UInt64? { last.flatMap { $0 == .max ? nil : $0 + 1 } }
}
