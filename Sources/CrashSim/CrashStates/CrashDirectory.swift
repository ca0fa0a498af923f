// CrashDirectory.swift: a crash image kept for a person to look at.

import Foundation
import LabCore
import Recording

/// Keeps crash images.
package enum CrashDirectory {
  /// Writes an image into a new or empty directory.
  /// - Throws: `LabError` with code `.usage` when the directory holds something.
  package static func keep(_ tree: TreeImage, in directory: String) throws(LabError) {
    let manager = FileManager.default
    guard (try? manager.contentsOfDirectory(atPath: directory))?.isEmpty ?? true else {
      throw .usage("--keep \(directory): the directory is not empty; name a new or an empty one")
    }
    do {
      try manager.createDirectory(atPath: directory, withIntermediateDirectories: true)
    } catch {
      throw .usage("--keep \(directory): \(error.localizedDescription)")
    }
    try DirectoryWriter(path: directory).write(tree)
  }
}
