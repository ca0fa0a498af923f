// MixedContent.swift: the content of a `Crate` as a plain tree, and changes deep inside it.
// Invariants: entries of a dictionary are in the order of their keys, with distinct keys; a content
// is at most `ScenarioBounds.contentDepth` collections deep, so recursion over it is bounded.

import LabCore

/// An entry of a dictionary in a content.
package struct PlannedEntry: Sendable, Hashable, Codable {
  package var key: String
  package var value: PlannedValue

  package init(key: String, value: PlannedValue) {
    self.key = key
    self.value = value
  }
}

/// A change of one collection in a content.
package struct ContentEdit: Sendable, Hashable, Codable {
  /// What happens at the end of the path.
  package enum Change: Sendable, Hashable, Codable {
    /// The element gets this value; a dictionary may get a new key.
    case set(PlannedValue)
    /// The value is inserted into the list before this index, or at its end.
    case insert(PlannedValue)
    /// The element is removed.
    case remove
    /// The element of a list gets another place, which is counted without it.
    case move(to: Int64)
    /// The element of a list changes places with another one.
    case swap(with: Int64)
    /// All elements of the collection are removed.
    case clear
  }

  /// Indexes of lists and keys of dictionaries, from the outermost collection inwards.
  package var path: [PlannedValue]
  package var change: Change

  package init(path: [PlannedValue], change: Change) {
    self.path = path
    self.change = change
  }

  /// The value that it brings.
  package var value: PlannedValue? {
    switch change {
    case .set(let value), .insert(let value): value
    case .remove, .clear, .move, .swap: nil
    }
  }
}

/// How a statement changes a content.
package enum EditRule: Sendable, Hashable {
  /// Always this change.
  case planned(ContentEdit)
  /// Draws a change that fits the content.
  case any
}

/// Why a change does not fit a content, in words.
package struct EditMisfit: Error, Hashable {
  package let reason: String
}

// MARK: - Reading

extension PlannedValue {
  /// A dictionary with its entries in order; of equal keys the last counts.
  package static func dictionary(sorting entries: [PlannedEntry]) -> PlannedValue {
    let values = Dictionary(entries.map { ($0.key, $0.value) }) { $1 }
    return .dictionary(
      values.sorted { $0.key < $1.key }.map { PlannedEntry(key: $0.key, value: $0.value) })
  }

  /// The values that a collection holds directly.
  private var members: [PlannedValue] {
    switch self {
    case .list(let elements): elements
    case .dictionary(let entries): entries.map(\.value)
    default: []
    }
  }

  /// Whether it is a list or a dictionary.
  package var isCollection: Bool {
    switch self {
    case .list, .dictionary: true
    default: false
    }
  }

  /// How many collections are nested in each other; 0 for a plain value.
  package var depth: Int { isCollection ? 1 + (members.map(\.depth).max() ?? 0) : 0 }

  /// The number of values, itself included.
  var valueCount: Int { members.reduce(1) { $0 + $1.valueCount } }

  /// The same with null for links.
  package var withoutLinks: PlannedValue {
    switch self {
    case .link: .null
    case .list(let elements): .list(elements.map(\.withoutLinks))
    case .dictionary(let entries):
      .dictionary(entries.map { PlannedEntry(key: $0.key, value: $0.value.withoutLinks) })
    default: self
    }
  }

  /// The value in the form in which scenarios write it.
  package var text: String {
    switch self {
    case .null: "null"
    case .int(let number): "\(number)"
    case .bool(let value): "\(value)"
    case .double(let bits): "\(Double(bitPattern: bits))"
    case .string(let text): "\"\(text)\""
    case .list(let elements): "[\(elements.map(\.text).joined(separator: ", "))]"
    case .dictionary(let entries):
      "{\(entries.map { "\($0.key): \($0.value.text)" }.joined(separator: ", "))}"
    case .link(let key): "{\(ObjectClasses.linkKey): \(key)}"
    case .binary(let bytes): "the bytes '\(String(decoding: bytes, as: UTF8.self))'"
    case .date, .uuid: "\(self)"
    }
  }

