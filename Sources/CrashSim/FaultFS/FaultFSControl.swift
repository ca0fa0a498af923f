// FaultFSControl.swift: the daemon's second thread: commands, marks, signals and shutdown.

import Foundation
import Glibc
import LabCore
import Recording
import Synchronization

/// Serves the control sockets of one mount.
final class FaultFSControl: Sendable {
  let mount: FuseMount
  private let controlDescriptor: Int32
  private let signalDescriptor: Int32
  /// The socket for processes other than the mount's creator, or -1.
  private let listener: Int32
  private let groups = Mutex<[Int32]>([])
  /// How long shutdown waits for users of the mount to leave before it detaches the mount.
  private static let patienceMilliseconds = 2000
  private static let peersMax = 16

  init(
    mount: FuseMount, controlDescriptor: Int32, signalDescriptor: Int32, listener: Int32 = -1
  ) {
    self.mount = mount
    self.listener = listener
    self.controlDescriptor = controlDescriptor
    self.signalDescriptor = signalDescriptor
  }

  /// Serves commands; then ends the process.
  func run() -> Never {
    var frames = ControlFrames()
    var peers: [ControlPeer] = []
    while true {
      let watched =
        [controlDescriptor, signalDescriptor, listener, mount.watchedMarks]
        + peers.map(\.descriptor)
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
      serve(&peers, ready)
    }
  }

  // MARK: Peers

  private func serve(_ peers: inout [ControlPeer], _ ready: [Int32]) {
    for index in peers.indices.reversed() where ready.contains(peers[index].descriptor) {
      if !serve(&peers[index]) { Glibc.close(peers.remove(at: index).descriptor) }
    }
    guard ready.contains(listener), let descriptor = PathSocket.accept(listener) else { return }
    if peers.count < Self.peersMax {
      peers.append(ControlPeer(descriptor: descriptor))
    } else {
      let message = "\(peers.count) peers already use this mount; try again later"
      _ = send(ControlReply(error: message), to: descriptor)
      Glibc.close(descriptor)
    }
  }

  /// Answers a peer's messages; false when the peer is gone or sends invalid data.
  private func serve(_ peer: inout ControlPeer) -> Bool {
    guard let bytes = try? Descriptors.read(peer.descriptor, limitBytes: 65536), !bytes.isEmpty
    else { return false }
    peer.frames.add(bytes)
    while true {
      let data: Data?
      do throws(LabError) {
        data = try peer.frames.next()
      } catch {
        // The message boundary is lost: nothing more that the peer sends can be decoded.
        _ = send(ControlReply(error: error.message, isUsageError: true), to: peer.descriptor)
        return false
      }
      guard let data else { return true }
      guard send(answer(toPeer: data), to: peer.descriptor) else { return false }
    }
  }

  private func answer(toPeer data: Data) -> ControlReply {
    do throws(LabError) {
      let request = try ControlFrames.decode(ControlRequest.self, from: data)
      guard request.isForEveryone else {
        throw .usage("mount control: only the process that made the mount may ask for that")
      }
      return try perform(request)
    } catch {
      return ControlReply(error: error.message, isUsageError: error.code == .usage)
    }
  }

  private func send(_ reply: ControlReply, to descriptor: Int32) -> Bool {
    do {
      try Descriptors.send(try ControlFrames.encode(reply), to: descriptor)
      return true
    } catch let error as LabError {
      // A reply that is too long is replaced by one that says so.
      let short = ControlReply(error: error.message)
      guard let bytes = try? ControlFrames.encode(short) else { return false }
      return (try? Descriptors.send(bytes, to: descriptor)) != nil
    } catch {
      return false
    }
  }

  private func obey(_ frames: inout ControlFrames) {
    do throws(LabError) {
      while let data = try frames.next() { obey(data) }
    } catch {
      // The message boundary is lost: nothing more that the client sends can be decoded.
      send(ControlReply(error: error.message, isUsageError: true))
      stop(reply: false, killsGroups: true)
    }
  }

  private func obey(_ data: Data) {
    do throws(LabError) {
      let request = try ControlFrames.decode(ControlRequest.self, from: data)
      if case .shutdown = request { stop(reply: true, killsGroups: false) }
      if case .syncAll(let thread) = request {
        return mount.syncAll(by: thread) { [self] in send(ControlReply()) }
      }
      send(try perform(request))
    } catch {
      send(ControlReply(error: error.message, isUsageError: error.code == .usage))
    }
  }

  func send(_ reply: ControlReply) { _ = send(reply, to: controlDescriptor) }

  // MARK: Commands

