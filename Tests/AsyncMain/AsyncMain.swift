// AsyncMain.swift: a program with an asynchronous `main`, which runs on other threads once it has
// waited, uses realms of before and after; the tests run it with the path of its file.

import ObjectDatabase

class Line: Object {
  @Persisted var text: String
}

actor Writer {
  func write(_ text: String, _ configuration: Realm.Configuration) async throws {
    let realm = try await Realm(configuration: configuration, actor: self)
    try await realm.asyncWrite { realm.add(Line(value: ["text": text])) }
  }
}

@main
struct AsyncMain {
  @MainActor
  static func main() async throws {
    var configuration = Realm.Configuration(objectTypes: [Line.self])
    configuration.fileURL = .init(filePath: CommandLine.arguments[1])
    let before = try open(configuration)
    try before.write { before.add(Line(value: ["text": "before"])) }
    let lines = before.objects(Line.self)
    let token = lines.observe { change in
      if case .update(let lines, _, let insertions, _) = change {
        print("told of", insertions.map { lines[$0].text })
      }
    }
    try await Task.sleep(nanoseconds: 10_000_000)
    try before.write { before.add(Line(value: ["text": "waited"])) }
    let after = try await Realm(configuration: configuration)
    print("one realm", after == before)
    try await Writer().write("elsewhere", configuration)
    await before.asyncRefresh()
    print("lines", lines.map(\.text))
    token.invalidate()
  }

  /// A realm of the main thread, on which a program begins.
  private static func open(_ configuration: Realm.Configuration) throws -> Realm {
    try Realm(configuration: configuration)
  }
}
