// FaultFile.swift: fault rules from YAML: one rule, a list of rules, or a mapping with the key
// `faults`, each rule written as in a scenario.

import FaultFS
import Foundation
import LabCore
import Workload

/// Reads fault rules.
package enum FaultFile {
  /// The rules of a text.
  /// - Parameters:
  ///   - text: YAML.
  ///   - file: Name for messages.
  ///   - allowsAnyErrno: Errors need not be ones that the call may return.
  /// - Returns: At least one rule.
  /// - Throws: `LabError` with code `.usage` and every diagnostic, with line and column.
  package static func parse(
    _ text: String, file: String, allowsAnyErrno: Bool = false
  ) throws(LabError) -> [FaultRule] {
    do throws(ScenarioError) {
      return try rules(text, file, allowsAnyErrno)
    } catch {
      throw error.labError
    }
  }

  /// The rules of an argument: one rule in one line may leave out its braces.
  /// - Throws: `LabError` as `parse` does.
  package static func parse(
    commandLine text: String, file: String, allowsAnyErrno: Bool
  ) throws(LabError) -> [FaultRule] {
    let first = text.drop { $0 == " " || $0 == "\n" }.first
    let isBare = first != "{" && first != "[" && first != "-" && !text.contains("\n")
    return try parse(isBare ? "{\(text)}" : text, file: file, allowsAnyErrno: allowsAnyErrno)
  }

  /// The rules of a file.
  /// - Throws: `LabError` with code `.usage` when it cannot be read, or as `parse` does.
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
    return try parse(text, file: path, allowsAnyErrno: allowsAnyErrno)
  }

  private static func rules(
    _ text: String, _ file: String, _ allowsAnyErrno: Bool
  ) throws(ScenarioError) -> [FaultRule] {
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
    return rules
  }

  private static func nodes(_ root: ScenarioNode, _ reader: ScenarioReader) -> [ScenarioNode] {
    guard case .map(let entries) = root.body else { return reader.list(root, of: "faults") }
    guard entries.contains(where: { $0.key.text == "faults" }) else { return [root] }
    for entry in entries where entry.key.text != "faults" {
      reader.report(
        entry.key.position, "unknown key '\(entry.key.text.prefix(60))' beside 'faults'",
        "remove it")
    }
    return entries.filter { $0.key.text == "faults" }.flatMap {
      reader.list($0.value, of: "faults")
    }
  }
}
