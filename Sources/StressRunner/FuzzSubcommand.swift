// FuzzSubcommand.swift: [U] `faultline fuzz`: replaces this process by the program `fuzz` in the
// same folder, which has the targets and parses the arguments.
// Safety: the arguments are valid until the call replaces this program, or fails.

import ArgumentParser
import Glibc
import LabCore

struct FuzzSubcommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fuzz", abstract: "Fuzz the parsers and file formats of the project.")

  @Argument(parsing: .captureForPassthrough, help: "Subcommand and options; --help lists them.")
  var words: [String] = []

  func run() throws {
    let program = try LineProcess.program("fuzz")
    var arguments = unsafe ([program] + words).map { unsafe strdup($0) }
    unsafe arguments.append(nil)
    _ = unsafe execv(program, &arguments)
    throw LabError.lab("cannot run \(program): \(describe(errno: errno))")
  }
}
