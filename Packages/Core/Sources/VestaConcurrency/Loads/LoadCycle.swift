/// Loads that wait for one another, so that none of them would ever end.
public struct LoadCycle: Error, Hashable, Sendable, CustomStringConvertible {
  /// The keys, each of which needs the next one; the last is the first again.
  public let path: [String]

  /// The path, and what to do.
  public var description: String {
    "These loads wait for one another: \(path.joined(separator: " -> ")). Let one of them go on without the other."
  }
}

/// A flight of any `SingleFlight`.
struct FlightID: Hashable, Sendable, CustomStringConvertible {
  let table: ObjectIdentifier
  let number: UInt64
  let description: String

  static func == (left: Self, right: Self) -> Bool { left.table == right.table && left.number == right.number }

  func hash(into hasher: inout Hasher) {
    hasher.combine(table)
    hasher.combine(number)
  }
}

/// The loads of this process that wait for others.
enum FlightWaits {
  /// The flights whose loads the current task is part of, the outermost first.
  @TaskLocal static var current: [FlightID] = []

  private static let graph = Locked(WaitGraph<FlightID>())

  /// Whether no load waits for another, for tests.
  static var isEmpty: Bool { graph.withLock { $0.isEmpty } }

  /// The current task begins to wait for a flight.
  ///
  /// - Throws: `LoadCycle` when the flight waits for a load that the task is part of.
  static func begin(_ flight: FlightID) throws {
    let waiting = current
    guard !waiting.isEmpty else { return }
    let path = graph.withLock { graph -> [FlightID]? in
      if let path = graph.path(from: flight, to: waiting) { return path }
      graph.add(flight, by: waiting)
      return nil
    }
    if let path, let last = path.last {
      let own = waiting.drop { $0 != last }.map(\.description)
      throw LoadCycle(path: own + path.map(\.description))
    }
  }

  static func end(_ flight: FlightID) {
    let waiting = current
    guard !waiting.isEmpty else { return }
    graph.withLock { $0.remove(flight, by: waiting) }
  }
}
