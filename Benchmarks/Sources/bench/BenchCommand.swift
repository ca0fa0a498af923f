// BenchCommand.swift: `bench [NAME-PART…]` prints a table and writes bench.json.
// The same executable, started as `bench client KIND DIRECTORY COUNT`, is the client that file
// systems are measured with: a process of its own, as every user of a mount has to be; started as
// `bench listener KIND PATH COUNT`, it is the far end of a notification between processes; `bench
// writer` and `bench encrypted` are one of several writers, and SQLCipher at work.

import Foundation

private let usage = """
  usage: bench [NAME-PART…] [--rounds N] [--output FILE] [--peer-on-both-sides] [--list]
    NAME-PART              run only the rows whose name contains one of these
    --rounds N             rounds per side, default 5; medians are reported
    --output FILE          default bench.json
    --peer-on-both-sides   the noise of this machine: every ratio should come to about 1
    --list                 name the rows and run none
    --help                 print this
  """

@main
struct BenchCommand {
  private var settings = Settings()
  private var parts: [String] = []
  private var output = "bench.json"
  private var listsOnly = false

  static func main() {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      if arguments.first == "client" { return try Client.run(arguments) }
      if arguments.first == "listener" { return try ListenerProcess.run(arguments) }
      if arguments.first == "writer" { return try WriterProcess.run(arguments) }
      if arguments.first == "encrypted" { return try SQLCipher.run(arguments) }
      if arguments.contains("--help") || arguments.contains("-h") { return print(usage) }
      try BenchCommand(arguments).run()
    } catch {
      FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
      exit(error is UsageError ? 2 : 3)
    }
  }

  private init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--rounds":
        guard let rounds = rest.popFirst().flatMap(Int.init), rounds > 0 else {
          throw UsageError("--rounds takes a positive number")
        }
        settings.rounds = rounds
      case "--output":
        guard let file = rest.popFirst() else { throw UsageError("--output takes a file") }
        output = file
      case "--peer-on-both-sides": settings.peerOnBothSides = true
      case "--list": listsOnly = true
      case _ where argument.hasPrefix("-"): throw UsageError("unknown option \(argument)")
      default: parts.append(argument)
      }
    }
  }

  private func run() throws {
    let chosen = Benchmark.all.filter { benchmark in
      parts.isEmpty || parts.contains { benchmark.name.contains($0) }
    }
    guard !chosen.isEmpty else { throw UsageError("no row is called \(parts)") }
    if listsOnly { return print(chosen.map(\.name).joined(separator: "\n")) }
    let cpu = try Processes.pin()
    try Scratch.sweep()
    print("rounds=\(settings.rounds)  cpu=\(cpu): all sides and their clients run on this one")
    print(RowReport.heading)
    var rows: [Row] = []
    for benchmark in chosen {
      let row = try benchmark.run(settings)
      print(RowReport.table(row))
      rows.append(row)
    }
    try RowReport.json(rows).write(to: URL(filePath: output))
    print(RowReport.missed(rows))
    print("wrote \(output)")
  }
}

private struct UsageError: Error, CustomStringConvertible {
  let message: String

  init(_ message: String) { self.message = message }

  var description: String { message + "\n" + usage }
}
