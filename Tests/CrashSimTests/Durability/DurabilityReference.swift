// DurabilityReference.swift: a second opinion on what a crash may leave, written from
// docs/explanation/crash-model.md alone. It goes through a trace once, cuts operations into pieces
// (this file), asks for each two of them whether one waits for the other (+Order), and marks what
// each sync makes certain (+Syncs). It is naive: pairs of pieces, sets, and no state that it could
// update wrongly. Letters and numbers in comments (R1, X4) are the page's rules.

import Recording

struct DurabilityReference {
  static let pageBytes: UInt64 = 4096

  /// What a running kernel knows of a file.
  struct Inode {
    var type: FileType
    var sizeBytes: UInt64
    /// The piece that gave it its first name.
    var creation: Int?
    /// Pages that fallocate reserved behind the end.
    var reserved: Set<UInt64> = []
    /// Pages that the file got since its last sync.
    var newPages: Set<UInt64> = []
    /// Pieces since the last sync of the file: data in such pages, and sizes.
    var delayed: Set<Int> = []
    /// Truncated to nothing and not closed since.
    var isEmptied = false
    /// How many pieces there were when a write last gave it more bytes.
    var piecesBeforeGrowth: Int?
  }

  let model: DocumentedModel
  let initial: TreeImage
  var pieces: [Piece] = []
  var inodes: [InodeNumber: Inode] = [:]
  var created: [InodeNumber: InodeImage] = [:]
  /// After which event a piece is certain, and after which a failed sync has dropped it.
  var certainFrom: [Int: Int] = [:]
  var droppedFrom: [Int: Int] = [:]
  /// X7: from how many pieces on the journal waits for which ones.
  var closeBarriers: [(from: Int, pieces: Set<Int>)] = []
  /// Pieces that the kernel wrote back by itself.
  var writtenBack: Set<Int> = []
  var event = 0
  /// Inodes with a modification time that the program chose.
  private var chosenTimes: Set<InodeNumber> = []
  /// The inode that the operation before made, and its pieces.
  private var justCreated: InodeNumber?

  init(_ trace: Trace, _ model: DocumentedModel) {
    self.model = model
    initial = trace.initial
    for (number, image) in trace.initial.inodes {
      inodes[number] = Inode(type: image.type, sizeBytes: image.sizeBytes)
    }
    for (index, event) in trace.events.enumerated() {
      self.event = index
      guard case .operation(let operation) = event.body else { continue }
      if event.flags.contains(.joined) {
        join(operation)
        continue
      }
      justCreated = nil
      let first = pieces.count
      if readSync(operation, event.flags) { continue }
      read(operation)
      if model.isTotal { unite(from: first) }
      let new = Set(first..<pieces.count)
      if event.flags.contains(.writeBack) { writtenBack.formUnion(new) }
      if event.flags.contains(.onMedium) { makeCertain(new) }
    }
  }

  /// Section 4: the whole operation is one piece.
  private mutating func unite(from first: Int) {
    let parts = Array(pieces[first...])
    guard !parts.isEmpty else { return }
    pieces.removeSubrange(first...)
    pieces.append(Piece(event: event, kind: .whole, changes: parts.flatMap(\.changes)))
    for inode in inodes.keys { inodes[inode]?.delayed = [] }
  }

  /// What one call made together with the operation before.
  private mutating func join(_ operation: Operation) {
    switch operation {
    case .setExtendedAttribute(let inode, let name, let value):
      if justCreated == inode {
        created[inode]?.extendedAttributes[name] = value
      } else {
        pieces[pieces.count - 1].changes.append(.attribute(inode, name, value))
      }
    case .setOwnership(let inode, let ownership):
      pieces[pieces.count - 1].changes.append(.owner(inode, ownership))
    default: preconditionFailure("only attributes come with another operation")
    }
  }

  // MARK: Operations

