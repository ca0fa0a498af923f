// Notifications.swift [U]: 23 snippets about notifications, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum NotificationsSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("observe results", snippet1),
    ("observe without an annotation", snippet2),
    ("observe an object", snippet3),
    ("observe an object as a base", snippet4),
    ("observe key paths as text", snippet5),
    ("observe key paths", snippet6),
    ("observe key paths behind a link", snippet7),
    ("observe key paths in a list", snippet8),
    ("observe key paths of an object", snippet9),
    ("observe a list", snippet10),
    ("observe a set", snippet11),
    ("observe a realm", snippet12),
    ("observe on a queue", snippet13),
    ("write without notifying", snippet14),
    ("token in a property", snippet15),
    ("initial before the update", snippet16),
    ("generic observer", snippet17),
    ("generic freeze", snippet18),
    ("any collection", snippet19),
    ("any collection of a list", snippet20),
    ("any collection frozen", snippet21),
    ("autorefresh", snippet22),
    ("refresh", snippet23),
  ]

  /// Observe results.
  static func snippet1() throws {
    let realm = try filledRealm()
    let token = realm.objects(Dog.self).observe { (changes: RealmCollectionChange) in
      switch changes {
      case .initial: break
      case .update(_, let deletions, let insertions, let modifications):
        _ = (deletions, insertions, modifications)
      case .error(let error): fatalError("\(error)")
      }
    }
    token.invalidate()
  }

  /// Observe without an annotation.
  static func snippet2() throws {
    let realm = try filledRealm()
    let token = realm.objects(Dog.self).observe { change in
      if case .update(let dogs, deletions: _, insertions: let inserted, modifications: _) = change {
        _ = (dogs.count, inserted)
      }
    }
    token.invalidate()
  }

  /// Observe an object.
  static func snippet3() throws {
    let realm = try filledRealm()
    let dog = realm.objects(Dog.self).first!
    let token = dog.observe { change in
      switch change {
      case .change(let object, let properties):
        for property in properties {
          _ = (object, property.name, property.oldValue, property.newValue)
        }
      case .error(let error): _ = error
      case .deleted: break
      }
    }
    token.invalidate()
  }

  /// Observe an object as a base.
  static func snippet4() throws {
    let realm = try filledRealm()
    let dog = realm.objects(Dog.self).first!
    let block: (ObjectChange<ObjectBase>) -> Void = { _ in }
    let token = dog.observe(block)
    token.invalidate()
  }

  /// Observe key paths as text.
  static func snippet5() throws {
    let realm = try filledRealm()
    let token = realm.objects(Dog.self).observe(keyPaths: ["name", "age"]) { _ in }
    token.invalidate()
  }

  /// Observe key paths.
  static func snippet6() throws {
    let realm = try filledRealm()
    let token = realm.objects(Dog.self).observe(keyPaths: [\Dog.name, \Dog.age]) { _ in }
    token.invalidate()
  }

  /// Observe key paths behind a link.
  static func snippet7() throws {
    let realm = try filledRealm()
    let token = realm.objects(Person.self).observe(keyPaths: [\Person.address?.city]) { _ in }
    token.invalidate()
  }

  /// Observe key paths in a list.
  static func snippet8() throws {
    let realm = try filledRealm()
    let token = realm.objects(Person.self).observe(keyPaths: ["dogs.name"]) { _ in }
    token.invalidate()
  }

  /// Observe key paths of an object.
  static func snippet9() throws {
    let realm = try filledRealm()
    let token = realm.objects(Person.self).first!.observe(keyPaths: [\Person.name]) { _ in }
    token.invalidate()
  }

  /// Observe a list.
  static func snippet10() throws {
    let realm = try filledRealm()
    let token = realm.objects(Person.self).first!.dogs.observe { _ in }
    token.invalidate()
  }

  /// Observe a set.
  static func snippet11() throws {
    let realm = try filledRealm()
    let token = realm.objects(Person.self).first!.favorites.observe { _ in }
    token.invalidate()
  }

  /// Observe a realm.
  static func snippet12() throws {
    let realm = try filledRealm()
    let token = realm.observe { notification, realm in _ = (notification, realm) }
    token.invalidate()
  }

  /// Observe on a queue.
  static func snippet13() throws {
    let realm = try filledRealm()
    let token = realm.objects(Dog.self).observe(on: DispatchQueue(label: "q")) { _ in }
    token.invalidate()
  }

  /// Write without notifying.
  static func snippet14() throws {
    let realm = try filledRealm()
    let token = realm.objects(Dog.self).observe { _ in }
    try realm.write(withoutNotifying: [token]) { realm.add(Dog()) }
    token.invalidate()
  }

  /// Token in a property.
  static func snippet15() throws {
    final class Watcher {
      var notificationToken: NotificationToken?
      deinit { notificationToken?.invalidate() }
    }
    let realm = try filledRealm()
    let watcher = Watcher()
    watcher.notificationToken = realm.objects(Dog.self).observe { _ in }
  }

  /// Initial before the update.
  static func snippet16() throws {
    let realm = try filledRealm()
    nonisolated(unsafe) var calls: [String] = []
    let token = realm.objects(Dog.self).observe { change in
      switch change {
      case .initial: calls.append("initial")
      case .update: calls.append("update")
      case .error: calls.append("error")
      }
    }
    try realm.write { realm.add(Dog()) }
    check(calls == ["initial", "update"])
    token.invalidate()
  }

  /// Generic observer.
  static func snippet17() throws {
    func watch<C: RealmCollection>(_ collection: C) -> NotificationToken {
      collection.observe { _ in }
    }
    let realm = try filledRealm()
    watch(realm.objects(Dog.self)).invalidate()
  }

  /// Generic freeze.
  static func snippet18() throws {
    func frozen<C: RealmCollection>(_ collection: C) -> C { collection.freeze() }
    let realm = try filledRealm()
    check(frozen(realm.objects(Dog.self)).isFrozen)
  }

  /// Any collection.
  static func snippet19() throws {
    let realm = try filledRealm()
    let any = AnyRealmCollection(realm.objects(Dog.self))
    check(any.count == 4 && any.first?.name == "Rex")
    let token = any.observe { _ in }
    token.invalidate()
  }

  /// Any collection of a list.
  static func snippet20() throws {
    let person = Person()
    person.dogs.append(Dog())
    check(AnyRealmCollection(person.dogs).count == 1)
  }

  /// Any collection frozen.
  static func snippet21() throws {
    let realm = try filledRealm()
    let any = AnyRealmCollection(realm.objects(Dog.self)).freeze()
    check(any.isFrozen && any.thaw() != nil)
  }

  /// Autorefresh.
  static func snippet22() throws {
    let realm = try filledRealm()
    realm.autorefresh = false
    check(!realm.autorefresh)
  }

  /// Refresh.
  static func snippet23() throws {
    let realm = try filledRealm()
    _ = realm.refresh()
    realm.refresh()
  }
}
