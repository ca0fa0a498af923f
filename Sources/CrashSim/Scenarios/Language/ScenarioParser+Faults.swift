// ScenarioParser+Faults.swift: parses fault rules of scenarios and of fault files, which share one
// grammar.
// Invariant: a returned declaration gives a rule that passes `FaultRule.validate`.

import CrashStates
import Engine
import FaultFS
import LabCore
import Recording
import Workload

extension ScenarioParser {
  func readFaults(_ node: ScenarioNode) -> [FaultDeclaration] {
    reader.list(node, of: "faults").compactMap { item in
      guard let fault = readFault(item) else { return nil }
      return isOfScenarios(item) ? fault : nil
    }
  }

  /// - Returns: The fault at the first of its places; see `FaultDeclaration.moved(to:)`.
  func readSweep(_ node: ScenarioNode) -> FaultDeclaration? {
    guard let fields = reader.fields(node, .sweep, required: ["on", "error"]),
      let kind = fields["on"].flatMap({ readKind($0) }),
      let error = fields["error"].flatMap({ reader.word($0, "errno", of: GrammarWords.errnos) })
    else { return nil }
    let lasts = fields["lasts"].flatMap { reader.flag($0, "value of lasts") } ?? false
    let sweep = FaultDeclaration(
      position: node.position, on: kind,
      fileGlob: fields["file"].flatMap { reader.text($0, "a glob") },
      bytes: nil, which: lasts ? .every(1, offset: 0) : .nth(1), effect: .error(error))
    return isSound(sweep, fields) ? sweep : nil
  }

  /// In a scenario, `kill:` kills processes, and no user can end a hang.
  private func isOfScenarios(_ node: ScenarioNode) -> Bool {
    guard case .map(let entries) = node.body else { return true }
    let ofMounts = ["pid", "hang", "killCaller", "killOther", "killFileSystem"]
    for entry in entries where ofMounts.contains(GrammarObject.fault.presentKey(entry.key.text)) {
      reader.report(
        entry.key.position, "'\(entry.key.text)' is for mounts, not for scenarios",
        "use the scenario's 'killSweep:', or 'actor:' and 'delay:'")
      return false
    }
    return true
  }

  private func readKind(_ node: ScenarioNode) -> FaultOperation? {
    let kinds = FaultOperation.allCases.map(\.rawValue)
    return reader.word(node, "operation", of: kinds).flatMap { FaultOperation(rawValue: $0) }
  }

  func readFault(
    _ node: ScenarioNode, allowsAnyErrno: Bool = false
  ) -> FaultDeclaration? {
    guard let fields = reader.fields(node, .fault, required: ["on"]), let on = fields["on"] else {
      return nil
    }
    let kinds = reader.oneOrMore(on, of: "operations").compactMap { readKind($0) }
    guard let kind = kinds.first, let which = readCount(fields),
      var conditions = readConditions(fields, which), let effect = readEffect(fields, kinds)
    else { return nil }
    conditions.allowsAnyErrno = conditions.allowsAnyErrno || allowsAnyErrno
    var fault = FaultDeclaration(
      position: node.position, on: kind, fileGlob: nil, bytes: nil, which: which, effect: effect,
      alsoOn: Array(kinds.dropFirst()), conditions: conditions)
    fault.fileGlob = fields["file"].flatMap { reader.text($0, "a glob") }
    if let bytes = fields["bytes"] {
      guard hasBytes(kinds, effect) else {
        reader.report(
          fields.keyPosition("bytes") ?? bytes.position,
          "only read, write, allocate and truncate have bytes, not \(kind.rawValue)",
          "remove 'bytes'")
        return nil
      }
      fault.bytes = readSpan(bytes)
    }
    return isSound(fault, fields) ? fault : nil
  }

  private func hasBytes(_ kinds: [FaultOperation], _ effect: FaultEffect) -> Bool {
    if case .other(.rot) = effect { return true }
    return kinds.contains { [.read, .write, .allocate, .truncate, .any].contains($0) }
  }

  /// True when the declaration's rule can take effect; otherwise that is reported.
  private func isSound(_ fault: FaultDeclaration, _ fields: ScenarioReader.Fields) -> Bool {
    guard reader.diagnostics.isEmpty else { return false }
    do throws(LabError) {
      try fault.rule().validate()
      return true
    } catch {
      let key = ["error", "failSync"].first { fields[$0] != nil }
      reader.report(
        key.flatMap { fields.keyPosition($0) } ?? fault.position, error.message,
        "see the manual of faults (docs/reference/faults.md)")
      return false
    }
  }

  // MARK: - When

