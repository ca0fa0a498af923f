// XRayReader+Edits.swift [U]: versions whose root slot holds the bytes by which their nodes differ
// from those of an earlier version. The edits are made in a copy of the file, in which every node
// then is as the version has it; only leaves that have a patch as well are edited when they are
// read, after their patch.

/// The edits of one node in a slot.
struct XRayEdit {
  /// The node before.
  let link: XRayLink
  let edits: [UInt8]
}

extension XRayReader {
  private static let slotEditsBytesMax = 1952
  private static let editedNodeBytesMax = 65_535

  /// The edits of one copy of a slot; nil when its checksum says that they are not whole.
  static func edits(in copy: XRayBytes, checksum: UInt64) throws(XRayFault) -> [UInt8]? {
    let size = Int(try copy.number(96, UInt16.self))
    guard size >= 8, size <= slotEditsBytesMax else { return nil }
    let edits = try copy.part(at: 96, count: size)
    return max(1, edits.checksum) == checksum ? edits.array : nil
  }

  /// Reads the version of a slot with edits.
  mutating func readEditedVersion(_ chosen: XRay.Slot) throws(XRayFault) {
    guard found.formatVersion ?? 0 >= 4 else {
      throw XRayFault("a slot has edits in a file of an earlier format version")
    }
    try begin(chosen)
    let edits = try decoded(chosen.edits)
    var image = file.array
    var later: [UInt64: XRayEdit] = [:]
    for edit in edits {
      if try !make(edit, in: &image) { later[edit.link.refBytes] = edit }
    }
    var result = found
    guard chosen.top.refBytes < UInt64(file.count) else {
      throw XRayFault("the slot leads to no node", at: chosen.top.refBytes)
    }
    let top = Int(chosen.top.refBytes)
    guard try file.number(top, UInt64.self) == chosen.top.checksum else {
      throw XRayFault("the slot leads to another group", at: chosen.top.refBytes)
    }
    unsafe image.withUnsafeBytes { source in
      // Safety: the views do not outlive the closure.
      var reader = unsafe XRayReader(XRayBytes(source), visitor)
      reader.found = found
      reader.leafEdits = later
      reader.attempt { (reader) throws(XRayFault) in
        let checksum = try reader.file.number(top, UInt64.self)
        let link = XRayLink(refBytes: chosen.top.refBytes, checksum: checksum)
        try reader.readVersion(chosen, top: link)
      }
      result = reader.found
    }
    found = result
    guard found.isSound else { return }
    let reached = Set(found.nodes.map(\.refBytes))
    for edit in edits where !reached.contains(edit.link.refBytes) {
      throw XRayFault("the slot edits a node that is not reached", at: edit.link.refBytes)
    }
  }

  /// Edits a node of the image; false for one whose checksum says that it has a patch, too.
  private func make(_ edit: XRayEdit, in image: inout [UInt8]) throws(XRayFault) -> Bool {
    let ref = edit.link.refBytes
    guard ref % UInt64(Self.sectorBytes) == 0, ref < UInt64(image.count) else {
      throw XRayFault("the slot edits a node that is not in the file", at: ref)
    }
    let stored = try file.number(Int(ref), UInt64.self)
    let kind = try file.number(Int(ref) + 28, UInt8.self)
    guard stored == edit.link.checksum else {
      if kind == XRay.Kind.leaf.rawValue { return false }
      throw XRayFault(
        "checksum \(stored) of a node that the slot edits != \(edit.link.checksum)", at: ref)
    }
    let kinds: [XRay.Kind] = [.group, .inner, .leaf, .indexInner, .indexLeaf, .wordLeaf]
    guard kinds.contains(where: { $0.rawValue == kind }) else {
      throw XRayFault("the slot edits a node of kind \(kind)", at: ref)
    }
    let (_, size) = try headerAndSize(edit.link)
    guard size <= Self.editedNodeBytesMax else {
      throw XRayFault("the slot edits a node of \(size) bytes", at: ref)
    }
    var node = try Self.edited(try checked(edit.link, sizeBytes: size), edit.edits)
    Self.setChecksum(of: &node)
    image.replaceSubrange(Int(ref)..<Int(ref) + size, with: node)
    return true
  }

  private static func setChecksum(of node: inout [UInt8]) {
    let checksum = XRayBytes.checksum(of: Array(node[8...]))
    for byte in 0..<8 { node[byte] = UInt8(truncatingIfNeeded: checksum >> (8 * byte)) }
  }

  /// The edits of a slot, in either form.
  private func decoded(_ bytes: [UInt8]) throws(XRayFault) -> [XRayEdit] {
    var edits: [XRayEdit] = []
    var fault: XRayFault?
    unsafe bytes.withUnsafeBytes { source in
      // Safety: everything read is copied; no view outlives the closure.
      var cursor = unsafe XRayCursor(XRayBytes(source))
      do throws(XRayFault) {
        _ = try cursor.number(UInt16.self)
        let count = try cursor.number(UInt16.self)
        let form = try cursor.number(UInt32.self)
        guard form < 2 else { throw XRayFault("the edits of a slot have form \(form)") }
        for _ in 0..<count {
          let last = edits.last?.link.refBytes ?? 0
          let edit = form == 0 ? try Self.oldEdit(&cursor) : try edit(&cursor, behind: last)
          guard !edit.edits.isEmpty, edit.link.refBytes > last else {
            throw XRayFault("edits of a slot are empty, or not in order", at: edit.link.refBytes)
          }
          edits.append(edit)
        }
        guard cursor.isAtEnd else { throw XRayFault("bytes after the edits of a slot") }
      } catch { fault = error }
    }
    if let fault { throw fault }
    return edits
  }

  private static func oldEdit(_ cursor: inout XRayCursor) throws(XRayFault) -> XRayEdit {
    let word = try cursor.number(UInt64.self)
    let link = XRayLink(refBytes: word & ~4095, checksum: try cursor.number(UInt64.self))
    return XRayEdit(link: link, edits: try cursor.take(Int(word & 4095)).array)
  }

  private func edit(
    _ cursor: inout XRayCursor, behind last: UInt64
  ) throws(XRayFault) -> XRayEdit {
    let word = try cursor.varint()
    let sector = last / UInt64(Self.sectorBytes) + word / 2
    guard sector < UInt64(file.count / Self.sectorBytes) else {
      throw XRayFault("the slot edits a node that is not in the file: sector \(sector)")
    }
    let ref = sector * UInt64(Self.sectorBytes)
    let checksum =
      word % 2 == 1 ? try cursor.number(UInt64.self) : try file.number(Int(ref), UInt64.self)
    let bytes = try cursor.sized()
    var (edits, runs, end) = ([UInt8](), XRayCursor(bytes), XRayNode.headerBytes)
    while !runs.isAtEnd {
      let (gap, run) = (try runs.varint(), try runs.sized())
      guard gap <= UInt64(Self.editedNodeBytesMax - end), run.count > 0,
        run.count <= Self.editedNodeBytesMax - end - Int(gap)
      else { throw XRayFault("the slot edits bytes behind a node's end", at: ref) }
      let start = end + Int(gap)
      for number in [start, run.count] { edits += [UInt8(number & 255), UInt8(number >> 8)] }
      edits += run.array
      end = start + run.count
    }
    return XRayEdit(link: XRayLink(refBytes: ref, checksum: checksum), edits: edits)
  }
}
