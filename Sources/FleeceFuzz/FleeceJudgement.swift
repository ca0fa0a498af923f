// FleeceJudgement.swift: the properties checked on any bytes. Invariants checked: both readers
// accept the same bytes, and read the same values and the same JSON from them; accepted bytes are
// converted to JSON and back, and copied to another encoder, without a change. Rejected bytes are
// also read, written as JSON, walked and copied, and must not trap.

import Fleece
import FleeceReference
import Fuzz

/// Judges bytes.
enum FleeceJudgement {
  /// The keys of the shared numbers.
  static let keyTexts = [
    "name", "age", "zip", "a", "b", "type", "list", "n", "outer", "x-1", "_k", "Q",
  ]
  static let keys: FleeceSharedKeys = {
    var keys = FleeceSharedKeys()
    for text in keyTexts { _ = keys.numberAdding(text) }
    return keys
  }()
  /// Trees of more values are not compared: pointers can make few bytes mean very many.
  static let valuesMax = 20_000

  private static let paths = [
    "a", "name[0]", "[0]", "[-1].a", "list[1].n", "outer.name[0].age", "[1][1][1]", "é.b", ".",
  ].compactMap { try? FleecePath(parsing: $0) }

  static func run(_ bytes: [UInt8], _ keys: FleeceSharedKeys = keys) -> FuzzOutcome {
    let naive = NaiveReader.read(bytes)
    let (isTaken, refusal): (Bool, String)
    do throws(FleeceError) {
      _ = try FleeceDocument(validating: bytes)
      (isTaken, refusal) = (true, "")
    } catch { (isTaken, refusal) = (false, error.description) }
    guard case .success(let tree) = naive else {
      if isTaken { return .finding("taken, and refused by the second reader: \(naive)") }
      _ = survive(bytes, keys)
      return .refused
    }
    guard isTaken else { return .finding("taken by the second reader, and refused: \(refusal)") }
    do throws(FleeceError) {
      let wrong = try FleeceDocument(bytes).withRoot { (root) throws(FleeceError) in
        try wrongReading(of: root, tree, keys)
      }
      return wrong.map { .finding($0) } ?? .accepted
    } catch {
      return .finding("taken, and read with \(error)")
    }
  }

  /// Uses invalid bytes in every way.
  private static func survive(_ bytes: [UInt8], _ keys: FleeceSharedKeys) -> Int {
    var found = 0
    _ = try? FleeceDocument(bytes).withRoot { (root) throws(FleeceError) in
      for path in paths where (try? path.value(in: root)) != nil { found += 1 }
      if (try? root.json(keys: keys)) != nil { found += 1 }
      var encoder = FleeceEncoder()
      if (try? encoder.copy(root, keys: keys)) != nil { found += 1 }
      // The same again after a base, so that extern pointers have a target.
      let twice = bytes + bytes
      _ = try FleeceBytes.over(twice) { (view: FleeceBytes) throws(FleeceError) in
        let root = try FleeceValue.root(of: view, baseSizeBytes: bytes.count)
        if (try? root.validate()) != nil { found += 1 }
        if (try? root.json(keys: keys)) != nil { found += 1 }
      }
    }
    _ = try? FleeceSharedKeys(reading: bytes)
    return found
  }

  private static func wrongReading(
    of root: FleeceValue, _ tree: ReferenceValue, _ keys: FleeceSharedKeys
  ) throws(FleeceError) -> String? {
    let (texts, isSmall) = (keys.keys, tree.count(most: valuesMax) < valuesMax)
    for path in paths {
      var path = path
      path.resolve(in: keys)
      let value = try path.value(in: root)
      guard isSmall else { continue }
      let all = tree.values(at: path.components[...], keys: texts)
      guard let value else {
        guard all.contains(nil) else { return "\(path) leads to nothing, and to \(all)" }
        continue
      }
      guard all.contains(try ReferenceValue(reading: value)) else {
        return "\(path) leads to what the second reader does not find"
      }
    }
    guard isSmall else { return nil }
    guard try ReferenceValue(reading: root) == tree else { return "the readers find other values" }
    if let wrong = try wrongJSON(of: root, tree, keys) { return wrong }
    return try wrongCopy(of: root, keys)
  }

  private static func wrongJSON(
    of root: FleeceValue, _ tree: ReferenceValue, _ keys: FleeceSharedKeys
  ) throws(FleeceError) -> String? {
    let naive = try? tree.json(keys: keys.keys, sizeMax: 64 * root.documentSizeBytes + 1024)
    let json: String
    do throws(FleeceError) { json = try root.json(keys: keys) } catch {
      let isRight = error.code == .limit || error.code == .unknownSharedKey
      return naive == nil && isRight ? nil : "JSON: \(error)"
    }
    guard json == naive else { return "JSON: \(json.prefix(300)) and \(naive?.prefix(300) ?? "")" }
    guard root.kind == .array || root.kind == .dict, tree.hasJSON else { return nil }
    // Numbers of keys have another order than their texts.
    var canonical = FleeceJSONOptions()
    canonical.isCanonical = true
    let first = try root.json(keys: keys, options: canonical)
    let second = try again(first)
    // Invalid UTF-8 is replaced, which can change the order of keys.
    guard first == second || first.contains("\u{fffd}") || tree.hasFloat else {
      return "JSON changes: \(first) \(second)"
    }
    return try again(second) == second ? nil : "JSON changes again"
  }

  /// JSON after reading and writing it again.
  static func again(_ json: String) throws(FleeceError) -> String {
    var encoder = FleeceEncoder()
    try FleeceBytes.over(json) { (view: FleeceBytes) throws(FleeceError) in
      try encoder.json(view, depthMax: 300)
    }
    let document = try FleeceDocument(validating: try encoder.finish())
    var options = FleeceJSONOptions()
    // An escape of two bytes can stand for one byte, and a key of a pair without a value for no
    // byte.
    options.sizeMaxBytes = 64 * json.utf8.count + 1024
    return try document.withRoot { (root) throws(FleeceError) in try root.json(options: options) }
  }

  private static func wrongCopy(
    of root: FleeceValue, _ keys: FleeceSharedKeys
  ) throws(FleeceError) -> String? {
    var encoder = FleeceEncoder()
    do throws(FleeceError) { try encoder.copy(root, keys: keys) } catch {
      return error.code == .limit || error.code == .unknownSharedKey ? nil : "copied with \(error)"
    }
    var options = FleeceJSONOptions()
    options.isCanonical = true
    options.sizeMaxBytes = 1 << 24
    let json = try root.json(keys: keys, options: options)
    let copy = try FleeceDocument(validating: try encoder.finish())
    return try copy.withRoot { (root) throws(FleeceError) -> String? in
      try root.json(options: options) == json ? nil : "the copy is another value"
    }
  }
}
