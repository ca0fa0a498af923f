// FaultFileSystem+Names.swift: operations on names and attributes, with faults and recording.
// The trace has every inode that gets or loses a name, and attributes of those inodes only.

import Glibc
import LabCore
import Recording

extension FaultFileSystem {
  package func create(
    _ name: FileName, in parent: Inode, type: FileType, ownership: Ownership, umask: UInt32 = 0,
    target: [UInt8] = [], device: UInt64 = 0, by caller: Caller
  ) throws(ErrorNumber) -> Inode {
    try perform(
      .create, nil, at: [InodeName(parent: parent, name: name)], by: caller
    ) { () throws(ErrorNumber) -> (Inode, RecordedEvent) in
      let inode = try tree.create(
        name, in: parent, type: type, ownership: ownership, umask: umask, target: target,
        device: device)
      let event = Operation.create(
        inode: inode.number, parent: parent.number, name: name, type: type,
        ownership: inode.ownership, target: target, device: device)
      return (inode, with(event, attributesOf: inode))
    }
  }

  /// A creation, with the access lists inherited from a folder.
  private func with(_ creation: Operation, attributesOf inode: Inode) -> RecordedEvent {
    if inode.extendedAttributes.isEmpty { return .operation(creation) }
    let attributes = inode.extendedAttributes.sorted { $0.key < $1.key }.map { name, value in
      Operation.setExtendedAttribute(inode: inode.number, name: name, value: value)
    }
    return .operations([creation] + attributes)
  }

  /// Makes a file without a name; rules with a path do not apply to it.
  func createNameless(
    in folder: Inode, ownership: Ownership, umask: UInt32, isLinkable: Bool, by caller: Caller
  ) throws(ErrorNumber) -> Inode {
    try perform(.create, nil, by: caller) { () throws(ErrorNumber) -> (Inode, RecordedEvent) in
      let inode = try tree.createNameless(
        in: folder, ownership: ownership, umask: umask, isLinkable: isLinkable)
      let event = Operation.createNameless(inode: inode.number, ownership: inode.ownership)
      return (inode, with(event, attributesOf: inode))
    }
  }

  /// A file that had no name when the recording began gets one: the trace has it from here on,
  /// durable like everything that existed before.
  private func beginTracing(_ inode: Inode, by caller: Caller) {
    inode.isTraced = true
    guard recorder.isRecording, let content = inode.content else { return }
    let creation = Operation.createNameless(inode: inode.number, ownership: inode.ownership)
    switch with(creation, attributesOf: inode) {
    case .operations(let operations): record(operations, flags: .onMedium, by: caller)
    default: recorder.record(creation, flags: .onMedium, by: caller)
    }
    let extents = content.extents()
    for extent in extents {
      recorder.record(
        .write(
          inode: inode.number, offsetBytes: extent.offsetBytes, payload: Payload(extent.bytes)),
        flags: .onMedium, by: caller)
    }
    let endBytes = extents.last?.endBytes ?? 0
    if endBytes != content.sizeBytes {
      recorder.record(
        .truncate(
          inode: inode.number, oldSizeBytes: endBytes, newSizeBytes: content.sizeBytes),
        flags: .onMedium, by: caller)
    }
    guard let time = inode.chosenTime else { return }
    recorder.record(
      .setTimes(inode: inode.number, modification: time, access: nil), flags: .onMedium,
      by: caller)
  }

  func link(
    _ inode: Inode, _ name: FileName, in parent: Inode, by caller: Caller
  ) throws(ErrorNumber) {
    try perform(
      .link, inode, at: [InodeName(parent: parent, name: name)], by: caller
    ) { () throws(ErrorNumber) in
      try tree.link(inode, name, in: parent)
      if !inode.isTraced { beginTracing(inode, by: caller) }
      return .operation(.link(inode: inode.number, parent: parent.number, name: name))
    }
  }

  package func remove(
    _ name: FileName, in parent: Inode, isDirectory: Bool, by caller: Caller
  ) throws(ErrorNumber) {
    try perform(
      .remove, nil, at: [InodeName(parent: parent, name: name)], by: caller
    ) { () throws(ErrorNumber) in
      let inode = try tree.remove(name, in: parent, isDirectory: isDirectory)
      return .operation(
        .remove(
          inode: inode.number, parent: parent.number, name: name, isDirectory: isDirectory))
    }
  }

  package func rename(
    _ name: FileName, from: Inode, to: Inode, _ newName: FileName, flags: UInt32,
    whiteoutOwner: Ownership = Ownership(mode: 0), by caller: Caller
  ) throws(ErrorNumber) {
    try perform(
      .rename, nil,
      at: [InodeName(parent: from, name: name), InodeName(parent: to, name: newName)], by: caller
    ) { () throws(ErrorNumber) in
      switch try tree.rename(
        name, from: from, to: to, newName, flags: flags, whiteoutOwner: whiteoutOwner)
      {
      case .nothing: .nothing
      case .moved(let inode, let replaced, let device?):
        .operation(
          .renameWithWhiteout(
            inode: inode.number, from: from.number, name: name, to: to.number, newName: newName,
            replaced: replaced?.number, whiteout: device.number, ownership: device.ownership))
      case .moved(let inode, let replaced, whiteout: nil):
        .operation(
          .rename(
            inode: inode.number, from: from.number, name: name, to: to.number, newName: newName,
            replaced: replaced?.number))
      case .exchanged(let inode, let other):
        .operation(
          .exchange(
            inode: inode.number, parent: from.number, name: name, otherInode: other.number,
            otherParent: to.number, otherName: newName))
      }
    }
  }

