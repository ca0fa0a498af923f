// ScenarioFaults.swift: a scenario's faults and kills as rules of the faulty filesystem.

extension FaultDeclaration {
  /// How a `begin` mark of any transaction starts.
  private static let anyBegin = "begin "

  /// The fault of a sweep at another of its places.
  /// - Parameter place: The number of the operation, from 1.
  /// - Returns: The fault, which hits that operation alone, or that one and all later ones.
  func moved(to place: Int) -> FaultDeclaration {
    var fault = self
    fault.which = lasts ? .every(1, offset: place - 1) : .nth(place)
    return fault
  }

  /// Whether the fault of a sweep hits all later operations, too.
  var lasts: Bool {
    if case .every = which { true } else { false }
  }

  /// The rule that does what the declaration says.
  /// - Throws: `LabError` with code `.usage` for an errno that is unknown.
  func rule() throws(LabError) -> FaultRule {
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
    match.commitStep = conditions.commitStep?.rawValue
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

  /// From the `begin` mark of a transaction, its line feed included, to the next one.
  private static func scope(of transaction: Int) -> FaultRule.MarkScope {
    let begin = AckLog.Entry.begin(transaction).mark.text
    return FaultRule.MarkScope(from: begin, until: anyBegin)
  }

  /// `any` stands for all that the effect can hit; for an error, for all that may return it.
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
    case .any: Set(OperationKind.allCases)
    default: OperationKind(rawValue: rawValue).map { [$0] } ?? []
    }
  }
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
    case .everyCommitStep:
      return PlannedKill(
        process: process, moment: .commitStep(number, stops: manner == .stop))
    case .everyOperation, .everySync, .everyWrite, .everyTruncate, .operation: break
    }
    let kinds = self.kinds
    if manner == .stop {
      return PlannedKill(
        process: process,
        moment: .standstill { process in
          FaultRule(
            when: FaultRule.Match(kinds, process: process, nth: number), what: .hang)
        })
    }
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
    case .everyCommitStep:
      "the process was \(manner == .stop ? "stopped" : "killed") before its commit step \(number)"
    case .everyOperation, .everySync, .everyWrite, .everyTruncate, .operation:
      manner == .stop
        ? "the process was stopped before its file operation \(number)"
        : "the process was killed \(before ? "before" : "after") its file operation \(number)"
    }
  }

  /// The sides to try.
  var sides: [Bool] {
    if place == .everyCommand || place == .everyCommitStep || manner == .stop { return [true] }
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
    case .everyTruncate: [.truncate]
    case .everyCommand, .everyCommitStep: []
    case .everyOperation, .operation:
      [
        .write, .truncate, .allocate, .create, .link, .remove, .rename, .setOwnership,
        .setExtendedAttribute, .sync, .syncDirectory,
      ]
    }
  }
}
