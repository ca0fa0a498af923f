// Mutator.swift: damages an image: as media do (flips, lost and swapped sectors, wrong sizes), and
// as an adversary does, who corrects every checksum up to the root slot, so that wrong bytes reach
// the code after the checksums.

import Engine
import Fuzz

/// One base under damage.
struct Mutator {
  let base: MutantBase
  private(set) var image: [UInt8]
  /// Nodes to be sealed at the end.
  private var touched: [Int] = []

  init(_ base: MutantBase) {
    self.base = base
    image = base.bytes
  }

  /// The damaged image that the choices lead to.
  static func mutant(of base: MutantBase, _ choices: inout MutantChoices) -> [UInt8] {
    var mutator = Mutator(base)
    var rounds = 1 + choices.below(3)
    repeat {
      mutator.mutate(&choices)
      rounds -= 1
    } while rounds > 0 || !choices.isAtEnd && choices.below(256) < 64
    mutator.seal()
    return mutator.image
  }

  private mutating func mutate(_ choices: inout MutantChoices) {
    // Changes with corrected checksums get by far the farthest, so most are of that kind.
    let kind = choices.below(24)
    guard !base.nodes.isEmpty, kind >= 8 else {
      mutateBytes(kind % 8, &choices)
      return
    }
    damage(base.nodes[choices.below(base.nodes.count)], kind, &choices)
  }

  /// The image with damage to some of its nodes only, sealed.
  static func mutant(
    of base: MutantBase, in nodes: [Int], _ choices: inout MutantChoices
  ) -> [UInt8] {
    var mutator = Mutator(base)
    repeat {
      let node = nodes[choices.below(nodes.count)]
      mutator.damage(node, 8 + choices.below(16), &choices)
    } while !choices.isAtEnd && choices.below(4) == 0
    mutator.seal()
    return mutator.image
  }

  /// The image with damage to its root slots, and now and then to the file header.
  static func mutantSlots(of base: MutantBase, _ choices: inout MutantChoices) -> [UInt8] {
    var mutator = Mutator(base)
    repeat {
      switch choices.below(8) {
      case 0: mutator.setHeader(&choices)
      case 1, 2: mutator.flipInSlot(&choices)
      default: mutator.setSlot(&choices)
      }
    } while !choices.isAtEnd && choices.below(3) == 0
    return mutator.image
  }

  private mutating func damage(_ node: Int, _ kind: Int, _ choices: inout MutantChoices) {
    guard node + 4096 <= image.count else { return }
    switch kind {
    case 8, 9: setHeaderField(node, &choices)
    case 10, 11: setDescriptor(node, &choices)
    case 12: splice(node, &choices)
    case 13, 14: relink(&choices)
    case 15: swapWords(node, &choices)
    default: setContent(node, &choices)
    }
    touched.append(node)
  }

  private mutating func seal() {
    for node in touched { base.seal(&image, node) }
  }

  // MARK: as media do

  private mutating func mutateBytes(_ kind: Int, _ choices: inout MutantChoices) {
    guard image.count > Layout.headerSizeBytes else { return }
    let end = max(Layout.headerSizeBytes, min(base.endBytes, image.count))
    switch kind {
    case 0:
      let offset = choices.below(end)
      image[offset] ^= 1 << UInt8(choices.below(8))
    case 1:
      let offset = choices.below(end)
      image.set(choices.interesting(), at: offset, 1 + choices.below(8))
    case 2:
      let sector = choices.below(end / 4096) * 4096
      image.replaceSubrange(sector..<sector + 4096, with: repeatElement(0, count: 4096))
    case 3:
      let (first, second) = (choices.below(end / 4096) * 4096, choices.below(end / 4096) * 4096)
      for index in 0..<4096 { image.swapAt(first + index, second + index) }
    case 4:
      let isWhole = choices.below(2) == 0
      let count = choices.below(image.count)
      image.removeLast(image.count - (isWhole ? count & ~4095 : count))
    case 5:
      let (count, byte) = (1 + choices.below(3 * 4096), UInt8(choices.below(256)))
      image.append(contentsOf: repeatElement(byte, count: count))
    case 6: setHeader(&choices)
    default: setSlot(&choices)
    }
  }

