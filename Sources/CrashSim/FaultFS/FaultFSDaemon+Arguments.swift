// FaultFSDaemon+Arguments.swift: the daemon as a program, and its arguments. It is `faultline-fs`;
// in the package it is `faultline` under that name, so that both share one copy of Swift's runtime.

import Glibc
import LabCore
import Recording

extension FaultFSDaemon {
  /// The name of the program.
  public static let programName = "faultline-fs"

  /// Serves as the arguments say, the first of which is the program, and ends the process.
  public static func main(_ arguments: [String]) -> Never {
    var options = FaultFSOptions()
    var mountPoint: String?
    var numbers: [String: Int32] = ["--control-fd": -1, "--marks-fd": -1, "--cpu": -1]
    var rest = arguments.dropFirst()
    while let argument = rest.popFirst() {
      if argument == "--page-granular" {
        options.isPageGranular = true
      } else if argument == "--suid" {
        options.allowsSetUser = true
      } else if argument == "--dev" {
        options.allowsDevices = true
      } else if argument == "--quota", let value = rest.popFirst().flatMap(UInt64.init) {
        options.quotaBytes = value
      } else if argument == "--recording-limit", let value = rest.popFirst().flatMap(UInt64.init) {
        options.recordingBytesMax = value
      } else if argument == "--control", let value = rest.popFirst() {
        options.controlPath = value
      } else if argument == "--stacks", let value = rest.popFirst() {
        options.callStackPath = value
      } else if argument == "--write-back", let value = rest.popFirst(),
        let writeBack = try? PageWriteBack(parsing: value)
      {
        options.writeBack = writeBack
      } else if argument == "--marks", let value = rest.popFirst().flatMap(MarkUnit.init) {
        options.marks = value
      } else if argument == "--direct-alignment", let value = rest.popFirst(),
        let alignment = try? DirectAlignment(parsing: value)
      {
        options.directAlignment = alignment
      } else if numbers[argument] != nil, let value = rest.popFirst().flatMap(Int32.init) {
        numbers[argument] = value
      } else if !argument.hasPrefix("-"), mountPoint == nil {
        mountPoint = argument
      } else {
        mountPoint = nil
        break
      }
    }
    guard let mountPoint, let control = numbers["--control-fd"], control >= 0 else {
      print(
        """
        usage: faultline-fs MOUNTPOINT --control-fd N [--marks-fd N] [--marks lines|writes] \
        [--page-granular] [--suid] [--dev] [--quota N] [--recording-limit N] [--control SOCKET] \
        [--write-back SEED:RATE] [--direct-alignment N] [--stacks DIR] [--cpu N]
        """)
      exit(ExitCode.usage.rawValue)
    }
    do throws(LabError) {
      try run(
        mountPoint: mountPoint, controlDescriptor: control,
        marksDescriptor: numbers["--marks-fd"] ?? -1,
        cpu: numbers["--cpu"].flatMap { $0 < 0 ? nil : $0 }, options: options)
    } catch {
      exit(error.exitCode.rawValue)
    }
    exit(ExitCode.held.rawValue)
  }
}
