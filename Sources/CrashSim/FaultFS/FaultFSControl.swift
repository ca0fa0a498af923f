// FaultFSControl.swift: the daemon's second thread: commands, marks, signals, and the end.

import Foundation
import Glibc
import Synchronization

/// Obeys the control socket of one mount.
final class FaultFSControl: Sendable {
  private let mount: FuseMount
  private let controlDescriptor: Int32
  private let signalDescriptor: Int32
  private let groups = Mutex<[Int32]>([])
  private let isStopping = Mutex(false)
  /// How long the end waits for users of the mount to go before it detaches the mount.
  private static let patienceMilliseconds = 2000

  init(mount: FuseMount, controlDescriptor: Int32, signalDescriptor: Int32) {
    self.mount = mount
    self.controlDescriptor = controlDescriptor
    self.signalDescriptor = signalDescriptor
  }

  /// Serves commands; ends the process.
  func run() -> Never {
    var frames = ControlFrames()
    while true {
      let watched = [controlDescriptor, signalDescriptor, mount.watchedMarks]
      let ready = Descriptors.wait(watched.filter { $0 >= 0 }, timeoutMilliseconds: -1)
      if ready.contains(signalDescriptor) { stop(reply: false, killsGroups: true) }
      if ready.contains(controlDescriptor) {
        let bytes = (try? Descriptors.read(controlDescriptor, limitBytes: 65536)) ?? []
        if bytes.isEmpty { stop(reply: false, killsGroups: true) }
        frames.add(bytes)
        obey(&frames)
      } else {
        mount.lock.withLock { _ in mount.drainMarks() }
      }
    }
  }

  private func obey(_ frames: inout ControlFrames) {
    do throws(LabError) {
      while let data = try frames.next() { obey(data) }
    } catch {
      // Out of step with the peer: nothing it sends can be understood any more.
      send(ControlReply(error: error.message, isUsageError: true))
      stop(reply: false, killsGroups: true)
    }
  }

  private func obey(_ data: Data) {
    do throws(LabError) {
      let request = try ControlFrames.decode(ControlRequest.self, from: data)
      if case .shutdown = request { stop(reply: true, killsGroups: false) }
      send(try perform(request))
    } catch {
      send(ControlReply(error: error.message, isUsageError: error.code == .usage))
    }
  }

  func send(_ reply: ControlReply) {
    guard let bytes = try? ControlFrames.encode(reply) else { return }
    try? Descriptors.send(bytes, to: controlDescriptor)
  }

  // MARK: Commands

  private func perform(_ request: ControlRequest) throws(LabError) -> ControlReply {
    var reply = ControlReply()
    switch request {
    case .load(let path): try load(path)
    case .beginRecording:
      mount.lock.withLock { _ in
        mount.drainMarks()
        mount.fileSystem.beginRecording()
      }
    case .mark(let bytes):
      mount.lock.withLock { _ in
        mount.drainMarks()
        mount.fileSystem.record(Mark(bytes: Array(bytes)))
      }
    case .endRecording(let path):
      reply.statistics = try endRecording(path)
    case .saveTree(let path):
      try refuseOwnMount(path)
      let image = mount.lock.withLock { _ in mount.fileSystem.tree.image() }
      try TraceFile.save(Trace(initial: image), to: path)
    case .registerGroup(let group):
      guard group > 1, group != getpgrp() else { throw .usage("cannot register group \(group)") }
      groups.withLock { $0.append(group) }
    case .unregisterGroup(let group): groups.withLock { $0.removeAll { $0 == group } }
    case .addRules(let rules):
      let failure = mount.lock.withLock { _ -> LabError? in
        do throws(LabError) {
          try mount.fileSystem.plan.add(rules)
          return nil
        } catch {
          return error
        }
      }
      if let failure { throw failure }
    case .clearRules: mount.lock.withLock { _ in mount.fileSystem.clearRules() }
    case .ruleHits: reply.hits = mount.lock.withLock { _ in mount.fileSystem.plan.hits }
    case .statistics: reply.statistics = mount.lock.withLock { _ in statistics() }
    case .shutdown: break
    }
    return reply
  }

  private func statistics() -> FaultFSStatistics {
    let recorder = mount.fileSystem.recorder
    return FaultFSStatistics(
      operationsServed: mount.operationsServed, eventCount: recorder.eventCount,
      payloadBytes: recorder.payloadBytes,
      memoryBytes: mount.fileSystem.tree.quota.usedBytes, isRecording: recorder.isRecording)
  }

  private func load(_ path: String?) throws(LabError) {
    var image = TreeImage()
    if let path {
      try refuseOwnMount(path)
      image = try TraceFile.load(path).initial
    }
    do {
      let tree = try FileTree(
        image: image, quotaBytes: mount.options.quotaBytes, now: wallClock)
      try mount.replaceTree(tree)
    } catch let error as LabError {
      throw error
    } catch {
      throw .lab("cannot load the tree of \(path ?? "nothing"): \(error)")
    }
  }

  private func endRecording(_ path: String) throws(LabError) -> FaultFSStatistics {
    try refuseOwnMount(path)
    let result: (Trace, FaultFSStatistics) = mount.lock.withLock { _ in
      mount.drainMarks()
      let trace = mount.fileSystem.endRecording()
      var statistics = self.statistics()
      statistics.eventCount = trace.events.count
      return (trace, statistics)
    }
    try TraceFile.save(result.0, to: path)
    return result.1
  }

  private func refuseOwnMount(_ path: String) throws(LabError) {
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let resolved = PathCalls.resolve(folder.isEmpty ? "." : folder.joined(separator: "/") + "/")
    if let resolved, resolved == mount.mountPoint || resolved.hasPrefix(mount.mountPoint + "/") {
      throw .usage("\(path) lies on the mount itself; choose a place outside")
    }
  }

  // MARK: The end

  /// Kills the client's groups, unmounts, and ends the process.
  private func stop(reply: Bool, killsGroups: Bool) -> Never {
    isStopping.withLock { $0 = true }
    let groups = groups.withLock { $0 }
    if killsGroups { for group in groups { Glibc.kill(-group, SIGKILL) } }
    var isBusy = mount.unmount(timeoutMilliseconds: Self.patienceMilliseconds / 2)
    if isBusy {
      for group in groups { Glibc.kill(-group, SIGKILL) }
      isBusy = mount.unmount(timeoutMilliseconds: Self.patienceMilliseconds / 2)
      if isBusy { mount.detach() }
    }
    if reply { send(ControlReply(wasDetached: isBusy)) }
    _exit(0)
  }

  /// Blocks for good when the control thread is about to end the process.
  func waitIfStopping() {
    while isStopping.withLock({ $0 }) { pause() }
  }
}
