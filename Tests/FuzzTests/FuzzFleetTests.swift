// FuzzFleetTests.swift: fuzz/oss-fuzz/build.sh fills $OUT as OSS-Fuzz wants it: for each target a
// program, a zip of seeds and options; run offline, with programs that are built already.
// The Dockerfile cannot be built here: its base image is not on this machine.

import Foundation
import Fuzz
import LabFuzz
import TestSupport
import Testing

@Suite("The fleet's build script")
struct FuzzFleetTests {
  private static func run(_ variables: String) throws -> ProgramResult {
    try runShell(
      "\(variables) bash '\(FuzzProgram.root)/fuzz/oss-fuzz/build.sh'", in: FuzzProgram.root)
  }

  @Test("makes a program, seeds, words and options for every target")
  func fills() throws {
    let directory = try TemporaryDirectory()
    let stub = directory.file("stub")
    try "#!/bin/sh\necho a fuzzer\n".write(toFile: stub, atomically: true, encoding: .utf8)
    let out = directory.file("out")
    let tool = FuzzProgram.path("fuzz")
    let result = try Self.run("OUT='\(out)' FUZZ_BIN='\(stub)' FUZZ_TOOL='\(tool)'")
    try #require(result.status == 0, "\(result.output)")
    let files = try FuzzProgram.names(in: out)
    var expected: [String] = []
    for target in FuzzTarget.all where !target.isPlanted {
      let name = "fuzz_" + target.name.replacing("-", with: "_")
      expected += [name, name + ".options", name + "_seed_corpus.zip"]
      if !target.dictionary.isEmpty { expected.append(name + ".dict") }
      let options = try String(contentsOfFile: "\(out)/\(name).options", encoding: .utf8)
      #expect(options.hasPrefix("[libfuzzer]\n"))
      #expect(options.contains("max_len = \(target.sizeMax)\n"), "\(target.name)")
      #expect(options.contains("dict = \(name).dict\n") == !target.dictionary.isEmpty)
      let zip = try #require(FileManager.default.contents(atPath: "\(out)/\(name)_seed_corpus.zip"))
      #expect(zip.starts(with: Array("PK".utf8)) && zip.count > 100)
    }
    #expect(files == expected.sorted())
  }

  @Test("libFuzzer runs each target in the program that has it, with the target's size")
  func programs() throws {
    let directory = try TemporaryDirectory()
    let stub = "#!/bin/sh\necho $(basename $0) \"$1\"\n"
    try FileManager.default.createDirectory(
      atPath: directory.file(".build-fuzz"), withIntermediateDirectories: false)
    try FileManager.default.createDirectory(
      atPath: directory.file("fuzz"), withIntermediateDirectories: false)
    for name in ["fuzz-small", "fuzz-whole"] {
      let isMade = FileManager.default.createFile(
        atPath: directory.file(".build-fuzz/\(name)"), contents: Data(stub.utf8),
        attributes: [.posixPermissions: 0o755])
      try #require(isMade)
    }
    try FileManager.default.copyItem(
      atPath: "\(FuzzProgram.root)/fuzz/libfuzzer.sh", toPath: directory.file("fuzz/libfuzzer.sh"))
    let targets = FuzzTarget.all.filter { !$0.isPlanted }
    let loop = targets.map(\.name).joined(separator: " ")
    let result = try runShell(
      "for t in \(loop); do bash fuzz/libfuzzer.sh $t; done", in: directory.path)
    let ofLab = Set(FuzzTarget.withLab.map(\.name))
    let expected = targets.map {
      "fuzz-\(ofLab.contains($0.name) ? "whole" : "small") -max_len=\($0.sizeMax)\n"
    }
    #expect(result.output == expected.joined())
    let words = try runShell(
      "make -pn fuzz-coverage | sed -n 's/^FUZZ_LAB := //p'", in: FuzzProgram.root)
    #expect(Set(words.output.split { $0.isWhitespace }.map(String.init)) == ofLab)
  }

  @Test("says what it lacks")
  func refuses() throws {
    let result = try Self.run("env -u OUT")
    #expect(result.status != 0 && result.output.contains("set OUT to the folder for the results"))
  }

  @Test("a dictionary's lines are quoted, as libFuzzer and AFL++ read them")
  func dictionaries() throws {
    for target in FuzzTarget.all where !target.dictionary.isEmpty {
      let (lines, status) = try FuzzProgram.run(["dictionary", target.name])
      #expect(status == 0 && lines.count == target.dictionary.count { !$0.isEmpty })
      for line in lines {
        #expect(line.count > 2 && line.hasPrefix("\"") && line.hasSuffix("\""), "\(line)")
        #expect(line.utf8.allSatisfy { (32..<127).contains($0) }, "\(line)")
      }
    }
  }
}