  private mutating func read(_ operation: Operation) {
    // R10: what changes an inode ends a time that was chosen for it.
    for inode in changedInodes(operation) where chosenTimes.remove(inode) != nil {
      addMetadata(.attributes, [.time(inode, nil)])
    }
    switch operation {
    case .create(let inode, let parent, let name, let type, let ownership, let target, let device):
      var image = InodeImage(type: type, ownership: ownership)
      image.target = target
      image.device = device
      add(inode, image)
      let piece = addNames([.name(in: parent, name, is: inode)], moving: [inode])
      inodes[inode]?.creation = piece
    case .createNameless(let inode, let ownership):
      add(inode, InodeImage(type: .regular, ownership: ownership))
    case .link(let inode, let parent, let name):
      addNames([.name(in: parent, name, is: inode)], moving: [inode])
    case .remove(let inode, let parent, let name, _):
      addNames([.name(in: parent, name, is: nil)], moving: [inode])
    case .rename(let inode, let from, let name, let to, let newName, let replaced):
      rename(
        inode, .name(in: from, name, is: nil), .name(in: to, newName, is: inode),
        replacing: replaced)
    case .renameWithWhiteout(
      let inode, let from, let name, let to, let newName, let replaced, let device, let ownership):
      add(device, InodeImage(type: .characterDevice, ownership: ownership))
      rename(
        inode, .name(in: from, name, is: device), .name(in: to, newName, is: inode),
        replacing: replaced)
      inodes[device]?.creation = pieces.lastIndex {
        $0.changes.contains { if case .name(_, _, device) = $0 { true } else { false } }
      }
    case .exchange(let inode, let parent, let name, let other, let otherParent, let otherName):
      let halves: [Piece.Change] = [
        .name(in: parent, name, is: other), .name(in: otherParent, otherName, is: inode),
      ]
      // R4: an exchange that involves a directory is atomic everywhere.
      if model.allows("renameIsAtomic") || isDirectory(inode) || isDirectory(other) {
        addNames(halves, moving: [inode, other])
      } else {
        addNames([halves[0]], moving: [other])
        addNames([halves[1]], moving: [inode])
      }
    case .write(let inode, let offset, let payload): write(inode, offset, payload.bytes)
    case .truncate(let inode, _, let newSize): truncate(inode, to: newSize)
    case .allocate(let inode, let offset, let count, let zeroes, _, let newSize):
      allocate(inode, offset..<offset + count, zeroes: zeroes, newSize: newSize)
    case .setOwnership(let inode, let ownership):
      addMetadata(.attributes, [.owner(inode, ownership)])
    case .setExtendedAttribute(let inode, let name, let value):
      addMetadata(.attributes, [.attribute(inode, name, value)])
    case .setTimes(let inode, let modification, _):
      let wasChosen = chosenTimes.remove(inode) != nil
      if modification != nil { chosenTimes.insert(inode) }
      if wasChosen || modification != nil {
        addMetadata(.attributes, [.time(inode, modification)])
      }
    case .sync, .syncDirectory, .syncAll, .close: preconditionFailure("no change")
    }
  }

  /// Inodes whose modification time becomes the current one.
  private func changedInodes(_ operation: Operation) -> [InodeNumber] {
    switch operation {
    case .create(_, let parent, _, _, _, _, _), .link(_, let parent, _),
      .remove(_, let parent, _, _):
      [parent]
    case .rename(_, let from, _, let to, _, _),
      .renameWithWhiteout(_, let from, _, let to, _, _, _, _),
      .exchange(_, let from, _, _, let to, _):
      [from, to]
    case .write(let inode, _, let payload): payload.countBytes == 0 ? [] : [inode]
    case .truncate(let inode, let old, let new): old == new ? [] : [inode]
    case .allocate(let inode, _, _, _, _, _): [inode]
    default: []
    }
  }

  private func isDirectory(_ inode: InodeNumber) -> Bool { inodes[inode]?.type == .directory }

  private mutating func add(_ inode: InodeNumber, _ image: InodeImage) {
    inodes[inode] = Inode(type: image.type, sizeBytes: 0)
    created[inode] = image
    justCreated = inode
  }

  /// A piece of the journal, where there is one (X1).
  @discardableResult
  private mutating func addMetadata(_ kind: Piece.Kind, _ changes: [Piece.Change]) -> Int {
    var piece = Piece(event: event, kind: kind, changes: changes)
    piece.isJournaled = model.hasJournal
    pieces.append(piece)
    return pieces.count - 1
  }

  @discardableResult
  private mutating func addNames(
    _ changes: [Piece.Change], moving moved: Set<InodeNumber>
  ) -> Int {
    let piece = addMetadata(.names, changes)
    pieces[piece].movedDirectories = moved.filter(isDirectory)
    pieces[piece].named = moved
    return piece
  }

  private mutating func rename(
    _ inode: InodeNumber, _ old: Piece.Change, _ new: Piece.Change, replacing: InodeNumber?
  ) {
    var whiteout: InodeNumber?
    if case .name(_, _, .some(let device)) = old { whiteout = device }
    if model.allows("renameIsAtomic") || (whiteout != nil && isDirectory(inode)) {
      let piece = addNames([new, old], moving: [inode])
      pieces[piece].named.formUnion([replacing, whiteout].compactMap { $0 })
      if replacing != nil, model.allows("safeReplaceByRename") {
        pieces[piece].waitsFor = inodes[inode]?.delayed ?? []
      }
    } else if isDirectory(inode) {
      // R4: the old name goes first.
      addNames([old], moving: [inode])
      addNames([new], moving: [inode])
    } else {
      addNames([new], moving: [inode])
      addNames([old], moving: [inode])
    }
  }