  private func number(
    _ fields: ScenarioReader.Fields, _ key: String, from first: Int64 = 1,
    to last: Int64 = Int64(Int32.max)
  ) -> Int? {
    fields[key].flatMap { reader.integer($0, "'\(key)'", in: first...last).map { Int($0) } }
  }

  private func readCount(_ fields: ScenarioReader.Fields) -> FaultCount? {
    let chosen = fields.entries.filter { ["every", "nth", "ofCommit"].contains($0.key.text) }
    guard chosen.count <= 1 else {
      reader.report(
        chosen[1].key.position, "a fault has one of every, nth and ofCommit", "keep one of them")
      return nil
    }
    let isEvery = chosen.first?.key.text == "every"
    let isOfCommit = chosen.isEmpty || chosen.first?.key.text == "ofCommit"
    for (key, fits, owner) in [("skip", isEvery, "every"), ("commit", isOfCommit, "ofCommit")]
    where fields[key] != nil && !fits {
      reader.report(
        fields.keyPosition(key) ?? fields.position, "'\(key)' goes with '\(owner)'",
        "remove it, or write '\(owner):'")
      return nil
    }
    switch chosen.first?.key.text {
    case "every":
      guard let step = number(fields, "every") else { return nil }
      return .every(step, offset: number(fields, "skip", from: 0) ?? 0)
    case "nth":
      return number(fields, "nth").map { .nth($0) }
    case "ofCommit":
      guard let position = number(fields, "ofCommit") else { return nil }
      guard fields["commit"] != nil else { return .ofCommit(position) }
      return number(fields, "commit").map { .ofCommitNumber(position, transaction: $0) }
    default:
      guard fields["commit"] != nil else { return .each }
      return number(fields, "commit").map { .eachOfTransaction($0) }
    }
  }

  /// A phase that a process announces: a step of the engine's commits in a scenario, any word that
  /// a program uses elsewhere.
  private func readPhase(_ node: ScenarioNode) -> String? {
    guard takesAnyPhase else {
      return reader.word(node, "step of a commit", of: GrammarWords.commitSteps)
    }
    guard let text = reader.text(node, "the name of a phase") else { return nil }
    guard PhaseLog.name(Array(text.utf8)) != nil else {
      reader.report(
        node.position, "'\(text.prefix(80))' is not the name of a phase",
        "write 1 to \(PhaseLog.nameBytesMax) bytes without control characters, as the program "
          + "announces them")
      return nil
    }
    return text
  }

  private func readConditions(
    _ fields: ScenarioReader.Fields, _ which: FaultCount
  ) -> FaultConditions? {
    var conditions = FaultConditions()
    conditions.process = number(fields, "pid").map { Int32($0) }
    conditions.command = fields["command"].flatMap { reader.text($0, "a glob") }
    conditions.actor = fields["actor"].flatMap { readActor($0) }
    conditions.times = number(fields, "maximumHits")
    if let during = fields["during"] {
      conditions.phase = readPhase(during)
    }
    conditions.includesWriteBack =
      fields["includeWriteBack"].flatMap { reader.flag($0, "value of includeWriteBack") } ?? false
    conditions.allowsAnyErrno =
      fields["anyErrno"].flatMap { reader.flag($0, "value of anyErrno") } ?? false
    conditions.isOncePerOpenFile =
      fields["oncePerOpenFile"].flatMap { reader.flag($0, "value of oncePerOpenFile") }
      ?? false
    conditions.seed =
      number(fields, "seed", from: 0, to: Int64.max).map { UInt64($0) } ?? conditions.seed
    if let chance = fields["chance"] {
      guard let read = readChance(chance) else { return nil }
      conditions.chance = read
    }
    guard fields["after"] != nil || fields["until"] != nil else { return conditions }
    switch which {
    case .each, .every, .nth: break
    default:
      reader.report(
        fields.keyPosition("after") ?? fields.position,
        "'after' and 'until' do not go with 'ofCommit' and 'commit'", "keep one of them")
      return nil
    }
    guard let after = fields["after"].flatMap({ reader.text($0, "how a mark begins") }) else {
      reader.report(fields.position, "'until' goes with 'after'", "write 'after:' too")
      return nil
    }
    conditions.scope = FaultRule.MarkScope(
      from: after, until: fields["until"].flatMap { reader.text($0, "how a mark begins") })
    return conditions
  }

  /// A glob over the names of actors; a fault file for arbitrary programs has none.
  private func readActor(_ node: ScenarioNode) -> String? {
    guard let glob = reader.text(node, "a glob") else { return nil }
    let actors = processes.flatMap(\.actors)
    guard actors.isEmpty || actors.contains(where: { Glob(glob).matches(Array($0.utf8)) }) else {
      reader.report(
        node.position, "no actor is named '\(glob.prefix(60))'",
        nearest: nearestWord(to: glob, among: actors),
        "write one of: \(actors.joined(separator: ", ")), or a glob over them")
      return nil
    }
    return glob
  }

