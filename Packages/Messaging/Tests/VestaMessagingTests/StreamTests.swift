import Testing
import VestaConcurrency
import VestaCore
import VestaMessagingBackend
import VestaMessagingBackendFakes
import VestaServiceInterop
import VestaTesting

@testable import VestaMessaging

/// The rules of all streams, for each stream of Messaging; the counts of listeners and of connections are the spy.
///
/// Neither stream can fail: what fails is tried again behind it.
@Suite struct StreamTests {
  enum Stream: CaseIterable, Sendable {
    case foregroundMessages, tokenUpdates

    /// Reads until the closure answers false.
    func read(_ messaging: Messaging, _ body: @Sendable (String) async -> Bool) async {
      switch self {
      case .foregroundMessages:
        for await message in messaging.foregroundMessages {
          guard await body(message.messageID) else { break }
        }
      case .tokenUpdates:
        for await token in messaging.tokenUpdates {
          guard await body(token) else { break }
        }
      }
    }

    func open(_ messaging: Messaging) -> any Sendable {
      switch self {
      case .foregroundMessages: MessageReader(messaging.delivery)
      case .tokenUpdates: messaging.tokenUpdates
      }
    }

    /// The listeners of this stream.
    func listenerCount(_ bench: Bench) -> Int {
      switch self {
      case .foregroundMessages: bench.messaging.delivery.listenerCount
      case .tokenUpdates: bench.messaging.tokens.listenerCount
      }
    }

    /// The connections that it keeps open: one for messages.
    func linkCount(_ listeners: Int) -> Int { self == .foregroundMessages ? min(listeners, 1) : 0 }

    /// Makes the next element, and returns it.
    func produce(_ number: Int, _ bench: Bench) async throws -> String {
      switch self {
      case .foregroundMessages:
        bench.backend.deliver("\(number)", "text")
        return "\(number)"
      case .tokenUpdates:
        bench.backend.state.withLock { $0.rotates = true }
        bench.clock.advance(by: .seconds(8 * 86_400))
        return try await bench.messaging.token()
      }
    }
  }

  private func expectListeners(_ count: Int, _ stream: Stream, _ bench: Bench) {
    #expect(stream.listenerCount(bench) == count)
    #expect(bench.backend.links.count == stream.linkCount(count))
  }

  private func waitForListener(_ stream: Stream, _ bench: Bench, _ count: Int = 1) async {
    while stream.listenerCount(bench) != count || bench.backend.links.count != stream.linkCount(count) {
      await Task.yield()
    }
  }

  private func makeBench() async throws -> Bench {
    let bench = try Bench()
    _ = try await bench.messaging.token()
    return bench
  }

  @Test(arguments: Stream.allCases)
  func `a stream adds its listener when it is opened, and dropping it removes the listener`(stream: Stream) async throws
  {
    let bench = try await makeBench()
    expectListeners(0, stream, bench)
    var first: (any Sendable)? = stream.open(bench.messaging)
    expectListeners(1, stream, bench)
    var second: (any Sendable)? = stream.open(bench.messaging)
    expectListeners(2, stream, bench)
    first = nil
    expectListeners(1, stream, bench)
    second = nil
    expectListeners(0, stream, bench)
    #expect(first == nil && second == nil)
    await bench.end()
  }

  @Test(arguments: Stream.allCases)
  func `a stream has every element in order, also for a consumer that lags`(stream: Stream) async throws {
    let bench = try await makeBench()
    let messaging = bench.messaging
    let (gate, seen) = (Gate(), EventLog<String>(patience: .seconds(300)))
    let task = Task {
      await stream.read(messaging) { element in
        await gate.wait()
        seen.record(element)
        return true
      }
    }
    await waitForListener(stream, bench)
    var expected = stream == .tokenUpdates ? [try await messaging.token()] : []
    for number in 1...20 { expected.append(try await stream.produce(number, bench)) }
    gate.open()
    let all = expected
    try await seen.wait(for: "all elements") { $0.count >= all.count }
    #expect(seen.events == all)
    task.cancel()
    await task.value
    expectListeners(0, stream, bench)
    await bench.end()
  }

  @Test(arguments: Stream.allCases)
  func `a failure in the background does not end a stream`(stream: Stream) async throws {
    let bench = try await makeBench()
    let messaging = bench.messaging
    let seen = EventLog<String>(patience: .seconds(300))
    let task = Task {
      await stream.read(messaging) { element in
        seen.record(element)
        return true
      }
    }
    await waitForListener(stream, bench)
    bench.backend.fail(.internal)
    bench.backend.endConnections(.internal)
    _ = try? await messaging.retrieveFCMToken(forSenderID: "7")
    bench.backend.fail(nil)
    bench.clock.advance(by: .seconds(1))
    await waitForListener(stream, bench)
    let last = try await stream.produce(1, bench)
    try await seen.wait(for: "an element after the failure") { $0.contains(last) }
    task.cancel()
    await task.value
    expectListeners(0, stream, bench)
    await bench.end()
  }

  @Test(arguments: Stream.allCases)
  func `cancelling the task while it waits ends the stream and removes its listener`(stream: Stream) async throws {
    let bench = try await makeBench()
    let messaging = bench.messaging
    let task = Task { await stream.read(messaging) { _ in true } }
    await waitForListener(stream, bench)
    task.cancel()
    await task.value
    expectListeners(0, stream, bench)
    let late = Task {
      while !Task.isCancelled { await Task.yield() }
      await stream.read(messaging) { _ in true }
    }
    late.cancel()
    await late.value
    expectListeners(0, stream, bench)
    await bench.end()
  }

  @Test(arguments: Stream.allCases)
  func `leaving the loop removes the listener`(stream: Stream) async throws {
    let bench = try await makeBench()
    let messaging = bench.messaging
    let known = stream == .tokenUpdates ? try await messaging.token() : nil
    let task = Task { await stream.read(messaging) { $0 == known } }
    await waitForListener(stream, bench)
    _ = try await stream.produce(1, bench)
    await task.value
    expectListeners(0, stream, bench)
    await bench.end()
  }

  @Test(arguments: Stream.allCases)
  func `a stream ends with the app, after the earlier messages, and one of a deleted app at once`(
    stream: Stream
  ) async throws {
    let bench = try await makeBench()
    let messaging = bench.messaging
    let seen = EventLog<String>(patience: .seconds(300))
    let task = Task {
      await stream.read(messaging) { element in
        seen.record(element)
        return true
      }
    }
    await waitForListener(stream, bench)
    let last = try await stream.produce(1, bench)
    messaging.end()
    await task.value
    // Messages that were announced before the end have arrived when the stream ends.
    #expect(seen.events.last == last)
    expectListeners(0, stream, bench)
    await stream.read(messaging) { _ in true }
    expectListeners(0, stream, bench)
    await bench.app.delete()
  }
}