  // MARK: Content

  private mutating func write(_ inode: InodeNumber, _ offset: UInt64, _ bytes: [UInt8]) {
    guard !bytes.isEmpty, let before = inodes[inode] else { return }  // R5
    let end = offset + UInt64(bytes.count)
    let piecesBefore = pieces.count
    let firstPageBehind = Self.pages(0..<before.sizeBytes).upperBound
    var start = offset
    while start < end {
      let stop = min(end, (start / model.blockBytes + 1) * model.blockBytes)
      let isStep =
        stop == end || (stop % Self.pageBytes == 0 && !model.allows("appendIsAtomic"))
      let newSize = isStep && stop > before.sizeBytes ? stop : nil
      let page = start / Self.pageBytes
      // Section 1: a page is new to its file behind the end, unless it was reserved.
      if page >= firstPageBehind, !before.reserved.contains(page) {
        inodes[inode]?.newPages.insert(page)
      }
      var piece = Piece(
        event: event, kind: .data,
        changes: [
          .bytes(inode, at: start, Array(bytes[Int(start - offset)..<Int(stop - offset)]))
        ])
      piece.isInNewPage = inodes[inode]?.newPages.contains(page) == true
      piece.isOfGrowingWrite = end > before.sizeBytes
      if model.journalsData {
        // Each page of a write is one entry of the journal, with the size that it gives the file.
        piece.isJournaled = true
        if let newSize { piece.changes.append(.size(inode, newSize)) }
      }
      pieces.append(piece)
      if piece.isInNewPage { inodes[inode]?.delayed.insert(pieces.count - 1) }
      if let newSize, !model.journalsData {
        var growth = Piece(event: event, kind: .growth, changes: [.size(inode, newSize)])
        growth.isJournaled = model.hasJournal && !model.allows("delayedAllocation")
        pieces.append(growth)
        inodes[inode]?.delayed.insert(pieces.count - 1)
      }
      start = stop
    }
    if end > before.sizeBytes {
      inodes[inode]?.sizeBytes = end
      inodes[inode]?.piecesBeforeGrowth = piecesBefore
    }
  }

  private mutating func truncate(_ inode: InodeNumber, to newSize: UInt64) {
    guard let before = inodes[inode], newSize != before.sizeBytes else { return }  // R5
    let firstCutPage = Self.pages(0..<newSize).upperBound
    if !model.allows("shrinkIsAtomic") {
      // R9: the zeros in the rest of the page are data.
      let end = min(before.sizeBytes, firstCutPage * Self.pageBytes)
      if newSize < end {
        pieces.append(
          Piece(event: event, kind: .zeros, changes: [.zeros(inode, newSize..<end)]))
      }
    }
    let size = addMetadata(.size, [.size(inode, newSize)])
    inodes[inode]?.sizeBytes = newSize
    inodes[inode]?.delayed.insert(size)
    guard newSize < before.sizeBytes else { return }
    pieces[size].isShrinking = true
    inodes[inode]?.reserved = before.reserved.filter { $0 < firstCutPage }
    inodes[inode]?.newPages = before.newPages.filter { $0 < firstCutPage }
    if newSize == 0 { inodes[inode]?.isEmptied = true }
  }

  private mutating func allocate(
    _ inode: InodeNumber, _ range: Range<UInt64>, zeroes: Bool, newSize: UInt64
  ) {
    guard let before = inodes[inode] else { return }
    let grows = newSize > before.sizeBytes
    let zeros: [Piece.Change] = zeroes ? [.zeros(inode, range)] : []
    let size: [Piece.Change] = grows ? [.size(inode, newSize)] : []
    // One entry of the journal; without a journal the zeros are a piece of their own.
    if model.hasJournal {
      if zeroes || grows { addMetadata(grows ? .size : .zeros, zeros + size) }
    } else {
      if zeroes { addMetadata(.zeros, zeros) }
      if grows { addMetadata(.size, size) }
    }
    if grows {
      inodes[inode]?.sizeBytes = newSize
      inodes[inode]?.delayed.insert(pieces.count - 1)
    }
    if !zeroes { inodes[inode]?.reserved.formUnion(Self.pages(range)) }
  }

  /// The pages that a range touches.
  static func pages(_ range: Range<UInt64>) -> Range<UInt64> {
    range.lowerBound / pageBytes..<(range.upperBound + pageBytes - 1) / pageBytes
  }
}