  /// A probability written as `1 in 10`.
  private func readChance(_ node: ScenarioNode) -> FaultRule.Chance? {
    guard let text = reader.text(node, "a chance") else { return nil }
    let words = text.split(separator: " ")
    let most = Int64(Int32.max)
    if words.count == 3, words[1] == "in", let cases = ScenarioReader.number(words[0]),
      let all = ScenarioReader.number(words[2]), (1...most).contains(all), (1...all).contains(cases)
    {
      return FaultRule.Chance(Int(cases), in: Int(all))
    }
    reader.report(node.position, "'\(text.prefix(60))' is not a chance", "write as in 1 in 10")
    return nil
  }

  // MARK: - What

  private func readEffect(
    _ fields: ScenarioReader.Fields, _ kinds: [FaultOperation]
  ) -> FaultEffect? {
    let effects = GrammarWords.faultEffects
    // The error of a failed sync is part of that effect.
    let hasState = fields["failSync"] != nil
    let chosen = fields.entries.filter {
      effects.contains($0.key.text) && !(hasState && $0.key.text == "error")
    }
    if let keep = fields.keyPosition("keep"), !hasState {
      reader.report(keep, "'keep' goes with 'failSync'", "remove it, or write it within 'torn'")
      return nil
    }
    guard let entry = chosen.first, chosen.count == 1 else {
      reader.report(
        chosen.dropFirst().first?.key.position ?? fields.position,
        "a fault has one effect, found \(chosen.count)",
        "write one of: \(effects.joined(separator: ", "))")
      return nil
    }
    switch entry.key.text {
    case "ignore":
      let syncs: Set<FaultOperation> = [.fsync, .fdatasync, .sync, .syncDirectory, .any]
      if let wrong = kinds.first(where: { !syncs.contains($0) }) {
        reader.report(
          entry.key.position, "only syncs can be ignored, not \(wrong.rawValue)",
          "write 'on: sync', or 'error:'")
        return nil
      }
      return isTrue(entry) ? .ignore : nil
    case "error":
      if case .scalar("random", _) = entry.value.body { return .other(.randomError) }
      return reader.word(entry.value, "errno", of: GrammarWords.errnos).map { .error($0) }
    case "holdBehind":
      if let wrong = kinds.first(where: { $0 != .write }) {
        reader.report(
          entry.key.position, "only writes can be held, not \(wrong.rawValue)", "write 'on: write'")
        return nil
      }
      guard let held = reader.fields(entry.value, .holdBehind, required: ["bytes"]) else {
        return nil
      }
      return held["bytes"].flatMap { readSpan($0) }.map { .holdBehind($0) }
    default: return readOther(entry, fields).map { .other($0) }
    }
  }

  private func isTrue(_ entry: ScenarioNode.Entry) -> Bool {
    reader.word(entry.value, "value of \(entry.key.text)", of: ["true"]) != nil
  }

  private func readOther(
    _ entry: ScenarioNode.Entry, _ fields: ScenarioReader.Fields
  ) -> FaultRule.Effect? {
    let key = entry.key.text
    func amount(from first: Int64 = 0) -> UInt64? {
      reader.integer(entry.value, "'\(key)'", in: first...Int64.max).map { UInt64($0) }
    }
    func moment() -> FaultRule.Moment? {
      let words = FaultRule.Moment.allCases.map(\.rawValue)
      return reader.word(entry.value, "moment", of: words).flatMap {
        FaultRule.Moment(rawValue: $0)
      }
    }
    switch key {
    case "short": return amount().map { .short(bytes: $0) }
    case "noSpaceAfter": return amount().map { .noSpace(afterBytes: $0) }
    case "quota": return amount().map { .quota(limitBytes: $0) }
    case "delay":
      return reader.integer(entry.value, "'delay' in milliseconds", in: 0...60_000)
        .map { .delay(milliseconds: Int($0)) }
    case "failSync": return readFailedSync(entry, fields)
    case "torn": return readTearing(entry.value).map { .tear($0) }
    case "misdirect":
      return reader.integer(entry.value, "'misdirect'", in: -(1 << 44)...(1 << 44))
        .map { .misdirect(byBytes: $0) }
    case "flip", "rot":
      let bits = reader.integer(entry.value, "'\(key)', a number of bits", in: 1...4096)
      return bits.map { key == "flip" ? .flip(bits: Int($0)) : .rot(bits: Int($0)) }
    case "cutTail": return amount(from: 1).map { .cutTail(bytes: $0) }
    case "killCaller": return moment().map { .kill($0) }
    case "killOther": return reader.text(entry.value, "a glob over names").map { .killOther($0) }
    case "clearCache": return moment().map { .clearCache($0) }
    case "killFileSystem": return moment().map { .killFileSystem($0) }
    default:
      guard isTrue(entry) else { return nil }
      switch key {
      case "hang": return .hang
      case "lose": return .lose
      case "stale": return .stale
      default: return .readOnly
      }
    }
  }

