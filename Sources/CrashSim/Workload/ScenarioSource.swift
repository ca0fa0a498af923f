// ScenarioSource.swift: a scenario file as a tree that can be reduced and written again.
// Invariant: only steps, statements, `repeat`, `times` and `upTo` change; everything else stays as
// the author wrote it, except comments and line breaks.

import LabCore
import Yams

/// A scenario file that can be reduced.
package struct ScenarioSource {
  /// A number of repetitions.
  package struct Count: Hashable {
    /// Index of the step.
    let step: Int
    /// Index of its statement; nil for the step's `repeat`.
    let statement: Int?
    /// Its key.
    var key = "repeat"
    /// The number.
    package let value: Int
  }

  private var root: Node

  /// Parses a text that the scenario parser has accepted, so it contains no aliases.
  /// - Throws: `LabError` with code `.usage` when it has no list of steps after all.
  package init(_ text: String, file: String) throws(LabError) {
    guard let node = try? Yams.compose(yaml: text), node["steps"]?.sequence != nil else {
      throw .usage(
        "\(file): no list of steps to make smaller; write 'steps:' with a '- ' line for each")
    }
    root = node
  }

  /// A step, and the block of concurrent steps that contains it: its place in the file.
  private struct Entry {
    var node: Node
    var block: Int?
  }

  /// Number of steps, including those of blocks.
  package var stepCount: Int { entries.count }

  /// Number of statements of a step; 0 for a step that writes nothing.
  package func statementCount(ofStep step: Int) -> Int { statements(ofStep: step).count }

  /// All numbers of repetitions above 1, in the order of the file.
  package var counts: [Count] {
    entries.indices.flatMap { step in
      let repeats = action(ofStep: step)?["repeat"]?.int.map {
        Count(step: step, statement: nil, value: $0)
      }
      let times = statements(ofStep: step).enumerated().flatMap { index, statement in
        ["times", "upTo"].compactMap { key in
          statement[key]?.int.map { Count(step: step, statement: index, key: key, value: $0) }
        }
      }
      return ([repeats].compactMap { $0 } + times).filter { $0.value > 1 }
    }
  }

  /// The scenario reduced to some of its steps.
  package func keeping(steps kept: [Int]) -> ScenarioSource {
    var source = self
    let all = entries
    source.entries = kept.map { all[$0] }
    return source
  }

  /// The scenario with only some of the statements of a step.
  package func keeping(statements kept: [Int], ofStep step: Int) -> ScenarioSource {
    let all = statements(ofStep: step)
    return changing(step) { $0["write"] = Self.list(kept.map { all[$0] }, like: $0["write"]) }
  }

  /// The scenario with another value for a count.
  package func setting(_ count: Count, to value: Int) -> ScenarioSource {
    var statements = statements(ofStep: count.step)
    return changing(count.step) { action in
      guard let statement = count.statement else {
        action["repeat"] = Node("\(value)")
        return
      }
      statements[statement][count.key] = Node("\(value)")
      action["write"] = Self.list(statements, like: action["write"])
    }
  }

  /// The scenario as YAML.
  /// - Throws: `LabError` with code `.lab` when the YAML library rejects its own tree.
  package func text() throws(LabError) -> String {
    do {
      return try Yams.serialize(node: root, width: -1, allowUnicode: true)
    } catch {
      throw .lab("cannot write the scenario: \(error)")
    }
  }

  /// The text of a scenario with `history` replaced by a drawn history.
  /// - Parameters:
  ///   - drawn: The sections of the history.
  ///   - text: The scenario that it was drawn for.
  ///   - file: The scenario's file, for messages.
  /// - Returns: The text of an ordinary scenario.
  /// - Throws: `LabError` with code `.lab` when the YAML library rejects one of the two.
  package static func text(
    of drawn: DrawnHistory, in text: String, file: String
  ) throws(LabError) -> String {
    guard let root = try? Yams.compose(yaml: text)?.mapping,
      let sections = try? Yams.compose(yaml: drawn.text)?.mapping
    else {
      throw .lab("\(file): history \(drawn.parameters.number) cannot be read again")
    }
    // The history's steps replace 'history'.
    let pairs = root.flatMap { key, value in
      key.string == "history" ? Array(sections) : [(key: key, value: value)]
    }
    return try ScenarioSource(root: .mapping(Node.Mapping(pairs, .implicit, .block))).text()
  }

  private init(root: Node) { self.root = root }

  // MARK: - The tree

  private static let blockKey = "together"

  private var entries: [Entry] {
    get {
      Array(root["steps"]?.sequence ?? Node.Sequence([])).enumerated().flatMap { place, node in
        guard let block = node[Self.blockKey]?.sequence else { return [Entry(node: node)] }
        return block.map { Entry(node: $0, block: place) }
      }
    }
    set {
      let old = Array(root["steps"]?.sequence ?? Node.Sequence([]))
      var nodes: [Node] = []
      for (place, entry) in newValue.enumerated() {
        guard let block = entry.block else {
          nodes.append(entry.node)
          continue
        }
        // The first step of a block stands for the whole block.
        guard place == 0 || newValue[place - 1].block != block else { continue }
        var whole = old[block]
        let steps = newValue.filter { $0.block == block }.map(\.node)
        whole[Self.blockKey] = Self.list(steps, like: whole[Self.blockKey])
        nodes.append(whole)
      }
      root["steps"] = Self.list(nodes, like: root["steps"])
    }
  }

  /// What a step's actor does.
  private func action(ofStep step: Int) -> Node? { entries[step].node.mapping?.first?.value }

  private func statements(ofStep step: Int) -> [Node] {
    Array(action(ofStep: step)?["write"]?.sequence ?? Node.Sequence([]))
  }

  private func changing(_ step: Int, _ change: (inout Node) -> Void) -> ScenarioSource {
    guard let key = entries[step].node.mapping?.first?.key, var action = action(ofStep: step) else {
      return self
    }
    var source = self
    change(&action)
    source.entries[step].node[key] = action
    return source
  }

  /// A list in the style of another.
  private static func list(_ nodes: [Node], like other: Node?) -> Node {
    .sequence(Node.Sequence(nodes, .implicit, other?.sequence?.style ?? .any))
  }
}
