// FuzzFolder.swift: [U] a separate folder for one input, with files accessed directly.

import Glibc

/// A temporary folder; `remove` it when done.
package struct FuzzFolder {
  package let path: String

  package init?() {
    var template = Array("/tmp/fuzz-XXXXXX".utf8CString)
    guard let made = unsafe mkdtemp(&template).map({ unsafe String(cString: $0) }) else {
      return nil
    }
    path = made
  }

  /// Writes bytes to a file at an offset, without truncating it; creates a missing file.
  package func write(_ bytes: [UInt8], to name: String, at offset: Int = 0) {
    let descriptor = unsafe open(path + "/" + name, O_WRONLY | O_CREAT, 0o600)
    guard descriptor >= 0 else { return }
    _ = unsafe pwrite(descriptor, bytes, bytes.count, off_t(offset))
    _ = close(descriptor)
  }

  package func sizeBytes(of name: String) -> Int {
    var status = stat()
    return unsafe stat(path + "/" + name, &status) == 0 ? Int(status.st_size) : 0
  }

  package func makeFolder(_ name: String) { _ = unsafe mkdir(path + "/" + name, 0o700) }

  package func makeLink(_ name: String, to target: String) {
    _ = unsafe symlink(target, path + "/" + name)
  }

  package func isThere(_ name: String) -> Bool { unsafe access(path + "/" + name, F_OK) == 0 }

  /// Removes a file, or a folder with its content.
  package func remove(_ name: String) { Self.remove(path + "/" + name, depth: 0) }

  /// Removes the folder itself.
  package func remove() { Self.remove(path, depth: 0) }

  private static func remove(_ path: String, depth: Int) {
    guard unsafe unlink(path) != 0, depth < 8, let folder = unsafe opendir(path) else { return }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      names.append(
        unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
        })
    }
    _ = unsafe closedir(folder)
    for name in names where name != "." && name != ".." {
      remove(path + "/" + name, depth: depth + 1)
    }
    _ = unsafe rmdir(path)
  }
}
