import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreRemote
import VestaFirestoreService
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting
import VestaTransport
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaFirestoreEndpoints

/// A guard that denies by turns.
final class GuardByTurns: FirestoreGuard {
  let mode = Locked(0)
  private let changes = ListenerRegistry<Void>()

  func set(_ new: Int) {
    mode.withLock { $0 = new }
    changes.emit(())
  }

  private func answer(_ document: Document?) -> Bool {
    guard case .integer(let number)? = document?.fields["n"] else { return true }
    return mode.withLock { $0 } != 1 || number % 3 != 0
  }

  func mayGetAtOnce(_ name: String, _ document: Document?, at time: () -> Timestamp, context: CallContext) -> Bool? {
    guard case .integer(let number)? = document?.fields["n"], number % 2 == 0 else { return nil }
    return answer(document)
  }

  nonisolated(nonsending) func mayGet(
    _ name: String, _ document: Document?, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool { answer(document) }

  nonisolated(nonsending) func mayList(
    _ query: FirestoreGuardedQuery, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool { mode.withLock { $0 } != 2 }

  nonisolated(nonsending) func mayCommit(
    _ writes: [FirestoreGuardedWrite], state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool { true }

  func observe(_ changed: @escaping @Sendable () -> Void) -> ListenerRegistration { changes.add { _ in changed() } }
}

/// An engine on a socket, its writers, and everything that they have written.
final class DeliveryWorld: Sendable {
  static let database = "projects/contracts/databases/(default)"
  static let names = (0..<6).map { "\(database)/documents/rooms/\($0)" }

  let engine: FirestoreEngine
  let rules = GuardByTurns()
  let tuning: FirestoreEndpointTuning
  let unreadBytes: Int
  let streamBytes: Int
  let listeners: Int
  let writers = 3
  let commitsOfWriter = 30
  let commits = Log<Timestamp>()
  /// The read times of a listener that always reads: writers wait for it at times.
  let steady = Log<Timestamp>()
  let faults = Log<String>()
  private let number = Locked<Int64>(0)
  private let handler: GRPCHandler
  private let server: VestaTransportServer
  private let listener: any HTTPListener
  private let shared: [VestaTransportClient]
  private let windows: TransportTuning
  private let port: Int

  init(_ random: inout SplitMix) async throws {
    var tuning = FirestoreEndpointTuning()
    tuning.inPlaceResponses = random.below(4)
    tuning.loopResponses = 1 + random.below(4)
    tuning.batchBytes = random.pick([1, 500, 32_768])
    tuning.pendingRequests = 1 + random.below(3)
    self.tuning = tuning
    // Of the last state, all targets of a call have less: one that has more at its start is cut off each time.
    unreadBytes = random.pick([10_000, 30_000, 200_000])
    streamBytes = random.pick([1, 500, 3_000, 20_000])
    listeners = 12 + random.below(14)
    var options = FirestoreServiceOptions()
    options.unreadBytes = unreadBytes
    let verifier = FakeCallerVerifier()
    verifier.accept(.full, token: "owner")
    engine = FirestoreEngine(
      store: ModelStore(), options: options, callers: CallerCheck(callers: verifier), gatekeeper: rules)
    let host = FakeEndpointHost(project: "contracts")
    host.add((any FirestoreBackend).self, engine)
    handler = GRPCHandler(
      FirestoreService(CallTable(host, tuning), AdminCallTable(host, tuning)),
      options: GRPCOptions(messageBytes: tuning.requestBytes, streamBytes: streamBytes))
    server = try VestaTransportServer(loops: 1 + random.below(3))
    port = try #require(FreePort.find())
    listener = try await server.listen(at: .internet(host: "127.0.0.1", port: port), handler: handler)
    var windows = TransportTuning()
    windows.http2StreamWindow = random.pick([4_000, 16_000, 65_535])
    self.windows = windows
    let made = windows
    shared = try (0..<2).map { _ in try VestaTransportClient(tuning: made) }
  }

  func remote(_ client: any HTTPClient) throws -> FirestoreRemote {
    let options = RESTOptions(ownerToken: { "owner" })
    return FirestoreRemote(on: try RESTService(client, at: "http://127.0.0.1:\(port)", options: options))
  }

  func sharedClient(_ number: Int) -> VestaTransportClient { shared[number % 2] }

  func ownClient() throws -> VestaTransportClient { try VestaTransportClient(tuning: windows) }

  private func fields(_ random: inout SplitMix, isLast: Bool = false) -> MapValue {
    let next = number.withLock { number in
      number += 1
      return number
    }
    let text = String(repeating: "x", count: isLast ? 10 : random.below(random.pick([10, 500, 4_000])))
    return ["n": .integer(next), "text": .string(text), "isLast": .boolean(isLast)]
  }

  /// Changes one to three documents at once.
  func write(_ random: inout SplitMix) async throws {
    if random.oneIn(6) { rules.set(random.below(3)) }
    var chosen = Set<String>()
    for _ in 0...random.below(3) { chosen.insert(random.pick(Self.names)) }
    // Not deletions alone: to delete nothing is no change, and no listener would be told.
    let updated = random.pick(chosen.sorted())
    let writes: [Write] = chosen.sorted().map { name in
      name != updated && random.oneIn(3) ? .delete(name) : .update(Document(name: name, fields: fields(&random)))
    }
    let response = try await engine.commit(CommitRequest(database: Self.database, writes: writes), context: .owner)
    let time = response.commitTime
    commits.add(time)
    if random.oneIn(3) { await steady.wait { ($0.last ?? Timestamp(seconds: 0)) >= time } }
  }

  /// Allows everything, and changes all documents at once.
  func writeLast() async throws {
    rules.set(0)
    var random = SplitMix(seed: 1)
    let writes = Self.names.map { Write.update(Document(name: $0, fields: fields(&random, isLast: true))) }
    commits.add(
      try await engine.commit(CommitRequest(database: Self.database, writes: writes), context: .owner).commitTime)
  }

  func waitForCommits(_ more: Int) async {
    let wanted = min(commits.entries.count + more, writers * commitsOfWriter + 1)
    await commits.wait { $0.count >= wanted }
  }

  /// The server shuts down while others write: each call ends.
  func endWhileOthersWrite(_ random: inout SplitMix) async throws {
    let calls = 10
    let order = random.below(3)
    let ready = Log<Int>()
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<calls {
        group.addTask { [self] in
          do {
            let call = try await remote(sharedClient(index)).listen(database: Self.database, context: .owner)
            call.send(.addTarget(Target(id: 2, .documents([Self.names[index % 2]]))))
            var batches = 0
            for try await _ in call.responses {
              batches += 1
              if batches == 1 { ready.add(index) }
            }
            faults.add("a call of a server that shut down ended without an error")
          } catch {
            guard (error as? FirestoreServiceError)?.code != .unavailable else { return }
            faults.add("a call of a server that shut down: \(error)")
          }
        }
      }
      group.addTask { [self] in
        await ready.wait(for: calls)
        for n in 0..<40 {
          let write = Write.update(Document(name: Self.names[n % 2], fields: ["n": .integer(Int64(n + 1_000))]))
          _ = try? await engine.commit(CommitRequest(database: Self.database, writes: [write]), context: .owner)
          if n == 20 {
            if order == 0 { handler.endStreams() }
            if order == 1 { try? await engine.close() }
            if order == 2 { await listener.shutDown(within: .zero) }
          }
        }
      }
      await group.waitForAll()
    }
    for client in shared { await client.close() }
    await listener.shutDown(within: .zero)
    await server.stop()
    try await engine.close()
  }
}
