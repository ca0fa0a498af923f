// TaskList.swift: the tasks of a file, as any number of processes see and change them at once.

import Foundation
import ObjectDatabase

/// One thing to do.
final class TaskItem: Object {
  @Persisted(primaryKey: true) var number: Int
  @Persisted var title = ""
  @Persisted(indexed: true) var isDone = false
  @Persisted var tags: MutableSet<String>
  @Persisted var notes: List<TaskNote>
}

/// What somebody wrote about a task; it goes with it.
final class TaskNote: EmbeddedObject {
  @Persisted var text = ""
}

/// Why a command was refused.
struct TaskError: Error, CustomStringConvertible {
  let description: String
}

/// The tasks of one file.
struct TaskList {
  let realm: Realm

  /// Opens the file, which is made when it is not there.
  init(path: String) throws {
    realm = try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(filePath: path), schemaVersion: 1,
        objectTypes: [TaskItem.self, TaskNote.self]))
  }

  /// What is open first, then what is done, by number.
  var all: Results<TaskItem> {
    realm.objects(TaskItem.self).sorted(by: [
      SortDescriptor(keyPath: "isDone"), SortDescriptor(keyPath: "number"),
    ])
  }

  /// Adds a task; words that begin with `#` are its tags.
  /// - Returns: The number of the task, which no other process gives another one.
  func add(_ words: [String]) throws -> Int {
    let title = words.filter { !$0.hasPrefix("#") }.joined(separator: " ")
    guard !title.isEmpty else { throw TaskError(description: "a task needs a title") }
    return try realm.write {
      // A write transaction reads the newest version, and is alone.
      let last: Int? = realm.objects(TaskItem.self).max(ofProperty: "number")
      let task = TaskItem()
      task.number = (last ?? 0) + 1
      task.title = title
      task.tags.insert(objectsIn: words.filter { $0.hasPrefix("#") }.map { String($0.dropFirst()) })
      realm.add(task)
      return task.number
    }
  }

  private func task(_ number: Int) throws -> TaskItem {
    guard let task = realm.object(ofType: TaskItem.self, forPrimaryKey: number) else {
      throw TaskError(description: "there is no task \(number)")
    }
    return task
  }

  func finish(_ number: Int) throws {
    try realm.write { try task(number).isDone = true }
  }

  func note(_ number: Int, _ text: String) throws {
    try realm.write { try task(number).notes.append(TaskNote(value: ["text": text])) }
  }

  /// Takes finished tasks out.
  /// - Returns: How many there were.
  func clean() throws -> Int {
    try realm.write {
      let done = realm.objects(TaskItem.self).where { $0.isDone }
      let count = done.count
      realm.delete(done)
      return count
    }
  }

  /// The tasks that a query in words finds; the text is the user's, so it is tried.
  func find(_ text: String) throws -> Results<TaskItem> {
    try realm.objects(TaskItem.self).filtered(by: text).sorted(by: \.number)
  }
}

extension TaskItem {
  /// The task on one line.
  var line: String {
    let tags = tags.map { " #\($0)" }.joined()
    let notes = notes.map { " (\($0.text))" }.joined()
    return "\(isDone ? "[x]" : "[ ]") \(number) \(title)\(tags)\(notes)"
  }
}