  /// The element that a step of a path leads to.
  func member(_ step: PlannedValue) throws(EditMisfit) -> PlannedValue {
    switch (self, step) {
    case (.list(let elements), .int(let index)):
      guard index >= 0, index < elements.count else {
        throw EditMisfit(reason: "index \(index) in a list of \(elements.count)")
      }
      return elements[Int(index)]
    case (.dictionary(let entries), .string(let key)):
      guard let entry = entries.first(where: { $0.key == key }) else {
        throw EditMisfit(reason: "no key '\(key)' among \(entries.map(\.key))")
      }
      return entry.value
    default: throw EditMisfit(reason: "\(step.text) does not lead into \(kind)")
    }
  }

  private var kind: String {
    switch self {
    case .list: "a list"
    case .dictionary: "a dictionary"
    case .link: "a link"
    default: "the plain value \(text)"
    }
  }
}

// MARK: - Changing

extension PlannedValue {
  /// The content after a change.
  /// - Throws: `EditMisfit` when the path leads nowhere, or the result is nested too deeply.
  package func applying(_ edit: ContentEdit) throws(EditMisfit) -> PlannedValue {
    let result = try applying(edit.change, at: edit.path[...])
    guard result.depth <= ScenarioBounds.contentDepth else {
      throw EditMisfit(
        reason: "\(result.depth) nested collections, at most \(ScenarioBounds.contentDepth)")
    }
    return result
  }

  private func applying(
    _ change: ContentEdit.Change, at path: ArraySlice<PlannedValue>
  ) throws(EditMisfit) -> PlannedValue {
    guard let step = path.first else {
      switch (change, self) {
      case (.set(let value), _): return value
      case (.clear, .list): return .list([])
      case (.clear, .dictionary): return .dictionary([])
      case (.clear, _): throw EditMisfit(reason: "\(kind) cannot be cleared")
      default: throw EditMisfit(reason: "the whole content is no element")
      }
    }
    let isLast = path.count == 1
    switch (self, step, change) {
    case (.list(var elements), .int(let index), .insert(let value)) where isLast:
      guard index >= 0, index <= elements.count else {
        throw EditMisfit(reason: "index \(index) in a list of \(elements.count)")
      }
      elements.insert(value, at: Int(index))
      return .list(elements)
    case (.list(var elements), .int(let index), .move(let other)) where isLast:
      _ = (try member(step), try member(.int(other)))
      elements.insert(elements.remove(at: Int(index)), at: Int(other))
      return .list(elements)
    case (.list(var elements), .int(let index), .swap(let other)) where isLast:
      _ = (try member(step), try member(.int(other)))
      elements.swapAt(Int(index), Int(other))
      return .list(elements)
    case (.dictionary, _, .insert) where isLast, (.dictionary, _, .move) where isLast,
      (.dictionary, _, .swap) where isLast:
      throw EditMisfit(reason: "a dictionary has no places to insert at, to move or to swap")
    case (.dictionary(let entries), .string(let key), .set(let value)) where isLast:
      return .dictionary(sorting: entries + [PlannedEntry(key: key, value: value)])
    case (_, _, .remove) where isLast:
      _ = try member(step)
      return replacing(step, with: nil)
    default:
      let changed = try member(step).applying(change, at: path.dropFirst())
      return replacing(step, with: changed)
    }
  }

  /// The collection with another value at an existing place, or without it.
  private func replacing(_ step: PlannedValue, with value: PlannedValue?) -> PlannedValue {
    switch (self, step) {
    case (.list(var elements), .int(let index)):
      elements.replaceSubrange(Int(index)...Int(index), with: value.map { [$0] } ?? [])
      return .list(elements)
    case (.dictionary(let entries), .string(let key)):
      return .dictionary(
        entries.compactMap { entry in
          guard entry.key == key else { return entry }
          return value.map { PlannedEntry(key: key, value: $0) }
        })
    default: return self
    }
  }
}

// MARK: - Drawing

extension PlannedValue {
  /// How deep drawn contents are, and how many values they may reach by drawn changes.
  private static let (drawnDepth, drawnCount) = (3, 40)

