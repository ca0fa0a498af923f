// DirectoryCleanerTests.swift: [U] a directory is emptied, whatever is in it, and nothing outside.

import Foundation
import Glibc
import Testing

@testable import LabCore

@Suite struct DirectoryCleanerTests {
  private let base = NSTemporaryDirectory() + "faultline-cleaner-\(UUID().uuidString)"

  private func make(_ path: String) throws {
    try FileManager.default.createDirectory(
      atPath: "\(base)/\(path)", withIntermediateDirectories: true)
  }

  private func write(_ path: String) throws {
    try Data("kept".utf8).write(to: URL(fileURLWithPath: "\(base)/\(path)"))
  }

  private func names(_ path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(base)/\(path)").sorted()
  }

  @Test("folders without permissions, links, fifos and deep trees go; what links lead to stays")
  func everything() throws {
    defer { try? FileManager.default.removeItem(atPath: base) }
    try make("outside")
    try write("outside/precious")
    let deep = Array(repeating: "d", count: 200).joined(separator: "/")
    try make("inside/\(deep)")
    try make("inside/shut/inner")
    try write("inside/shut/inner/file")
    unsafe symlink("\(base)/outside", "\(base)/inside/folder-link")
    unsafe symlink("\(base)/outside/precious", "\(base)/inside/shut/file-link")
    unsafe mkfifo("\(base)/inside/fifo", 0o600)
    for (path, mode): (String, mode_t) in [("/shut/inner", 0), ("/shut", 0o400), ("", 0o200)] {
      unsafe chmod("\(base)/inside\(path)", mode)
    }

    try DirectoryCleaner(path: "\(base)/inside").clear()

    #expect(try names("inside").isEmpty)
    #expect(try names("outside") == ["precious"])
  }

  @Test("a link in the place of the directory is refused")
  func linked() throws {
    defer { try? FileManager.default.removeItem(atPath: base) }
    try make("outside")
    try write("outside/precious")
    unsafe symlink("\(base)/outside", "\(base)/link")
    #expect(throws: LabError.self) { try DirectoryCleaner(path: "\(base)/link").clear() }
    #expect(try names("outside") == ["precious"])
  }

  @Test("somebody who puts links in the place of folders meanwhile reaches nothing outside")
  func race() throws {
    defer { try? FileManager.default.removeItem(atPath: base) }
    try make("outside")
    let (inside, outside) = ("\(base)/inside", "\(base)/outside")
    for round in 0..<2 {
      try write("outside/precious")
      try make("inside")
      for number in 0..<150 { unsafe mkdir("\(inside)/\(number)", 0o700) }
      let swapper = Thread {
        for number in 0..<150 {
          unsafe rename("\(inside)/\(number)", "\(outside)/\(round)-\(number)")
          unsafe symlink(outside, "\(inside)/\(number)")
        }
      }
      swapper.start()
      // A link in the place of a folder is an error, and what the other adds may stay.
      try? DirectoryCleaner(path: inside).clear()
      while !swapper.isFinished { Thread.sleep(forTimeInterval: 0.001) }
      try DirectoryCleaner(path: inside).clear()
      #expect(try names("inside").isEmpty)
      #expect(try names("outside").contains("precious"))
    }
  }
}
