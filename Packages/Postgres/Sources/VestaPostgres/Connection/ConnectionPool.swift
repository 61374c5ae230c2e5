import VestaConcurrency
import VestaStoreInterop

/// The connections of a store: a limited number, served in order of arrival, opened when they are needed and kept.
final class ConnectionPool: Sendable {
  private struct State: Sendable {
    var idle: [PostgresConnection] = []
    var isClosed = false
    /// Callers from within bodies, who do not wait for a place: the holders of the places may wait for them.
    var inside = 0
    var drainWaiters = Waiters()
  }

  /// A connection that was taken, and whether it has a place.
  struct Loan: Sendable {
    let connection: PostgresConnection
    let hasPlace: Bool
  }

  private let loop: PostgresLoop
  private let connector: Connector
  private let places: FairQueue
  private let state = Locked(State())

  /// For how long a server that is away is waited for.
  var patience: Duration { loop.patience }

  init(loop: PostgresLoop, connector: Connector, limit: Int) {
    self.loop = loop
    self.connector = connector
    places = FairQueue(limit: limit)
  }

  /// Takes a connection.
  ///
  /// - Parameter isInside: Whether the caller is in a body that holds one; it does not wait for a place then.
  /// - Throws: `PostgresFailure`, `CancellationError`, or the error of the close.
  func take(isInside: Bool) async throws -> Loan {
    if isInside {
      state.withLock { $0.inside += 1 }
    } else {
      try await places.enter()
    }
    do {
      if let idle = state.withLock({ $0.idle.popLast() }) { return Loan(connection: idle, hasPlace: !isInside) }
      let connection = try await loop.open(connector)
      connection.send(Schema.keepAlive)
      return Loan(connection: connection, hasPlace: !isInside)
    } catch {
      leave(hasPlace: !isInside)
      throw error
    }
  }

  /// Gives a connection back.
  ///
  /// - Parameter isSound: Whether it can be used again: it is in no transaction, or will leave it by what was sent
  ///   last.
  func give(_ loan: Loan, isSound: Bool) {
    let isKept = state.withLock { state in
      guard isSound, !state.isClosed, loan.hasPlace || state.idle.isEmpty else { return false }
      state.idle.append(loan.connection)
      return true
    }
    if !isKept { loan.connection.drop() }
    leave(hasPlace: loan.hasPlace)
  }

  private func leave(hasPlace: Bool) {
    if hasPlace { return places.leave() }
    let waiters = state.withLock { state in
      state.inside -= 1
      return state.inside == 0 ? state.drainWaiters.takeAll() : Waiters()
    }
    waiters.resume()
  }

  /// Drops the unused connections: after one has been found dead, the others may be too.
  func dropIdle() {
    let idle = state.withLock { state in
      defer { state.idle = [] }
      return state.idle
    }
    for connection in idle { connection.drop() }
  }

  /// Refuses waiting and later callers outside of bodies.
  func refuse(with error: StoreError) { places.close(throwing: error) }

  /// Waits until all connections have been given back, and drops them.
  func close() async {
    await places.drained()
    await state.wait(in: \.drainWaiters) { $0.inside == 0 }
    state.withLock { $0.isClosed = true }
    dropIdle()
  }
}
