// ChildProgram.swift: a subprogram that `faultline` runs as a separate process, with `faultline
// child NAME …`. Each is next to the code that starts it, and defines its arguments in one place,
// for both processes. The command has the table of all of them.

/// A subprogram that `faultline` runs as a separate process.
package protocol ChildProgram: Sendable {
  /// Its name on the command line.
  static var name: String { get }
  /// The names of its arguments, in order, for error messages.
  static var parameters: [String] { get }
  /// Whether it mounts or unmounts.
  static var mounts: Bool { get }
  /// What it is started with, in the order of `parameters`.
  var arguments: [String] { get }
  /// Parses its arguments.
  init(_ arguments: inout ChildArguments) throws(LabError)
  /// Does the work in the child process.
  /// - Returns: The exit status.
  /// - Throws: `LabError` when it cannot continue.
  func run() throws(LabError) -> Int32
}

extension ChildProgram {
  /// The subcommand that starts a child.
  package static var subcommand: String { childSubcommand }

  /// Most do not.
  package static var mounts: Bool { false }

  /// The subcommand and the name, for a shell; arguments that the shell knows may follow.
  package static var shellWords: String { "\(subcommand) \(name)" }

  /// The command line after the program.
  package var commandLine: [String] { [Self.subcommand, Self.name] + arguments }

  /// The complete command line for a shell.
  /// - Parameter program: The program `faultline`, as a shell word.
  /// - Returns: The words, each argument quoted.
  package func shellCommand(program: String) -> String {
    let words = arguments.map { "'" + $0.replacing("'", with: "'\\''") + "'" }
    return ([program, Self.shellWords] + words).joined(separator: " ")
  }

  /// Parses the arguments of a process.
  /// - Parameter arguments: The arguments after the name.
  /// - Returns: The program, ready to run.
  /// - Throws: `LabError` with code `.usage` when they are invalid.
  package static func started(with arguments: [String]) throws(LabError) -> Self {
    var reader = ChildArguments(arguments, of: Self.self)
    try reader.checkCount()
    return try Self(&reader)
  }
}

private let childSubcommand = "child"

/// A child's arguments, taken one after the other.
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

  /// Compares the number of arguments with the parameters.
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

  /// The next argument, as a number.
  package mutating func number<Number: FixedWidthInteger>() throws(LabError) -> Number {
    let text = text()
    guard let number = Number(text) else {
      throw misuse("\(parameters[taken - 1]) is not a number: '\(text)'")
    }
    return number
  }

  /// The error for invalid arguments.
  package func misuse(_ what: String) -> LabError {
    let usage = (["faultline", childSubcommand, name] + parameters).joined(separator: " ")
    return .usage("\(usage): \(what); faultline starts it itself")
  }
}
