// SampleProgramTests.swift: programs in the shape that RealmSwift's callers write, with nothing
// changed but the import. It must not use `@testable`.

import Dispatch
import FoundationEssentials
import ObjectDatabase
import Testing

class TaskItem: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted(indexed: true) var name: String = ""
  @Persisted var status: TaskStatus = .open
  @Persisted var dueDate: Date?
  @Persisted var assignee: Worker?
  @Persisted var tags: MutableSet<String>
  @Persisted var history: List<Change>
  @Persisted var settings: Map<String, AnyRealmValue>

  convenience init(name: String) {
    self.init()
    self.name = name
  }
}

enum TaskStatus: Int, PersistableEnum {
  case open = 0
  case inProgress = 1
  case complete = 2
}

class Change: EmbeddedObject {
  @Persisted var text: String = ""
  @Persisted var at: Date
}

class Worker: Object {
  @Persisted(primaryKey: true) var email: String
  @Persisted var name: String
  @Persisted(originProperty: "assignee") var tasks: LinkingObjects<TaskItem>
}

@Suite("sample programs")
struct SampleProgramTests {
  private func configuration(_ folder: Folder) -> Realm.Configuration {
    var config = Realm.Configuration.defaultConfiguration
    config.fileURL = URL(filePath: folder.path).appending(path: "tasks.realm")
    config.schemaVersion = 1
    config.objectTypes = [TaskItem.self, Worker.self, Change.self]
    return config
  }

  @Test("create, read, update, delete")
  func crud() throws {
    let folder = try Folder()
    let realm = try Realm(configuration: configuration(folder))

    // Create.
    let worker = Worker(value: ["email": "ada@example.org", "name": "Ada"])
    let task = TaskItem(name: "Write tests")
    task.assignee = worker
    task.tags.insert("urgent")
    task.history.append(Change(value: ["text": "made"]))
    task.settings["colour"] = .string("red")
    try realm.write {
      realm.add(task)
      realm.add(TaskItem(name: "Sleep"))
    }

    // Read.
    let tasks = realm.objects(TaskItem.self)
    #expect(tasks.count == 2)
    #expect(realm.object(ofType: TaskItem.self, forPrimaryKey: task._id) == task)
    let open = tasks.filter("status == %@ AND assignee.name BEGINSWITH 'A'", TaskStatus.open)
    #expect(open.map { $0.name } == ["Write tests"])
    #expect(worker.tasks.count == 1 && worker.tasks[0] == task)
    let sorted = tasks.sorted(byKeyPath: "name", ascending: false)
    #expect(sorted.first?.name == "Write tests")

    // Update.
    try realm.write {
      task.status = .inProgress
      task.dueDate = Date(timeIntervalSince1970: 1_700_000_000)
      realm.create(
        Worker.self, value: ["email": "ada@example.org", "name": "Ada L."],
        update: .modified)
    }
    #expect(worker.name == "Ada L." && open.isEmpty)
    let late = tasks.where { $0.dueDate < Date(timeIntervalSince1970: 1_800_000_000) }
    #expect(late.count == 1)

    // Delete.
    try realm.write {
      realm.delete(task)
      realm.delete(tasks.filter("name == 'Sleep'"))
    }
    #expect(task.isInvalidated && tasks.isEmpty && realm.objects(Change.self).isEmpty)
  }

  @Test("a query that the compiler checks")
  func typed() throws {
    let folder = try Folder()
    let realm = try Realm(configuration: configuration(folder))
    try realm.write {
      for (name, status) in [("a", TaskStatus.open), ("b", .inProgress), ("ab", .complete)] {
        let task = TaskItem(name: name)
        task.status = status
        task.assignee = Worker(value: ["email": "\(name)@example.org", "name": name.uppercased()])
        task.tags.insert(name)
        task.history.append(Change(value: ["text": name]))
        realm.add(task)
      }
    }
    let tasks = realm.objects(TaskItem.self)
    func names(_ query: (Query<TaskItem>) -> Query<Bool>) -> [String] {
      tasks.where(query).map(\.name)
    }
    #expect(names { $0.name == "b" } == ["b"])
    #expect(names { $0.name.starts(with: "a") && $0.status != .open } == ["ab"])
    #expect(names { $0.name.contains("B", options: .caseInsensitive) } == ["b", "ab"])
    #expect(names { $0.name.ends(with: "b") || $0.name == "a" } == ["a", "b", "ab"])
    #expect(names { !($0.name == "b") } == ["a", "ab"])
    #expect(names { $0.status.in([.open, .complete]) } == ["a", "ab"])
    #expect(names { $0.dueDate == nil }.count == 3)
    #expect(names { $0.assignee.name == "AB" } == ["ab"])
    #expect(names { $0.tags.contains("b") } == ["b"])
    #expect(names { $0.history.count >= 1 }.count == 3)
    #expect(names { $0.history.text == "ab" } == ["ab"])
  }

  @Test("threads, freezing and references")
  func threads() throws {
    let folder = try Folder()
    let config = configuration(folder)
    let realm = try Realm(configuration: config)
    let task = TaskItem(name: "shared")
    try realm.write { realm.add(task) }
    let reference = ThreadSafeReference(to: task)
    let frozen = task.freeze()
    let queue = DispatchQueue(label: "worker")
    queue.sync {
      do {
        let realm = try Realm(configuration: config, queue: queue)
        guard let task = realm.resolve(reference) else { return }
        try realm.write { task.status = .complete }
      } catch { Issue.record("\(error)") }
    }
    realm.refresh()
    #expect(task.status == .complete && frozen.status == .open)
    #expect(frozen.isFrozen && frozen.thaw()?.status == .complete)
  }

  @Test("a migration and a failed write")
  func migration() throws {
    let folder = try Folder()
    var config = configuration(folder)
    do {
      let realm = try Realm(configuration: config)
      try realm.write { realm.add(TaskItem(name: "old")) }
    }
    config.schemaVersion = 2
    config.migrationBlock = { migration, oldSchemaVersion in
      if oldSchemaVersion < 2 {
        migration.enumerateObjects(ofType: TaskItem.className()) { oldObject, newObject in
          let name = oldObject?["name"] as? String ?? ""
          newObject?["name"] = name + "er"
        }
      }
    }
    let realm = try Realm(configuration: config)
    #expect(realm.objects(TaskItem.self).first?.name == "older")
    do {
      try realm.write {
        realm.deleteAll()
        throw Failure("cancelled")
      }
    } catch is Failure {
      #expect(realm.objects(TaskItem.self).count == 1)
    }
  }
}
