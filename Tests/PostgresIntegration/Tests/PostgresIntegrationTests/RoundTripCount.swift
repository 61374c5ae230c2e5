@_spi(Benchmarking) import VestaPostgres

/// The calls of an engine with their round trips to the server.
final class RoundTripCount {
  private let store: PostgresStore
  private(set) var found: [String: Int] = [:]

  init(_ store: PostgresStore) { self.store = store }

  /// Counts a call, which is made some times, each time with another number; the least counts, because what an engine
  /// does in addition to its calls may happen in between.
  func call(_ name: String, times: Int = 5, _ body: (Int) async throws -> Void) async throws {
    var least = Int.max
    for number in 0..<times {
      let before = store.roundTrips
      try await body(number)
      least = min(least, store.roundTrips - before)
    }
    found[name] = least
  }
}
