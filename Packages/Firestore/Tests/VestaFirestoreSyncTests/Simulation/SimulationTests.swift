import Foundation
import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync
import VestaTesting

/// Virtual time, and the random numbers of back-off.
final class SimulatedClock: Sendable {
  private let state: Locked<(now: Double, random: SplitMix)>

  init(seed: UInt64) { state = Locked((0, SplitMix(seed: seed))) }

  var now: Double { state.withLock { $0.now } }

  func advance(_ seconds: Double) { state.withLock { $0.now += seconds } }

  func random() -> Double { state.withLock { Double.random(in: 0...1, using: &$0.random) } }
}

/// Clients, a server and the network between them on one schedule.
///
/// A failure is repeated with its seed, where hashing is the same each time: `SWIFT_DETERMINISTIC_HASHING=1`.
struct Simulation {
  private let server = SimulatedServer()
  private let clock: SimulatedClock
  private let clients: [SimulatedClient]
  private var random: SplitMix
  private var value: Int64 = 0

  /// Of how many chances to restart a client one is taken.
  private let restartOdds: Int
  /// Whether there are minutes in which nothing is done, but timers are due.
  private let hasQuietTimes: Bool

  /// A simulation.
  ///
  /// - Parameters:
  ///   - isLazy: Whether all clients with a durable cache read it in parts, and restart often.
  ///   - hasQuietTimes: Whether there are minutes in which nothing is done: 40,000 steps are five hours then.
  init(seed: UInt64, isLazy: Bool = false, hasQuietTimes: Bool = false) {
    restartOdds = isLazy ? 1 : 4
    self.hasQuietTimes = hasQuietTimes
    random = SplitMix(seed: seed)
    let (server, clock) = (server, SimulatedClock(seed: seed))
    self.clock = clock
    clients = (0..<4).map { number in
      var kind = SimulatedClient.Kind()
      if number == 0 || number == 3 { kind.policy = .eager }
      kind.isEmbedded = number == 3
      kind.isLazy = number == 2 || isLazy && number == 1
      kind.drift = [1, 0.5, 2, 1.1][number]
      var random = SplitMix(seed: seed &* 4 &+ UInt64(number))
      kind.tuning = SyncTuning.random(&random)
      return SimulatedClient(server, clock: clock, kind)
    }
  }

  private mutating func randomQuery() throws -> LocalQuery {
    if random.oneIn(4) { return try LocalQuery(database: database, path: path("rooms/r\(random.below(8))")) }
    let filters: [Filter] =
      random.oneIn(2) ? [] : [.field(path: "n", .greaterThanOrEqual, .integer(Int64(random.below(10))))]
    let orders = random.oneIn(2) ? [] : [NormalQuery.Order(FieldPath(["n"]), descending: random.oneIn(2))]
    let limit = random.oneIn(2) ? nil : 1 + random.below(4)
    return try LocalQuery(
      database: database, path: path("rooms"), filters: filters, orders: orders, limit: limit,
      limitType: limit != nil && random.oneIn(3) && !orders.isEmpty ? .last : .first)
  }

  private mutating func randomMutation() -> Mutation {
    value += 1
    let document = path("rooms/r\(random.below(8))")
    let fields: MapValue = ["n": .integer(Int64(random.below(12))), "v": .integer(value)]
    switch random.below(6) {
    case 0: return Mutation(document, .delete)
    case 1:
      let patch: MapValue = ["p": .integer(value)]
      return Mutation(document, .patch(patch, mask: FieldMask([FieldPath(["p"])])), precondition: .exists(true))
    case 2: return Mutation(document, .patch(fields, mask: FieldMask([FieldPath(["n"])])))
    default: return Mutation(document, .set(fields))
    }
  }

  /// The virtual time that has passed.
  var hours: Double { clock.now / 3600 }

