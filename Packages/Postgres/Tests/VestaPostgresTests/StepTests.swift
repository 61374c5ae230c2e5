import Foundation
import Testing
import VestaConcurrency
import VestaPostgresTesting
import VestaStoreInterop
import VestaTesting

@testable import VestaPostgres

extension OneAtATime {
  /// Connections that are cut before, and held up at, every message of the protocol.
  @Suite struct StepTests {
    /// The events of some calls, in order.
    private struct Outcome {
      var increments = 0
      var failures: [StoreError] = []
      /// Whether the step was there at all.
      var wasReached = false
    }

    /// Where messages count: what the server says of itself at the start is one step, and not fifteen.
    private static func isStep(_ message: PostgresProxy.Message) -> Bool {
      !(message.isServers && message.kind == "S")
    }

    /// Begins, reads, writes, raises the floor and listens, while something happens at one step.
    ///
    /// - Parameter space: A space with a store in it.
    private func run(
      _ space: String, step: Int, _ action: PostgresProxy.Action, patience: Duration
    ) async throws -> Outcome {
      let proxy = try PostgresProxy(to: Server.url)
      defer { proxy.close() }
      let store = try await Server.open(space) {
        $0.url = proxy.url
        $0.patience = patience
        $0.connections = 2
      }
      let seen = Locked(0)
      proxy.rule { message in
        guard Self.isStep(message) else { return .pass }
        let number = seen.withLock { count in
          count += 1
          return count
        }
        return number == step ? action : .pass
      }
      var outcome = Outcome()
      func attempt(_ body: () async throws -> Void) async {
        do {
          try await body()
        } catch let error as StoreError {
          outcome.failures.append(error)
        } catch {
          Issue.record("step \(step): \(error) has no type")
        }
      }
      await attempt { _ = try await store.get(key(0)) }
      for round in 0..<2 {
        await attempt {
          try await store.write { transaction in
            let count = number(in: try await transaction.get(key(0)))
            if round == 1 { _ = try await transaction.commitVersion() }
            try await transaction.put(number(count + 1), for: key(0))
            try await transaction.put(number(count + 1), for: key(1))
          }
          outcome.increments += 1
        }
      }
      await attempt { try await store.put(number(step), for: key(2)) }
      await attempt { try await store.raiseFloor(to: nil) }
      await attempt {
        let values = try await store.read { reader in
          let first = try await reader.get(key(0))
          return (first, try await reader.entries(in: KeyRange(from: key(1), to: key(2))).first?.value)
        }
        #expect(values.0 == values.1, "step \(step): one moment")
      }
      let heard = store.observeCommits { _ in }
      await attempt { try await store.put(number(step), for: key(3)) }
      heard.cancel()
      proxy.rule { _ in .pass }
      proxy.release()
      outcome.wasReached = seen.withLock { $0 } >= step
      try await store.close()
      return outcome
    }

    /// Runs everything once for each of some steps, and looks from outside at what was kept.
    private func check(
      _ action: PostgresProxy.Action, patience: Duration, steps: (Int) -> Int
    ) async throws -> (steps: Int, failures: Int) {
      let space = Server.newSpace()
      let witness = try await Server.open(space)
      var expected = 0
      var (step, count, failures) = (1, 0, 0)
      while true {
        let outcome = try await run(space, step: step, action, patience: patience)
        guard outcome.wasReached else { break }
        count += 1
        failures += outcome.failures.count
        expected += outcome.increments
        let kept = try await witness.get([key(0), key(1)])
        // The server is there all the time, so whatever becomes of a commit is found out.
        #expect(number(in: kept[0]) == expected && kept[0] == kept[1], "step \(step)")
        // A body that only reads gets an error when its snapshot is lost; everything else continues by itself.
        #expect(outcome.failures.allSatisfy { $0.code == .inputOutput && $0.operation != "commit" }, "step \(step)")
        #expect(outcome.failures.count <= 1, "step \(step): \(outcome.failures)")
        step = steps(step)
      }
      try await witness.close()
      return (count, failures)
    }

