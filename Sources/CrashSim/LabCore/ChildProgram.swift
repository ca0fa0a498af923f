// ChildProgram.swift: a program of the lab that `faultline` runs as a process of its own, with
// `faultline child NAME …`. Each stands beside the code that starts it, and says in one place what
// its arguments are, for whoever starts it and for the process itself. The command has the table of
// them all.

/// A program that `faultline` runs as a process of its own.
package protocol ChildProgram: Sendable {
  /// Its name on the command line.
  static var name: String { get }
  /// What its arguments are, in order, for the message when they are not as they must be.
  static var parameters: [String] { get }
  /// Whether it mounts or unmounts.
  static var mounts: Bool { get }
  /// What it is started with, in the order of `parameters`.
  var arguments: [String] { get }
  /// Takes what it was started with.
  init(_ arguments: inout ChildArguments) throws(LabError)
  /// Does the work, in the process.
  /// - Returns: The exit status.
  /// - Throws: `LabError` when it cannot go on.
  func run() throws(LabError) -> Int32
}

extension ChildProgram {
  /// The subcommand that starts a child.
  package static var subcommand: String { childSubcommand }

  /// Most do not.
  package static var mounts: Bool { false }

  /// The subcommand and the name, for a shell; arguments that the shell knows may follow.
  package static var shellWords: String { "\(subcommand) \(name)" }

  /// What follows the program on the command line.
  package var commandLine: [String] { [Self.subcommand, Self.name] + arguments }

  /// All of the command line for a shell.
  /// - Parameter program: The program `faultline`, as a shell word.
  /// - Returns: The words, each argument quoted.
  package func shellCommand(program: String) -> String {
    let words = arguments.map { "'" + $0.replacing("'", with: "'\\''") + "'" }
    return ([program, Self.shellWords] + words).joined(separator: " ")
  }

  /// Takes what a process was started with.
  /// - Parameter arguments: What followed the name.
  /// - Returns: The program, ready to run.
  /// - Throws: `LabError` with code `.usage` when they are not as they must be.
  package static func started(with arguments: [String]) throws(LabError) -> Self {
    var reader = ChildArguments(arguments, of: Self.self)
    try reader.checkCount()
    return try Self(&reader)
  }
}

private let childSubcommand = "child"

/// What a child was started with, taken one after the other.
package struct ChildArguments {
  private let arguments: [String]
  private let name: String
  private let parameters: [String]
  private var taken = 0

  init(_ arguments: [String], of program: any ChildProgram.Type) {
    self.arguments = arguments
    name = program.name
    parameters = program.parameters
  }

  /// Holds the number of arguments against the parameters.
  func checkCount() throws(LabError) {
    if arguments.count != parameters.count {
      throw misuse("\(Formatting.counted(arguments.count, "argument")) given")
    }
  }

  /// The next argument.
  package mutating func text() -> String {
    precondition(taken < arguments.count, "\(name) has \(parameters.count) parameters")
    taken += 1
    return arguments[taken - 1]
  }

  /// The next argument, which is a number.
  package mutating func number<Number: FixedWidthInteger>() throws(LabError) -> Number {
    let text = text()
    guard let number = Number(text) else {
      throw misuse("\(parameters[taken - 1]) is not a number: '\(text)'")
    }
    return number
  }

  /// The error of arguments that are not as they must be.
  package func misuse(_ what: String) -> LabError {
    let usage = (["faultline", childSubcommand, name] + parameters).joined(separator: " ")
    return .usage("\(usage): \(what); faultline starts it itself")
  }
}