  mutating func run(steps: Int) async throws {
    for step in 0..<steps {
      // Other tests want the thread too.
      if step % 50 == 0 { await Task.yield() }
      clock.advance(Double(random.below(50)) / 1000)
      if hasQuietTimes, random.oneIn(200) { pause() }
      let client = clients[random.below(clients.count)]
      client.fireTimers()
      switch random.below(100) {
      case 0..<3: client.listen(try randomQuery())
      case 3..<5: if let id = client.listeners.keys.sorted().randomElement(using: &random) { client.unlisten(id) }
      case 5..<13: client.send(randomBatch())
      case 13: disturb(client)
      case 14: client.setNetwork(!client.isNetworkEnabled)
      case 15: if random.oneIn(restartOdds) { try client.restart() }
      case 16: if random.oneIn(3) { server.forgetHistory() }
      case 17: client.collectGarbage()
      default: _ = client.step(&random)
      }
    }
    settle()
    try check()
  }

  /// Lets up to five minutes pass, with the timers that are due in them.
  private mutating func pause() {
    for _ in 0..<(1 + random.below(10)) {
      clock.advance(Double(1 + random.below(30)))
      for client in clients { client.fireTimers() }
    }
  }

  /// Each batch counts itself, so that one that is applied twice shows.
  private mutating func randomBatch() -> [Mutation] {
    let count = Mutation(
      SimulatedClient.counter, .patch([:], mask: FieldMask([])),
      transforms: [.init(FieldPath(["count"]), .increment(.integer(1)))])
    return random.oneIn(5) ? [randomMutation(), count, randomMutation()] : [randomMutation(), count]
  }

  /// The faults of the network between a client and the server, and of the clock.
  private mutating func disturb(_ client: SimulatedClient) {
    switch random.below(8) {
    case 0..<3: client.breakStreams()
    case 3: client.freezeStreams()
    case 4: client.breakFrozenStreams()
    case 5: client.expireToken()
    case 6: client.wallOffset = Double(random.below(200_000)) - 100_000
    // The engine begins again: its commits are there, and every stream is closed.
    default: for client in clients { client.breakStreams() }
    }
  }

  /// Delivers everything, until nothing is on its way.
  private mutating func settle() {
    for client in clients {
      client.breakFrozenStreams()
      if !client.isNetworkEnabled { client.setNetwork(true) }
    }
    for _ in 0..<200_000 {
      clock.advance(0.001)
      for client in clients { client.fireTimers() }
      var isBusy = false
      for client in clients where client.step(&random) { isBusy = true }
      if isBusy { continue }
      guard let next = clients.compactMap(\.nextReturn).min() else { return }
      clock.advance(max(0, next - clock.now) + 0.001)
    }
  }

  private func check() throws {
    for (number, client) in clients.enumerated() {
      if let complaint = client.complaints.first { throw Violation("client \(number): \(complaint)") }
      guard client.machine.local.queue.isEmpty, client.unanswered.isEmpty else {
        throw Violation("client \(number) has \(client.machine.local.queue.batches.count) pending writes")
      }
      guard client.machine.core.limbo.active.isEmpty, client.machine.core.limbo.waiting.isEmpty else {
        throw Violation("client \(number) has documents in limbo")
      }
      for (id, query) in client.listeners { try check(client.snapshots[id], query, number) }
    }
    let sent = clients.reduce(0) { $0 + $1.sent }
    guard server.applied.count + server.refused.count == sent else {
      throw Violation("of \(sent) writes \(server.applied.count) were applied, \(server.refused.count) refused")
    }
    let count = server.state[SimulatedClient.counter]?.fields["count"] ?? .integer(0)
    guard count == .integer(Int64(server.applied.count)) else {
      throw Violation("\(server.applied.count) writes were applied and counted as \(count)")
    }
  }

