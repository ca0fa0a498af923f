// JobFile.swift: a child's job, as a JSON file that its parent writes.

import Foundation

/// Reads and writes the job files of children.
package enum JobFile {
  /// Writes a job.
  /// - Throws: `LabError` with code `.lab` when it cannot be written.
  package static func write(_ job: some Encodable, to path: String) throws(LabError) {
    do {
      try JSONEncoder().encode(job).write(to: URL(fileURLWithPath: path))
    } catch {
      throw .lab("cannot write \(path): \(error)")
    }
  }

  /// The job in a file.
  /// - Throws: `LabError` with code `.lab` when the file contains none.
  package static func read<Job: Decodable>(_ path: String) throws(LabError) -> Job {
    do {
      let data = try Data(contentsOf: URL(fileURLWithPath: path))
      return try JSONDecoder().decode(Job.self, from: data)
    } catch {
      throw .lab("cannot read \(path): \(error)")
    }
  }
}
