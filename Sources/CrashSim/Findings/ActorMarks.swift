// ActorMarks.swift: the actor of each mark of a recording, for workloads with marks of known
// meaning; timelines name threads by it.

/// The actors of marks, by the mark's event number.
package struct ActorMarks: Sendable {
  /// The position of a mark in its actor's work.
  package enum Role: Sendable {
    /// The actor's work starts here.
    case begin
    /// The actor's work ends here.
    case end
    /// The mark belongs to the actor and neither begins nor ends anything.
    case other
  }

  private var marks: [Int: (actor: String?, role: Role)] = [:]

  /// No mark has an actor.
  package init() {}

  /// The actor of a mark and its role; the actor is nil if the mark names no known one.
  package subscript(number: Int) -> (actor: String?, role: Role)? {
    get { marks[number] }
    set { marks[number] = newValue }
  }
}