  private mutating func setHeader(_ choices: inout MutantChoices) {
    let offset = choices.below(Layout.fileHeaderRecordBytes)
    image.set(choices.interesting(), at: offset, [1, 4, 8][choices.below(3)])
    if choices.below(4) > 0 { MutantBase.sealHeader(&image) }
  }

  /// One bit of a slot, in both copies, without correcting the checksum.
  private mutating func flipInSlot(_ choices: inout MutantChoices) {
    let slot = Layout.slotOffsetsBytes[choices.below(2)]
    let (offset, bit) = (choices.below(Layout.slotRecordBytes), UInt8(choices.below(8)))
    for copy in [slot, slot + Layout.slotCopyDistanceBytes] { image[copy + offset] ^= 1 << bit }
  }

  /// One field of a slot, in both copies; or a slot in place of another.
  private mutating func setSlot(_ choices: inout MutantChoices) {
    let copies = Layout.slotOffsetsBytes.flatMap { [$0, $0 + Layout.slotCopyDistanceBytes] }
    if choices.below(4) == 0 {
      let (source, target) = (copies[choices.below(4)], copies[choices.below(4)])
      let record = Array(image[source..<source + Layout.slotRecordBytes])
      image.replaceSubrange(target..<target + record.count, with: record)
      if choices.below(2) == 0 {
        let index = copies.firstIndex(of: target) ?? 0
        image.set(UInt64(index / 2), at: target + SlotField.index, 4)
        image.set(UInt64(index % 2), at: target + SlotField.copy, 4)
        MutantBase.sealSlot(&image, target)
      }
      return
    }
    let slot = Layout.slotOffsetsBytes[choices.below(2)]
    if hasEdits(slot), choices.below(2) == 0 {
      setEdits(slot, &choices)
      return
    }
    let field = [
      SlotField.version, SlotField.topRef, SlotField.topChecksum, SlotField.logicalSizeBytes,
      SlotField.flags, SlotField.editsChecksum,
    ][choices.below(6)]
    let isSmall = choices.below(2) == 0
    let old = image.number(slot + field)
    let number =
      isSmall ? old &+ [2, 4096, 0 &- 2, 0 &- 4096][choices.below(4)] : choices.interesting()
    for copy in [slot, slot + Layout.slotCopyDistanceBytes] {
      image.set(number, at: copy + field, 8)
      MutantBase.sealSlot(&image, copy)
    }
  }

  private func hasEdits(_ slot: Int) -> Bool {
    image.number(slot + SlotField.editsChecksum) != 0
      && (8...UInt64(Layout.slotEditsBytesMax)).contains(
        image.number(slot + Layout.slotRecordBytes, 4) & 0xffff)
  }

  /// Bytes of a slot's edits, in both copies, with both checksums corrected.
  private mutating func setEdits(_ slot: Int, _ choices: inout MutantChoices) {
    let size = Int(image.number(slot + Layout.slotRecordBytes, 4) & 0xffff)
    let offset = choices.below(2) == 0 ? choices.below(size) : choices.below(min(size, 16))
    let count = min([1, 1, 2, 8][choices.below(4)], size - offset)
    let isNear = choices.below(2) == 0
    let old = UInt64(image[slot + Layout.slotRecordBytes + offset])
    let number = isNear ? old &+ [1, 0 &- 1, 2, 8][choices.below(4)] : choices.interesting()
    for copy in [slot, slot + Layout.slotCopyDistanceBytes] {
      let edits = copy + Layout.slotRecordBytes
      image.set(number, at: edits + offset, isNear ? 1 : count)
      let size = min(Int(image.number(edits, 4) & 0xffff), Layout.slotEditsBytesMax)
      image.set(
        max(1, image.checksum(edits..<edits + size)), at: copy + SlotField.editsChecksum, 8)
      MutantBase.sealSlot(&image, copy)
    }
  }

