// Symbolizer.swift: [U] addresses in programs as functions and source lines, by llvm-symbolizer.
// The tool is in every Swift toolchain; where it is not found there are modules and addresses.
// Invariant: what comes out depends on the programs' files alone, in whatever order one asks.
// Safety: names of memory files are literals.

import CSystem
import Foundation
import LabCore
import Recording
import Synchronization

/// Looks symbols up, each once.
final class Symbolizer: Sendable {
  /// For the whole process: a program's symbols are read once, not once for each model.
  static let shared = Symbolizer()

  private static let tool = "llvm-symbolizer"
  private static let timeoutSeconds = 120

  private struct Question: Hashable {
    var module: String
    var address: UInt64
  }

  private let known = Mutex<[Question: [SourceFrame]]>([:])

  /// The frames of stacks, those of inlined functions included.
  func frames(of stacks: CallStacks) -> [[SourceFrame]] {
    let asked = stacks.stacks.map { stack in
      stack.map { Question(module: stacks.modules[$0.module], address: $0.address) }
    }
    return known.withLock { known in
      var open: [Question] = []
      var isOpen: Set<Question> = []
      for question in asked.joined() where known[question] == nil {
        if isOpen.insert(question).inserted { open.append(question) }
      }
      if !open.isEmpty {
        for (question, frames) in zip(open, Self.answers(open)) { known[question] = frames }
      }
      return asked.map { stack in stack.flatMap { known[$0] ?? [] } }
    }
  }

  /// Asks the tool; what it does not know is a module and an address.
  private static func answers(_ questions: [Question]) -> [[SourceFrame]] {
    let lines = toolPath().flatMap { ask($0, questions) } ?? []
    return questions.enumerated().map { index, question in
      let plain = SourceFrame(module: question.module, address: question.address)
      guard lines.indices.contains(index),
        let answer = try? JSONDecoder().decode(Answer.self, from: Data(lines[index])),
        let symbols = answer.symbols, !symbols.isEmpty
      else { return [plain] }
      return symbols.map { $0.frame(plain) }
    }
  }

  /// The answers in the order of the questions, or nil when the tool failed.
  private static func ask(_ tool: String, _ questions: [Question]) -> [[UInt8]]? {
    // A return address is behind its call, which may be the last code of its line.
    let text = questions.map { question in
      "CODE \"\(question.module)\" 0x\(String(question.address &- 1, radix: 16))\n"
    }.joined()
    let input = unsafe csystem_memfd_create("questions", 0)
    let output = unsafe csystem_memfd_create("answers", 0)
    guard input >= 0, output >= 0 else { return nil }
    let questionFile = FileHandle(fileDescriptor: input, closeOnDealloc: true)
    let answerFile = FileHandle(fileDescriptor: output, closeOnDealloc: true)
    do {
      try questionFile.write(contentsOf: Data(text.utf8))
      try questionFile.seek(toOffset: 0)
      var launch = ChildProcess.Launch([tool, "--output-style=JSON"])
      launch.standardInput = input
      launch.standardOutput = output
      // Looking on the network for what the machine does not have is not wanted.
      launch.environment = ["DEBUGINFOD_URLS": ""]
      guard try ChildProcess(launch).wait(timeoutSeconds: timeoutSeconds).isSuccess else {
        return nil
      }
      try answerFile.seek(toOffset: 0)
      let answers = try answerFile.readToEnd() ?? Data()
      return answers.split(separator: UInt8(ascii: "\n")).map { Array($0) }
    } catch {
      return nil
    }
  }

  /// The tool in the search path, or beside the Swift compiler that is.
  private static func toolPath() -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    for folder in folders where PathCalls.canAccess("\(folder)/\(tool)", 1) {
      return "\(folder)/\(tool)"
    }
    for folder in folders {
      guard let compiler = PathCalls.resolve("\(folder)/swift") else { continue }
      let path = URL(fileURLWithPath: compiler).deletingLastPathComponent().path + "/\(tool)"
      if PathCalls.canAccess(path, 1) { return path }
    }
    return nil
  }

  /// One answer of the tool.
  private struct Answer: Decodable {
    struct Symbol: Decodable {
      var function: String?
      var file: String?
      var line: Int?

      enum CodingKeys: String, CodingKey {
        case function = "FunctionName"
        case file = "FileName"
        case line = "Line"
      }

      func frame(_ plain: SourceFrame) -> SourceFrame {
        var frame = plain
        if let function, !function.isEmpty { frame.function = SwiftName.short(function) }
        // Line 0 is code that the compiler made up.
        if let file, !file.isEmpty, let line, line > 0 {
          frame.file = file
          frame.line = line
        }
        return frame
      }
    }

    var symbols: [Symbol]?

    enum CodingKeys: String, CodingKey {
      case symbols = "Symbol"
    }
  }
}
