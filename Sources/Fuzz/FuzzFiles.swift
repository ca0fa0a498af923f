// FuzzFiles.swift: [U] reads and writes files with inputs, and runs this program again.

import Glibc

/// Reads and writes files, and runs commands.
package enum FuzzFiles {
  /// An input and its name.
  package struct Input {
    package let name: String
    package let bytes: [UInt8]
  }

  /// The inputs in a file, in a pack, or in the files of a folder in the order of their names.
  /// - Returns: The inputs; nil when something cannot be read, or is a damaged pack.
  package static func inputs(of path: String) -> [Input]? {
    if let names = names(in: path) {
      var all: [Input] = []
      for name in names {
        guard let inputs = inputs(of: path + "/" + name) else { return nil }
        all += inputs
      }
      return all
    }
    guard let bytes = contents(of: path) else { return nil }
    guard FuzzPack.isPack(bytes) else { return [Input(name: path, bytes: bytes)] }
    return FuzzPack.unpack(bytes)?.enumerated().map { number, bytes in
      Input(name: "\(path)#\(number)", bytes: bytes)
    }
  }

  /// The names of a folder's files; nil if it is not a folder.
  private static func names(in path: String) -> [String]? {
    guard let folder = unsafe opendir(path) else { return nil }
    defer { _ = unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  /// The bytes of a file.
  package static func contents(of path: String) -> [UInt8]? {
    guard let file = unsafe fopen(path, "rb") else { return nil }
    defer { _ = unsafe fclose(file) }
    return unsafe read(file)
  }

  private static func read(_ file: UnsafeMutablePointer<FILE>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe fread(&part, 1, part.count, file)
      if count == 0 { return unsafe ferror(file) == 0 ? bytes : nil }
      bytes += part[..<count]
    }
  }

  /// Writes a file.
  ///
  /// With `isNew` the file must not exist yet.
  /// - Returns: Whether it was written.
  package static func write(_ bytes: [UInt8], to path: String, isNew: Bool) -> Bool {
    guard let file = unsafe fopen(path, isNew ? "wbx" : "wb") else { return false }
    let count = unsafe fwrite(bytes, 1, bytes.count, file)
    return unsafe fclose(file) == 0 && count == bytes.count
  }

  /// Runs this program again, with the stacks of traps symbolized by the Swift runtime.
  /// - Returns: Its output, and its exit status; nil when it could not be started.
  package static func runAgain(_ words: [String]) -> (lines: [String], status: Int32)? {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0 else { return nil }
    let program = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let quoted = ([program] + words).map { "'" + $0.replacing("'", with: "'\\''") + "'" }
    let settings = "enable=yes,color=no,interactive=no,threads=crashed,images=none,registers=none"
    let command = "SWIFT_BACKTRACE=\(settings) exec \(quoted.joined(separator: " ")) 2>&1"
    guard let pipe = unsafe popen(command, "r") else { return nil }
    let bytes = unsafe read(pipe) ?? []
    let status = unsafe pclose(pipe)
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    return (lines, status)
  }
}
