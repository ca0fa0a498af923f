// ReportMerge.swift: joins the reports of all shards of one run into the report that a run of the
// whole would have given, except for its time.
// Invariants: each shard counts once; a promise is held only if every shard held it; shards of
// different runs are rejected, because their states do not form a whole.

import CrashStates
import Findings
import Foundation
import LabCore

/// The report of one shard, and its file.
package struct ShardReport: Sendable {
  /// Name of the file, as given.
  package let file: String
  /// The shard's report.
  package let report: RunReport

  /// Makes a shard's report.
  package init(file: String, report: RunReport) {
    self.file = file
    self.report = report
  }

  /// Longest accepted report.
  static let sizeBytesMax = 256 << 20

  /// Reads the reports in files; for a folder, in all its `.json` files.
  /// - Throws: `LabError` with code `.usage` that names the file.
  package static func load(_ paths: [String]) throws(LabError) -> [ShardReport] {
    var reports: [ShardReport] = []
    for path in try files(paths) {
      let place = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
      guard let attributes = try? FileManager.default.attributesOfItem(atPath: place),
        attributes[.type] as? FileAttributeType == .typeRegular
      else { throw .usage("\(path): not a regular file, so no report") }
      let size = (attributes[.size] as? NSNumber)?.intValue ?? 0
      guard size <= sizeBytesMax else {
        throw .usage("\(path): file_bytes=\(size) > \(sizeBytesMax): that is not a report")
      }
      guard let data = FileManager.default.contents(atPath: place) else {
        throw .usage("\(path): cannot be read")
      }
      do {
        let report = try JSONDecoder().decode(RunReport.self, from: data)
        guard report.cases.allSatisfy(\.isDrawable) else {
          throw LabError.usage(
            "\(path): its timelines or crash points hold numbers that no report has; run the shard "
              + "again")
        }
        reports.append(ShardReport(file: path, report: report))
      } catch let error as LabError {
        throw error
      } catch {
        throw .usage(
          "\(path): not a report of 'faultline run' or 'faultline explore' (--json); "
            + "\(Self.words(of: error))")
      }
    }
    return reports
  }

  private static func files(_ paths: [String]) throws(LabError) -> [String] {
    var files: [String] = []
    for given in paths {
      let path = URL(fileURLWithPath: given).resolvingSymlinksInPath().path
      guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else {
        throw .usage("\(given): no such file or directory")
      }
      guard attributes[.type] as? FileAttributeType == .typeDirectory else {
        files.append(given)
        continue
      }
      let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      let found = names.filter { $0.hasSuffix(".json") }.sorted()
      guard !found.isEmpty else { throw .usage("\(given): no .json files in this folder") }
      files += found.map { given.hasSuffix("/") ? given + $0 : "\(given)/\($0)" }
    }
    return files
  }

  private static func words(of error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, _): "it lacks '\(key.stringValue)'"
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      "wrong at \(context.codingPath.map(\.stringValue).joined(separator: "."))"
    default: "it is not such JSON"
    }
  }
}

