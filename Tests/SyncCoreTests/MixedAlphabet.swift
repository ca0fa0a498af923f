// MixedAlphabet.swift: about sixty operations over two objects that link to each other, with every
// kind of property: for all triples of three clients.

import SyncCore

extension Alphabet {
  private static func field(
    _ object: SyncObject, _ name: SyncText, _ steps: [SyncStep] = []
  ) -> SyncField {
    SyncField(object, steps, name)
  }

  /// A dog and a cat that link to each other.
  static let mixedStart: [SyncOperation] = [
    .create(dog), .create(cat),
    .change(field(dog, "toys"), .listInsert(at: 0, [text("A"), text("B")])),
    .change(field(dog, "friends"), .listInsert(at: 0, [.link(cat), .null])),
    .change(field(dog, "boss"), .set(.link(cat))),
    .change(field(dog, "home"), .set(.embedded)),
    .change(field(dog, "street", [SyncStep("home")]), .set(text("S"))),
    .change(field(dog, "boxes"), .listInsert(at: 0, [.embedded])),
    .change(field(dog, "size", [SyncStep("boxes", .element(0))]), .set(.int(1))),
    .change(field(dog, "tags"), .setInsert(.int(1))),
    .change(field(dog, "map"), .dictionarySet("a", .int(1))),
    .change(field(dog, "n"), .set(.int(10))),
    .change(field(cat, "dogs"), .listInsert(at: 0, [.link(dog)])),
    .change(field(cat, "owner"), .set(.link(dog))),
    .change(field(cat, "known"), .setInsert(.link(dog))),
  ]

  /// What a client may do to them.
  static func mixed(_ client: Int64) -> [SyncOperation] {
    let own = text("c\(client)")
    var found: [SyncOperation] = [
      .create(dog), .delete(dog), .delete(cat), .create(object("Cat", 2)),
    ]
    let home = [SyncStep("home")]
    let box = [SyncStep("boxes", .element(0))]
    let changes: [(SyncField, [SyncChange])] = [
      (
        field(dog, "toys"),
        [
          .listInsert(at: 0, [own]), .listInsert(at: 1, [own]), .listInsert(at: 2, [own, own]),
          .listErase(at: 0, count: 1), .listErase(at: 0, count: 2), .listErase(at: 1, count: 1),
          .listMove(from: 0, to: 1), .listMove(from: 1, to: 0), .listSet(at: 0, own),
          .listSet(at: 1, own), .listClear, .listAssign([own, text("x")]), .listAssign([]),
        ]
      ),
      (
        field(dog, "friends"),
        [
          .listInsert(at: 0, [.link(cat)]), .listErase(at: 0, count: 1),
          .listMove(from: 0, to: 1), .listSet(at: 1, .link(cat)), .listSet(at: 0, .null),
          .listAssign([.link(cat), .link(dog)]), .listInsert(at: 1, [own, .link(cat)]),
        ]
      ),
      (field(dog, "boss"), [.set(.null), .set(.link(cat)), .set(.link(dog))]),
      (field(dog, "home"), [.set(.embedded), .set(.null), .set(own)]),
      (field(dog, "street", home), [.set(own), .setDefault(own)]),
      (field(dog, "rooms", home), [.listInsert(at: 0, [own]), .listAssign([own])]),
      (
        field(dog, "boxes"),
        [
          .listSet(at: 0, .embedded), .listInsert(at: 0, [.embedded]),
          .listErase(at: 0, count: 1), .listInsert(at: 1, [own]), .listMove(from: 0, to: 0),
        ]
      ),
      (field(dog, "size", box), [.set(.int(client)), .increment(client)]),
      (field(dog, "of", box), [.set(.link(cat)), .setInsert(.link(cat))]),
      (
        field(dog, "tags"),
        [.setInsert(.int(1)), .setErase(.int(1)), .setInsert(.int(2)), .setInsert(.link(cat))]
      ),
      (
        field(dog, "map"),
        [
          .dictionarySet("a", own), .dictionaryRemove("a"), .dictionarySet("b", .embedded),
          .dictionarySet("b", .link(cat)),
        ]
      ),
      (field(dog, "n"), [.set(.int(100 * client)), .increment(client), .set(.null)]),
      (field(dog, "m"), [.setDefault(.int(client)), .set(.int(client))]),
      (field(cat, "dogs"), [.listInsert(at: 1, [.link(dog)]), .listSet(at: 0, own), .listClear]),
      (field(cat, "owner"), [.set(.link(cat))]),
      (field(cat, "known"), [.setErase(.link(dog)), .setInsert(.link(dog))]),
    ]
    for (field, list) in changes { found += list.map { .change(field, $0) } }
    return found
  }

  /// A list of links and a link to two targets that are deleted and made again: 17 operations.
  static let linkStart: [SyncOperation] = [
    .create(dog), .create(cat), .create(object("Cat", 2)),
    .change(field(dog, "friends"), .listInsert(at: 0, [.link(cat), .link(object("Cat", 2))])),
    .change(field(dog, "boss"), .set(.link(cat))),
  ]

  static var links: [SyncOperation] {
    let targets = [cat, object("Cat", 2)]
    var found = targets.map { SyncOperation.delete($0) } + targets.map { .create($0) }
    let friends = field(dog, "friends")
    found += (0..<2).map { .change(friends, .listErase(at: $0, count: 1)) }
    for target in targets {
      found += (0...2).map { .change(friends, .listInsert(at: $0, [.link(target)])) }
    }
    found += [(0, 1), (1, 0)].map { .change(friends, .listMove(from: $0.0, to: $0.1)) }
    found += targets.map { .change(field(dog, "boss"), .set(.link($0))) }
    return found + [.change(field(dog, "boss"), .set(.null))]
  }
}
