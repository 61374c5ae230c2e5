public import BenchmarkKit
import Foundation
import VestaConcurrency
import VestaCore
import VestaFirestoreBackend
import VestaFirestoreService
import VestaFunctionsService
import VestaSQLite
import VestaServiceInterop

/// The cost of document events: recording one with a change, and delivering it to the function.
public func eventBenchmarks() -> [Benchmark] {
  [
    Benchmark(
      name: "events: write with one listener function", bar: .ratio(atMost: 1.3),
      ours: ("a function listens", { await writes(isHeard: true, tasks: 1, count: 3_000) }),
      other: ("nobody listens", { await writes(isHeard: false, tasks: 1, count: 3_000) })
    ),
    Benchmark(
      name: "events: write with one listener function, 32 tasks", bar: .ratio(atMost: 1.3),
      ours: ("a function listens", { await writes(isHeard: true, tasks: 32, count: 8_000) }),
      other: ("nobody listens", { await writes(isHeard: false, tasks: 32, count: 8_000) })
    ),
    Benchmark(
      name: "events: from the first write to the last delivery, each", bar: .ratio(atMost: 2),
      ours: ("written and delivered", { await deliveries(count: 10_000) }),
      other: ("written, nobody listens", { await writes(isHeard: false, tasks: 32, count: 10_000) })
    ),
  ]
}

/// Nanoseconds for each write of a whole document with ten fields.
private func writes(isHeard: Bool, tasks: Int, count: Int) async -> Double {
  await EventBench.run { bench in
    if isHeard { try bench.listen { _ in } }
    try await bench.write(tasks: tasks, count: count / 10)
    return try await bench.time(count) { try await bench.write(tasks: tasks, count: count) }
  }
}

/// Nanoseconds for each event, from the first write to the last delivery.
private func deliveries(count: Int) async -> Double {
  await EventBench.run { bench in
    let delivered = Locked(0)
    let latch = Latch()
    try bench.listen { _ in
      let isLast = delivered.withLock { delivered in
        delivered += 1
        return delivered == count
      }
      if isLast { latch.open() }
    }
    return try await bench.time(count) {
      try await bench.write(tasks: 32, count: count)
      await latch.wait()
    }
  }
}

/// An app with documents on SQLite and functions, in a separate folder.
private final class EventBench: Sendable {
  private static let database = "projects/bench/databases/(default)"

  private let app: VestaApp
  private let directory: String
  private let backend: any FirestoreBackend

  static func run(_ body: (EventBench) async throws -> Double) async -> Double {
    do {
      let bench = try EventBench()
      let result = try await body(bench)
      await bench.app.delete()
      try FileManager.default.removeItem(atPath: bench.directory)
      return result
    } catch {
      // A precondition does not say its message in release mode.
      print("the benchmark failed: \(error)")
      preconditionFailure()
    }
  }

  private init() throws {
    let base = ProcessInfo.processInfo.environment["VESTA_BENCH_DIR"] ?? FileManager.default.temporaryDirectory.path
    let name = "vesta-bench-\(UUID().uuidString)"
    directory = "\(base)/\(name)"
    let options = VestaOptions(
      projectID: "bench", backend: .embedded(directory: URL(filePath: directory, directoryHint: .isDirectory)))
    app = try VestaApp.configure(
      name: name, options: options,
      libraries: [FirestoreServiceLibrary.self, FunctionsServiceLibrary.self, SQLiteLibrary.self])
    backend = try app.container.require((any FirestoreBackend).self)
  }

  func listen(_ body: @escaping @Sendable (CloudEvent<EventChange<EventDocument>>) -> Void) throws {
    var options = EventOptions()
    options.concurrency = 64
    try FunctionRegistry.registry(for: app).onDocumentWritten("f", document: "items/{id}", options: options) {
      body($0)
    }
  }

  /// Writes documents, each another one.
  func write(tasks: Int, count: Int) async throws {
    try await withThrowingTaskGroup { group in
      for task in 0..<tasks {
        group.addTask { [backend] in
          for number in stride(from: task, to: count, by: tasks) {
            var fields: MapValue = ["n": .integer(Int64(number)), "time": .double(.random(in: 0...1))]
            for index in 0..<8 { fields["field\(index)"] = .string("value \(number) of \(index)") }
            let document = Document(name: "\(EventBench.database)/documents/items/\(number)", fields: fields)
            let request = CommitRequest(database: EventBench.database, writes: [.update(document)])
            _ = try await backend.commit(request, context: CallContext(caller: .owner))
          }
        }
      }
      try await group.waitForAll()
    }
  }

  func time(_ count: Int, _ body: () async throws -> Void) async throws -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    try await body()
    return (start.duration(to: clock.now) / .nanoseconds(1)) / Double(count)
  }
}