/// Joins the reports of shards.
package struct ReportMerge {
  private let parts: [ShardReport]

  /// Sorts the reports of all shards.
  /// - Throws: `LabError` with code `.usage` if a shard is missing or duplicate, or a report
  ///   belongs to another run.
  package init(_ reports: [ShardReport]) throws(LabError) {
    guard let first = reports.first else {
      throw .usage("faultline merge: no report to merge; give the files")
    }
    var byIndex: [Int: ShardReport] = [:]
    for part in reports {
      guard part.report.formatVersion == first.report.formatVersion else {
        throw .usage(
          "\(part.file): report format \(part.report.formatVersion), \(first.file) has "
            + "\(first.report.formatVersion): run all shards with one version of faultline")
      }
      guard let shard = part.report.shard else {
        throw .usage("\(part.file): the report of a whole run, not of a shard")
      }
      guard (1...Shard.countMax).contains(shard.count), (1...shard.count).contains(shard.index)
      else { throw .usage("\(part.file): there is no shard \(shard)") }
      guard shard.count == first.report.shard?.count else {
        throw .usage(
          "\(part.file) is shard \(shard), \(first.file) is shard "
            + "\(first.report.shard?.description ?? "none"): they are of different runs")
      }
      guard part.report.seed == first.report.seed else {
        throw .usage(
          "\(part.file) has seed \(part.report.seed), \(first.file) has seed "
            + "\(first.report.seed): they are of different runs")
      }
      try Self.refuseOtherOptions(part, first)
      if let other = byIndex[shard.index] {
        throw .usage("shard \(shard) is given twice: \(other.file) and \(part.file); leave one out")
      }
      byIndex[shard.index] = part
    }
    let count = first.report.shard?.count ?? 1
    let missing = (1...count).filter { byIndex[$0] == nil }
    guard missing.isEmpty else {
      let names = missing.prefix(20).map { "\($0)/\(count)" }.joined(separator: ", ")
      let rest = missing.count > 20 ? " and \(missing.count - 20) more" : ""
      throw .usage(
        "\(missing.count == 1 ? "shard" : "shards") \(names)\(rest) missing: run it with "
          + "--shard \(missing[0])/\(count) and give its report too")
    }
    parts = (1...count).compactMap { byIndex[$0] }
  }

  /// Rejects two shards whose states were not counted or distributed in the same way.
  private static func refuseOtherOptions(
    _ part: ShardReport, _ first: ShardReport
  ) throws(LabError) {
    let (own, others) = (part.report.options ?? [], first.report.options ?? [])
    if own == others { return }
    let place = zip(own, others).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    let at = place ?? min(own.count, others.count)
    func quoted(_ options: [String]) -> String {
      at < options.count ? "'\(options[at].prefix(200))'" : "no such option"
    }
    throw .usage(
      "\(part.file) was run with \(quoted(own)), \(first.file) with \(quoted(others)): the shards "
        + "do not share out the same states; run all of them with the same options")
  }

  /// The report of the whole.
  /// - Throws: `LabError` with code `.nondeterminism` if the shards did not have the same run.
  package func merged() throws(LabError) -> RunReport {
    var result = RunReport(seed: parts[0].report.seed)
    result.formatVersion = parts[0].report.formatVersion
    result.options = parts[0].report.options
    result.isInterrupted = parts.contains { $0.report.isInterrupted }
    // An interrupted shard may have fewer cases; the others have all of them.
    let longest = parts.max { $0.report.cases.count < $1.report.cases.count } ?? parts[0]
    for place in longest.report.cases.indices {
      var cases: [(file: String, item: CaseReport)] = []
      for part in parts {
        if place < part.report.cases.count {
          cases.append((part.file, part.report.cases[place]))
        } else if !part.report.isInterrupted {
          throw differs(part.file, from: longest.file, in: "number of cases")
        }
      }
      result.cases.append(try merged(cases))
    }
    return result
  }

  private func differs(_ file: String, from other: String, in what: String) -> LabError {
    LabError(
      .nondeterminism,
      "\(file) and \(other) differ in \(what): the shards did not see the same run; give all the "
        + "same command, the same files and the same version")
  }

  // MARK: Cases

  private func merged(_ parts: [(file: String, item: CaseReport)]) throws(LabError) -> CaseReport {
    let first = parts[0]
    var result = CaseReport(name: first.item.name, title: first.item.title)
    result.isNegative = first.item.isNegative
    result.line = first.item.line
    // Each shard has made its own recording; the first one is used.
    result.rules = parts.lazy.compactMap(\.item.rules).first
    result.histories = first.item.histories
    result.messages = parts.lazy.compactMap(\.item.messages).first
    let seconds = parts.compactMap(\.item.seconds)
    result.seconds = seconds.isEmpty ? nil : seconds.reduce(0, +)
    result.commitCoverage = Self.joined(parts.map(\.item.commitCoverage))
    // Timelines that are too long are cut around each shard's own findings.
    let most = parts.map(\.item.timelines.count).max() ?? 0
    let whole = parts.filter { $0.item.timelines.count == most }
    result.timelines =
      (whole.first { !$0.item.findings.isEmpty } ?? whole.first)?.item.timelines ?? []
    for part in parts {
      guard part.item.name == first.item.name else {
        throw differs(part.file, from: first.file, in: "the case '\(first.item.name)'")
      }
      if part.item.isInterrupted { result.isInterrupted = true }
      for text in part.item.complaints where !result.complaints.contains(text) {
        result.complaints.append(text)
      }
      for text in part.item.skipped where !result.skipped.contains(text) {
        result.skipped.append(text)
      }
    }
    let longest = parts.max { $0.item.explorations.count < $1.item.explorations.count } ?? first
    var nextNumber = 1
    for place in longest.item.explorations.indices {
      var explorations: [(file: String, report: ExplorationReport)] = []
      for part in parts {
        if place < part.item.explorations.count {
          explorations.append((part.file, part.item.explorations[place]))
        } else if !part.item.isInterrupted && part.item.outcome != .labFailed {
          throw differs(
            part.file, from: longest.file, in: "the explorations of '\(first.item.name)'")
        }
      }
      var joined = try merged(explorations)
      for index in joined.findings.indices {
        joined.findings[index].renumber(nextNumber)
        nextNumber += 1
      }
      result.explorations.append(joined)
    }
    decide(&result, parts.map(\.item))
    return result
  }

  /// The verdict on a case: the worst of its shards', but one of them may find a planted bug.
  private func decide(_ result: inout CaseReport, _ items: [CaseReport]) {
    let outcomes = items.map(\.outcome)
    if outcomes.contains(.labFailed) {
      result.outcome = .labFailed
    } else if !result.isNegative {
      result.outcome =
        outcomes.contains(.broken)
        ? .broken : outcomes.contains(.interrupted) ? .interrupted : .held
    } else if items.contains(where: { $0.outcome == .held && $0.pendingComplaint == nil }) {
      result.outcome = .held
    } else if outcomes.contains(.interrupted) {
      result.outcome = .interrupted
    } else {
      result.outcome = .broken
      let pending = items.compactMap(\.pendingComplaint).first
      if let pending, !result.complaints.contains(pending) { result.complaints.append(pending) }
    }
  }

  // MARK: Explorations

  private func merged(
    _ parts: [(file: String, report: ExplorationReport)]
  ) throws(LabError) -> ExplorationReport {
    let first = parts[0]
    var result = first.report
    // If nothing was recorded, each shard counts its own places.
    let isRecorded = first.report.shape != nil
    for part in parts.dropFirst() {
      let report = part.report
      guard report.model == first.report.model, report.title == first.report.title else {
        throw differs(part.file, from: first.file, in: "the model or title of an exploration")
      }
      guard report.shape == first.report.shape else {
        throw differs(
          part.file, from: first.file,
          in: "the recorded trace under \(report.model) (shapes \(report.shape ?? "none"), "
            + "\(first.report.shape ?? "none"))")
      }
      let distinct = report.distinctCount - (report.recoveryCount ?? 0)
      let expected = first.report.distinctCount - (first.report.recoveryCount ?? 0)
      guard !isRecorded || distinct == expected else {
        throw differs(part.file, from: first.file, in: "the states under \(report.model)")
      }
      result.exploredCount += report.exploredCount
      if isRecorded {
        result.distinctCount += report.recoveryCount ?? 0
        result.recoveryCount = (result.recoveryCount ?? 0) + (report.recoveryCount ?? 0)
      } else {
        result.operationCount = max(result.operationCount, report.operationCount)
        result.distinctCount += report.distinctCount
        result.candidateCount += report.candidateCount
        result.crashPointCount += report.crashPointCount
        result.bound = "\(result.distinctCount)"
      }
      result.seconds += report.seconds
      if let media = report.media { result.media?.add(media) }
      if report.isInterrupted { result.isInterrupted = true }
      if report.isOutOfTime == true { result.isOutOfTime = true }
    }
    if first.report.recoveryCount == nil { result.recoveryCount = nil }
    result.crashPoints = Self.joined(parts.map { $0.report.crashPoints })
    result.findingBudget = parts.compactMap(\.report.findingBudget).min()
    result.commitCoverage = Self.joined(parts.map(\.report.commitCoverage))
    result.remarks = JudgingRemark.joined(parts.map(\.report.remarks))
    result.findings = joined(parts.flatMap { $0.report.findings })
    return result
  }

  /// The combined coverage of all shards; nil if there is none.
  private static func joined(_ parts: [CommitCoverage?]) -> CommitCoverage? {
    var all = CommitCoverage()
    for part in parts { all.add(part) }
    return all.isEmpty ? nil : all
  }

  /// The crash points of all shards, among which the states of each are distributed.
  private static func joined(_ parts: [[CrashPointCount]?]) -> [CrashPointCount]? {
    guard let first = parts.first, var result = first else { return nil }
    var places: [Int: Int] = [:]
    for (place, count) in result.enumerated() { places[count.crashPoint] = place }
    for part in parts.dropFirst() {
      for count in part ?? [] {
        guard let place = places[count.crashPoint] else { continue }
        result[place].failing += count.failing
        let checked = result[place].checked
        result[place].checked = checked.flatMap { sum in count.checked.map { sum + $0 } }
      }
    }
    return result
  }

  /// One finding for each root cause, in the order of their first states, joined from one for each
  /// class of failures.
  private func joined(_ findings: [Finding]) -> [Finding] {
    var result: [Finding] = []
    for finding in RootCause.separated(findings).sorted(by: Self.isEarlier) {
      let place = result.firstIndex {
        $0.classKey != nil && $0.classKey == finding.classKey
      }
      if let place {
        result[place].stateCount += finding.stateCount
      } else {
        result.append(finding)
      }
    }
    return RootCause.joined(result, firstNumber: 1)
  }

  private static func isEarlier(_ a: Finding, _ b: Finding) -> Bool {
    (a.firstOrdinal ?? .max, a.headline) < (b.firstOrdinal ?? .max, b.headline)
  }
}
