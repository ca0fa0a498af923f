// UnitTableBuilder+Operations.swift: the units of each operation, and their dependencies.

import LabCore
import Recording

extension UnitTableBuilder {
  /// Reads one operation of the trace.
  mutating func read(_ operation: Operation, flags: OperationFlags) throws(LabError) {
    if flags.contains(.joined) { return try join(operation) }
    created = nil
    switch operation {
    case .sync(let inode, let dataOnly):
      if try progress(of: inode).type == .directory {
        try sync(directory: inode, flags: flags)
      } else {
        try sync(file: inode, dataOnly: dataOnly, flags: flags)
      }
    case .syncDirectory(let inode):
      _ = try progress(of: inode)
      try sync(directory: inode, flags: flags)
    case .syncAll(let late): syncAll(late: late, flags: flags)
    case .close(let inode):
      _ = try progress(of: inode)
      close(inode)
    default:
      let first = units.count
      if model.metadataOrder == .total {
        try readAtomically(operation)
      } else {
        try split(operation)
      }
      if flags.contains(.writeBack) { writtenBack.formUnion(first..<units.count) }
      // The program saw it on the medium: it cannot be lost, nor can what is ordered before.
      if flags.contains(.onMedium) { makeDurable(Array(first..<units.count)) }
    }
  }

  /// One unit for the whole operation: splits it and joins the parts again.
  private mutating func readAtomically(_ operation: Operation) throws(LabError) {
    let first = units.count
    try split(operation)
    guard units.count > first else { return }
    let effects = units[first...].flatMap(\.effects)
    units.removeSubrange(first...)
    durableFrom.removeSubrange(first...)
    droppedFrom.removeSubrange(first...)
    lastJournal = emit(.operation, effects, after: [lastJournal])
  }

  private mutating func split(_ operation: Operation) throws(LabError) {
    if chosenTimeCount > 0 { replaceTimes(by: operation) }
    switch operation {
    case .create(let inode, let parent, let name, let type, let ownership, let target, let device):
      var image = InodeImage(type: type, ownership: ownership)
      image.target = target
      image.device = device
      try add(inode, image)
      let unit = try setName(inode, EntryKey(parent: parent, name: name))
      update(inode) { $0.creation = unit }
      touch([inode, parent], by: unit, dataToo: true)
    case .createNameless(let inode, let ownership):
      // It is not visible before it has a name.
      try add(inode, InodeImage(type: .regular, ownership: ownership))
    case .link(let inode, let parent, let name):
      let unit = try setName(inode, EntryKey(parent: parent, name: name))
      touch([inode, parent], by: unit)
    case .remove(let inode, let parent, let name, _):
      let unit = try removeName(inode, EntryKey(parent: parent, name: name))
      touch([inode, parent], by: unit)
    case .rename(let inode, let from, let name, let to, let newName, let replaced):
      try rename(
        inode, from: EntryKey(parent: from, name: name), to: EntryKey(parent: to, name: newName),
        replacing: replaced)
    case .renameWithWhiteout(
      let inode, let from, let name, let to, let newName, let replaced, let device, let ownership):
      try add(device, InodeImage(type: .characterDevice, ownership: ownership))
      try rename(
        inode, from: EntryKey(parent: from, name: name), to: EntryKey(parent: to, name: newName),
        replacing: replaced, leaving: device)
    case .exchange(let inode, let parent, let name, let other, let otherParent, let otherName):
      try exchange(
        inode, at: EntryKey(parent: parent, name: name), with: other,
        at: EntryKey(parent: otherParent, name: otherName))
    case .write(let inode, let offsetBytes, let payload):
      try write(inode, offsetBytes: offsetBytes, payload: payload)
    case .truncate(let inode, _, let newSizeBytes):
      try truncate(inode, to: newSizeBytes)
    case .allocate(let inode, let offset, let count, let zeroes, _, let newSize):
      try allocate(inode, offset: offset, count: count, zeroes: zeroes, newSize: newSize)
    case .setOwnership(let inode, let ownership):
      let last = try progress(of: inode).lastOwnership
      let unit = emitMetadata(
        .attribute, [.ownership(inode: inode, ownership: ownership)], after: [last])
      update(inode) {
        $0.lastOwnership = unit
        $0.pendingAttributes.append(unit)
      }
      touch([inode], by: unit)
    case .setExtendedAttribute(let inode, let name, let value):
      let last = try progress(of: inode).lastAttribute[name]
      let unit = emitMetadata(
        .attribute, [.extendedAttribute(inode: inode, name: name, value: value)], after: [last])
      update(inode) {
        $0.lastAttribute[name] = unit
        $0.pendingAttributes.append(unit)
      }
      touch([inode], by: unit)
    case .setTimes(let inode, let modification, _):
      _ = try progress(of: inode)
      setTime(modification, of: inode)
    case .sync, .syncDirectory, .syncAll, .close:
      preconditionFailure("syncs and closes have no units")
    }
  }

