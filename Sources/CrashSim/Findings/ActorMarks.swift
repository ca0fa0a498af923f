// ActorMarks.swift: which actor of a workload each mark of a recording belongs to, for whoever
// knows what the marks mean; timelines name threads by it.

/// The actors of marks, by the mark's event number.
package struct ActorMarks: Sendable {
  /// Where a mark stands in what its actor does.
  package enum Role: Sendable {
    /// What follows is the actor's work.
    case begin
    /// The actor's work ends here.
    case end
    /// The mark is about the actor and neither begins nor ends anything.
    case other
  }

  private var marks: [Int: (actor: String?, role: Role)] = [:]

  /// No mark belongs to anybody.
  package init() {}

  /// The actor of a mark and its role; the actor is nil when the mark names nobody known.
  package subscript(number: Int) -> (actor: String?, role: Role)? {
    get { marks[number] }
    set { marks[number] = newValue }
  }
}