  private func check(_ snapshot: ViewSnapshot?, _ query: LocalQuery, _ client: Int) throws {
    guard let snapshot else { throw Violation("client \(client) has no snapshot of \(query.canonicalID)") }
    guard !snapshot.isFromCache, !snapshot.hasPendingWrites else {
      throw Violation(
        "client \(client) is not current: \(query.canonicalID), fromCache \(snapshot.isFromCache), pending "
          + "\(snapshot.mutatedKeys.map(\.description)), online \(clients[client].machine.watch.onlineState)")
    }
    let results = server.results(query.target)
    let expected = (query.limitType == .last ? results.reversed() : results).map { text($0.name, $0.fields) }
    let actual = snapshot.documents.map { text($0.name, $0.fields ?? [:]) }
    guard actual == expected else {
      throw Violation("client \(client) shows \(actual), the server has \(expected): \(query.canonicalID)")
    }
  }

  private func text(_ name: String, _ fields: MapValue) -> String {
    let values = fields.map { "\($0.name)=\(CanonicalForm.text(of: $0.value))" }
    return (name.split(separator: "/").last.map(String.init) ?? "") + "(" + values.joined(separator: " ") + ")"
  }

  struct Violation: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }
}

@Suite struct SimulationTests {
  @Test(arguments: 0..<100) func `when everything has settled every listener has the server's state`(seed: UInt64)
    async throws
  {
    var simulation = Simulation(seed: seed)
    try await simulation.run(steps: 1_000)
  }

  @Test(arguments: 0..<50) func `clients that restart often and read their caches in parts settle`(
    seed: UInt64
  ) async throws {
    var simulation = Simulation(seed: 10_000 + seed, isLazy: true)
    try await simulation.run(steps: 400)
  }
}

@Suite(.enabled(if: ProcessInfo.processInfo.environment["VESTA_SOAK"] != nil))
struct SimulationSoakTests {
  /// A number of the environment: `VESTA_SIMULATION_SEED`, the first seed; `VESTA_SIMULATION_COUNT`, how many seeds;
  /// `VESTA_SIMULATION_STEPS`, the steps of each of a hundred parts.
  private static func setting(_ name: String, _ standard: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? standard
  }

  /// The virtual time is about five hours: 40,000 steps of 25 ms and 200 pauses of about 85 s.
  ///
  /// Two seeds of three read their caches in parts and restart often.
  @Test(arguments: 0..<setting("VESTA_SIMULATION_COUNT", 300)) func `Soak: hours with pauses settle`(
    seed: Int
  ) async throws {
    let first = Self.setting("VESTA_SIMULATION_SEED", 2_000_000)
    var simulation = Simulation(seed: UInt64(first + seed), isLazy: seed % 3 != 0, hasQuietTimes: true)
    for _ in 0..<10 { try await simulation.run(steps: 4_000) }
    // Pauses are random: about five hours, and less for some seeds.
    #expect(simulation.hours > 3)
  }

  /// Settles about every half hour of virtual time; each rest counts the lost and the repeated writes.
  @Test(arguments: 0..<setting("VESTA_SIMULATION_DAYS", 3))
  func `Soak: a day of cuts loses no write and does none twice`(seed: Int) async throws {
    let first = Self.setting("VESTA_SIMULATION_SEED", 3_000_000)
    var simulation = Simulation(seed: UInt64(first + seed), isLazy: seed % 3 == 1, hasQuietTimes: true)
    while simulation.hours < 24 { try await simulation.run(steps: 4_000) }
  }

  @Test(arguments: 0..<setting("VESTA_SIMULATION_COUNT", 100)) func `Soak: a million steps settle`(seed: Int)
    async throws
  {
    var simulation = Simulation(seed: UInt64(Self.setting("VESTA_SIMULATION_SEED", 1_000_000) + seed))
    let steps = Self.setting("VESTA_SIMULATION_STEPS", 10_000)
    // A hundred parts, each of which settles: the first that does not says so.
    for _ in 0..<100 { try await simulation.run(steps: steps) }
  }
}
