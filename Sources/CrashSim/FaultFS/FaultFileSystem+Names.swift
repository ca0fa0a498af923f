// FaultFileSystem+Names.swift: the operations on names and attributes, with faults and recording.

import Glibc
import LabCore
import Recording

extension FaultFileSystem {
  package func create(
    _ name: FileName, in parent: Inode, type: FileType, ownership: Ownership,
    target: [UInt8] = [], device: UInt64 = 0, by caller: Caller
  ) throws(ErrorNumber) -> Inode {
    let firing = try begin(.create, nil, at: [InodeName(parent: parent, name: name)], by: caller)
    let inode = try tree.create(
      name, in: parent, type: type, ownership: ownership, target: target, device: device)
    recorder.record(
      .create(
        inode: inode.number, parent: parent.number, name: name, type: type,
        ownership: inode.ownership, target: target, device: device),
      by: caller)
    finish(firing, by: caller)
    return inode
  }

  func link(
    _ inode: Inode, _ name: FileName, in parent: Inode, by caller: Caller
  ) throws(ErrorNumber) {
    let firing = try begin(.link, inode, at: [InodeName(parent: parent, name: name)], by: caller)
    try tree.link(inode, name, in: parent)
    recorder.record(.link(inode: inode.number, parent: parent.number, name: name), by: caller)
    finish(firing, by: caller)
  }

  package func remove(
    _ name: FileName, in parent: Inode, isDirectory: Bool, by caller: Caller
  ) throws(ErrorNumber) {
    let firing = try begin(.remove, nil, at: [InodeName(parent: parent, name: name)], by: caller)
    let inode = try tree.remove(name, in: parent, isDirectory: isDirectory)
    recorder.record(
      .remove(
        inode: inode.number, parent: parent.number, name: name, isDirectory: isDirectory),
      by: caller)
    finish(firing, by: caller)
  }

  package func rename(
    _ name: FileName, from: Inode, to: Inode, _ newName: FileName, flags: UInt32,
    by caller: Caller
  ) throws(ErrorNumber) {
    let firing = try begin(
      .rename, nil,
      at: [InodeName(parent: from, name: name), InodeName(parent: to, name: newName)], by: caller)
    switch try tree.rename(name, from: from, to: to, newName, flags: flags) {
    case .nothing: break
    case .moved(let inode, let replaced):
      recorder.record(
        .rename(
          inode: inode.number, from: from.number, name: name, to: to.number, newName: newName,
          replaced: replaced?.number),
        by: caller)
    case .exchanged(let inode, let other):
      recorder.record(
        .exchange(
          inode: inode.number, parent: from.number, name: name, otherInode: other.number,
          otherParent: to.number, otherName: newName),
        by: caller)
    }
    finish(firing, by: caller)
  }

  func setOwnership(
    _ ownership: Ownership, of inode: Inode, by caller: Caller
  ) throws(ErrorNumber) {
    let firing = try begin(.setOwnership, inode, by: caller)
    tree.setOwnership(ownership, of: inode)
    record(
      inode, .setOwnership(inode: inode.number, ownership: inode.ownership), by: caller)
    finish(firing, by: caller)
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
    let firing = try begin(.setExtendedAttribute, inode, by: caller)
    try tree.setExtendedAttribute(name, value, of: inode, flags: flags)
    record(
      inode, .setExtendedAttribute(inode: inode.number, name: name, value: value), by: caller)
    finish(firing, by: caller)
  }

  func removeExtendedAttribute(
    _ name: FileName, of inode: Inode, by caller: Caller
  ) throws(ErrorNumber) {
    let firing = try begin(.setExtendedAttribute, inode, by: caller)
    try tree.removeExtendedAttribute(name, of: inode)
    record(
      inode, .setExtendedAttribute(inode: inode.number, name: name, value: nil), by: caller)
    finish(firing, by: caller)
  }
}
