// ChangeHub.swift: tells listeners of changes. All databases of one path in a process share a hub;
// changes by other processes are seen by queries only (LiveQueryRunner).

import DocumentStore
import Foundation
import Synchronization

/// Documents of a collection that changed.
public struct CollectionChange: Sendable {
  /// The collection.
  public let collection: Collection
  /// Their IDs.
  public let documentIDs: [String]
}

/// A document that changed.
public struct DocumentChange: Sendable {
  /// The database.
  public let database: Database
  /// The collection.
  public let collection: Collection
  /// The document's ID.
  public let documentID: String
}

/// What ends a listener.
public final class ListenerToken: Sendable {
  private let end: Mutex<(@Sendable () -> Void)?>

  init(_ end: @escaping @Sendable () -> Void) { self.end = Mutex(end) }

  /// Ends the listener; a call that is under way may still arrive.
  public func remove() {
    let end = end.withLock { end in
      defer { end = nil }
      return end
    }
    end?()
  }
}

/// The listeners of a path.
final class ChangeHub: Sendable {
  /// A listener: called with the changed documents.
  typealias Listener = @Sendable ([CollectionName: [String]]) -> Void

  private static let hubs = Mutex<[String: WeakHub]>([:])
  private let listeners = Mutex<(next: Int, all: [Int: Listener])>((0, [:]))

  private struct WeakHub: Sendable {
    weak var hub: ChangeHub?
  }

  /// The hub of a path.
  static func shared(for path: String) -> ChangeHub {
    let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().standardizedFileURL.path
    return hubs.withLock { hubs in
      if let hub = hubs[path]?.hub { return hub }
      let hub = ChangeHub()
      hubs = hubs.filter { $0.value.hub != nil }
      hubs[path] = WeakHub(hub: hub)
      return hub
    }
  }

  /// Calls the listeners.
  func post(_ changes: [(collection: CollectionName, id: String)]) {
    guard !changes.isEmpty else { return }
    let all = listeners.withLock { Array($0.all.values) }
    guard !all.isEmpty else { return }
    var byCollection: [CollectionName: [String]] = [:]
    var seen: Set<String> = []
    for change in changes where seen.insert("\(change.collection)\n\(change.id)").inserted {
      byCollection[change.collection, default: []].append(change.id)
    }
    for listener in all { listener(byCollection) }
  }

  /// Adds a listener.
  func add(_ listener: @escaping Listener) -> ListenerToken {
    let number = listeners.withLock { listeners in
      listeners.next += 1
      listeners.all[listeners.next] = listener
      return listeners.next
    }
    return ListenerToken { [weak self] in
      _ = self?.listeners.withLock { $0.all.removeValue(forKey: number) }
    }
  }
}

extension Collection {
  /// Calls a listener after each commit that changed documents of this collection.
  ///
  /// Commits by other processes are not noticed.
  /// - Parameters:
  ///   - queue: The queue that the listener is called on; nil for the main queue.
  ///   - listener: The listener.
  /// - Returns: What ends it.
  @discardableResult
  public func addChangeListener(
    queue: DispatchQueue? = nil, listener: @escaping @Sendable (CollectionChange) -> Void
  ) -> ListenerToken {
    let (queue, path) = (queue ?? .main, path)
    return database.hub.add { [weak database] changes in
      guard let ids = changes[path], let database else { return }
      let change = CollectionChange(collection: Collection(path, in: database), documentIDs: ids)
      queue.async { listener(change) }
    }
  }

  /// Calls a listener after each commit that changed a document.
  /// - Parameters:
  ///   - id: The document's ID.
  ///   - queue: The queue that the listener is called on; nil for the main queue.
  ///   - listener: The listener.
  /// - Returns: What ends it.
  @discardableResult
  public func addDocumentChangeListener(
    id: String, queue: DispatchQueue? = nil,
    listener: @escaping @Sendable (DocumentChange) -> Void
  ) -> ListenerToken {
    let (queue, path) = (queue ?? .main, path)
    return database.hub.add { [weak database] changes in
      guard changes[path]?.contains(id) == true, let database else { return }
      let change = DocumentChange(
        database: database, collection: Collection(path, in: database), documentID: id)
      queue.async { listener(change) }
    }
  }
}
