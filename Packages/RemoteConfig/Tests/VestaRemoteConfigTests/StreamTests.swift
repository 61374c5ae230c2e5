import Testing
import VestaConcurrency
import VestaCore
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendFakes
import VestaServiceInterop
import VestaTesting

@testable import VestaRemoteConfig

/// The rules of all streams, for each stream of Remote Config; the counts of listeners and of connections are the spy.
@Suite struct StreamTests {
  enum Stream: CaseIterable, Sendable {
    case updates, configUpdates

    /// Reads until the closure answers false.
    func read(_ config: RemoteConfig, _ body: @Sendable (Set<String>) async throws -> Bool) async throws {
      switch self {
      case .updates:
        for try await update in config.updates {
          guard try await body(update.updatedKeys) else { break }
        }
      case .configUpdates:
        for try await update in config.configUpdates {
          guard try await body(update.updatedKeys) else { break }
        }
      }
    }

    /// Begins to read, and holds what is read from.
    func open(_ config: RemoteConfig) -> any Sendable {
      switch self {
      case .updates: config.updates
      case .configUpdates: Held(config.configUpdates.makeAsyncIterator())
      }
    }

    // Unchecked: held, and never used.
    private final class Held: @unchecked Sendable {
      private let iterator: RemoteConfig.RemoteConfigUpdateSequence.Iterator
      init(_ iterator: RemoteConfig.RemoteConfigUpdateSequence.Iterator) { self.iterator = iterator }
    }
  }

  private func isListening(_ bench: Bench) -> [Int] {
    [bench.config.realtime.listenerCount, bench.backend.listeners.count]
  }

  private func waitUntilListening(_ bench: Bench) async {
    while isListening(bench) != [1, 1] { await Task.yield() }
  }

  @Test(arguments: Stream.allCases)
  func `a stream adds its listener when it is opened, and dropping it removes the listener`(stream: Stream) async throws
  {
    let bench = try Bench()
    #expect(isListening(bench) == [0, 0])
    var held: (any Sendable)? = stream.open(bench.config)
    #expect(isListening(bench) == [1, 1])
    var second: (any Sendable)? = stream.open(bench.config)
    #expect(isListening(bench) == [2, 1])
    held = nil
    #expect(isListening(bench) == [1, 1])
    second = nil
    #expect(isListening(bench) == [0, 0] && held == nil && second == nil)
    await bench.end()
  }

  @Test(arguments: Stream.allCases)
  func `a stream has every update in order, also for a consumer that lags`(stream: Stream) async throws {
    let bench = try Bench()
    let config = bench.config
    let heard = EventLog<Set<String>>(patience: .seconds(300))
    let registration = config.addOnConfigUpdateListener { update, _ in
      if let update { heard.record(update.updatedKeys) }
    }
    let (gate, seen) = (Gate(), EventLog<Set<String>>(patience: .seconds(300)))
    let task = Task {
      try await stream.read(config) { keys in
        await gate.wait()
        seen.record(keys)
        return true
      }
    }
    while config.realtime.listenerCount != 2 { await Task.yield() }
    var values: [String: String] = [:]
    var expected: [Set<String>] = []
    for number in 1...20 {
      values["key\(number)"] = "x"
      expected.append(Set(values.keys))
      bench.backend.publish(values)
      try await heard.wait(for: "update \(number)") { $0.count == number }
    }
    gate.open()
    let all = expected
    try await seen.wait(for: "all updates") { $0.count >= all.count }
    #expect(seen.events == all)
    task.cancel()
    _ = await task.result
    registration.remove()
    #expect(isListening(bench) == [0, 0])
    await bench.end()
  }

  @Test(arguments: Stream.allCases)
  func `a stream throws the first error and removes its listener`(stream: Stream) async throws {
    let bench = try Bench()
    let config = bench.config
    let task = Task { try await stream.read(config) { _ in true } }
    await waitUntilListening(bench)
    bench.backend.endConnections(.permissionDenied)
    let error = await #expect(throws: RemoteConfigUpdateError.self) { try await task.value }
    #expect(error?.code == .streamError)
    #expect(isListening(bench) == [0, 0])
    await bench.end()
  }

  @Test(arguments: Stream.allCases)
  func `cancelling the task while it waits ends the stream and removes its listener`(stream: Stream) async throws {
    let bench = try Bench()
    let config = bench.config
    let task = Task { try await stream.read(config) { _ in true } }
    await waitUntilListening(bench)
    task.cancel()
    _ = await task.result
    #expect(isListening(bench) == [0, 0])
    let late = Task {
      while !Task.isCancelled { await Task.yield() }
      try await stream.read(config) { _ in true }
    }
    late.cancel()
    _ = await late.result
    #expect(isListening(bench) == [0, 0])
    await bench.end()
  }

  @Test(arguments: Stream.allCases)
  func `leaving the loop removes the listener`(stream: Stream) async throws {
    let bench = try Bench()
    let config = bench.config
    let task = Task { try await stream.read(config) { _ in false } }
    await waitUntilListening(bench)
    bench.backend.publish(["a": "1"])
    try await task.value
    #expect(isListening(bench) == [0, 0])
    await bench.end()
  }

  @Test(arguments: Stream.allCases)
  func `a stream ends with the app, after what was announced before, and one of a deleted app at once`(
    stream: Stream
  ) async throws {
    let bench = try Bench()
    let config = bench.config
    let seen = EventLog<Set<String>>(patience: .seconds(300))
    let task = Task {
      try await stream.read(config) { keys in
        seen.record(keys)
        return true
      }
    }
    await waitUntilListening(bench)
    bench.backend.publish(["a": "1"])
    try await seen.wait(for: "the update") { $0 == [["a"]] }
    config.end()
    try await task.value
    #expect(isListening(bench) == [0, 0])
    try await stream.read(config) { _ in true }
    #expect(isListening(bench) == [0, 0])
    await bench.app.delete()
  }
}