  private func readFailedSync(
    _ entry: ScenarioNode.Entry, _ fields: ScenarioReader.Fields
  ) -> FaultRule.Effect? {
    let words = FaultRule.SyncFailure.allCases.map(\.rawValue)
    guard
      let state = reader.word(entry.value, "state of pages", of: words).flatMap({
        FaultRule.SyncFailure(rawValue: $0)
      })
    else { return nil }
    var name: String? = "EIO"
    if let error = fields["error"] {
      name = reader.word(error, "errno", of: GrammarWords.errnos)
    }
    var keep: FaultRule.Tearing.Keep?
    if let kept = fields["keep"] {
      guard let read = readKept(kept) else { return nil }
      keep = read
    }
    return name.flatMap { ErrnoTable.numbers[$0] }.map { .failSync($0, as: state, keep: keep) }
  }

  // MARK: - Values

  private func readTearing(_ node: ScenarioNode) -> FaultRule.Tearing? {
    guard let fields = reader.fields(node, .torn, required: ["keep"]),
      let keep = fields["keep"].flatMap({ readKept($0) })
    else { return nil }
    let cuts = fields.entries.filter { $0.key.text != "keep" }
    guard let cut = cuts.first, cuts.count == 1 else {
      reader.report(
        node.position, "torn has one of unit, bytes and parts, found \(cuts.count)",
        "write as in {unit: sector, keep: first 1}")
      return nil
    }
    let sizes: ClosedRange<Int64> = 1...(1 << 20)
    switch cut.key.text {
    case "unit":
      if case .scalar(let text, _) = cut.value.body, let size = ["sector": 512, "page": 4096][text]
      {
        return FaultRule.Tearing(.fileUnits(bytes: UInt64(size)), keep: keep)
      }
      return reader.integer(cut.value, "sector, page or a number of bytes", in: 256...(1 << 20))
        .map { FaultRule.Tearing(.fileUnits(bytes: UInt64($0)), keep: keep) }
    case "bytes":
      if case .list(let items) = cut.value.body, !items.isEmpty {
        let read = items.compactMap { reader.integer($0, "a number of bytes", in: sizes) }
        guard read.count == items.count else { return nil }
        return FaultRule.Tearing(.sizes(read.map { UInt64($0) }), keep: keep)
      }
      return reader.integer(cut.value, "a number of bytes", in: sizes)
        .map { FaultRule.Tearing(.writeUnits(bytes: UInt64($0)), keep: keep) }
    default:
      return reader.integer(cut.value, "a number of parts", in: 2...4096)
        .map { FaultRule.Tearing(.equalParts(Int($0)), keep: keep) }
    }
  }

  /// Parts written as `first 2`, `last 1`, `random` or a list of their numbers from 1.
  private func readKept(_ node: ScenarioNode) -> FaultRule.Tearing.Keep? {
    if case .list(let items) = node.body {
      let numbers = items.compactMap { reader.integer($0, "the number of a part", in: 1...4096) }
      return numbers.count == items.count ? .these(numbers.map { Int($0) }) : nil
    }
    guard let text = reader.text(node, "parts") else { return nil }
    if text == "random" { return .random }
    let words = text.split(separator: " ")
    if words.count == 2, let count = ScenarioReader.number(words[1]), (0...4096).contains(count) {
      if words[0] == "first" { return .first(Int(count)) }
      if words[0] == "last" { return .last(Int(count)) }
    }
    reader.report(
      node.position, "'\(text.prefix(60))' names no parts",
      "write first N, last N, random, or a list of numbers from 1")
    return nil
  }

  /// Bytes written as `first..last` or `first..`.
  private func readSpan(_ node: ScenarioNode) -> ByteSpan? {
    guard let text = reader.text(node, "a range of bytes") else { return nil }
    if text.hasSuffix(".."), let first = ScenarioReader.number(text.dropLast(2)), first >= 0 {
      return ByteSpan(first: UInt64(first), last: nil)
    }
    return reader.range(text, node.position, "a byte", in: 0...Int64.max).map {
      ByteSpan(first: UInt64($0.lowerBound), last: UInt64($0.upperBound))
    }
  }
}
