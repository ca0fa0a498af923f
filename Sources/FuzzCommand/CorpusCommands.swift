// CorpusCommands.swift: [U] packs corpora, and prints a target's dictionary and speed.
// Safety: a path is passed to one system call.

import ArgumentParser
import EngineFuzz
import Fuzz
import Glibc
import QueryFuzz

struct Dictionary: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show a target's words, for -dict of libFuzzer and -x of AFL++.")

  @Argument(help: "The target.") var target: TargetName

  func run() throws {
    for word in target.target.dictionary where !word.isEmpty {
      let escaped = word.utf8.map { byte -> String in
        switch byte {
        case 34, 92: "\\" + String(UnicodeScalar(byte))
        case 32..<127: String(UnicodeScalar(byte))
        default: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
      }
      print("\"\(escaped.joined())\"")
    }
  }
}

struct Pack: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Keep a corpus in one file.")

  @Argument(help: "The file to write.") var path: String
  @Argument(help: "Files, folders and packs of inputs.") var sources: [String]

  func run() throws {
    var inputs: [[UInt8]] = []
    for source in sources {
      guard let found = FuzzFiles.inputs(of: source) else {
        refuse("cannot read \(source): is it a file or folder that you may read?")
      }
      inputs += found.map(\.bytes)
    }
    // The smallest first; duplicates only once.
    inputs.sort { left, right in
      left.count == right.count
        ? left.lexicographicallyPrecedes(right) : left.count < right.count
    }
    var unique: [[UInt8]] = []
    for input in inputs where unique.last != input { unique.append(input) }
    guard FuzzFiles.write(FuzzPack.pack(unique), to: path, isNew: false) else {
      refuse("cannot write \(path): does its folder exist?")
    }
    print("\(unique.count) inputs in \(path)")
  }
}

struct Unpack: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write the inputs of a pack to a folder.")

  @Argument(help: "The pack.") var path: String
  @Argument(help: "The folder; it is made.") var folder: String

  func run() throws {
    guard let inputs = FuzzFiles.inputs(of: path) else { refuse("\(path) is not a pack") }
    unsafe _ = mkdir(folder, 0o755)
    for (number, input) in inputs.enumerated() {
      guard FuzzFiles.write(input.bytes, to: "\(folder)/\(number)", isNew: false) else {
        refuse("cannot write to \(folder)")
      }
    }
    print("\(inputs.count) inputs in \(folder)")
  }
}

struct Measure: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measure executions per second of processor time.")

  @Argument(help: "The target; default: each.") var target: TargetName?
  @Argument(help: "Files, folders and packs of inputs; default: the target's seeds.")
  var paths: [String] = []

  func run() throws {
    guard let target = target?.target else {
      FuzzMeasure.parse()
      FuzzMeasure.open()
      for target in FuzzTarget.registered where !target.isPlanted {
        FuzzMeasure.run(target, target.seeds())
      }
      return
    }
    var inputs: [[UInt8]] = paths.isEmpty ? target.seeds() : []
    for path in paths {
      guard let found = FuzzFiles.inputs(of: path) else { refuse("cannot read \(path)") }
      inputs += found.map(\.bytes)
    }
    FuzzMeasure.run(target, inputs)
  }
}
