// Contents.swift: the contents of dictionaries and arrays, shared by all objects that show them.
// Invariant: a lock is never taken while another one is held: nested contents are read after the
// outer lock was released.

import DocumentStore
import Fleece
import Synchronization

/// The pairs of a dictionary; any thread may use them.
final class DictionaryContents: Sendable {
  private enum State {
    case pairs([String: Item])
    /// Read from a document, unchanged.
    case source(FleeceSource)
  }

  private let state: Mutex<State>

  init(_ pairs: [String: Item] = [:]) { state = Mutex(.pairs(pairs)) }

  init(_ source: FleeceSource) { state = Mutex(.source(source)) }

  /// Changes the pairs.
  ///
  /// Bytes that do not decode are as if they had no pairs: documents are checked when they are
  /// read.
  private func change(_ body: (inout [String: Item]) -> Void) {
    state.withLock { state in
      var pairs: [String: Item]
      switch state {
      case .pairs(let present): pairs = present
      case .source(let source): pairs = (try? source.items()) ?? [:]
      }
      state = .pairs([:])
      body(&pairs)
      state = .pairs(pairs)
    }
  }

  func item(_ key: String) -> Item? {
    let found: Item? = state.withLock { state in
      switch state {
      case .pairs(let pairs): pairs[key]
      case .source(let source): try? source.item(key)
      }
    }
    switch found {
    case .array, .dictionary:
      // Each caller must get the same collection.
      return items()[key]
    default: return found
    }
  }

  func items() -> [String: Item] {
    state.withLock { state in
      switch state {
      case .pairs(let pairs): return pairs
      case .source(let source):
        let pairs = (try? source.items()) ?? [:]
        state = .pairs(pairs)
        return pairs
      }
    }
  }

  var keys: [String] { items().keys.sorted() }

  func set(_ item: Item?, for key: String) { change { $0[key] = item } }

  func replace(with pairs: [String: Item]) { state.withLock { $0 = .pairs(pairs) } }

  func replace(with source: FleeceSource) { state.withLock { $0 = .source(source) } }

  func copy(depth: Int = 0) -> DictionaryContents {
    let unchanged: FleeceSource? = state.withLock { state in
      if case .source(let source) = state { return source }
      return nil
    }
    if let unchanged { return DictionaryContents(unchanged) }
    return DictionaryContents(items().mapValues { $0.copy(depth: depth) })
  }

  func isEqual(to other: DictionaryContents, depth: Int) -> Bool {
    let (first, second) = (items(), other.items())
    guard first.count == second.count else { return false }
    return first.allSatisfy { key, item in
      second[key].map { Item.isEqual(item, $0, depth: depth) } ?? false
    }
  }

  /// Writes the pairs as a dict.
  func write(to encoder: inout FleeceEncoder) throws(FleeceError) {
    let unchanged: FleeceSource? = state.withLock { state in
      if case .source(let source) = state { return source }
      return nil
    }
    guard let unchanged else { return try Item.write(items(), to: &encoder) }
    try FleeceBytes.over(unchanged.bytes) { (view: FleeceBytes) throws(FleeceError) in
      try encoder.copy(try FleeceValue.root(of: view), keys: unchanged.keys)
    }
  }

  /// The blobs in it that may not be stored yet.
  func blobs() -> [Blob] {
    var blobs: [Blob] = []
    collect(&blobs, depth: 0)
    return blobs
  }

  fileprivate func collect(_ blobs: inout [Blob], depth: Int) {
    let pairs: [String: Item] = state.withLock { state in
      if case .pairs(let pairs) = state { return pairs }
      return [:]
    }
    for item in pairs.values { item.collect(&blobs, depth: depth + 1) }
  }
}

/// The items of an array; any thread may use them.
final class ArrayContents: Sendable {
  private let state: Mutex<[Item]>

  init(_ items: [Item] = []) { state = Mutex(items) }

  func items() -> [Item] { state.withLock { $0 } }

  var count: Int { state.withLock { $0.count } }

  /// The item at an index; nil when there is none.
  func item(_ index: Int) -> Item? {
    state.withLock { $0.indices.contains(index) ? $0[index] : nil }
  }

  func change(_ body: (inout [Item]) -> Void) { state.withLock { body(&$0) } }

  func copy(depth: Int = 0) -> ArrayContents {
    ArrayContents(items().map { $0.copy(depth: depth) })
  }

  func isEqual(to other: ArrayContents, depth: Int) -> Bool {
    let (first, second) = (items(), other.items())
    return first.count == second.count
      && zip(first, second).allSatisfy { Item.isEqual($0, $1, depth: depth) }
  }
}

extension Item {
  /// Adds the blobs in it that may not be stored yet.
  fileprivate func collect(_ blobs: inout [Blob], depth: Int) {
    guard depth < Self.depthMax else { return }
    switch self {
    case .blob(let blob): blobs.append(blob)
    case .array(let contents):
      for item in contents.items() { item.collect(&blobs, depth: depth + 1) }
    case .dictionary(let contents): contents.collect(&blobs, depth: depth)
    default: break
    }
  }
}
