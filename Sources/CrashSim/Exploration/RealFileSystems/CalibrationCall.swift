// CalibrationCall.swift: [U] system calls that no program of the shell makes, for probes.
// Safety: a buffer is passed to one system call and not kept.

import CSystem
import Glibc
import LabCore

/// One system call of a probe.
package struct CalibrationCall: ChildProgram {
  package static let name = "file-call"
  package static let parameters = ["CALL", "FILE", "WORD"]

  /// What is called, with FILE and WORD.
  enum Call: String, CaseIterable {
    /// pwritev2 of WORD at the start of FILE: RWF_DSYNC, RWF_SYNC.
    case writeDsync = "write-dsync"
    case writeSync = "write-sync"
    /// pwritev2 of WORD with RWF_APPEND and the same.
    case appendDsync = "append-dsync"
    case appendSync = "append-sync"
    /// sync_file_range of FILE; WORD has no meaning.
    case range
    /// copy_file_range of all of FILE to the new file WORD.
    case copy
    /// O_TMPFILE, a write of WORD, fsync, and linkat to FILE.
    case nameless
    /// renameat2 of FILE to WORD with RENAME_WHITEOUT.
    case whiteout
  }

  private let call: Call
  private let file: String
  private let word: String

  package var arguments: [String] { [call.rawValue, file, word] }

  init(_ call: Call, _ file: String, _ word: String) {
    self.call = call
    self.file = file
    self.word = word
  }

  package init(_ arguments: inout ChildArguments) throws(LabError) {
    let text = arguments.text()
    guard let call = Call(rawValue: text) else { throw arguments.misuse("no such call: '\(text)'") }
    self.init(call, arguments.text(), arguments.text())
  }

  /// RWF_ flags of pwritev2(2), which the Glibc module lacks.
  private enum WriteFlag {
    static let dataSync: Int32 = 2
    static let sync: Int32 = 4
    static let append: Int32 = 16
  }

  private static let whiteoutFlag: UInt32 = 4

  /// Makes the call.
  package func run() throws(LabError) -> Int32 {
    switch call {
    case .writeDsync: try write(with: WriteFlag.dataSync)
    case .writeSync: try write(with: WriteFlag.sync)
    case .appendDsync: try write(with: WriteFlag.append | WriteFlag.dataSync)
    case .appendSync: try write(with: WriteFlag.append | WriteFlag.sync)
    case .range:
      let descriptor = try open(O_WRONLY)
      try must(Int(csystem_write_out(descriptor.number)))
    case .copy: try copy()
    case .nameless: try nameless()
    case .whiteout: try must(Int(unsafe csystem_renameat2(file, word, Self.whiteoutFlag)))
    }
    return ExitCode.held.rawValue
  }

  private func write(with flags: Int32) throws(LabError) {
    let descriptor = try open(O_WRONLY)
    let bytes = Array(word.utf8)
    let count = unsafe bytes.withUnsafeBytes { bytes in
      unsafe csystem_write_with(descriptor.number, bytes.baseAddress, bytes.count, 0, flags)
    }
    try must(count == bytes.count ? 0 : -1)
  }

  private func copy() throws(LabError) {
    let from = try open(O_RDONLY)
    let to = OwnedDescriptor(
      unsafe csystem_open(word, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644))
    try must(Int(to.number))
    var count = 1
    while count > 0 {
      count = csystem_copy_range(from.number, to.number, 1 << 20)
      try must(count)
    }
  }

  private func nameless() throws(LabError) {
    let folder = file.split(separator: "/").dropLast().joined(separator: "/")
    let made = OwnedDescriptor(unsafe csystem_open_nameless(folder.isEmpty ? "." : folder))
    try must(Int(made.number))
    let bytes = Array(word.utf8)
    let count = unsafe bytes.withUnsafeBytes { bytes in
      unsafe Glibc.write(made.number, bytes.baseAddress, bytes.count)
    }
    try must(count == bytes.count ? 0 : -1)
    try must(Int(fsync(made.number)))
    try must(Int(unsafe csystem_name(made.number, file)))
  }

  private func open(_ flags: Int32) throws(LabError) -> OwnedDescriptor {
    let descriptor = unsafe csystem_open(file, flags | O_CLOEXEC, 0)
    try must(Int(descriptor))
    return OwnedDescriptor(descriptor)
  }

  private func must(_ status: Int) throws(LabError) {
    guard status < 0 else { return }
    throw .lab("\(call.rawValue) \(file) \(word): \(describe(errno: errno))")
  }
}
