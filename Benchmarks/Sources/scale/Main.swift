// Main.swift: the command; see Scale.swift.

import Foundation

@main
enum ScaleCommand {
  private static let usage = """
    usage: scale [--rows N,N…] [--directory DIR] [--no-read-ahead] [--csv FILE] [--svg FILE]
      --rows N,N…      sizes, default 1000000,10000000,100000000
      --directory DIR  where the files are made, and removed; default $TMPDIR or /tmp
      --no-read-ahead  lookups and commits do not read ahead: for less memory than the file has
      --csv FILE       the figures as CSV
      --svg FILE       the figures as a plot

    examples:
      scale --rows 1000000,10000000 --csv scale.csv
      TMPDIR=/mnt/disk scale --svg scale.svg
    """

  static func main() {
    do { try run() } catch {
      FileHandle.standardError.write(Data("scale: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run() throws {
    var rows = [1_000_000, 10_000_000, 100_000_000]
    var directory = FileManager.default.temporaryDirectory.path
    var readsAhead = true
    var (csv, svg): (String?, String?) = (nil, nil)
    var arguments = Array(CommandLine.arguments.dropFirst())[...]
    while let option = arguments.popFirst() {
      switch option {
      case "--help": return print(usage)
      case "--no-read-ahead":
        readsAhead = false
        continue
      default: break
      }
      guard let value = arguments.popFirst() else { throw ScaleError("\(option) needs a value") }
      switch option {
      case "--read": return try Scale(path: value).read()
      case "--rows":
        rows = value.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        guard rows.allSatisfy({ $0 > 0 }) else {
          throw ScaleError("--rows \(value): numbers above 0, separated by commas")
        }
      case "--directory": directory = value
      case "--csv": csv = value
      case "--svg": svg = value
      default: throw ScaleError("there is no option \(option)\n\(usage)")
      }
    }
    let measured = try rows.map { try measure($0, in: directory, readsAhead) }
    let text = table(measured)
    if let csv { try text.write(toFile: csv, atomically: true, encoding: .utf8) }
    if let svg {
      try ScalePlot(measured).text.write(toFile: svg, atomically: true, encoding: .utf8)
    }
    printWorst(measured)
  }

  private static func measure(
    _ rows: Int, in parent: String, _ readsAhead: Bool
  ) throws -> Measured {
    let directory = URL(filePath: parent).appending(path: "faultline-scale-\(getpid())-\(rows)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    let signals = removeOnSignals(directory)
    defer {
      for signal in signals { signal.cancel() }
      try? FileManager.default.removeItem(at: directory)
    }
    let path = directory.appending(path: "rows.realm").path
    let measured = try Scale(path: path, readsAhead: readsAhead).measure(rows: rows)
    print(line(measured))
    return measured
  }

  /// Ctrl-C and SIGTERM remove the directory, which may have gigabytes.
  private static func removeOnSignals(_ directory: URL) -> [any DispatchSourceSignal] {
    [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        try? FileManager.default.removeItem(at: directory)
        exit(128 + number)
      }
      source.resume()
      return source
    }
  }

  private static func line(_ measured: Measured) -> String {
    let costs = measured.costs.map { "\($0.name) \(String(format: "%.1f", $0.nanoseconds)) ns" }
    return "\(measured.rows) rows, \(measured.bytes) bytes: " + costs.joined(separator: ", ")
      + ", reader's own memory \(measured.ownBytes) bytes"
  }

  private static func table(_ measured: [Measured]) -> String {
    let names = measured[0].costs.map(\.name)
    let head = (["rows", "bytes"] + names.map { "\($0)_ns" } + ["own_bytes"]).joined(separator: ",")
    let lines = measured.map { size in
      (["\(size.rows)", "\(size.bytes)"]
        + size.costs.map { String(format: "%.2f", $0.nanoseconds) } + ["\(size.ownBytes)"])
        .joined(separator: ",")
    }
    return ([head] + lines).joined(separator: "\n") + "\n"
  }

  /// How much an item costs in the largest file, compared with the smallest.
  private static func printWorst(_ measured: [Measured]) {
    guard let first = measured.first, let last = measured.last, measured.count > 1 else { return }
    let ratios = first.costs.map { cost in
      "\(cost.name) \(String(format: "%.2f", last[cost.name] / cost.nanoseconds))"
    }
    print("times the cost of \(first.rows) rows: " + ratios.joined(separator: ", "))
  }
}
