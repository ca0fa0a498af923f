// JobFile.swift: what a child is to do, as a JSON file that its parent writes.

import Foundation

/// Reads and writes the files by which jobs go to children.
package enum JobFile {
  /// Writes a job down.
  /// - Throws: `LabError` with code `.lab` when it cannot be written.
  package static func write(_ job: some Encodable, to path: String) throws(LabError) {
    do {
      try JSONEncoder().encode(job).write(to: URL(fileURLWithPath: path))
    } catch {
      throw .lab("cannot write \(path): \(error)")
    }
  }

  /// The job that a file holds.
  /// - Throws: `LabError` with code `.lab` when it holds none.
  package static func read<Job: Decodable>(_ path: String) throws(LabError) -> Job {
    do {
      let data = try Data(contentsOf: URL(fileURLWithPath: path))
      return try JSONDecoder().decode(Job.self, from: data)
    } catch {
      throw .lab("cannot read \(path): \(error)")
    }
  }
}
