// CalibrationProbe.swift: short programs that show what a file system may keep of one kind of
// change, and the moments at which Faultline makes the kernel write.
// Invariant: each step is followed by an acknowledgement, so that an outcome is known together with
// the number of completed steps.

import Foundation
import LabCore

/// A moment at which a kernel may write by itself.
package enum CalibrationMoment: String, Sendable, CaseIterable {
  /// The journal's timer: names, sizes and attributes of earlier operations are committed.
  case journal
  /// The write-back of dirty pages: the data of all files, but no commit.
  case data
  /// sync(1): both.
  case all

  /// Causes it now.
  /// - Parameters:
  ///   - system: The file system.
  ///   - directory: The program's directory on it.
  /// - Throws: `LabError` when a call fails.
  func bring(about system: KernelFileSystem, in directory: String) throws(LabError) {
    switch self {
    case .journal:
      let scratch = "\(directory)/../\(DeviceLayout.scratch)"
      try WriteBack.journal(through: scratch, of: system.kind)
    case .data: try WriteBack.dataOfFiles(in: directory)
    case .all: try WriteBack.all(below: directory)
    }
  }
}

/// Makes the kernel write now, in the process's working directory.
package struct CalibrationStep: ChildProgram {
  package static let name = "write-back"
  package static let parameters = ["MOMENT", "FILE-SYSTEM"]
  let moment: CalibrationMoment
  let system: KernelFileSystem

  package var arguments: [String] { [moment.rawValue, "\(system)"] }

  init(_ moment: CalibrationMoment, on system: KernelFileSystem) {
    self.moment = moment
    self.system = system
  }

  package init(_ arguments: inout ChildArguments) throws(LabError) {
    let word = arguments.text()
    guard let moment = CalibrationMoment(rawValue: word) else {
      throw arguments.misuse("no such moment: '\(word)'")
    }
    self.init(moment, on: try KernelFileSystem(parsing: arguments.text()))
  }

  /// Causes the moment.
  package func run() throws(LabError) -> Int32 {
    try moment.bring(about: system, in: FileManager.default.currentDirectoryPath)
    return ExitCode.held.rawValue
  }
}

