// CrashDirectory.swift: saves a crash image for inspection.

import Foundation
import LabCore
import Recording

/// Saves crash images.
package enum CrashDirectory {
  /// Writes an image into a new or empty directory.
  /// - Throws: `LabError` with code `.usage` when the directory is not empty.
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
