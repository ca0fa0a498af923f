// DurabilityProductTests.swift: what is durable after which sync, under every model: the explorer
// and the reference must say the same in every cell, and docs/reference/durability.md must say it,
// too.

import CrashStates
import Foundation
import Testing

@Suite("Durability: every operation with every sync")
struct DurabilityProductTests {
  private func models() throws -> [(documented: DocumentedModel, model: PersistenceModel)] {
    let documented = try DocumentedModel.all()
    #expect(documented.map(\.name) == PersistenceModel.stock.map(\.name))
    return Array(zip(documented, PersistenceModel.stock))
  }

  private func isCertain(_ cell: ProductCell, _ reference: DurabilityReference) -> Bool {
    let certain = Set(reference.certain(at: cell.trace.events.count))
    let pieces = reference.pieces.indices.filter {
      cell.events.contains(reference.pieces[$0].event)
    }
    return !pieces.isEmpty && pieces.allSatisfy(certain.contains)
  }

  @Test("explorer and reference say of every cell whether the operation is durable")
  func cells() throws {
    for (documented, model) in try models() {
      for cell in ProductCell.all {
        let end = cell.trace.events.count
        let reference = DurabilityReference(cell.trace, documented)
        let possible = try #require(reference.possible(at: end, pendingMax: 12))
        let explored = try exploredTrees(of: cell.trace, model, pendingMax: 12)[end] ?? []
        let place = "\(model.name), \(cell.operation.name), \(cell.sync.rawValue)"
        let says = isCertain(cell, reference) ? "durable" : "not durable"
        let shows = cell.withoutLaterFile(explored).count == 1 ? "durable" : "not durable"
        #expect(says == shows, "\(place): the page says \(says), the explorer says \(shows)")
        #expect(
          (cell.withoutLaterFile(possible).count == 1) == (says == "durable"),
          "\(place): the reference contradicts itself")
        if explored != possible {
          let difference = DurabilityDifference(
            model: model.name, trace: cell.trace, crashPoint: end, explorer: explored,
            reference: possible)
          Issue.record("\(place): \(difference.text)")
        }
      }
    }
  }

  @Test("the page's table is what the reference says")
  func page() throws {
    let file = DocumentedModel.page.deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("reference/durability.md")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    let documented = try DocumentedModel.all()
    let table = try ProductPage.table { cell, name in
      let model = try #require(documented.first { $0.name == name })
      return isCertain(cell, DurabilityReference(cell.trace, model))
    }
    #expect(text.contains(table), "docs/reference/durability.md must contain:\n\(table)")
  }
}
