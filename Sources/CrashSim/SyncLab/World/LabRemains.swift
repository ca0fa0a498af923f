// LabRemains.swift [U]: what is left of a node after a crash, as far as anybody can see it.
// Invariant: crash states of one life with equal remains lead to the same run. The rest of the
// world is the same, since power failed in the same call; and the file differs only where the
// version that recovery finds has nothing, which the engine writes before it reads (decision 1351).

import Cryptography
import Engine
import LabCore
import Recording

/// What is left of a node, without what nobody reads.
package struct LabRemains: Hashable, Sendable {
  /// How far the node's call had come.
  private enum Moment: Hashable {
    /// One of its operations was the first that failed.
    case during
    /// All of them were done, and nobody knew.
    case ended
    /// It was over.
    case over
  }

  /// Marks before the call; each call ends with one.
  private let markCount: Int
  private let moment: Moment
  /// The tree, without the content of the database.
  private let tree: TreeImage
  /// A digest of that.
  let content: [UInt8]

  /// Takes a crash state.
  /// - Parameters:
  ///   - image: The crash state.
  ///   - event: The number of events of the life before power failed.
  ///   - life: The life's recording.
  package init(of image: TreeImage, at event: Int, in life: Trace) {
    func isMark(_ event: Int) -> Bool {
      guard life.events.indices.contains(event) else { return false }
      if case .mark = life.events[event].body { return true }
      return false
    }
    markCount = (0..<event).count { isMark($0) }
    moment = isMark(event - 1) ? .over : isMark(event) ? .ended : .during
    var tree = image
    let name = FileName(LabModels.fileName)
    if let number = tree.inodes[.root]?.entries[name], let file = tree.inodes[number] {
      tree.inodes[number]?.extents = []
      content = Self.digest(of: file)
    } else {
      content = []
    }
    self.tree = tree
  }

  private static func digest(of file: InodeImage) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(file.sizeBytes))
    for extent in file.extents {
      let part = extent.bytes
      // Safety: extents lie inside of the file's size.
      unsafe bytes.withUnsafeMutableBytes { all in
        unsafe part.withUnsafeBytes {
          unsafe UnsafeMutableRawBufferPointer(rebasing: all[Int(extent.offsetBytes)...])
            .copyMemory(from: $0)
        }
      }
    }
    for range in unread(bytes) {
      // Safety: what the inspection names lies inside of the file's size.
      unsafe bytes.withUnsafeMutableBytes {
        _ = unsafe UnsafeMutableRawBufferPointer(rebasing: $0[range])
          .initializeMemory(as: UInt8.self, repeating: filler)
      }
    }
    return Digest.sha1(bytes)
  }

  /// In place of what nobody reads; a sector of zeros would be a slot that was never written.
  private static let filler: UInt8 = 0xff

  /// What is free in the version that recovery finds, and a slot that is torn; nothing in a file
  /// with damage, or where recovery has read of a newer version that it then refused.
  private static func unread(_ bytes: [UInt8]) -> [Range<Int>] {
    // Safety: the inspection ends inside of the closure, and returns plain values.
    let found = unsafe bytes.withUnsafeBytes {
      unsafe FileInspection.inspect(MappedFile(borrowing: $0))
    }
    guard found.corruption == nil, let version = found.version else { return [] }
    var ranges: [Range<Int>] = []
    for (offset, slot) in zip(Layout.slotOffsetsBytes, found.slots) {
      switch slot {
      case .valid(let other, _, _) where other > version: return []
      case .invalid: ranges.append(offset..<offset + Layout.sectorSizeBytes)
      default: continue
      }
    }
    // Nobody has an older version open after a crash, so what only those use is free as well.
    for run in found.spaceMap where [.free, .unused, .pending].contains(run.use) {
      ranges.append(Int(run.offsetBytes)..<Int(run.offsetBytes + run.sizeBytes))
    }
    return ranges
  }
}
