// ModelFile.swift: reads user-defined persistence models, in separate files or inside a scenario.
// Keys are those of `ModelParameter`; docs/explanation/crash-model.md gives their meaning.
// Invariant: a file with a diagnostic yields no model; a model is one that `validate` accepts.

import CrashStates
import Foundation
import LabCore
import Workload

/// Reads model files.
package enum ModelFile {
  /// The model in a file; old spellings give warnings on standard error.
  /// - Parameter path: The file, as given.
  /// - Returns: A model that the mechanism supports.
  /// - Throws: `LabError` with code `.usage` and all diagnostics.
  package static func load(_ path: String) throws(LabError) -> PersistenceModel {
    do throws(ScenarioError) {
      let (model, oldSpellings) = try read(bytes: try content(of: path), file: path)
      for spelling in oldSpellings { spelling.warn() }
      return model
    } catch {
      throw error.labError
    }
  }

  /// The model in a text.
  /// - Parameters:
  ///   - bytes: The content of the file.
  ///   - file: Its name, for messages.
  /// - Returns: A model that the mechanism supports.
  /// - Throws: `ScenarioError` with all diagnostics.
  package static func parse(
    bytes: [UInt8], file: String
  ) throws(ScenarioError) -> PersistenceModel {
    try read(bytes: bytes, file: file).model
  }

  /// The model in a text, and the old spellings in it.
  /// - Throws: `ScenarioError` with all diagnostics.
  package static func read(
    bytes: [UInt8], file: String
  ) throws(ScenarioError) -> (model: PersistenceModel, oldSpellings: [OldSpelling]) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw failure(file, "the file is not UTF-8", remedy: "save it as UTF-8")
    }
    guard text.contains(where: { !$0.isWhitespace }) else {
      throw failure(file, "the file holds no model", remedy: "write at least 'name:'")
    }
    let root = try ScenarioText.compose(text, file: file)
    let reader = ScenarioReader(file: file)
    let model = reader.isReadable(modelFile: root) ? reader.model(withoutVersion(root)) : nil
    guard reader.diagnostics.isEmpty, let model else { throw ScenarioError(reader.diagnostics) }
    return (model, reader.oldSpellings)
  }

  /// The model's mapping without the version of the language.
  private static func withoutVersion(_ root: ScenarioNode) -> ScenarioNode {
    guard case .map(let entries) = root.body, root.saysLanguageVersion else { return root }
    return ScenarioNode(
      position: root.position,
      body: .map(entries.filter { $0.key.text != ScenarioLanguage.key }))
  }

  /// The bytes of a file named by the user; anything but a short regular file is rejected unread.
  static func content(of path: String) throws(ScenarioError) -> [UInt8] {
    let place = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: place) else {
      throw failure(path, "there is no such model file", remedy: "give the path of a YAML file")
    }
    guard attributes[.type] as? FileAttributeType == .typeRegular else {
      throw failure(
        path, "the model file is not a regular file", remedy: "give the path of a YAML file")
    }
    let size = (attributes[.size] as? NSNumber)?.intValue ?? 0
    guard size <= ScenarioText.sizeBytesMax else {
      throw failure(
        path, "the model file is too long: file_bytes=\(size) > \(ScenarioText.sizeBytesMax)",
        remedy: "write one model only")
    }
    guard let data = FileManager.default.contents(atPath: place) else {
      throw failure(path, "the model file cannot be read", remedy: "correct its permissions")
    }
    return Array(data)
  }

  private static func failure(
    _ file: String, _ message: String, remedy: String
  ) -> ScenarioError {
    ScenarioError([
      ScenarioDiagnostic(
        file: file, position: SourcePosition(line: 1, column: 1), message: message, remedy: remedy)
    ])
  }
}

extension ScenarioNode {
  /// Whether `version` at the top of a model file is the language's.
  ///
  /// Before version 1 it was the model's own, which is now `modelVersion`. `version: 1` alone can
  /// mean either: a model's own version defaults to 1.
  var saysLanguageVersion: Bool {
    guard case .map(let entries) = body else { return false }
    if hasKey(GrammarObject.model.presentKey(ScenarioLanguage.key)) { return true }
    return entries.contains { entry in
      guard entry.key.text == ScenarioLanguage.key,
        case .scalar("\(ScenarioLanguage.version)", isQuoted: false) = entry.value.body
      else { return false }
      return true
    }
  }
}

extension ScenarioReader {
  /// Whether this release supports the version of a model file; otherwise it is reported.
  fileprivate func isReadable(modelFile root: ScenarioNode) -> Bool {
    !root.saysLanguageVersion || isReadable(root)
  }

  /// The model in a mapping.
  func model(_ node: ScenarioNode) -> PersistenceModel? {
    guard let fields = fields(node, .model, required: ["name"]) else { return nil }
    guard let name = fields["name"].flatMap({ modelName($0) }) else { return nil }
    let stock = PersistenceModel.stock.map(\.name)
    var model = PersistenceModel.posix
    if let base = fields["base"] {
      guard let word = word(base, "stock model", of: stock),
        let found = PersistenceModel.named(word)
      else { return nil }
      model = found
    }
    model.name = name
    model.version = 1
    if let version = fields["modelVersion"] {
      let number = integer(version, "a version of the model", in: 1...1_000_000)
      model.version = number.map { Int($0) } ?? 1
    }
    for parameter in ModelParameter.all {
      guard let value = fields[parameter.key] else { continue }
      guard let word = word(value, "value of \(parameter.key)", of: parameter.words) else {
        return nil
      }
      parameter.set(&model, word)
    }
    for conflict in model.conflicts {
      report(
        fields.keyPosition(conflict.key) ?? node.position,
        "impossible: \(conflict.key): \(ModelParameter.word(of: conflict.key, in: model))",
        conflict.message)
    }
    return diagnostics.isEmpty ? model : nil
  }

  private func modelName(_ node: ScenarioNode) -> String? {
    guard let name = text(node, "a name") else { return nil }
    guard PersistenceModel.isPlain(name: name) else {
      report(
        node.position, "'\(name.prefix(60))' cannot name a model",
        "use 1 to \(PersistenceModel.nameLettersMax) lower case letters, digits and '-'")
      return nil
    }
    guard PersistenceModel.named(name) == nil else {
      report(
        node.position, "'\(name)' is a stock model",
        "give yours another name; 'base: \(name)' begins with it")
      return nil
    }
    return name
  }

  /// A scenario's model as one word: the name of a stock model, the path of a model file relative
  /// to the scenario's folder, or an inline definition.
  func modelWord(_ node: ScenarioNode) -> String? {
    switch node.body {
    case .map:
      return model(node)?.specification
    case .scalar(let text, _) where text.hasSuffix(".yaml") || text.hasSuffix(".yml"):
      let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
      let path = text.hasPrefix("/") ? text : "\(folder)/\(text)"
      do throws(ScenarioError) {
        let bytes = try ModelFile.content(of: path)
        let (model, oldSpellings) = try ModelFile.read(bytes: bytes, file: path)
        addOldSpellings(oldSpellings)
        return model.specification
      } catch {
        report(
          node.position, "the model file '\(text.prefix(200))' is wrong: \(error)",
          "correct that file, or name a stock model: \(PersistenceModel.stockNames)")
        return nil
      }
    default:
      return word(node, "persistence model", of: GrammarWords.models)
    }
  }
}