  /// R10: a change of an inode gives it the current time, in a unit of its own if the time before
  /// was a chosen one; otherwise no state shows the difference.
  private mutating func replaceTimes(by operation: Operation) {
    for inode in operation.stampedInodes where inodes[inode]?.hasChosenTime == true {
      setTime(nil, of: inode)
    }
  }

  private mutating func setTime(_ time: Timestamp?, of inode: InodeNumber) {
    guard let record = inodes[inode], time != nil || record.hasChosenTime else { return }
    let unit = emitMetadata(
      .attribute, [.modificationTime(inode: inode, time: time)], after: [record.lastTime])
    chosenTimeCount += (time == nil ? 0 : 1) - (record.hasChosenTime ? 1 : 0)
    record.hasChosenTime = time != nil
    record.lastTime = unit
    record.pendingAttributes.append(unit)
    touch([inode], by: unit)
  }

  /// Attributes that came with the previous operation: after a creation they are handled like its
  /// owner and mode, and another change of attributes forms one unit with them.
  private mutating func join(_ operation: Operation) throws(LabError) {
    switch operation {
    case .setExtendedAttribute(let inode, let name, let value) where created == inode:
      creations[inode]?.extendedAttributes[name] = value
    case .setExtendedAttribute(let inode, let name, let value):
      let last = try progress(of: inode).lastAttribute[name]
      let unit = try join(
        .extendedAttribute(inode: inode, name: name, value: value), after: last)
      update(inode) { $0.lastAttribute[name] = unit }
    case .setOwnership(let inode, let ownership):
      let last = try progress(of: inode).lastOwnership
      let unit = try join(.ownership(inode: inode, ownership: ownership), after: last)
      update(inode) { $0.lastOwnership = unit }
    default: throw .lab("broken trace: event \(event) is part of the one before, and cannot be")
    }
  }

  /// Adds an effect to the unit of the previous operation.
  private mutating func join(_ effect: Effect, after last: Int?) throws(LabError) -> Int {
    guard let unit = units.indices.last,
      units[unit].effects.allSatisfy({ $0.isAttribute(of: effect.syncedInode) })
    else {
      throw .lab(
        "broken trace: event \(event) is part of the one before, which is not such a change")
    }
    let waits = last.map { $0 < unit && isPending($0) } == true ? last : nil
    units[unit] = units[unit].joined(with: effect, waitingFor: waits)
    return unit
  }

  /// A new, empty inode, whose creation persists with its name.
  private mutating func add(_ inode: InodeNumber, _ image: InodeImage) throws(LabError) {
    guard inodes[inode] == nil else {
      throw .lab("broken trace: event \(event) creates inode \(inode) a second time")
    }
    inodes[inode] = InodeProgress(type: image.type, sizeBytes: 0)
    creations[inode] = image
    created = inode
  }

  /// Notes that a journal unit changed what fsync of these inodes must wait for.
  mutating func touch(_ touched: [InodeNumber], by unit: Int, dataToo: Bool = false) {
    for inode in touched {
      update(inode) {
        $0.lastTouch = unit
        if dataToo { $0.lastDataTouch = unit }
      }
    }
  }

  // MARK: Names

  /// The dependencies of a change of an entry without a journal: the entry's last change, and for a
  /// directory the last change of its own names, so that a directory never has two.
  private func nameDependencies(_ inode: InodeNumber, _ key: EntryKey) throws(LabError) -> [Int?] {
    let record = try progress(of: inode)
    guard try progress(of: key.parent).type == .directory else {
      throw .lab("broken trace: event \(event) uses inode \(key.parent) as a directory")
    }
    return [entryUnits[key], record.type == .directory ? record.lastName : nil]
  }

