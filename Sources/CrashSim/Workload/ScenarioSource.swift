// ScenarioSource.swift: a scenario file as a tree that can be reduced and written again.
// Invariant: only steps, statements, clients, `repeat`, `times` and `upTo` change; everything else
// stays as the author wrote it, except comments and line breaks.

import LabCore
import Yams

/// A scenario file that can be reduced.
package struct ScenarioSource {
  /// A number of repetitions.
  package struct Count: Hashable {
    /// Index of the step.
    let step: Int
    /// Index of its statement; nil for a number of the step itself.
    let statement: Int?
    /// Its key.
    var key = "repeat"
    /// The number.
    package let value: Int
  }

  /// What the steps are about, which decides where they stand and what they are made of.
  private enum Kind: String, CaseIterable {
    /// Steps of documents, and of actors side by side.
    case documents
    /// Steps of a synchronized realm.
    case sync
    /// Steps of tables and objects, at the top of the file.
    case tables

    /// The key of a step's statements.
    var statements: String {
      switch self {
      case .documents: "transaction"
      case .sync: "do"
      case .tables: "write"
      }
    }
  }

  private var root: Node
  private let kind: Kind
  /// The lists of steps, each as the keys that lead to it.
  private let lists: [[String]]

  /// Parses a text that the scenario parser has accepted, so it contains no aliases.
  /// - Throws: `LabError` with code `.usage` when it has no list of steps after all.
  package init(_ text: String, file: String) throws(LabError) {
    guard let node = try? Yams.compose(yaml: text) else { throw Self.noSteps(file) }
    self.init(root: node)
    guard lists.contains(where: { $0.last != Self.beforeKey }) else { throw Self.noSteps(file) }
  }

  private init(root: Node) {
    self.root = root
    let kind = Kind.allCases.first { root[$0.rawValue] != nil } ?? .tables
    let top = kind == .tables ? [] : [kind.rawValue]
    let actors = kind == .documents ? root[kind.rawValue]?[Self.blockKey]?.mapping : nil
    let possible =
      (kind == .tables ? [] : [[Self.beforeKey]]) + [["steps"]]
      + (actors?.keys.compactMap(\.string) ?? []).map { [Self.blockKey, $0] }
    self.kind = kind
    lists = possible.map { top + $0 }.filter { root.node(at: $0[...])?.sequence != nil }
  }

  private static func noSteps(_ file: String) -> LabError {
    .usage("\(file): no list of steps to make smaller; write 'steps:' with a '- ' line for each")
  }

  /// A step, and its place in the file.
  private struct Entry {
    var node: Node
    /// Index of its list.
    var list: Int
    /// The block of concurrent steps that contains it.
    var block: Int?
  }

  /// Number of steps, including those before the run, and those of blocks.
  package var stepCount: Int { entries.count }

  /// Number of statements of a step, or of changes; 0 for a step that has no list of them.
  package func statementCount(ofStep step: Int) -> Int { statements(ofStep: step).count }

  /// All numbers of repetitions above 1, in the order of the file.
  package var counts: [Count] {
    entries.indices.flatMap { step in
      let own = ["repeat", "times", "upTo"].compactMap { key in
        action(ofStep: step)?[key]?.int.map {
          Count(step: step, statement: nil, key: key, value: $0)
        }
      }
      let times = statements(ofStep: step).enumerated().flatMap { index, statement in
        ["times", "upTo"].compactMap { key in
          statement[key]?.int.map { Count(step: step, statement: index, key: key, value: $0) }
        }
      }
      return (own + times).filter { $0.value > 1 }
    }
  }

  /// Number of nodes of a synchronized realm; 0 for any other scenario.
  package var nodeCount: Int { nodes.count }

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
    return changing(step) {
      $0[kind.statements] = Self.list(kept.map { all[$0] }, like: $0[kind.statements])
    }
  }

  /// The scenario with another value for a count.
  package func setting(_ count: Count, to value: Int) -> ScenarioSource {
    var statements = statements(ofStep: count.step)
    return changing(count.step) { action in
      guard let statement = count.statement else {
        action[count.key] = Node("\(value)")
        return
      }
      statements[statement][count.key] = Node("\(value)")
      action[kind.statements] = Self.list(statements, like: action[kind.statements])
    }
  }

  /// The scenario with some of its nodes; steps may still name the others.
  package func keeping(nodes kept: [Int]) -> ScenarioSource {
    var source = self
    let all = nodes
    source.root[kind.rawValue]?[Self.nodesKey] = .mapping(
      Node.Mapping(kept.map { all[$0] }, .implicit, .flow))
    return source
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

  // MARK: - The tree

  private static let blockKey = "together"
  private static let beforeKey = "before"
  private static let nodesKey = "nodes"

  private var nodes: [(key: Node, value: Node)] {
    guard kind == .sync, let nodes = root[kind.rawValue]?[Self.nodesKey]?.mapping else { return [] }
    return Array(nodes)
  }

  private func steps(ofList list: Int) -> [Node] {
    Array(root.node(at: lists[list][...])?.sequence ?? Node.Sequence([]))
  }

  private var entries: [Entry] {
    get {
      lists.indices.flatMap { list in
        steps(ofList: list).enumerated().flatMap { place, node in
          guard kind == .tables, let block = node[Self.blockKey]?.sequence else {
            return [Entry(node: node, list: list)]
          }
          return block.map { Entry(node: $0, list: list, block: place) }
        }
      }
    }
    set {
      for list in lists.indices {
        let nodes = whole(newValue.filter { $0.list == list }, steps(ofList: list))
        let isEmptyBefore = nodes.isEmpty && lists[list].last == Self.beforeKey
        root.change(at: lists[list][...]) {
          $0 = isEmptyBefore ? nil : Self.list(nodes, like: $0)
        }
      }
    }
  }

  /// Steps with those of a block in the block again.
  private func whole(_ entries: [Entry], _ old: [Node]) -> [Node] {
    var nodes: [Node] = []
    for (place, entry) in entries.enumerated() {
      guard let block = entry.block else {
        nodes.append(entry.node)
        continue
      }
      // The first step of a block stands for the whole block.
      guard place == 0 || entries[place - 1].block != block else { continue }
      var whole = old[block]
      let steps = entries.filter { $0.block == block }.map(\.node)
      whole[Self.blockKey] = Self.list(steps, like: whole[Self.blockKey])
      nodes.append(whole)
    }
    return nodes
  }

  /// What a step does: the step itself, or in steps of tables what its actor does.
  private func action(ofStep step: Int) -> Node? {
    kind == .tables ? entries[step].node.mapping?.first?.value : entries[step].node
  }

  private func statements(ofStep step: Int) -> [Node] {
    Array(action(ofStep: step)?[kind.statements]?.sequence ?? Node.Sequence([]))
  }

  private func changing(_ step: Int, _ change: (inout Node) -> Void) -> ScenarioSource {
    guard var action = action(ofStep: step) else { return self }
    var source = self
    change(&action)
    if kind == .tables, let key = entries[step].node.mapping?.first?.key {
      source.entries[step].node[key] = action
    } else {
      source.entries[step].node = action
    }
    return source
  }

  /// A list in the style of another.
  private static func list(_ nodes: [Node], like other: Node?) -> Node {
    .sequence(Node.Sequence(nodes, .implicit, other?.sequence?.style ?? .any))
  }
}

extension Node {
  /// The node that keys lead to.
  fileprivate func node(at path: ArraySlice<String>) -> Node? {
    guard let key = path.first else { return self }
    return self[key]?.node(at: path.dropFirst())
  }

  /// Changes the node that keys lead to; nil removes it.
  fileprivate mutating func change(
    at path: ArraySlice<String>, _ change: (inout Node?) -> Void
  ) {
    guard let key = path.first else { return }
    guard path.count > 1 else {
      var node = self[key]
      change(&node)
      // A node takes no nil; its mapping does.
      guard var pairs = mapping else { return }
      pairs[Node(key)] = node
      self = .mapping(pairs)
      return
    }
    guard var below = self[key] else { return }
    below.change(at: path.dropFirst(), change)
    self[key] = below
  }
}
