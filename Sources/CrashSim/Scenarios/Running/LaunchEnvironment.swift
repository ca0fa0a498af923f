// LaunchEnvironment.swift: what a child finds in its environment. Workloads and checkers are shell
// commands, whose variables say where they work; the lab's own are children that read the same.

import Foundation
import LabCore

/// What the lab gave to a child in its environment.
struct LaunchEnvironment {
  private let variables = ProcessInfo.processInfo.environment
  private let command: String

  /// Reads what the child was given.
  init(of program: any ChildProgram.Type) { command = program.name }

  /// A value that is given in some runs only.
  subscript(name: String) -> String? { variables[name] }

  /// A value that is always given.
  func text(_ name: String) throws(LabError) -> String {
    guard let text = variables[name] else {
      throw .usage("\(command) is started by faultline, which sets $\(name)")
    }
    return text
  }

  /// A number that is always given.
  func number<Number: FixedWidthInteger>(_ name: String) throws(LabError) -> Number {
    let text = try text(name)
    guard let number = Number(text) else {
      throw .usage("\(command) is started by faultline, and $\(name) is not a number: '\(text)'")
    }
    return number
  }

  /// The directory in which a workload works, or which a checker judges.
  func directory() throws(LabError) -> String { try text("FAULTLINE_DIR") }

  /// What a workload had acknowledged before the crash that is judged.
  func acknowledged() throws(LabError) -> [UInt8] {
    let path = try text("FAULTLINE_OUTPUT")
    guard let data = FileManager.default.contents(atPath: path) else {
      throw .usage("\(command) is started by faultline, and there is no file \(path)")
    }
    return Array(data)
  }
}
