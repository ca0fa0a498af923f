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
      crate.content = anyValue(value)
      realm.add(crate)
    } else if let crate = crate(id), PlannedValue(crate.content) != value {
      crate.content = anyValue(value)
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
    case (_, nil, .set(let value)): crate.content = anyValue(value)
    case (.list(let list), _, .clear): list.removeAll()
    case (.dictionary(let map), _, .clear): map.removeAll()
    case (.list(let list), .int(let index)?, .insert(let value))
    where 0...list.count ~= Int(index):
      list.insert(anyValue(value), at: Int(index))
    case (.list(let list), .int(let index)?, .set(let value))
    where list.indices.contains(Int(index)):
      list[Int(index)] = anyValue(value)
    case (.list(let list), .int(let index)?, .remove) where list.indices.contains(Int(index)):
      list.remove(at: Int(index))
    case (.list(let list), .int(let index)?, .move(let other))
    where list.indices.contains(Int(index)) && list.indices.contains(Int(other)):
      list.move(from: Int(index), to: Int(other))
    case (.list(let list), .int(let index)?, .swap(let other))
    where list.indices.contains(Int(index)) && list.indices.contains(Int(other)):
      list.swapAt(Int(index), Int(other))
    case (.dictionary(let map), .string(let key)?, .set(let value)): map[key] = anyValue(value)
    case (.dictionary(let map), .string(let key)?, .remove): map.removeObject(for: key)
    default: throw misfit(id, edit)
    }
  }

  private func misfit(_ id: Int, _ edit: ContentEdit) -> ObjectMisfit {
    let path = edit.path.map(\.text).joined(separator: ", ")
    return ObjectMisfit(
      code: "keyNotFound", message: "the content of Crate \(id) has nothing at [\(path)]")
  }

  /// The value for a realm; what a content cannot hold is none, as is a link to a missing dog.
  private func anyValue(_ value: PlannedValue) -> AnyRealmValue {
    switch value {
    case .int(let number): .int(Int(number))
    case .string(let text): .string(text)
    case .bool(let value): .bool(value)
    case .double(let bits): .double(Double(bitPattern: bits))
    case .link(let id): dog(Int(id)).map { .object($0) } ?? .none
    case .list(let elements): .fromArray(elements.map { anyValue($0) })
    case .dictionary(let entries):
      .fromDictionary(Dictionary(entries.map { ($0.key, anyValue($0.value)) }) { $1 })
    default: .none
    }
  }
}