/// A short program.
package struct CalibrationProbe: Sendable, Hashable {
  /// Name.
  package let name: String
  /// Shell command that prepares the directory.
  let setup: String?
  /// Shell commands, each acknowledged when it has completed.
  let steps: [String]
  /// Whether the disk has sectors of 512 bytes and the model tears writes; otherwise blocks are
  /// whole.
  ///
  /// No write of such a probe spans more than two sectors of a page, so those cuts are complete.
  let tearsSectors: Bool
  /// Whether the probe tests what syncs secure: the kernel is not made to write in addition, and
  /// only the plainest crash states are mounted.
  let isOfSyncs: Bool

  init(
    _ name: String, setup: String? = nil, tearsSectors: Bool = false, isOfSyncs: Bool = false,
    _ steps: [String]
  ) {
    self.name = name
    self.setup = setup
    self.steps = steps
    self.tearsSectors = tearsSectors
    self.isOfSyncs = isOfSyncs
  }

  /// The probe as a program.
  /// - Parameters:
  ///   - moment: What the kernel writes after a step; nil for nothing.
  ///   - step: Number of that step, from 1.
  ///   - command: The shell command that causes a moment.
  /// - Returns: The commands; each step acknowledges itself by its number.
  /// - Throws: `LabError` when the program that makes its calls is not found.
  func program(
    _ moment: CalibrationMoment? = nil, after step: Int = 0, command: (CalibrationMoment) -> String
  ) throws(LabError) -> ProgramUnderTest {
    var lines = ["set -e", Self.fill]
    if steps.contains(where: { $0.contains("call ") }) {
      let program = try LineProcess.program()
      lines.append("call() { '\(program)' \(CalibrationCall.shellWords) \"$@\"; }")
    }
    for (index, text) in steps.enumerated() {
      lines += [text, "echo \(index + 1)"]
      if let moment, index + 1 == step { lines.append(command(moment)) }
    }
    let prepare = setup.map { "set -e\n\(Self.fill)\n\($0)" }
    return ProgramUnderTest(
      workload: lines.joined(separator: "\n"), check: "true", setup: prepare)
  }

  /// `fill LETTER COUNT` prints this many letters; `over FILE LETTER COUNT` writes them in place.
  private static let fill = """
    fill() { head -c "$2" /dev/zero | tr '\\0' "$1"; }
    over() { fill "$2" "$3" | dd of="$1" conv=notrunc bs=65536 iflag=fullblock status=none; }
    add() { fill "$2" "$3" >> "$1"; }
    """

  /// Leaves old bytes (`g`) in the blocks that the file system allocates next.
  private static let used = "fill g 4194304 > used; sync used; rm used; sync ."

  /// All probes.
  package static let all: [CalibrationProbe] =
    [
      CalibrationProbe("create", ["touch a", "touch b"]),
      CalibrationProbe("create-sync-second", ["touch a", "touch b", "sync b"]),
      CalibrationProbe("create-sync-directory", ["touch a", "sync .", "touch b"]),
      CalibrationProbe("write-new", ["fill n 100 > a", "touch b"]),
      CalibrationProbe("write-new-sync", ["fill n 5000 > a", "sync a", "touch b"]),
      CalibrationProbe("append", setup: "fill o 100 > a", ["fill n 100 >> a", "touch b"]),
      CalibrationProbe("append-pages", setup: "fill o 4096 > a", ["fill n 4097 >> a"]),
      CalibrationProbe("append-sync", setup: "fill o 100 > a", ["fill n 5000 >> a", "sync a"]),
      CalibrationProbe(
        "append-datasync", setup: "fill o 100 > a",
        ["fill n 100 >> a", "chmod 600 a", "sync -d a"]),
      CalibrationProbe(
        "overwrite", setup: "fill o 4096 > a; fill o 4096 > b", ["over a n 4096", "over b n 4096"]),
      CalibrationProbe(
        "overwrite-sync", setup: "fill o 8192 > a; fill o 100 > b",
        ["over a n 8192", "sync a", "over b n 100"]),
      CalibrationProbe(
        "overwrite-chmod", setup: "fill o 100 > a", ["over a n 100", "chmod 600 a"]),
      CalibrationProbe(
        "rename-over", setup: "fill o 100 > a", ["fill n 100 > t", "mv t a"]),
      CalibrationProbe(
        "rename-over-sync-file", setup: "fill o 100 > a", ["fill n 100 > t", "sync t", "mv t a"]),
      CalibrationProbe(
        "rename-over-sync-both", setup: "fill o 100 > a",
        ["fill n 100 > t", "sync t", "mv t a", "sync ."]),
      CalibrationProbe(
        "rename-over-sync-directory", setup: "fill o 100 > a",
        ["fill n 100 > t", "mv t a", "sync ."]),
      CalibrationProbe(
        "rename-fresh", ["fill n 100 > t", "mv t a", "sync ."]),
      CalibrationProbe(
        "rename-overwrite", setup: "fill o 100 > a; touch x", ["mv x y", "over a n 100", "sync a"]),
      CalibrationProbe(
        "truncate-rewrite", setup: "fill o 100 > a", ["fill n 100 > a", "touch b"]),
      CalibrationProbe(
        "truncate-rewrite-sync", setup: "fill o 100 > a", ["fill n 100 > a", "sync a"]),
      CalibrationProbe(
        "shrink", setup: "fill o 8192 > a", ["truncate -s 100 a", "touch b"]),
      CalibrationProbe(
        "grow", setup: "fill o 100 > a", ["truncate -s 5000 a", "over a n 200"]),
      CalibrationProbe(
        "unlink", setup: "fill o 100 > a; fill o 100 > b", ["rm a", "rm b"]),
      CalibrationProbe(
        "unlink-sync-other", setup: "fill o 100 > a; touch c", ["rm a", "over c n 100", "sync c"]),
      CalibrationProbe(
        "unlink-sync-directory", setup: "fill o 100 > a", ["rm a", "sync .", "touch b"]),
      CalibrationProbe(
        "link-sync-file", setup: "fill o 100 > a", ["ln a b", "rm a", "sync b"]),
      CalibrationProbe(
        "sync-file-system", setup: "fill o 100 > a",
        ["fill n 100 > t", "mv t a", "mkdir d", "sync -f .", "touch d/b"]),
      CalibrationProbe(
        "directory", ["mkdir d", "fill n 100 > d/a", "sync d/a"]),
      CalibrationProbe(
        "move-between-directories", setup: "mkdir d e; fill o 100 > d/a",
        ["mv d/a e/a", "touch b", "sync b"]),
    ] + torn

  /// Probes of the possible contents of a sector when the power fails while it is written.
  private static let torn: [CalibrationProbe] = [
    CalibrationProbe("torn-new", setup: used, tearsSectors: true, ["fill n 1024 > a"]),
    CalibrationProbe(
      "torn-new-sync", setup: used, tearsSectors: true, ["fill n 1024 > a", "sync a"]),
    CalibrationProbe(
      "torn-append", setup: "\(used); fill o 512 > a", tearsSectors: true, ["add a n 1024"]),
    CalibrationProbe(
      "torn-append-sync", setup: "\(used); fill o 700 > a", tearsSectors: true,
      ["add a n 800", "sync a"]),
    CalibrationProbe(
      "torn-overwrite", setup: "\(used); fill o 1300 > a", tearsSectors: true, ["over a n 1024"]),
    CalibrationProbe(
      "torn-overwrite-sync", setup: "\(used); fill o 1300 > a", tearsSectors: true,
      ["over a n 1024", "sync a"]),
  ]
}
