import Foundation
import PostgresBaseline
import VestaPostgres
import VestaPostgresTesting
import VestaStoreInterop

/// The server of `Scripts/with-postgres`, with and without added latency.
actor PostgresBench {
  static let keys = ProcessInfo.processInfo.environment["VESTA_BENCH_KEYS"].flatMap { Int($0) } ?? 20_000
  static let shared = PostgresBench()

  private var proxies: [Int: PostgresProxy] = [:]
  private var stores: [Int: any OrderedStore] = [:]
  private var hasTables = false
  private var runs = 0

  private var server: String {
    guard let url = ProcessInfo.processInfo.environment["VESTA_POSTGRES_URL"] else {
      preconditionFailure("run it by Scripts/with-postgres")
    }
    return url
  }

  /// The connection string that makes each round trip `latency` microseconds longer.
  func url(_ latency: Int) throws -> String {
    if latency == 0 { return server }
    if let proxy = proxies[latency] { return proxy.url }
    let proxy = try PostgresProxy(to: server)
    proxy.delay(.microseconds(latency) / 2)
    proxies[latency] = proxy
    return proxy.url
  }

  /// A number that no run has had before.
  func next() -> Int {
    runs += 1
    return runs
  }

  /// A separate store, in the space of the benchmarks.
  func open(_ latency: Int, named name: String = "bench") async throws -> any OrderedStore {
    var options = PostgresOptions()
    options.url = try url(latency)
    return try await PostgresStoreProvider(options: options)
      .openStore(named: name, in: "benchmarks", options: StoreOptions())
  }

  /// The store with entries in it, and the raw tables with the same.
  func store(_ latency: Int) async throws -> any OrderedStore {
    if let store = stores[latency] { return store }
    let store = try await open(latency)
    stores[latency] = store
    if !hasTables {
      hasTables = true
      RawPostgres(server)?.makeTables(entries: PostgresBench.keys)
      for start in stride(from: 0, to: PostgresBench.keys, by: 1_000) {
        try await store.write { transaction in
          for number in start..<min(start + 1_000, PostgresBench.keys) {
            try await transaction.put(PostgresBench.value(number), for: PostgresBench.key(number))
          }
        }
      }
    }
    return store
  }

  func close() async {
    for store in stores.values { try? await store.close() }
    for proxy in proxies.values { proxy.close() }
  }

  static func key(_ number: Int) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }

  static func value(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 100) }

  /// How many nanoseconds one of some operations takes, spread over tasks.
  static func cost(_ count: Int, tasks: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async -> Double {
    let start = ContinuousClock.now
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<tasks {
          group.addTask {
            for number in stride(from: task, to: count, by: tasks) { try await body(number) }
          }
        }
        try await group.waitForAll()
      }
    } catch {
      preconditionFailure("the benchmark could not use its store: \(error)")
    }
    return (ContinuousClock.now - start) / .nanoseconds(1) / Double(count)
  }

  /// The same by hand: a thread and a connection for each.
  static func rawCost(
    _ url: String, _ count: Int, threads: Int, _ body: @escaping @Sendable (RawPostgres, Int) -> Void
  ) async -> Double {
    let all = DispatchGroup()
    let ready = DispatchGroup()
    let gate = DispatchSemaphore(value: 0)
    for thread in 0..<threads {
      all.enter()
      ready.enter()
      Thread.detachNewThread {
        guard let raw = RawPostgres(url) else { preconditionFailure("the server does not answer") }
        body(raw, thread)
        ready.leave()
        gate.wait()
        for number in stride(from: thread, to: count, by: threads) { body(raw, number) }
        all.leave()
      }
    }
    return await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        ready.wait()
        let start = ContinuousClock.now
        for _ in 0..<threads { gate.signal() }
        all.wait()
        continuation.resume(returning: (ContinuousClock.now - start) / .nanoseconds(1) / Double(count))
      }
    }
  }
}