    @Test func `a connection that is cut before any message loses nothing, doubles nothing and hangs no caller`()
      async throws
    {
      // The first ones, which every connection begins with, and then some; `make soak` takes them all.
      var random = SplitMix(seed: 7)
      let (steps, failures) = try await check(.cut, patience: .seconds(10)) {
        $0 + ($0 < 12 ? 1 : Int.random(in: 2...6, using: &random))
      }
      #expect(steps > 20)
      #expect(failures < steps / 4)
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1", "run by make soak"))
    func `a connection that is cut before every message Soak`() async throws {
      let (steps, _) = try await check(.cut, patience: .seconds(10)) { $0 + 1 }
      #expect(steps > 100)
    }

    @Test func `a connection that falls silent at any message is given up, and its commit found out`() async throws {
      // Each of them is waited for, so these are some of the steps; `make soak` takes them all.
      var random = SplitMix(seed: 11)
      let (steps, _) = try await check(.hold, patience: .milliseconds(400)) {
        $0 + Int.random(in: 10...20, using: &random)
      }
      #expect(steps > 4)
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1", "run by make soak"))
    func `a connection that falls silent at every message Soak`() async throws {
      let (steps, _) = try await check(.hold, patience: .milliseconds(600)) { $0 + 1 }
      #expect(steps > 80)
    }

    @Test func `statements that were not reached because one before them failed are prepared again`() async throws {
      let loop = try PostgresLoop(patience: .seconds(30))
      defer { loop.stop() }
      let connection = try await loop.open(try Connector(Server.url))
      // Each failure makes those behind it forgotten; then some are known and some are not, in all mixtures.
      var random = SplitMix(seed: 3)
      for round in 0..<60 {
        var statements = (0..<4).map { _ in
          let number = Int.random(in: 0..<12, using: &random)
          return Statement("SELECT $1 + \(number)", .integer(Int64(round)))
        }
        let fails = round % 2 == 0
        if fails { statements.insert(Statement("SELECT 1 / ($1 - $1)", .integer(Int64(round))), at: round / 2 % 5) }
        let answer = await connection.answer(to: statements)
        #expect(fails == (answer.failure != nil))
        if case .refused(let state, let message)? = answer.failure { #expect(state == "22012", "\(message)") }
        #expect(answer.rows.count == (fails ? round / 2 % 5 : 4))
      }
    }

    @Test func `a commit that arrives when it was given up has no effect`() async throws {
      let space = Server.newSpace()
      let proxy = try PostgresProxy(to: Server.url)
      defer { proxy.close() }
      let store = try await Server.open(space) {
        $0.url = proxy.url
        $0.patience = .milliseconds(600)
      }
      let witness = try await Server.open(space)
      try await store.put(number(0), for: key(0))
      let held = Locked<Int?>(nil)
      let arrived = Gate()
      // The whole commit is one flight of messages; it is kept back from its first statement on.
      proxy.rule { message in
        if message.isServers, message.kind == "Z", message.connection == held.withLock({ $0 }) { arrived.open() }
        guard !message.isServers, message.kind == "B" else { return .pass }
        return held.withLock { value in
          defer { value = value ?? message.connection }
          return value == nil ? .hold : .pass
        }
      }
      let runs = Locked(0)
      try await store.write { transaction in
        runs.withLock { $0 += 1 }
        try await transaction.put(number(1), for: key(1))
        _ = try await transaction.commitVersion()
      }
      let version = try await witness.read { $0.version }
      proxy.release()
      await arrived.wait()
      try await store.close()
      let commits = try await Server.run(
        "SELECT count(*) FROM \(Schema(prefix: "vesta", store: "test", directory: space).name).commits")
      // The body ran again, as its first version was barred; each of its runs would leave a row.
      #expect(runs.withLock { $0 } == 2)
      #expect(commits[0].integer(0, 0) == 2)
      #expect(try await witness.read { $0.version } == version)
      try await witness.close()
    }

    @Test func `a process that falls silent with the lock holds the others up for a short time only`() async throws {
      let space = Server.newSpace()
      let proxy = try PostgresProxy(to: Server.url)
      defer { proxy.close() }
      let silent = try await Server.open(space) {
        $0.url = proxy.url
        $0.patience = .milliseconds(900)
      }
      let other = try await Server.open(space)
      // Both have committed, so the first one asks for the lock before it writes.
      try await silent.put(number(0), for: key(0))
      try await other.put(number(0), for: key(1))
      try await silent.put(number(1), for: key(0))
      try await other.put(number(1), for: key(1))
      let isHeld = Gate()
      proxy.rule { message in
        guard message.isServers, message.kind == "D" else { return .pass }
        isHeld.open()
        return .hold
      }
      let late = Task { try await silent.put(number(2), for: key(0)) }
      await isHeld.wait()
      try await other.put(number(2), for: key(1))
      proxy.rule { _ in .pass }
      proxy.release()
      _ = try await late.value
      #expect(number(in: try await other.get(key(0))) == 2)
      try await silent.close()
      try await other.close()
    }
  }
}
