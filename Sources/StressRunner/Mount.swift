// Mount.swift: `faultline mount`: mounts the faulty file system until Ctrl-C or umount.

import ArgumentParser
import FaultFS
import Findings
import Foundation
import LabCore
import Scenarios

struct Mount: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Mount a file system that fails when you want it to.",
    discussion: """
      The files are in memory, and gone after the unmount. Ctrl-C or umount ends it. Fault rules \
      (docs/reference/faults.md) come from --faults, or later from 'faultline fault'. --trace \
      records what programs do there, as an SQLite file (docs/reference/trace-format.md).

      Examples:
        faultline mount /mnt/faulty --trace work.sqlite
        faultline mount /mnt/faulty --faults faults.yaml
        faultline mount /mnt/faulty --write-back 7:16 --trace work.sqlite
        faultline mount /mnt/faulty --direct-alignment 512
        faultline mount /mnt/faulty --suid --dev
        faultline mount /mnt/lazy --lazyfs default.toml -o subdir=/mnt/lazy.root
      """)

  @Argument(help: "An existing empty directory.") var directory: String
  @Option(help: "Write the recording to this SQLite file.") var trace: String?
  @Option(
    name: .customLong("recording-limit"),
    help: "Maximum size of the recording, as in 16G. Default: 4G.")
  var recordingLimit: String?
  @Option(help: "Start with the fault rules in this YAML file.") var faults: String?
  @Flag(help: "Allow errors that the manual page of the call does not list.") var anyErrno = false
  @Option(help: "Path of the socket for 'faultline fault'.") var control: String?

  @OptionGroup var writeBack: WriteBackArguments
  @OptionGroup var direct: DirectArguments
  @OptionGroup(title: "LazyFS") var lazyFS: LazyFSArguments

  @Flag(help: "Honour the set-uid and set-gid bits of programs (root only).")
  var suid = false
  @Flag(help: "Allow device files to be opened (root only).") var dev = false

  func run() throws {
    let console = Console()
    let rules = try faults.map { try FaultFile.load($0, allowsAnyErrno: anyErrno) } ?? []
    let service = try lazyFS.service(mountPoint: directory, console)
    let run = try RunDirectory()
    defer { run.remove() }
    let socket = control.map { URL(fileURLWithPath: $0).path } ?? "\(run.path)/\(controlName)"
    var options = FaultFSOptions(controlPath: socket)
    options.writeBack = try writeBack.parsed()
    options.directAlignment = try direct.parsed()
    options.allowsSetUser = suid
    options.allowsDevices = dev
    guard getuid() == 0 || !suid && !dev else {
      throw LabError.usage(
        "--suid, --dev: only root may mount so; run as root, or leave them out")
    }
    if let recordingLimit {
      options.recordingBytesMax =
        try ByteAmount(parsing: recordingLimit, for: "--recording-limit").bytes
    }
    // Before it is mounted: killed in between, it must not stay.
    try run.note(mountPoint: directory, source: socket)
    let fileSystem = try FaultFSClient(
      mountPoint: directory, options: options)
    defer { try? fileSystem.shutdown() }
    try service?.begin(fileSystem)
    try fileSystem.addRules(rules)
    if trace != nil { try fileSystem.beginRecording() }
    console.say("mounted on \(fileSystem.mountPoint); Ctrl-C or umount ends it")
    if MountRight.isInOwnNamespace {
      console.say(
        "it shows in a mount namespace of its own; for a shell there: nsenter "
          + "--preserve-credentials -U -m -t \(getpid())")
    }
    if !rules.isEmpty { console.say("\(rules.count) fault rules in force") }
    try waitForEnd(fileSystem, service, console)
    try service?.end(fileSystem)
    for status in try fileSystem.rules() {
      console.say("rule \(status.line)")
      if let complaint = status.complaint { console.complain(complaint) }
    }
    if let trace {
      let counts = try fileSystem.endRecording(savingTo: trace, mayBeUnmounted: true)
      console.say("\(counts.eventCount) events in \(trace)")
    }
    try fileSystem.shutdown()
  }

  /// Harnesses of LazyFS look for its name in the table of mounts, where the socket's path is.
  private var controlName: String {
    lazyFS.configuration == nil ? "control" : LazyFSArguments.programName
  }

  /// Waits for Ctrl-C or somebody's unmount, and says when the recording ends before.
  private func waitForEnd(
    _ fileSystem: FaultFSClient, _ service: LazyFSService?, _ console: Console
  ) throws(LabError) {
    var looks = 0
    var isFull = false
    while !Interruption.isRequested {
      Thread.sleep(forTimeInterval: 0.05)
      looks += 1
      try service?.serve(fileSystem)
      guard looks % 5 == 0 else { continue }
      let statistics = try fileSystem.statistics()
      if statistics.isRecordingFull, !isFull { console.complain(fileSystem.fullText(statistics)) }
      isFull = statistics.isRecordingFull
      if statistics.isUnmounted { return console.say("unmounted") }
    }
  }
}
