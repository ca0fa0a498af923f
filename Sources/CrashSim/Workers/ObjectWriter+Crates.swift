// ObjectWriter+Crates.swift: writes contents of crates: whole ones, and changes of one collection
// deep inside, by the calls of `List` and `Map`.

import ObjectDatabase
import Workload

extension ObjectWriter {
  func crate(_ id: Int) -> Crate? {
    realm.object(ofType: Crate.self, forPrimaryKey: id)
  }

  func writeCrate(_ id: Int, _ value: PlannedValue, isNew: Bool) {
    if isNew {
      let crate = Crate()
      crate._id = id
      crate.content = value.anyValue
      realm.add(crate)
    } else if let crate = crate(id), PlannedValue(crate.content) != value {
      crate.content = value.anyValue
    }
  }

  /// Applies a change.
  /// - Throws: `ObjectMisfit` when the path leads nowhere in the realm.
  func edit(_ id: Int, _ edit: ContentEdit) throws {
    guard let crate = crate(id) else { return }
    var collection = crate.content
    for step in edit.change == .clear ? edit.path[...] : edit.path.dropLast() {
      switch (collection, step) {
      case (.list(let list), .int(let index)) where list.indices.contains(Int(index)):
        collection = list[Int(index)]
      case (.dictionary(let map), .string(let key)): collection = map[key] ?? .none
      default: throw misfit(id, edit)
      }
    }
    switch (collection, edit.path.last, edit.change) {
    case (_, nil, .set(let value)): crate.content = value.anyValue
    case (.list(let list), _, .clear): list.removeAll()
    case (.dictionary(let map), _, .clear): map.removeAll()
    case (.list(let list), .int(let index)?, .insert(let value))
    where 0...list.count ~= Int(index):
      list.insert(value.anyValue, at: Int(index))
    case (.list(let list), .int(let index)?, .set(let value))
    where list.indices.contains(Int(index)):
      list[Int(index)] = value.anyValue
    case (.list(let list), .int(let index)?, .remove) where list.indices.contains(Int(index)):
      list.remove(at: Int(index))
    case (.dictionary(let map), .string(let key)?, .set(let value)): map[key] = value.anyValue
    case (.dictionary(let map), .string(let key)?, .remove): map.removeObject(for: key)
    default: throw misfit(id, edit)
    }
  }

  private func misfit(_ id: Int, _ edit: ContentEdit) -> ObjectMisfit {
    let path = edit.path.map(\.text).joined(separator: ", ")
    return ObjectMisfit(
      code: "keyNotFound", message: "the content of Crate \(id) has nothing at [\(path)]")
  }
}

extension PlannedValue {
  /// The value for a realm; what a content cannot hold is none.
  fileprivate var anyValue: AnyRealmValue {
    switch self {
    case .int(let number): .int(Int(number))
    case .string(let text): .string(text)
    case .bool(let value): .bool(value)
    case .double(let bits): .double(Double(bitPattern: bits))
    case .list(let elements): .fromArray(elements.map(\.anyValue))
    case .dictionary(let entries):
      .fromDictionary(Dictionary(entries.map { ($0.key, $0.value.anyValue) }) { $1 })
    default: .none
    }
  }
}