  // MARK: as an adversary does

  private mutating func setHeaderField(_ node: Int, _ choices: inout MutantChoices) {
    let (offset, count) = [
      (NodeField.ref, 8), (NodeField.version, 8), (NodeField.sizeBytes, 4), (NodeField.kind, 1),
      (NodeField.level, 1), (NodeField.reserved16, 2), (NodeField.count, 4),
      (NodeField.auxiliary, 4), (NodeField.count, 4), (NodeField.auxiliary, 4),
    ][choices.below(10)]
    let old = count == 1 ? UInt64(image[node + offset]) : image.number(node + offset, 4)
    let isNear = choices.below(2) == 0
    let number = isNear ? old &+ [1, 0 &- 1, 2, 8][choices.below(4)] : choices.interesting()
    image.set(number, at: node + offset, count)
  }

  private mutating func setDescriptor(_ node: Int, _ choices: inout MutantChoices) {
    let count = Int(min(600, image.number(node + NodeField.auxiliary, 4)))
    let start =
      node + Layout.nodeHeaderBytes + choices.below(max(1, count)) * Layout.descriptorBytes
    let (offset, size) = [(0, 8), (8, 4), (12, 1), (12, 1), (13, 1), (14, 2)][choices.below(6)]
    guard start + 16 <= image.count else { return }
    var number = choices.interesting()
    if offset == 12 { number = [0, 1, 2, 4, 8, 16, 32, 64][choices.below(8)] }
    if choices.below(4) == 0 { number = image.number(start + offset, 4) &+ 1 }
    image.set(number, at: start + offset, size)
  }

  /// Any bytes of a node's content.
  private mutating func setContent(_ node: Int, _ choices: inout MutantChoices) {
    let size = min(max(image.nodeSize(node), 64), image.count - node)
    for _ in 0...choices.below(3) {
      var offset = node + 48 + choices.below(size - 48)
      // Bytes at the front control those after them.
      if choices.below(3) == 0 { offset = node + 48 + choices.below(min(size - 48, 96)) }
      let count = [1, 1, 2, 4, 8][choices.below(5)]
      if choices.below(3) == 0 {
        image[offset] ^= 1 << UInt8(choices.below(8))
      } else {
        image.set(choices.interesting(), at: offset, count)
      }
    }
  }

  /// A whole node in place of another one, with a header that matches the place.
  private mutating func splice(_ node: Int, _ choices: inout MutantChoices) {
    let source = base.nodes[choices.below(base.nodes.count)]
    let size = base.bytes.nodeSize(source)
    guard source + size <= image.count, node + size <= image.count else { return }
    image.replaceSubrange(node..<node + size, with: image[source..<source + size])
    if choices.below(4) > 0 { image.set(UInt64(node), at: node + NodeField.ref, 8) }
  }

  /// A link that leads to another node, which it has the checksum of.
  private mutating func relink(_ choices: inout MutantChoices) {
    let child = base.nodes[choices.below(base.nodes.count)]
    guard let links = base.parents[child], !links.isEmpty else { return }
    let link = links[choices.below(links.count)]
    guard link.offset + 16 <= image.count else { return }
    let other = base.nodes[choices.below(base.nodes.count)]
    var ref = UInt64(other)
    if choices.below(8) == 0 { ref = choices.interesting() }
    image.set(ref, at: link.offset, 8)
    if other + 8 <= image.count {
      image.set(image.number(other), at: link.offset + 8, 8)
    }
    touched.append(link.parent)
  }

  /// Two aligned words of a node, one in place of the other.
  private mutating func swapWords(_ node: Int, _ choices: inout MutantChoices) {
    let words = (min(max(image.nodeSize(node), 64), image.count - node) - 48) / 8
    let (first, second) = (choices.below(words), choices.below(words))
    let number = image.number(node + 48 + 8 * first)
    if choices.below(2) == 0 {
      image.set(image.number(node + 48 + 8 * second), at: node + 48 + 8 * first, 8)
    }
    image.set(number, at: node + 48 + 8 * second, 8)
  }
}
