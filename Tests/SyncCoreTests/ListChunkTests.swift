// ListChunkTests.swift: lists in chunks against arrays.

import Fuzz
import SyncCore
import Testing

@Suite("A list in chunks")
struct ListChunkTests {
  private func slots(_ numbers: [Int]) -> [SyncSlot] {
    numbers.map { SyncSlot(.int(Int64($0))) }
  }

  /// Edits of every size: single ones, some, and more than fit into chunks.
  @Test("is what an array is, whatever is inserted and removed", arguments: [1, 40, 900])
  func edits(sizeMax: Int) {
    var choices = MutantChoices(seed: UInt64(sizeMax))
    var (list, array) = (SyncList(), [SyncSlot]())
    for step in 0..<400 {
      let start = choices.below(array.count + 1)
      // It grows at first, and shrinks later.
      let removed = min(array.count - start, choices.below(sizeMax + (step < 250 ? 1 : 30)))
      let added = slots((0..<choices.below(step < 250 ? sizeMax + 2 : 2)).map { step * 1000 + $0 })
      list.replaceSubrange(start..<start + removed, with: added)
      array.replaceSubrange(start..<start + removed, with: added)
      if let breach = list.breach {
        Issue.record("step \(step): \(breach)")
        return
      }
      #expect(list.count == array.count && Array(list) == array, "step \(step)")
    }
    let isSame = array.indices.allSatisfy { list[$0] == array[$0] }
    #expect(isSame && list == SyncList(array) && list.hashValue == SyncList(array).hashValue)
    if !array.isEmpty {
      list[array.count / 2] = SyncSlot(.null)
      #expect(list != SyncList(array))
    }
  }

  @Test("is equal to one with other chunks")
  func equality() {
    let all = slots(Array(0..<2000))
    var list = SyncList()
    for slot in all.reversed() { list.replaceSubrange(0..<0, with: [slot]) }
    var appended = SyncList()
    for slot in all { appended.append(slot) }
    #expect(list == SyncList(all) && appended == list && list.breach == nil)
    appended.removeSubrange(300..<1900)
    let kept = Array(all[..<300]) + Array(all[1900...])
    #expect(appended.breach == nil && Array(appended) == kept)
    appended.removeAll()
    #expect(appended == [] && appended.isEmpty)
  }
}
