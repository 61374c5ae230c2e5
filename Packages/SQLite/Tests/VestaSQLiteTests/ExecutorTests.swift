import Testing
import VestaStoreInterop
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  /// The executor after calls that only `SQLiteStore` has; contracts check the calls of `OrderedStore`.
  @Suite struct ExecutorTests {
    @Test func `maintenance keeps the executor of its caller, on success and on failure`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.put([1], for: [1])
      let path = directory.path
      let calls: [(String, @Sendable () async throws -> Void)] = [
        ("checkIntegrity", { _ = try await store.checkIntegrity() }), ("size", { _ = try await store.size() }),
        ("compact", { try await store.compact() }), ("backup", { try await store.backup(to: path + "/copy") }),
      ]
      try await expectKept(calls, fails: false)
      try await store.close()
      try await expectKept(calls, fails: true)
    }

    @Test func `repairing and restoring keep the executor of their caller, on success and on failure`() async throws {
      let directory = try TemporaryDirectory()
      let path = directory.path
      let store = try directory.open()
      try await store.put([1], for: [1])
      try await store.backup(to: path + "/copy")
      let calls: [(String, @Sendable () async throws -> Void)] = [
        ("repair", { _ = try await SQLiteStore.repair(named: "test", in: path) }),
        ("restore", { try await SQLiteStore.restore(named: "test", in: path, from: path + "/copy") }),
      ]
      // The store is open: neither may touch its files.
      try await expectKept(calls, fails: true)
      try await store.close()
      try await expectKept(calls, fails: false)
      let other: @Sendable () async throws -> Void = {
        try await SQLiteStore.open(named: "other", in: path).close()
      }
      try await expectKept([("open", other)], fails: false)
      try directory.write([1, 2, 3], to: "other/store.sqlite")
      try await expectKept([("open", other)], fails: true)
    }

    private func expectKept(
      _ calls: [(String, @Sendable () async throws -> Void)], fails: Bool
    ) async throws {
      for (name, call) in calls {
        let reports = [await ExecutorProbe.fromMainActor(call), await ExecutorProbe.fromActor(call)]
        for report in reports { #expect(report.isKept && report.hasThrown == fails, "\(name): \(report)") }
      }
    }
  }
}
