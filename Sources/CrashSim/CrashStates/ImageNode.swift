// ImageNode.swift: one inode of a crash image, reachable or not.
// Invariants: `entriesSum` is the sum of its entries' contributions; `hash` is that of the current
// content, unless the node is in the builder's list of stale nodes; each entry is mirrored by a
// link in the node that it names.

import LabCore
import Recording

/// One inode of a crash image.
package final class ImageNode {
  /// A name in a directory.
  struct Entry {
    var node: ImageNode
    var nameHash: ContentHash
    var contribution: ContentHash
  }

  /// A name of an inode.
  struct Link {
    unowned let parent: ImageNode
    let name: FileName
    let nameHash: ContentHash
  }

  let number: InodeNumber
  package let type: FileType
  let target: [UInt8]
  let device: UInt64
  var ownership: Ownership
  var extendedAttributes: [FileName: [UInt8]]
  /// A chosen modification time; nil for the time of a change.
  var modificationTime: Timestamp?
  /// Whether two contents that differ only in such times are different.
  private let comparesTimes: Bool
  package var sizeBytes: UInt64 = 0
  package internal(set) var file = ImageContent()
  var entries: [FileName: Entry] = [:]
  var links: [Link] = []

  private let identityHash: ContentHash
  var attributesSum = ContentHash()
  var entriesSum = ContentHash()
  var hash = ContentHash()
  var isStale = false

  init(number: InodeNumber, image: InodeImage, comparesTimes: Bool = false) {
    self.comparesTimes = comparesTimes
    modificationTime = image.modificationTime
    self.number = number
    type = image.type
    target = image.target
    device = image.device
    ownership = image.ownership
    extendedAttributes = image.extendedAttributes
    identityHash = ContentHash.of(image.target).mixed(with: UInt64(image.type.rawValue))
      .mixed(with: image.device)
    for (name, value) in image.extendedAttributes {
      attributesSum += Self.contribution(ofAttribute: name, value)
    }
  }

  static func contribution(ofAttribute name: FileName, _ value: [UInt8]) -> ContentHash {
    ContentHash.of(name.bytes).mixed(with: ContentHash.of(value))
  }

  /// The hash of the node's current content.
  func currentHash() -> ContentHash {
    var result =
      identityHash
      .mixed(with: UInt64(ownership.mode) << 32 | UInt64(ownership.user))
      .mixed(with: UInt64(ownership.group))
    if !extendedAttributes.isEmpty { result = result.mixed(with: attributesSum) }
    if comparesTimes, let time = modificationTime {
      result = result.mixed(with: UInt64(bitPattern: time.seconds))
        .mixed(with: UInt64(bitPattern: time.nanoseconds))
    }
    switch type {
    case .directory: result = result.mixed(with: entriesSum)
    case .regular:
      result = result.mixed(with: sizeBytes).mixed(with: file.hash(sizeBytes: sizeBytes))
    default: break
    }
    return result
  }
}
