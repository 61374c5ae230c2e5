import VestaConcurrency

/// Finds out where to connect, without blocking a caller: names are looked up on a dedicated thread.
final class Connector: Sendable {
  /// The addresses of a name, by a call that may block.
  typealias Lookup = @Sendable (String) -> [String]

  let info: ConnectionInfo
  private let plan: ConnectionPlan
  private let lookup: Lookup
  private let tuning: PostgresTuning
  private let lookups = SingleFlight<String, [String]>()

  /// - Parameters:
  ///   - info: The connection string.
  ///   - tuning: How long an attempt and a look-up may take, and on which clock.
  ///   - lookup: Looks a name up.
  /// - Throws: When libpq cannot read the string.
  init(
    _ info: String, password: String? = nil, tuning: PostgresTuning = PostgresTuning(),
    lookup: @escaping Lookup = PlatformNames.addresses
  ) throws(PostgresFailure) {
    self.info = ConnectionInfo(text: info, password: password)
    self.lookup = lookup
    self.tuning = tuning
    plan = ConnectionPlan(try ConnectionString.options(of: info), environment: environmentValue)
  }

  /// How long one attempt may take.
  func allowance(within patience: Duration) -> Duration {
    min(plan.timeout.map { .seconds(max(2, $0)) } ?? tuning.connectTime, patience)
  }

  /// Calls back with one place after the other until a call succeeds.
  func connect<Connection>(
    within patience: Duration, _ attempt: (ConnectionTarget) async throws -> Connection
  ) async throws -> Connection {
    var last: any Error = PostgresFailure.lost("The connection string names no host.")
    for target in plan.targets {
      do {
        for place in try await places(of: target, within: allowance(within: patience)) {
          do {
            return try await attempt(place)
          } catch let failure as PostgresFailure where failure.allowsAnotherHost {
            last = failure
          }
        }
      } catch let failure as PostgresFailure where failure.allowsAnotherHost {
        last = failure
      }
    }
    throw last
  }

  private func places(of target: ConnectionTarget, within allowance: Duration) async throws -> [ConnectionTarget] {
    guard target.needsLookup, let name = target.host else { return [target] }
    let addresses = try await lookups.value(for: name) { try await self.addresses(of: name, within: allowance) }
    if addresses.isEmpty { throw PostgresFailure.lost("There is no address for the host \"\(name)\".") }
    return addresses.map { address in
      var place = target
      place.address = address
      return place
    }
  }

  private func addresses(of name: String, within allowance: Duration) async throws -> [String] {
    let (turn, lookup, tuning) = (Turn<[String]>(), lookup, tuning)
    let timer = Task {
      try await tuning.sleep(allowance)
      turn.begin()?.resume(throwing: PostgresFailure.lost("Looking up the host \"\(name)\" takes too long."))
    }
    defer { timer.cancel() }
    return try await turn.wait { turn in
      let started = PlatformThread.start {
        let addresses = lookup(name)
        turn.begin()?.resume(returning: addresses)
      }
      if !started { turn.begin()?.resume(throwing: PostgresFailure.lost("The system has no threads left.")) }
    }
  }
}