  private func perform(_ request: ControlRequest) throws(LabError) -> ControlReply {
    var reply = ControlReply()
    switch request {
    case .load(let path): try load(path)
    case .beginRecording:
      mount.lock.withLock { _ in
        mount.drainMarks()
        mount.output.beginAnew()
        mount.fileSystem.beginRecording()
      }
    case .writeBack(let rule):
      mount.lock.withLock { _ in mount.harvest = rule.map { HarvestClock($0) } }
    case .mark(let bytes):
      mount.lock.withLock { _ in
        mount.drainMarks()
        mount.fileSystem.record(Mark(bytes: Array(bytes)))
      }
    case .settleMarks:
      mount.lock.withLock { _ in
        mount.drainMarks()
        // Who has not ended by now is killed next.
        mount.output.dropBegun()
      }
    case .endRecording(let path):
      reply.statistics = try endRecording(path)
    case .saveTree(let path):
      try refuseOwnMount(path)
      let image = mount.lock.withLock { _ in mount.fileSystem.tree.image() }
      try TraceFile.save(Trace(initial: image), to: path)
    case .stop(let point):
      mount.lock.withLock { _ in
        mount.drainMarks()
        // One that comes at once comes to writers that are in the middle of their lines.
        if point.events != nil { mount.output.beginAnew() }
        mount.fileSystem.recorder.arm(point) { [unowned self] in
          mount.output.dropBegun()
          killGroups()
        }
      }
    case .registerGroup(let group):
      guard group > 1, group != getpgrp() else { throw .usage("cannot register group \(group)") }
      groups.withLock { $0.append(group) }
    case .unregisterGroup(let group): groups.withLock { $0.removeAll { $0 == group } }
    case .addRules(let rules): reply.rules = try add(rules)
    case .listRules: reply.rules = mount.lock.withLock { _ in mount.fileSystem.plan.list }
    case .removeRules(let ids): reply.rules = try remove(ids)
    case .clearRules:
      let all = mount.lock.withLock { _ in mount.fileSystem.plan.list }
      reply.rules = try remove(all.map(\.id))
    case .ruleHits: reply.hits = mount.lock.withLock { _ in mount.fileSystem.plan.hits }
    case .statistics: reply.statistics = mount.lock.withLock { _ in statistics() }
    case .phase(let process):
      reply.phase = mount.lock.withLock { _ in
        mount.fileSystem.phases.phase(of: process)
      }
    case .watchUnsynced: mount.lock.withLock { _ in mount.fileSystem.plan.keepsShadows = true }
    case .clearCache: clearCache()
    case .checkpoint: checkpoint()
    case .syncPages(let pages): try syncPages(pages)
    case .unsynced: reply.unsynced = unsyncedFiles()
    case .addTears(let tears):
      for tear in tears { try tear.validate() }
      mount.lock.withLock { _ in mount.fileSystem.tears.add(tears) }
    case .syncAll, .shutdown: break
    }
    return reply
  }

  /// Adds rules; on return the kernel sends every request that they apply to.
  private func add(_ rules: [FaultRule]) throws(LabError) -> [RuleStatus] {
    let result = mount.lock.withLock { _ -> Result<[RuleStatus], LabError> in
      do throws(LabError) {
        let plan = mount.fileSystem.plan
        mount.expireCallers()
        let ids = Set(try mount.fileSystem.addRules(rules))
        return .success(plan.list.filter { ids.contains($0.id) })
      } catch {
        return .failure(error)
      }
    }
    let added = try result.get()
    mount.forgetCaches(for: added.reduce(into: []) { $0.formUnion($1.rule.when.kinds) })
    return added
  }

  /// Removes rules; on return no request waits for them, and no cached read shows their effect.
  private func remove(_ ids: [Int]) throws(LabError) -> [RuleStatus] {
    let wanted = Set(ids)
    let result = mount.lock.withLock { _ -> Result<[RuleStatus], LabError> in
      let plan = mount.fileSystem.plan
      if let unknown = wanted.sorted().first(where: { !plan.isInForce($0) }) {
        let known = plan.list.map { "\($0.id)" }.joined(separator: ", ")
        return .failure(
          .usage(
            "no fault rule \(unknown) is in force; there are \(known.isEmpty ? "none" : known)"))
      }
      let removed = mount.fileSystem.removeRules(wanted)
      mount.endWaits(of: wanted)
      return .success(removed)
    }
    let removed = try result.get()
    mount.forgetCaches(for: removed.reduce(into: []) { $0.formUnion($1.rule.when.kinds) })
    return removed
  }

  private func statistics() -> FaultFSStatistics {
    let recorder = mount.fileSystem.recorder
    return FaultFSStatistics(
      operationsServed: mount.operationsServed, eventCount: recorder.eventCount,
      payloadBytes: recorder.payloadBytes,
      memoryBytes: mount.fileSystem.tree.quota.usedBytes, orderedCount: recorder.orderedCount,
      stoppedAtEvents: recorder.stoppedAtEvents, isRecording: recorder.isRecording,
      isRecordingFull: recorder.isFull, isDead: mount.isDead,
      isUnmounted: mount.isEndedFromOutside || mount.isDead && !mount.isInTable)
  }

  private func load(_ path: String?) throws(LabError) {
    var image = FuseMount.emptyTree
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
      var trace = mount.fileSystem.endRecording()
      trace.markUnit = mount.options.marks
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

  private func killGroups() {
    for group in groups.withLock({ $0 }) { Glibc.kill(-group, SIGKILL) }
  }

  /// Kills the client's groups, unmounts, and ends the process.
  private func stop(reply: Bool, killsGroups: Bool) -> Never {
    if killsGroups { killGroups() }
    mount.giveUpWaits()
    if let path = mount.options.controlPath { PathCalls.removeFile(path) }
    var isBusy = mount.unmount(timeoutMilliseconds: Self.patienceMilliseconds / 2)
    if isBusy {
      killGroups()
      isBusy = mount.unmount(timeoutMilliseconds: Self.patienceMilliseconds / 2)
      if isBusy { mount.abort() }
    }
    if reply { send(ControlReply(wasDetached: isBusy)) }
    _exit(0)
  }

}
