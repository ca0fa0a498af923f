// MessageChart.swift: the messages between nodes, as reports show them.

/// What went on between nodes in a run without a crash.
public struct MessageChart: Codable, Sendable, Equatable {
  /// Most events that a chart shows.
  package static let eventsMax = 400
  /// Most nodes.
  private static let nodesMax = 64

  /// A message, or something that happened at a node.
  public struct Event: Codable, Sendable, Equatable {
    /// The sender.
    public var from: String
    /// The receiver; the sender itself for what happened there.
    public var to: String
    /// What it was.
    public var text: String
    /// Whether it never arrived.
    public var isLost: Bool

    /// An event.
    public init(from: String, to: String, text: String, isLost: Bool) {
      self.from = from
      self.to = to
      self.text = text
      self.isLost = isLost
    }
  }

  /// The nodes, from left to right.
  public var nodes: [String]
  /// The first events, in the order in which messages arrived or were lost.
  public var events: [Event]
  /// How many there were.
  public var eventCount: Int

  /// A chart with the first of some events.
  package init(nodes: [String], events: [Event]) {
    self.nodes = nodes
    self.events = Array(events.prefix(Self.eventsMax))
    eventCount = events.count
  }

  /// Whether a chart that was read from a file can be drawn.
  package var isDrawable: Bool {
    events.count <= Self.eventsMax && (events.count...1 << 40).contains(eventCount)
      && nodes.count <= Self.nodesMax
      && events.allSatisfy { nodes.contains($0.from) && nodes.contains($0.to) }
  }
}
