// PowerCut.swift: a small crash model for the engine's own quick test. After a crash at any
// operation, everything synced is there; of the rest each sector holds its old bytes, its new ones,
// half of each, or garbage. The file has its old or its new size.

@testable import Engine

/// What a crash may leave of a log of operations.
struct PowerCut {
  /// The image at the last sync, and the operations since.
  private(set) var durable: [UInt8] = []
  private var pendingSectors: [(offset: Int, bytes: [UInt8])] = []
  private var pendingSize: Int?

  /// - Parameter durable: The file before the first operation.
  init(_ durable: [UInt8] = []) { self.durable = durable }

  /// Goes one operation further.
  mutating func apply(_ operation: TestOperation) {
    switch operation {
    case .write(let offset, let bytes):
      for start in stride(from: 0, to: bytes.count, by: 4096) {
        pendingSectors.append((offset + start, Array(bytes[start..<start + 4096])))
      }
    case .allocate(let size): pendingSize = size
    case .sync:
      durable = image { _ in .new }
      pendingSectors = []
      pendingSize = nil
    }
  }

  private enum Fate: CaseIterable {
    case old
    case new
    case torn
    case garbage
  }

  private func image(_ fate: (Int) -> Fate) -> [UInt8] {
    var image = durable
    if let pendingSize, pendingSize > image.count {
      image += [UInt8](repeating: 0, count: pendingSize - image.count)
    }
    for (index, sector) in pendingSectors.enumerated() {
      let range = sector.offset..<sector.offset + 4096
      switch fate(index) {
      case .old: continue
      case .new: image.replaceSubrange(range, with: sector.bytes)
      case .torn:
        image.replaceSubrange(
          range.lowerBound..<range.lowerBound + 2048, with: sector.bytes[..<2048])
      case .garbage:
        var random = TestRandom(UInt64(index) &+ UInt64(sector.offset))
        image.replaceSubrange(
          range, with: (0..<4096).map { _ in UInt8.random(in: 0...255, using: &random) })
      }
    }
    return image
  }

  /// Images a crash here may leave: nothing, everything, each sector alone lost, kept, torn or
  /// garbage, and some mixtures.
  func images(mixtures: Int, random: inout TestRandom) -> [[UInt8]] {
    guard !pendingSectors.isEmpty || pendingSize != nil else { return [durable] }
    var images = [durable, image { _ in .new }, image { _ in .garbage }]
    for index in pendingSectors.indices {
      for fate in Fate.allCases {
        images.append(image { $0 == index ? fate : .old })
        images.append(image { $0 == index ? fate : .new })
      }
    }
    for _ in 0..<mixtures {
      let fates = pendingSectors.indices.map { _ in Fate.allCases[random.below(4)] }
      images.append(image { fates[$0] })
    }
    return images
  }
}
