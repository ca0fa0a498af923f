// RandomTrace.swift: small traces of legal operations, drawn from a seed.

import LabCore
import Recording

/// Draws a trace with about the given number of operations.
func makeRandomTrace(seed: Seed, operations: Int, syncChance: Ratio) -> Trace {
  var random = PRNG(seed)
  var recording = Recording(files: ["old": String(repeating: "o", count: 5000), "b": "bb"])
  recording.makeDirectory("d")
  for step in 0..<operations {
    if random.chance(syncChance) {
      addRandomSync(&recording, &random)
    } else {
      addRandomOperation(&recording, &random, step)
    }
  }
  return recording.trace
}

private func addRandomSync(_ recording: inout Recording, _ random: inout PRNG) {
  if random.chance(Ratio(1, in: 8)) { return recording.syncAll() }
  let path = ([""] + recording.paths)[random.below(recording.paths.count + 1)]
  let flags: OperationFlags = random.chance(Ratio(1, in: 6)) ? .failed : []
  if recording.type(recording[path]) == .directory {
    recording.syncDirectory(path, flags: flags)
  } else {
    recording.sync(path, dataOnly: random.chance(Ratio(1, in: 3)), flags: flags)
  }
}

private func addRandomOperation(_ recording: inout Recording, _ random: inout PRNG, _ step: Int) {
  let files = recording.paths.filter { recording.type(recording[$0]) == .regular }
  let directories = recording.paths.filter { recording.type(recording[$0]) == .directory }
  let folder =
    directories.isEmpty || random.chance(Ratio(1, in: 2))
    ? "" : directories[random.below(directories.count)] + "/"
  let fresh = folder + ["x", "y", "z"][random.below(3)]
  let offsets: [UInt64] = [0, 100, 500, 512, 4000, 4096, 6000, 9000]
  let offset = offsets[random.below(offsets.count)]
  guard !files.isEmpty else { return addCreation(&recording, fresh) }
  let file = files[random.below(files.count)]
  let other = files[random.below(files.count)]
  switch random.below(17) {
  case 0, 1: addCreation(&recording, fresh)
  case 2, 3, 4, 5:
    let count = [1, 20, 600, 4096, 5000][random.below(5)]
    recording.write(
      recording[file], [UInt8](repeating: UInt8(65 + step % 26), count: count), at: offset)
  case 6, 7: recording.truncate(file, to: offset)
  case 8: recording.truncate(file, to: 0)
  case 9: recording.remove(file)
  case 10: if recording[file] != recording[other] { recording.rename(file, to: other) }
  case 11:
    if !recording.exists(fresh) {
      // Some of them leave a device in the place of the old name.
      if step % 3 == 0 {
        recording.renameWithWhiteout(file, to: fresh)
      } else {
        recording.rename(file, to: fresh)
      }
    }
  case 12:
    if !recording.exists(fresh) {
      // Some of the files had no name before.
      if step % 3 == 0 {
        let inode = recording.createNameless()
        recording.write(inode, [UInt8](repeating: UInt8(65 + step % 26), count: 600), at: offset)
        recording.link(inode, to: fresh)
      } else {
        recording.link(file, to: fresh)
      }
    }
  case 13:
    if recording[file] != recording[other] { recording.exchange(file, other) }
  case 14:
    recording.allocate(
      file, offset, 3000, zeroes: random.chance(Ratio(1, in: 2)),
      keepsSize: random.chance(Ratio(1, in: 2)))
  case 15:
    recording.setMode(file, random.chance(Ratio(1, in: 2)) ? 0o600 : 0o755)
    recording.close(file)
  default:
    guard let directory = directories.first else { return recording.makeDirectory("d") }
    if random.chance(Ratio(1, in: 2)) {
      if !recording.exists("e") { recording.rename(directory, to: "e") }
    } else if directories.count == 2, !file.hasPrefix(directories[0] + "/") {
      recording.exchange(directories[0], file)
    } else if !recording.exists("k") {
      recording.makeDirectory("k")
    }
  }
}

private func addCreation(_ recording: inout Recording, _ path: String) {
  if !recording.exists(path) { recording.create(path) }
}
