// CollectionRow.swift: reads and changes the collection of one property of one row. Invariant: an
// embedded object, or a collection in a mixed value, that leaves a collection is deleted in the
// same change.

import Engine

extension _Row {
  /// Whether the row was deleted.
  var isInvalidated: Bool { access.isInvalidated || !access.contains(key) }

  /// The class of the elements; nil for values.
  var elementAccess: _TableAccess? {
    guard access.info.properties[property].type == .object,
      let name = access.info.properties[property].objectClassName
    else { return nil }
    // What a dynamic object leads to is dynamic, too.
    if access.info.isDynamic, let dynamic = core.dynamicAccess(named: name) { return dynamic }
    return core.access(named: name)
  }

  private func read<Result>(
    _ body: (any ReadableVersion, CollectionPath) throws(EngineError) -> Result
  ) -> Result {
    Misuse.unthrowing { () throws(EngineError) in try throwingRead(body) }
  }

  private func throwingRead<Result>(
    _ body: (any ReadableVersion, CollectionPath) throws(EngineError) -> Result
  ) throws(EngineError) -> Result {
    core.checkThread()
    if access.isInvalidated { access.gone(key) }
    do throws(EngineError) {
      return try body(try core.currentVersion(), place)
    } catch {
      if error.code == .keyNotFound || error.code == .noSuchTable { access.gone(key) }
      throw error
    }
  }

  /// The property of the class, as messages have it.
  private var words: String { "\(access.name).\(access.info.properties[property].words)" }

  var count: Int { read { source, path throws(EngineError) in try source.count(of: path) } }

  func element(at index: Int) -> Value {
    read { source, path throws(EngineError) in
      guard index >= 0, index < (try source.count(of: path)) else {
        Misuse.stop(
          "index \(index) of \(words) is out of bounds; "
            + "it has \(try source.count(of: path)) elements")
      }
      return try source.element(at: index, of: path)
    }
  }

  /// Whether an element of a set has a value: a number of any type, in a set of mixed values.
  func contains(_ value: Value) -> Bool { element(withValueOf: value) != nil }

  /// The element of a set that has a value; nil without one.
  private func element(withValueOf value: Value) -> Value? {
    let column = access.info.properties[property].column?.type
    return read { source, path throws(EngineError) in
      guard let wanted = SetLookup(value, column) else {
        return try source.contains(value, in: path) ? value : nil
      }
      return try wanted.element(count: try source.count(of: path)) { index throws(EngineError) in
        try source.element(at: index, of: path)
      }
    }
  }

  func value(forKey name: String) -> Value? {
    read { source, path throws(EngineError) in try source.value(forKey: name, in: path) }
  }

  /// All elements, in order.
  var elements: [Value] {
    Misuse.unthrowing { () throws(EngineError) in try readElements() }
  }

  /// All elements, in order, for callers that can report an error.
  func readElements() throws(EngineError) -> [Value] {
    try throwingRead { source, path throws(EngineError) in
      var values: [Value] = []
      try source.forEach(in: path) { _, value in values.append(value) }
      return values
    }
  }

  /// The keys of the linked objects, in order; nulls of a map are omitted.
  func readLinkedKeys() throws(EngineError) -> [Int64] {
    try throwingRead { source, path throws(EngineError) in
      var keys: [Int64] = []
      try source.forEach(in: path) { _, value in
        if case .link(let key) = value { keys.append(key) }
      }
      return keys
    }
  }

  /// All entries of a map, in order.
  var entries: [(key: String, value: Value)] {
    Misuse.unthrowing { () throws(EngineError) in try readEntries() }
  }

  /// All entries of a map, in order, for callers that can report an error.
  func readEntries() throws(EngineError) -> [(key: String, value: Value)] {
    try throwingRead { source, path throws(EngineError) in
      var entries: [(key: String, value: Value)] = []
      try source.forEach(in: path) { key, value in entries.append((key ?? "", value)) }
      return entries
    }
  }

  // MARK: changing