  /// Draws a content: three of four times a collection, with links to dogs of these keys.
  static func drawContent(
    depth: Int = drawnDepth, dogs: [Int64], _ generator: inout PRNG
  ) -> PlannedValue {
    guard depth > 0, generator.below(4) > 0 else { return drawPlain(dogs, &generator) }
    let count = generator.below(5)
    guard generator.below(2) == 0 else {
      return .list((0..<count).map { _ in drawElement(below: depth, dogs, &generator) })
    }
    return .dictionary(
      sorting: (0..<count).map { _ in
        PlannedEntry(key: drawKey(&generator), value: drawElement(below: depth, dogs, &generator))
      })
  }

  /// Half of the elements are plain, so that trees stay small.
  private static func drawElement(
    below depth: Int, _ dogs: [Int64], _ generator: inout PRNG
  ) -> PlannedValue {
    generator.below(2) == 0
      ? drawPlain(dogs, &generator)
      : drawContent(depth: depth - 1, dogs: dogs, &generator)
  }

  private static func drawPlain(_ dogs: [Int64], _ generator: inout PRNG) -> PlannedValue {
    switch generator.below(dogs.isEmpty ? 6 : 8) {
    case 0: .null
    case 1: .bool(generator.below(2) == 0)
    case 2: .double((Double(generator.below(1000)) / 8).bitPattern)
    case 3, 4: .int(Int64(generator.below(1000)))
    case 6, 7: .link(dogs[generator.below(dogs.count)])
    default:
      .string(
        String(
          decoding: (0..<generator.below(40)).map { _ in UInt8(97 + generator.below(26)) },
          as: UTF8.self))
    }
  }

  /// One of few keys, so that drawn changes meet existing ones.
  private static func drawKey(_ generator: inout PRNG) -> String {
    ["deep", "flat", "left", "right", "size"][generator.below(5)]
  }

  /// Draws a change that fits this content; new values may link to dogs of these keys.
  func drawEdit(dogs: [Int64], _ generator: inout PRNG) -> ContentEdit {
    let paths = collectionPaths()
    guard !paths.isEmpty else {
      return ContentEdit(path: [], change: .set(Self.drawContent(dogs: dogs, &generator)))
    }
    let path = paths[generator.below(paths.count)]
    let isLarge = valueCount > Self.drawnCount
    if isLarge || generator.below(12) == 0 { return ContentEdit(path: path, change: .clear) }
    let depth = min(Self.drawnDepth, ScenarioBounds.contentDepth - path.count - 1)
    let value = Self.drawContent(depth: depth, dogs: dogs, &generator)
    // The path was collected from this content.
    let collection = path.reduce(self) { (try? $0.member($1)) ?? .null }
    guard case .list(let elements) = collection else {
      let keys = collection.entries.map(\.key)
      if !keys.isEmpty, generator.below(4) == 0 {
        let key = keys[generator.below(keys.count)]
        return ContentEdit(path: path + [.string(key)], change: .remove)
      }
      return ContentEdit(path: path + [.string(Self.drawKey(&generator))], change: .set(value))
    }
    let choice = elements.isEmpty ? 0 : generator.below(6)
    let index = generator.below(elements.count + (choice < 2 ? 1 : 0))
    let change: ContentEdit.Change =
      switch choice {
      case 0, 1: .insert(value)
      case 2: .set(value)
      case 3: .remove
      case 4: .move(to: Int64(generator.below(elements.count)))
      default: .swap(with: Int64(generator.below(elements.count)))
      }
    return ContentEdit(path: path + [.int(Int64(index))], change: change)
  }

  /// The entries of a dictionary; empty for anything else.
  package var entries: [PlannedEntry] {
    if case .dictionary(let entries) = self { entries } else { [] }
  }

  /// The paths of all collections, the content's own first.
  private func collectionPaths() -> [[PlannedValue]] {
    let steps: [PlannedValue]
    switch self {
    case .list(let elements): steps = elements.indices.map { .int(Int64($0)) }
    case .dictionary(let entries): steps = entries.map { .string($0.key) }
    default: return []
    }
    return zip(steps, members).reduce(into: [[]]) { paths, member in
      paths += member.1.collectionPaths().map { [member.0] + $0 }
    }
  }
}
