// InnerBuilderTests.swift: trees built from below, over every number of leaves and small nodes.

import Testing

@testable import Engine

@Suite("Inner nodes built from below")
struct InnerBuilderTests {
  private struct Made {
    let level: Int
    let separators: [Int64]
    let links: [NodeLink]
  }

  @Test("every leaf is reached once, in order, under the right separators", arguments: 3...6)
  func reachesEveryLeaf(childCountMax: Int) throws {
    for leafCount in 0...200 {
      var made: [NodeLink: Made] = [:]
      var builder = InnerBuilder<Int64>(childCountMax: childCountMax)
      func sink(
        _ level: Int, _ separators: [Int64], _ links: [NodeLink]
      ) throws(EngineError) -> NodeLink {
        let link = NodeLink(ref: Ref(offsetBytes: 1 << 40 + UInt64(made.count)), checksum: 1)
        made[link] = Made(level: level, separators: separators, links: links)
        return link
      }
      for leaf in 0..<leafCount {
        let link = NodeLink(ref: Ref(offsetBytes: UInt64(leaf + 1)), checksum: 0)
        try builder.add(link, firstKey: Int64(leaf * 10), sink)
      }
      let (root, level) = try builder.finish(sink)
      var leaves: [Int64] = []
      func walk(_ link: NodeLink, _ level: Int, _ bounds: Range<Int64>) {
        guard level > 0 else {
          leaves.append(Int64(link.ref.offsetBytes) - 1)
          #expect(bounds.contains(Int64(link.ref.offsetBytes - 1) * 10))
          return
        }
        guard let node = made[link] else {
          Issue.record("leaf at level \(level)")
          return
        }
        #expect(node.level == level && node.links.count <= childCountMax)
        #expect(node.links.count > 1, "a node with one child is a waste")
        let ends = [bounds.lowerBound] + node.separators + [bounds.upperBound]
        for index in node.links.indices {
          walk(node.links[index], level - 1, ends[index]..<ends[index + 1])
        }
      }
      if leafCount == 0 {
        #expect(root.isNone)
      } else {
        walk(root, level, -1..<Int64.max)
      }
      #expect(leaves == Array(0..<Int64(leafCount)))
    }
  }
}
