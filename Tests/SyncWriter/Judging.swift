// Judging.swift: what must hold of the files after writers and the agent have ended, some of them
// by a kill: what a writer acknowledged is there and on the server, whole and once.

import Engine
import ObjectDatabase
import SyncClient
import SyncCore
import SyncServer

enum Judging {
  /// Lets another agent bring both files to rest, and judges them.
  /// - Parameter acknowledged: For each writer the number of additions that it printed.
  /// - Returns: What is wrong; nil when nothing is.
  /// - Throws: What opening or synchronizing the files throws.
  static func fault(_ acknowledged: [String: Int]) throws -> String? {
    let exchange = try Exchange()
    if let breach = try exchange.agent.breach() { return "the client's file: \(breach)" }
    if let breach = try exchange.server.breach() { return "the server's file: \(breach)" }
    let waiting = Set(try exchange.pending().flatMap { additions(in: $0) })
    let logged = exchange.server.entries.flatMap { additions(in: $0.changeset) }
    guard Set(logged).count == logged.count else { return "an addition is in the log twice" }
    try exchange.rest()
    if let breach = try exchange.agent.breach() { return "the client's file at rest: \(breach)" }
    if let breach = try exchange.server.breach() { return "the server's file at rest: \(breach)" }
    let file = try RealmFile(Writing.recorded)
    try file.database.verify()
    let (state, onServer) = (
      try SyncedFile.state(try file.database.snapshot()), try exchange.server.state()
    )
    guard state == onServer else { return "client and server differ" }
    let all = Set(exchange.server.entries.flatMap { additions(in: $0.changeset) })
    guard all == waiting.union(logged) else { return "the log has not what was pending" }
    return fault(in: state, acknowledged, all)
  }

  /// The names of the additions that a changeset makes.
  private static func additions(in changeset: SyncChangeset) -> [String] {
    changeset.operations.compactMap { operation in
      guard case .create(let object) = operation, object.type == "Addition" else { return nil }
      return name(object)
    }
  }

  private static func name(_ object: SyncObject) -> String {
    if case .text(let text) = object.key { "\(text)" } else { "\(object.key)" }
  }

  private static func fault(
    in state: SyncState, _ acknowledged: [String: Int], _ logged: Set<String>
  ) -> String? {
    var names: Set<String> = []
    for (object, node) in state.objects where object.type == "Addition" {
      let name = name(object)
      names.insert(name)
      let number = name.split(separator: "-").last.flatMap { Int64($0) } ?? 0
      guard node["number"].value?.value == .int(number) else { return "\(name) is in part there" }
    }
    guard names == logged else { return "objects \(names.sorted()), log \(logged.sorted())" }
    var total = 0
    for (name, count) in acknowledged.sorted(by: { $0.key < $1.key }) {
      let found = names.filter { $0.hasPrefix(name + "-") }.count
      guard (0..<found).allSatisfy({ names.contains("\(name)-\($0 + 1)") }) else {
        return "an addition of \(name) is missing before another"
      }
      guard (count...count + 1).contains(found) else {
        return "\(name) acknowledged \(count) additions, and \(found) are there"
      }
      total += found
    }
    guard total == names.count else { return "additions of somebody unknown: \(names.sorted())" }
    let counter = state.objects[SyncObject("Counter", .int(1))]
    guard counter?["total"].value?.value == .int(Int64(total)) else {
      return "the counter is \(String(describing: counter?["total"])) after \(total) additions"
    }
    let listed = (counter?["names"].list ?? []).map { slot in
      if case .text(let text) = slot.value { "\(text)" } else { "" }
    }
    return listed.sorted() == names.sorted() ? nil : "the list has \(listed.sorted())"
  }
}