  private mutating func noteName(
    _ inode: InodeNumber, _ key: EntryKey, _ unit: Int, isGiven: Bool = true
  ) {
    entryUnits[key] = unit
    update(key.parent) { $0.pendingEntries.append(unit) }
    update(inode) {
      if $0.type == .directory { $0.lastName = unit }
      if isGiven { $0.pendingNames.append(unit) }
    }
  }

  private mutating func setName(_ inode: InodeNumber, _ key: EntryKey) throws(LabError) -> Int {
    let dependencies = try nameDependencies(inode, key)
    let unit = emitMetadata(
      .entry, [.setEntry(parent: key.parent, name: key.name, inode: inode)], after: dependencies)
    noteName(inode, key, unit)
    return unit
  }

  private mutating func removeName(_ inode: InodeNumber, _ key: EntryKey) throws(LabError) -> Int {
    let dependencies = try nameDependencies(inode, key)
    let unit = emitMetadata(
      .entry, [.removeEntry(parent: key.parent, name: key.name)], after: dependencies)
    noteName(inode, key, unit, isGiven: false)
    return unit
  }

  private mutating func rename(
    _ inode: InodeNumber, from: EntryKey, to: EntryKey, replacing replaced: InodeNumber?,
    leaving device: InodeNumber? = nil
  ) throws(LabError) {
    let record = try progress(of: inode)
    // A directory and the file that takes its name are exchanged like two directories (R4).
    let isAtomic = model.renameIsAtomic || device != nil && record.type == .directory
    guard isAtomic else {
      if let device {
        // The device takes over the old name, so that no state lacks both.
        _ = try setName(inode, to)
        let unit = try setName(device, from)
        update(device) { $0.creation = unit }
        touch([device], by: unit, dataToo: true)
      } else if record.type == .directory {
        // The old name goes first: a directory with two names is not a tree on any file system.
        _ = try removeName(inode, from)
        _ = try setName(inode, to)
      } else {
        _ = try setName(inode, to)
        _ = try removeName(inode, from)
      }
      return
    }
    var dependencies = try nameDependencies(inode, from)
    dependencies += try nameDependencies(inode, to)
    if replaced != nil, model.safeReplaceByRename {
      dependencies += (record.delayedData + record.pendingSize).filter(isPending).map { $0 }
    }
    let leaves: Effect =
      if let device {
        .setEntry(parent: from.parent, name: from.name, inode: device)
      } else {
        .removeEntry(parent: from.parent, name: from.name)
      }
    let unit = emitMetadata(
      .entry, [.setEntry(parent: to.parent, name: to.name, inode: inode), leaves],
      after: dependencies)
    if let device {
      noteName(device, from, unit)
      update(device) { $0.creation = unit }
      touch([device], by: unit, dataToo: true)
    } else {
      noteName(inode, from, unit, isGiven: false)
    }
    noteName(inode, to, unit)
    touch([inode, from.parent, to.parent], by: unit)
    if let replaced { touch([replaced], by: unit) }
  }

  private mutating func exchange(
    _ inode: InodeNumber, at key: EntryKey, with other: InodeNumber, at otherKey: EntryKey
  ) throws(LabError) {
    let types = [try progress(of: inode).type, try progress(of: other).type]
    let hasDirectory = types.contains(.directory)
    guard model.renameIsAtomic || hasDirectory else {
      _ = try setName(other, key)
      _ = try setName(inode, otherKey)
      return
    }
    var dependencies = try nameDependencies(other, key)
    dependencies += try nameDependencies(inode, otherKey)
    let unit = emitMetadata(
      .entry,
      [
        .setEntry(parent: key.parent, name: key.name, inode: other),
        .setEntry(parent: otherKey.parent, name: otherKey.name, inode: inode),
      ], after: dependencies)
    noteName(other, key, unit)
    noteName(inode, otherKey, unit)
    touch([inode, other, key.parent, otherKey.parent], by: unit)
  }
}