  func setOwnership(
    _ ownership: Ownership, of inode: Inode, by caller: Caller
  ) throws(ErrorNumber) {
    try perform(.setOwnership, inode, by: caller) { () throws(ErrorNumber) in
      let list = try tree.accessList(of: inode, withMode: ownership.mode)
      if let list { try setAttribute(.accessList, list, of: inode) }
      tree.setOwnership(ownership, of: inode)
      let change = Operation.setOwnership(inode: inode.number, ownership: inode.ownership)
      guard let list else { return .operation(change) }
      return .operations([
        change, .setExtendedAttribute(inode: inode.number, name: .accessList, value: list),
      ])
    }
  }

  /// Sets times, as utimensat.
  ///
  /// In the trace are times that the caller chose, and the end of a chosen one; that a change, or
  /// `touch`, gives the current time needs no event.
  func setTimes(
    of inode: Inode, access: FileTree.TimeChange, modification: FileTree.TimeChange,
    by caller: Caller
  ) throws(ErrorNumber) {
    try perform(.setTimes, inode, by: caller) { () throws(ErrorNumber) in
      let before = inode.chosenTime
      tree.setTimes(of: inode, access: access, modification: modification)
      var chosenAccess: Timestamp?
      if case .chosen(let time) = access { chosenAccess = time }
      let isChosen = if case .chosen = modification { true } else { chosenAccess != nil }
      guard isChosen || inode.chosenTime != before else { return .nothing }
      return .operation(
        .setTimes(inode: inode.number, modification: inode.chosenTime, access: chosenAccess))
    }
  }

  /// What a write without CAP_FSETID removes from a file: set-uid, set-gid, capabilities.
  func dropPrivileges(of inode: Inode, by caller: Caller) throws(ErrorNumber) {
    if let mode = tree.modeWithoutPrivileges(inode) {
      var ownership = inode.ownership
      ownership.mode = mode
      try setOwnership(ownership, of: inode, by: caller)
      // The kernel leaves the clearing to us, and would show the mode that it has.
      sideEffects.forgetAttributes(inode.number)
    }
    try dropCapabilities(of: inode, by: caller)
  }

  /// Any write removes a file's capabilities.
  func dropCapabilities(of inode: Inode, by caller: Caller) throws(ErrorNumber) {
    if inode.extendedAttributes.isEmpty { return }
    let capability = FileName("security.capability")
    if inode.extendedAttributes[capability] != nil {
      try removeExtendedAttribute(capability, of: inode, by: caller)
    }
  }

  /// `clearsSetGroup`: an access list clears the file's set-gid bit.
  func setExtendedAttribute(
    _ name: FileName, _ value: [UInt8], of inode: Inode, flags: Int32,
    clearsSetGroup: Bool = false, by caller: Caller
  ) throws(ErrorNumber) {
    if name == .accessList {
      return try setAccessList(value, of: inode, clearsSetGroup: clearsSetGroup, by: caller)
    }
    if name == .defaultAccessList { try tree.check(defaultList: value, for: inode) }
    try perform(.setExtendedAttribute, inode, by: caller) { () throws(ErrorNumber) in
      try tree.setExtendedAttribute(name, value, of: inode, flags: flags)
      return .operation(
        .setExtendedAttribute(inode: inode.number, name: name, value: value))
    }
  }

  private func setAttribute(
    _ name: FileName, _ value: [UInt8], of inode: Inode
  ) throws(ErrorNumber) {
    try tree.setExtendedAttribute(name, value, of: inode, flags: 0)
  }

  /// Sets an access list and the mode that matches it.
  private func setAccessList(
    _ value: [UInt8], of inode: Inode, clearsSetGroup: Bool, by caller: Caller
  ) throws(ErrorNumber) {
    let new = try tree.reading(accessList: value, for: inode, clearsSetGroup: clearsSetGroup)
    try perform(.setExtendedAttribute, inode, by: caller) { () throws(ErrorNumber) in
      var made: [Operation] = []
      if let attribute = new.attribute {
        try setAttribute(.accessList, attribute, of: inode)
        made.append(
          .setExtendedAttribute(inode: inode.number, name: .accessList, value: attribute))
      } else if inode.extendedAttributes[.accessList] != nil {
        try tree.removeExtendedAttribute(.accessList, of: inode)
        made.append(
          .setExtendedAttribute(inode: inode.number, name: .accessList, value: nil))
      }
      var ownership = inode.ownership
      ownership.mode = new.mode
      if ownership != inode.ownership {
        tree.setOwnership(ownership, of: inode)
        made.append(.setOwnership(inode: inode.number, ownership: ownership))
      }
      return .operations(made)
    }
  }

  func removeExtendedAttribute(
    _ name: FileName, of inode: Inode, by caller: Caller
  ) throws(ErrorNumber) {
    try perform(.setExtendedAttribute, inode, by: caller) { () throws(ErrorNumber) in
      try tree.removeExtendedAttribute(name, of: inode)
      return .operation(.setExtendedAttribute(inode: inode.number, name: name, value: nil))
    }
  }
}
