// FaultFileSystem+Names.swift: the operations on names and attributes, with faults and recording.
// The trace knows every inode that gets or loses a name; of attributes it has those of such inodes.

import Glibc
import LabCore
import Recording

extension FaultFileSystem {
  package func create(
    _ name: FileName, in parent: Inode, type: FileType, ownership: Ownership,
    target: [UInt8] = [], device: UInt64 = 0, by caller: Caller
  ) throws(ErrorNumber) -> Inode {
    try perform(
      .create, nil, at: [InodeName(parent: parent, name: name)], by: caller
    ) { () throws(ErrorNumber) -> (Inode, RecordedEvent) in
      let inode = try tree.create(
        name, in: parent, type: type, ownership: ownership, target: target, device: device)
      let event = Operation.create(
        inode: inode.number, parent: parent.number, name: name, type: type,
        ownership: inode.ownership, target: target, device: device)
      return (inode, .operation(event))
    }
  }

  func link(
    _ inode: Inode, _ name: FileName, in parent: Inode, by caller: Caller
  ) throws(ErrorNumber) {
    try perform(
      .link, inode, at: [InodeName(parent: parent, name: name)], by: caller
    ) { () throws(ErrorNumber) in
      try tree.link(inode, name, in: parent)
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
      tree.setOwnership(ownership, of: inode)
      return .operation(.setOwnership(inode: inode.number, ownership: inode.ownership))
    }
  }

  /// What a write by somebody without CAP_FSETID takes from a file: set-uid, set-gid, capabilities.
  func dropPrivileges(of inode: Inode, by caller: Caller) throws(ErrorNumber) {
    if let mode = tree.modeWithoutPrivileges(inode) {
      var ownership = inode.ownership
      ownership.mode = mode
      try setOwnership(ownership, of: inode, by: caller)
    }
    try dropCapabilities(of: inode, by: caller)
  }

  /// Any write takes a file's capabilities.
  func dropCapabilities(of inode: Inode, by caller: Caller) throws(ErrorNumber) {
    if inode.extendedAttributes.isEmpty { return }
    let capability = FileName("security.capability")
    if inode.extendedAttributes[capability] != nil {
      try removeExtendedAttribute(capability, of: inode, by: caller)
    }
  }

  func setExtendedAttribute(
    _ name: FileName, _ value: [UInt8], of inode: Inode, flags: Int32, by caller: Caller
  ) throws(ErrorNumber) {
    try perform(.setExtendedAttribute, inode, by: caller) { () throws(ErrorNumber) in
      try tree.setExtendedAttribute(name, value, of: inode, flags: flags)
      return .operation(
        .setExtendedAttribute(inode: inode.number, name: name, value: value))
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
