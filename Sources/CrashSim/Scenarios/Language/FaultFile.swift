// FaultFile.swift: fault rules from YAML: one rule, a list of rules, or a mapping with the key
// `faults`, each rule written as in a scenario.

import FaultFS
import Foundation
import LabCore
import Workload

/// Reads fault rules.
package enum FaultFile {
  /// The rules in a text; old spellings are accepted silently, and `read` returns them.
  /// - Parameters:
  ///   - text: YAML.
  ///   - file: Name for messages.
  ///   - allowsAnyErrno: Allows errors that the call does not return.
  /// - Returns: At least one rule.
  /// - Throws: `LabError` with code `.usage` and every diagnostic, with line and column.
  package static func parse(
    _ text: String, file: String, allowsAnyErrno: Bool = false
  ) throws(LabError) -> [FaultRule] {
    do throws(ScenarioError) {
      return try read(text, file: file, allowsAnyErrno: allowsAnyErrno).rules
    } catch {
      throw error.labError
    }
  }

  /// The rules in an argument: a single rule on one line may omit its braces.
  /// - Parameters:
  ///   - text: YAML.
  ///   - file: Name of the argument, for messages.
  ///   - allowsAnyErrno: Allows errors that the call does not return.
  ///   - warn: Called with each old spelling; by default a warning is written to standard error.
  /// - Returns: At least one rule.
  /// - Throws: `LabError` like `parse`.
  package static func parse(
    commandLine text: String, file: String, allowsAnyErrno: Bool,
    warn: (OldSpelling) -> Void = { $0.warn() }
  ) throws(LabError) -> [FaultRule] {
    let first = text.drop { $0 == " " || $0 == "\n" }.first
    let isBare = first != "{" && first != "[" && first != "-" && !text.contains("\n")
    // Positions are those in the typed text, which lacks the brace.
    let shift = isBare ? 1 : 0
    do throws(ScenarioError) {
      let (rules, oldSpellings) = try read(
        isBare ? "{\(text)}" : text, file: file, allowsAnyErrno: allowsAnyErrno)
      for var spelling in oldSpellings {
        spelling.position = spelling.position.moved(byColumns: -shift)
        spelling.isInFile = false
        warn(spelling)
      }
      return rules
    } catch {
      throw ScenarioError(error.diagnostics.map { $0.moved(byColumns: -shift) }).labError
    }
  }

  /// The rules in a file; old spellings give warnings on standard error.
  /// - Throws: `LabError` with code `.usage` when it cannot be read, or like `parse`.
  package static func load(
    _ path: String, allowsAnyErrno: Bool = false
  ) throws(LabError) -> [FaultRule] {
    guard let file = FileHandle(forReadingAtPath: path) else {
      throw .usage("cannot read the fault file \(path); does it exist?")
    }
    let limit = ScenarioText.sizeBytesMax
    guard let data = try? file.read(upToCount: limit + 1) else {
      throw .usage("cannot read the fault file \(path)")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw .usage("\(path):1:1: the file is not UTF-8; save it as UTF-8")
    }
    do throws(ScenarioError) {
      let (rules, oldSpellings) = try read(text, file: path, allowsAnyErrno: allowsAnyErrno)
      for spelling in oldSpellings { spelling.warn() }
      return rules
    } catch {
      throw error.labError
    }
  }

  /// The rules in a text, and the old spellings in it.
  /// - Throws: `ScenarioError` with all diagnostics.
  package static func read(
    _ text: String, file: String, allowsAnyErrno: Bool = false
  ) throws(ScenarioError) -> (rules: [FaultRule], oldSpellings: [OldSpelling]) {
    let root = try ScenarioText.compose(text, file: file)
    let parser = ScenarioParser(file: file, takesAnyPhase: true)
    var declarations: [FaultDeclaration] = []
    for node in nodes(root, parser.reader) {
      guard let fault = parser.readFault(node, allowsAnyErrno: allowsAnyErrno) else { continue }
      declarations.append(fault)
    }
    var rules: [FaultRule] = []
    for fault in declarations {
      do throws(LabError) {
        rules.append(try fault.rule())
      } catch {
        parser.reader.report(fault.position, error.message, "see docs/reference/faults.md")
      }
    }
    if !parser.reader.diagnostics.isEmpty { throw ScenarioError(parser.reader.diagnostics) }
    return (rules, parser.reader.oldSpellings)
  }

  private static func nodes(_ root: ScenarioNode, _ reader: ScenarioReader) -> [ScenarioNode] {
    guard case .map(let entries) = root.body else { return reader.list(root, of: "faults") }
    guard entries.contains(where: { $0.key.text == "faults" }) else { return [root] }
    guard reader.isReadable(root) else { return [] }
    for entry in entries where !["faults", ScenarioLanguage.key].contains(entry.key.text) {
      reader.report(
        entry.key.position, "unknown key '\(entry.key.text.prefix(60))' beside 'faults'",
        "remove it")
    }
    return entries.filter { $0.key.text == "faults" }.flatMap {
      reader.list($0.value, of: "faults")
    }
  }
}
