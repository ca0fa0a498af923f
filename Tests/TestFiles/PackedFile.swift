// PackedFile.swift: golden files, which may be compressed, for tests that know nothing of the lab.

import Foundation

/// A golden file, which may be compressed.
public enum PackedFile {
  /// The bytes of a file; those of one that ends in `.gz` unpacked.
  /// - Throws: What the system reports, and `CocoaError` when gzip refuses the file.
  public static func contents(_ url: URL) throws -> Data {
    guard url.pathExtension == "gz" else { return try Data(contentsOf: url) }
    let process = Process()
    process.executableURL = URL(filePath: "/bin/gzip")
    process.arguments = ["-dc", url.path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.fileReadCorruptFile) }
    return data
  }
}
