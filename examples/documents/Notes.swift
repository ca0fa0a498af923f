// Notes.swift: a database of notes with six commands; docs/tutorials/document-database.md builds it
// step by step, and its tests compare the pieces.

import DocumentDatabase
import Foundation

// sample: notes-type
struct Note: Codable {
  @DocumentID var id: String?
  var text: String
  var tags: [String]
  var done = false
  var picture: Blob?
}
// end

@main
struct Notes {
  // sample: notes-open
  static func open() throws -> Collection {
    var config = DatabaseConfiguration()
    config.directory = "."
    config.fullSync = true
    let database = try Database(name: "notes", config: config)
    let notes = try database.createCollection(name: "notes")
    try notes.createIndex(withName: "open", config: ValueIndexConfiguration(["done", "text"]))
    try notes.createIndex(withName: "words", config: FullTextIndexConfiguration(["text"]))
    return notes
  }
  // end

  // sample: notes-add
  static func add(_ id: String, _ words: [String]) throws {
    let notes = try open()
    let tags = words.filter { $0.hasPrefix("#") }.map { String($0.dropFirst()) }
    let text = words.filter { !$0.hasPrefix("#") }.joined(separator: " ")
    try notes.saveDocument(from: Note(id: id, text: text, tags: tags))
    print("saved \(id)")
  }
  // end

  // sample: notes-attach
  static func attach(_ id: String, file: String) throws {
    let notes = try open()
    guard let note = try notes.document(id: id)?.toMutable() else { throw Failure.noNote(id) }
    let picture = try Blob(contentType: "image/png", fileURL: URL(filePath: file))
    note.setBlob(picture, forKey: "picture")
    try notes.save(document: note)
    print("saved \(picture.length) bytes with \(id)")
  }
  // end

  // sample: notes-list
  static func list() throws {
    let notes = try open()
    let query = try notes.database.createQuery(
      "SELECT META().id, text, tags, done FROM notes WHERE done = $done ORDER BY text")
    query.parameters = Parameters().setBoolean(false, forName: "done")
    for note in try query.execute().data(as: Note.self) {
      let tags = note.tags.map { " #" + $0 }.joined()
      print("\(note.id ?? ""): \(note.text)\(tags)")
    }
  }
  // end

  // sample: notes-find
  static func find(_ words: String) throws {
    let index = DocumentDatabase.Expression.fullTextIndex("words")
    let query =
      QueryBuilder
      .select(SelectResult.expression(Meta.id), SelectResult.property("text"))
      .from(DataSource.collection(try open()))
      .where(FullTextFunction.match(index, query: words))
      .orderBy(Ordering.expression(FullTextFunction.rank(index)).descending())
    for row in try query.execute() {
      print("\(row.string(forKey: "id") ?? ""): \(row["text"].string ?? "")")
    }
  }
  // end

  // sample: notes-done
  static func finish(tag: String) throws {
    let notes = try open()
    try notes.database.inBatch {
      let query = try notes.database.createQuery(
        "SELECT META(n).id FROM notes AS n UNNEST n.tags AS tag WHERE tag = $tag")
      query.parameters = Parameters().setString(tag, forName: "tag")
      for row in try query.execute() {
        guard let id = row.string(forKey: "id"),
          let note = try notes.document(id: id)?.toMutable()
        else { continue }
        note["done"].boolean = true
        try notes.save(document: note)
      }
    }
    print("finished #\(tag)")
  }
  // end

  // sample: notes-watch
  static func watch(_ count: Int) throws {
    let notes = try open()
    let query = try notes.database.createQuery("SELECT COUNT(*) AS n FROM notes WHERE done = false")
    let arrivals = DispatchSemaphore(value: 0)
    let token = query.addChangeListener(withQueue: DispatchQueue(label: "notes")) { change in
      print("\(change.results?.next()?.int(forKey: "n") ?? 0) open notes")
      fflush(nil)
      arrivals.signal()
    }
    for _ in 0..<count { arrivals.wait() }
    token.remove()
  }
  // end

  enum Failure: Error, CustomStringConvertible {
    case noNote(String)

    var description: String {
      switch self {
      case .noNote(let id): "there is no note \(id)"
      }
    }
  }

  // sample: notes-main
  static func main() {
    let words = Array(CommandLine.arguments.dropFirst())
    do {
      switch (words.first, words.count) {
      case ("add", 3...): try add(words[1], Array(words[2...]))
      case ("attach", 3): try attach(words[1], file: words[2])
      case ("list", 1): try list()
      case ("find", 2): try find(words[1])
      case ("done", 2): try finish(tag: words[1])
      case ("watch", 2): try watch(Int(words[1]) ?? 1)
      default:
        print("usage: documents add ID WORDS… | attach ID FILE | list")
        print("       documents find WORDS | done TAG | watch COUNT")
        exit(2)
      }
    } catch {
      print("documents: \(error)")
      exit(1)
    }
  }
  // end
}
