// TasksCommand.swift: a task list that several processes share.
//   tasks FILE add TITLE… [#TAG…] | done NUMBER | note NUMBER TEXT… | list | find QUERY | clean |
//     watch CHANGES
// Exit: 0, 1 when the command was refused, 2 for wrong usage.

import Foundation

@main
struct TasksCommand {
  static let usage = """
    usage: tasks FILE add TITLE… [#TAG…] | done NUMBER | note NUMBER TEXT… | list | find QUERY |
      clean | watch CHANGES

    """

  static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  static func main() {
    let words = Array(CommandLine.arguments.dropFirst())
    guard words.count >= 2 else {
      FileHandle.standardError.write(Data(usage.utf8))
      exit(2)
    }
    do {
      let list = try TaskList(path: words[0])
      guard try run(words[1], Array(words.dropFirst(2)), list) else {
        FileHandle.standardError.write(Data(usage.utf8))
        exit(2)
      }
    } catch {
      FileHandle.standardError.write(Data("tasks: \(error)\n".utf8))
      exit(1)
    }
  }

  /// - Returns: Whether there is such a command.
  private static func run(_ command: String, _ words: [String], _ list: TaskList) throws -> Bool {
    let number = words.first.flatMap { Int($0) }
    let text = words.joined(separator: " ")
    switch (command, number) {
    case ("add", _): say("added \(try list.add(words))")
    case ("done", let number?): try list.finish(number)
    case ("note", let number?): try list.note(number, words.dropFirst().joined(separator: " "))
    case ("list", _): for task in list.all { say(task.line) }
    case ("find", _): for task in try list.find(text) { say(task.line) }
    case ("clean", _): say("took out \(try list.clean())")
    case ("watch", let changes?):
      guard TaskWatcher(list: list, say: say).watch(changes: changes) else {
        throw TaskError(description: "nothing happened for two minutes")
      }
    default: return false
    }
    return true
  }
}
