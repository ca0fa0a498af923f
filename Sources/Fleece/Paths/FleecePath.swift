// FleecePath.swift: the path to a value: `a.b[2].c`. It is parsed once, and followed in many
// documents without a copy or an allocation. Text of a path: names with a point between them, and
// indexes in brackets; -1 is the last item.
//   path  = [ "$" ] [ first ] { "." name | "[" [ "-" ] digits "]" }
//   first = name | "." name | "[" … "]"
// In a name, `\` escapes the next character, which is needed for `.`, `[`, `\` and a `$` at the
// start. The empty text, and `$`, are the path to the outermost value.

/// The path from a value to one inside it.
public struct FleecePath: Sendable, Hashable {
  /// A step.
  public enum Component: Sendable, Hashable {
    /// To the value of a key of a dict.
    case key(String)
    /// To an item of an array; a negative index counts from the end.
    case index(Int)
  }

  /// A step in resolved form.
  struct Step: Sendable {
    /// The bytes of a key; nil for an index.
    var key: [UInt8]?
    /// The index.
    var index = 0
    /// The key's number in the table that the path was resolved with, or -1.
    var number = -1
  }

  var steps: [Step] = []
  /// How many keys the table had that the path was resolved with.
  private var resolvedCount = 0

  /// A path of steps.
  /// - Parameter components: The steps, outermost first.
  public init(_ components: [Component]) {
    steps = components.map { component in
      switch component {
      case .key(let key): Step(key: Array(key.utf8))
      case .index(let index): Step(index: index)
      }
    }
  }

  /// Whether two paths have the same steps.
  public static func == (first: FleecePath, second: FleecePath) -> Bool {
    first.components == second.components
  }

  /// Hashes the steps.
  public func hash(into hasher: inout Hasher) { hasher.combine(components) }

  /// The steps, outermost first.
  public var components: [Component] {
    steps.map { step in
      step.key.map { .key(String(decoding: $0, as: UTF8.self)) } ?? .index(step.index)
    }
  }

  /// Looks up the keys in a table, so that a walk does not have to.
  ///
  /// Tables only grow: after keys were added, this looks up only those not found before. After a
  /// table was truncated, use a new path.
  /// - Parameter keys: The table of shared keys of the documents to walk in.
  /// - Complexity: O(steps) when the table has grown, else O(1).
  public mutating func resolve(in keys: FleeceSharedKeys) {
    guard keys.count != resolvedCount else { return }
    for index in steps.indices where steps[index].number < 0 {
      guard let key = steps[index].key else { continue }
      steps[index].number =
        FleeceBytes.over(key) { (view: FleeceBytes) in keys.number(of: view) } ?? -1
    }
    resolvedCount = keys.count
  }

  /// Follows the path, with keys as numbers where `resolve` found them and a dict has such keys.
  /// - Parameter root: Where it starts.
  /// - Returns: The value; nil when there is none.
  /// - Throws: `FleeceError` with code `.damaged` when bytes on the path are not values.
  /// - Complexity: O(steps · log pairs).
  public func value(in root: FleeceValue) throws(FleeceError) -> FleeceValue? {
    var value = root
    for index in steps.indices {
      guard let next = try Self.step(steps[index], from: value) else { return nil }
      value = next
    }
    return value
  }

  @inline(__always)
  private static func step(_ step: Step, from value: FleeceValue) throws(FleeceError)
    -> FleeceValue?
  {
    guard let key = step.key else { return try value.array?.value(at: step.index) }
    guard let dict = value.dict else { return nil }
    // Values that were copied out of their document, as indexes have them, have texts alone.
    if step.number >= 0, dict.hasNumbers { return try dict.value(forShared: step.number) }
    return try FleeceBytes.over(key) { (view: FleeceBytes) throws(FleeceError) in
      try dict.value(forText: view)
    }
  }
}

extension FleecePath: CustomStringConvertible {
  /// The path as a text that reads as the same path.
  public var description: String {
    var text = ""
    for (place, component) in components.enumerated() {
      switch component {
      case .index(let index): text += "[\(index)]"
      case .key(let key):
        if place > 0 || key.isEmpty { text += "." }
        for (index, scalar) in key.unicodeScalars.enumerated() {
          let isSpecial = scalar == "." || scalar == "[" || scalar == "\\"
          if isSpecial || scalar == "$" && index == 0 && place == 0 { text += "\\" }
          text.unicodeScalars.append(scalar)
        }
      }
    }
    return text
  }
}
