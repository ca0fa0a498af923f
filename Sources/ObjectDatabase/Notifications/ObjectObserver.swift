// ObjectObserver.swift: reports the changes of one object's own properties, and its deletion.

import Engine

/// An observer of an object.
final class ObjectObserver<Observed: ObjectBase>: Observer {
  private let object: Observed
  private let access: _TableAccess
  private let filter: KeyPathFilter?
  private let body: (ObjectChange<Observed>) -> Void

  init(
    _ object: Observed, _ access: _TableAccess, _ keyPaths: [String]?,
    _ body: @escaping (ObjectChange<Observed>) -> Void
  ) {
    self.object = object
    self.access = access
    filter = keyPaths.map { KeyPathFilter($0, access) }
    self.body = body
    super.init(access.core)
  }

  override func advance(_ round: NotificationRound) throws(EngineError) {
    let key = object.rowKey
    let table = round.changes(of: access.info)
    let isTouched =
      table != nil || filter != nil || round.isRemade(access.info) || hasMixed
    guard isTouched else { return }
    guard round.newerCore.access(access.info).contains(key) else {
      end()
      body(.deleted)
      return
    }
    let names = try changedProperties(round.modification(of: key, access.info), round)
    guard !names.isEmpty else { return }
    let old = round.olderCore.access(access.info)
    let new = round.newerCore.access(access.info)
    let changes = try names.map { number throws(EngineError) in
      let property = access.info.properties[number]
      guard !property.isCollection, property.type != .linkingObjects else {
        return PropertyChange(name: property.name, oldValue: nil, newValue: nil)
      }
      // Collections in mixed values are live, so there is no older one to show.
      let before = try old.readValue(key, number)
      let isCollection = try round.isCollection(before)
      let isPlain = property.type != .object && !isCollection
      return PropertyChange(
        name: property.name,
        oldValue: isPlain ? DynamicValue.any(before, property, access.core) : nil,
        newValue: DynamicValue.any(try new.readValue(key, number), property, access.core))
    }
    body(.change(object, changes))
  }

  /// Whether a change within a collection can be one of the object.
  private var hasMixed: Bool { access.info.properties.contains { $0.type == .any } }

  private func changedProperties(
    _ modification: RowModification?, _ round: NotificationRound
  ) throws(EngineError) -> [Int] {
    guard let filter else {
      let nested = hasMixed ? try round.nested() : NestedChanges()
      return access.info.properties.indices.filter { number in
        let property = access.info.properties[number]
        guard property.type != .linkingObjects else { return false }
        return modification?.changes(property.columnName) ?? false
          || nested.areIn(object.rowKey, access.info, property)
      }
    }
    var numbers: Set<Int> = []
    for path in filter.paths {
      guard let first = path.first, !numbers.contains(first.property) else { continue }
      if try round.modified(access.info, along: KeyPathFilter(path)).contains(object.rowKey) {
        numbers.insert(first.property)
      }
    }
    return numbers.sorted()
  }

  override func fail(_ error: Realm.Error) { body(.error(error)) }
}

extension KeyPathFilter {
  init(_ path: [Step]) { paths = [path] }
}
