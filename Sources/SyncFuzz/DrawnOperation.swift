// DrawnOperation.swift: choices → an operation that fits a state, or seldom one that does not.

import Fuzz
import SyncCore

/// Draws operations over a small realm.
struct DrawnOperation {
  static let objects = [
    SyncObject("Cat", .int(1)), SyncObject("Dog", .int(1)), SyncObject("Dog", .int(2)),
  ]
  /// The part of the realm that operations use: 0 for all of it, 1 for one list.
  var range = 0
  /// One operation in this many is drawn without regard to the state.
  var wildness = 24

  private static let names: [SyncText] = ["a", "b", "c"]

  func draw(_ state: SyncState, _ choices: inout MutantChoices) -> [SyncOperation] {
    let isWild = choices.below(wildness) == 1
    let object = Self.objects[range == 1 ? 0 : choices.below(3)]
    guard let node = state.objects[object] else {
      guard isWild else { return [.create(object)] }
      return [
        .change(SyncField(object, [], "n"), change(SyncContent(), state, isWild, "n", &choices))
      ]
    }
    let kind = choices.below(range == 1 ? 40 : 14)
    if kind == 0 { return cascade(object, state) + [.delete(object)] }
    if kind == 1, isWild { return [choices.below(2) == 0 ? .delete(object) : .create(object)] }
    let (steps, inner) = walk(node, &choices)
    let name: SyncText = range == 1 ? "l" : ["l", "l", "n", "k", "s", "d", "v"][choices.below(7)]
    let field = SyncField(object, steps, name)
    return [.change(field, change(inner[name], state, isWild, name, &choices))]
  }

  /// Sometimes descends into an embedded object.
  private func walk(
    _ node: SyncNode, _ choices: inout MutantChoices
  ) -> (steps: [SyncStep], node: SyncNode) {
    guard range != 1, choices.below(3) == 0 else { return ([], node) }
    if let inner = node["v"].value?.embedded { return ([SyncStep("v")], inner) }
    for (index, slot) in node["l"].list.enumerated() {
      if let inner = slot.embedded { return ([SyncStep("l", .element(index))], inner) }
    }
    for key in Self.names {
      if let inner = node["d"].dictionary[key]?.embedded {
        return ([SyncStep("d", .entry(key))], inner)
      }
    }
    return ([], node)
  }

  private func change(
    _ content: SyncContent, _ state: SyncState, _ isWild: Bool, _ name: SyncText,
    _ choices: inout MutantChoices
  ) -> SyncChange {
    let kind = isWild ? ["l", "n", "k", "s", "d", "v"][choices.below(6)] : name
    let value = value(state, name: isWild ? "w" : name, &choices)
    switch kind {
    case "n":
      switch choices.below(6) {
      case 0: return content.value == nil || isWild ? .setDefault(.int(0)) : .increment(3)
      case 1, 2: return .set(.int(Int64(choices.below(100))))
      default:
        return content.value == nil && !isWild
          ? .set(.int(1)) : .increment(1 + Int64(choices.below(9)))
      }
    case "s": return choices.below(3) > 0 ? .setInsert(value) : .setErase(value)
    case "d":
      let key = Self.names[choices.below(3)]
      return choices.below(3) > 0 ? .dictionarySet(key, value) : .dictionaryRemove(key)
    case "v": return choices.below(9) == 0 ? .setDefault(value) : .set(value)
    default: return listChange(content.list.count, value, isWild, &choices)
    }
  }

  private func listChange(
    _ count: Int, _ value: SyncValue, _ isWild: Bool, _ choices: inout MutantChoices
  ) -> SyncChange {
    let bound = count + (isWild ? 2 : 0)
    let kind = bound == 0 ? choices.below(2) : choices.below(16)
    switch kind {
    case 0: return .listAssign([value, .int(Int64(choices.below(9)))])
    case 1, 2, 3, 4, 5, 6:
      let values = choices.below(4) == 0 ? [value, .int(7)] : [value]
      return .listInsert(at: choices.below(bound + 1), values)
    case 7, 8:
      let index = choices.below(bound)
      return .listErase(at: index, count: 1 + choices.below(min(2, bound - index)))
    case 9, 10, 11, 12: return .listMove(from: choices.below(bound), to: choices.below(bound))
    case 13, 14: return .listSet(at: choices.below(bound), value)
    default: return .listClear
    }
  }

  private func value(
    _ state: SyncState, name: SyncText, _ choices: inout MutantChoices
  ) -> SyncValue {
    let kind = choices.below(range == 1 ? 2 : 8)
    if kind == 7 || (kind > 2 && name == "k") {
      let living = Self.objects.filter { name == "w" || state.objects[$0] != nil }
      return living.isEmpty ? .null : .link(living[choices.below(living.count)])
    }
    if kind > 5, name != "s" { return .embedded }
    return .int(Int64(choices.below(name == "s" ? 4 : 1000)))
  }

  /// What a recorder records before a delete: the removal of the links to the object that its
  /// author sees.
  private func cascade(_ target: SyncObject, _ state: SyncState) -> [SyncOperation] {
    var found: [SyncOperation] = []
    for object in Self.objects where object != target {
      guard let node = state.objects[object] else { continue }
      for (index, slot) in node["k"].list.enumerated().reversed()
      where slot.value == .link(target) {
        found.append(.change(SyncField(object, [], "k"), .listErase(at: index, count: 1)))
      }
      if node["v"].value?.value == .link(target) {
        found.append(.change(SyncField(object, [], "v"), .set(.null)))
      }
    }
    return found
  }
}