  /// Runs a change of the collection, and deletes the embedded objects, and the collections of
  /// mixed values, that it took out.
  private func change(
    taking old: @autoclosure () -> [Value],
    _ body: (WriteTransaction, CollectionPath) throws(EngineError) -> Void
  ) {
    core.checkWritable()
    if isInvalidated { access.gone(key) }
    let embedded = core.embeddedTarget(access.info, property)
    let isMixed =
      access.info.properties[property].type == .any
      && core.openWrite.map(MixedCollections.are) ?? false
    let before = embedded == nil && !isMixed ? [] : old()
    core.change { write throws(EngineError) in
      try body(write, place)
      if isMixed { try MixedCollections.release(before, write) }
      guard let embedded else { return }
      for child in before.flatMap(\.linkedKeys)
      where try write.contains(key: child, in: embedded.name) {
        try core.release(child, of: embedded, write)
      }
    }
  }

  private func checkIndex(_ index: Int, below end: Int) {
    guard index >= 0, index < end else {
      Misuse.stop(
        "index \(index) of \(words) is out of bounds; "
          + "the count is \(count)")
    }
  }

  func append(_ value: Value) {
    change(taking: []) { write, path throws(EngineError) in
      try write.append(value, to: path)
      try core.recorder?.didChange(.append(value), path)
    }
  }

  func insert(_ value: Value, at index: Int) {
    checkIndex(index, below: count + 1)
    change(taking: []) { write, path throws(EngineError) in
      try write.insert(value, at: index, in: path)
      try core.recorder?.didChange(.insert(value, at: index), path)
    }
  }

  func replace(at index: Int, with value: Value) {
    checkIndex(index, below: count)
    change(taking: [element(at: index)]) { write, path throws(EngineError) in
      try write.replace(at: index, with: value, in: path)
      try core.recorder?.didChange(.replace(at: index, with: value), path)
    }
  }

  func remove(at index: Int) {
    checkIndex(index, below: count)
    change(taking: [element(at: index)]) { write, path throws(EngineError) in
      try write.remove(at: index, from: path)
      try core.recorder?.didChange(.remove(at: index), path)
    }
  }

  /// Moves an element; it stays the same object.
  func move(from source: Int, to target: Int) {
    checkIndex(source, below: count)
    checkIndex(target, below: count)
    change(taking: []) { write, path throws(EngineError) in
      let value = try write.element(at: source, of: path)
      try write.remove(at: source, from: path)
      try write.insert(value, at: target, in: path)
      try core.recorder?.didChange(.move(from: source, to: target), path)
    }
  }

  /// Swaps two elements.
  func swapAt(_ first: Int, _ second: Int) {
    checkIndex(first, below: count)
    checkIndex(second, below: count)
    change(taking: []) { write, path throws(EngineError) in
      let (left, right) = (
        try write.element(at: first, of: path), try write.element(at: second, of: path)
      )
      try write.replace(at: first, with: right, in: path)
      try write.replace(at: second, with: left, in: path)
      try core.recorder?.didChange(.swap(first, second), path)
    }
  }

  func removeAll() {
    change(taking: elements) { write, path throws(EngineError) in
      try core.recorder?.willClear(path)
      try write.removeAll(from: path)
    }
  }

  func insert(_ value: Value) -> Bool {
    if contains(value) { return false }
    change(taking: []) { write, path throws(EngineError) in
      try write.insert(value, into: path)
      try core.recorder?.didChange(.insertMember(value), path)
    }
    return true
  }

  /// Removes a value; older programs may have stored it in several forms.
  func remove(_ value: Value) {
    while let element = element(withValueOf: value) {
      change(taking: []) { write, path throws(EngineError) in
        try write.remove(element, from: path)
        try core.recorder?.didChange(.removeMember(element), path)
      }
    }
  }

  func set(_ value: Value, forKey name: String) {
    change(taking: self.value(forKey: name).map { [$0] } ?? []) { write, path throws(EngineError) in
      try write.set(value, forKey: name, in: path)
      try core.recorder?.didChange(.setEntry(name, value), path)
    }
  }

  func removeValue(forKey name: String) {
    change(taking: self.value(forKey: name).map { [$0] } ?? []) { write, path throws(EngineError) in
      if try write.removeValue(forKey: name, from: path) {
        try core.recorder?.didChange(.removeEntry(name), path)
      }
    }
  }
}
