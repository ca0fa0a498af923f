// LaunchEnvironment.swift: a child's environment variables. Workloads and checkers are shell
// commands that get their directory from variables; Faultline's own children read the same ones.

import Foundation
import LabCore

/// Faultline's variables in a child's environment.
struct LaunchEnvironment {
  private let variables = ProcessInfo.processInfo.environment
  private let command: String

  /// Reads the variables of a child.
  init(of program: any ChildProgram.Type) { command = program.name }

  /// A variable that is set only in some runs.
  subscript(name: String) -> String? { variables[name] }

  /// A variable that is always set.
  func text(_ name: String) throws(LabError) -> String {
    guard let text = variables[name] else {
      throw .usage("\(command) is started by faultline, which sets $\(name)")
    }
    return text
  }

  /// A number that is always set.
  func number<Number: FixedWidthInteger>(_ name: String) throws(LabError) -> Number {
    let text = try text(name)
    guard let number = Number(text) else {
      throw .usage("\(command) is started by faultline, and $\(name) is not a number: '\(text)'")
    }
    return number
  }

  /// The working directory of a workload, or the directory that a checker judges.
  func directory() throws(LabError) -> String { try text("FAULTLINE_DIR") }

  /// The workload's acknowledgements before the crash that is judged.
  func acknowledged() throws(LabError) -> [UInt8] {
    let path = try text("FAULTLINE_OUTPUT")
    guard let data = FileManager.default.contents(atPath: path) else {
      throw .usage("\(command) is started by faultline, and there is no file \(path)")
    }
    return Array(data)
  }
}
