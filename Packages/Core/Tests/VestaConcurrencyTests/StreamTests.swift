import Dispatch
import Testing
import VestaTesting

@testable import VestaConcurrency

/// A source of events that knows whether it has a listener.
final class Spy<Element: Sendable>: Sendable {
  private struct State {
    var sink: StreamSink<Element>?
    var added = 0
    var removed = 0
  }

  private let state = Locked(State())
  let removal = Gate()

  var added: Int { state.withLock { $0.added } }
  var removed: Int { state.withLock { $0.removed } }

  func add(_ sink: StreamSink<Element>) -> ListenerRegistration {
    state.withLock { state in
      state.sink = sink
      state.added += 1
    }
    return ListenerRegistration {
      self.state.withLock { $0.removed += 1 }
      self.removal.open()
    }
  }

  func send(_ element: Element) { state.withLock { $0.sink }?.send(element) }

  func finish(throwing error: (any Error)? = nil) { state.withLock { $0.sink }?.finish(throwing: error) }
}

/// The three kinds of streams, for the promises that they share.
enum Kind: String, CaseIterable, Sendable {
  case events, throwingEvents, snapshots

  func stream(of spy: Spy<[Int]>) -> AsyncThrowingStream<[Int], any Error> {
    switch self {
    case .events: AsyncThrowingStream(wrapping: AsyncStream.events { spy.add($0) })
    case .throwingEvents: .events { spy.add($0) }
    case .snapshots: .snapshots(merge: { $0 + $1 }) { spy.add($0) }
    }
  }
}

extension AsyncThrowingStream where Failure == any Error, Element: Sendable {
  /// The same stream with a wider type: pulls the other one, which is released with this one.
  fileprivate init(wrapping stream: AsyncStream<Element>) {
    // Sound: the iterator is used by one `next()` at a time, that of the wrapping stream.
    nonisolated(unsafe) var iterator = stream.makeAsyncIterator()
    self.init { await iterator.next() }
  }
}

@Suite struct StreamTests {
  @Test(arguments: Kind.allCases) func `a stream registers on start, yields in order and ends`(kind: Kind) async throws
  {
    let spy = Spy<[Int]>()
    let stream = kind.stream(of: spy)
    #expect(spy.added == 1 && spy.removed == 0)
    for number in 1...3 {
      spy.send([number])
      #expect(try await next(of: stream) == [number])
    }
    spy.finish()
    #expect(spy.removed == 1)
    #expect(try await next(of: stream) == nil)
    #expect(try await next(of: stream) == nil)
    #expect(spy.added == 1 && spy.removed == 1)
  }

  @Test(arguments: Kind.allCases) func `a consumer that waits gets the next elements`(kind: Kind) async throws {
    let (spy, seen) = (Spy<[Int]>(), Log<[Int]>())
    let (stream, got) = (kind.stream(of: spy), Gate())
    let consumer = Task {
      for try await element in stream {
        seen.add(element)
        got.open()
      }
    }
    spy.send([1])
    await got.wait()
    spy.finish()
    try await consumer.value
    #expect(seen.entries == [[1]])
    #expect(spy.removed == 1)
  }

  @Test(arguments: Kind.allCases) func `cancelling the task removes the listener at once`(kind: Kind) async throws {
    let spy = Spy<[Int]>()
    let (stream, got) = (kind.stream(of: spy), Gate())
    let consumer = Task {
      for try await _ in stream { got.open() }
      return Task.isCancelled
    }
    spy.send([1])
    await got.wait()
    #expect(spy.removed == 0)
    consumer.cancel()
    // The handler runs inside cancel(), or as soon as the consumer asks for the next element.
    await spy.removal.wait()
    #expect(try await consumer.value)
    spy.send([2])
    #expect(spy.removed == 1)
  }

  @Test(arguments: Kind.allCases) func `a task cancelled before it starts removes the listener`(kind: Kind) async throws
  {
    let (spy, gate) = (Spy<[Int]>(), Gate())
    let stream = kind.stream(of: spy)
    let consumer = Task {
      await gate.wait()
      for try await _ in stream {}
    }
    consumer.cancel()
    gate.open()
    try await consumer.value
    #expect(spy.removed == 1)
  }

  @Test(arguments: Kind.allCases) func `leaving the loop removes the listener`(kind: Kind) async throws {
    let spy = Spy<[Int]>()
    func consume() async throws {
      for try await element in startedStream() where element == [1] { break }
    }
    func startedStream() -> AsyncThrowingStream<[Int], any Error> {
      defer { spy.send([1]) }
      return kind.stream(of: spy)
    }
    try await consume()
    #expect(spy.removed == 1)
  }

  @Test(arguments: Kind.allCases) func `dropping the iterator removes the listener`(kind: Kind) async throws {
    let spy = Spy<[Int]>()
    var iterator: AsyncThrowingStream<[Int], any Error>.AsyncIterator? = kind.stream(of: spy).makeAsyncIterator()
    spy.send([1])
    #expect(try await iterator?.next() == [1])
    #expect(spy.removed == 0)
    iterator = nil
    #expect(spy.removed == 1)
  }

  @Test(arguments: Kind.allCases) func `dropping a stream that was never iterated removes the listener`(kind: Kind) {
    let spy = Spy<[Int]>()
    var stream: AsyncThrowingStream<[Int], any Error>? = kind.stream(of: spy)
    #expect(spy.added == 1 && spy.removed == 0)
    _ = stream
    stream = nil
    #expect(spy.removed == 1)
  }

  @Test(arguments: [Kind.throwingEvents, .snapshots])
  func `an error follows the elements and removes the listener`(kind: Kind) async throws {
    let spy = Spy<[Int]>()
    let stream = kind.stream(of: spy)
    spy.send([1])
    spy.finish(throwing: Failure(4))
    #expect(spy.removed == 1)
    spy.send([2])
    #expect(try await next(of: stream) == [1])
    await #expect(throws: Failure(4)) { try await next(of: stream) }
    #expect(try await next(of: stream) == nil)
    #expect(spy.removed == 1)
  }

  @Test(arguments: [Kind.throwingEvents, .snapshots])
  func `an error reaches a consumer that waits`(kind: Kind) async throws {
    let spy = Spy<[Int]>()
    let (stream, got) = (kind.stream(of: spy), Gate())
    let consumer = Task { for try await _ in stream { got.open() } }
    spy.send([1])
    await got.wait()
    spy.finish(throwing: Failure(4))
    await #expect(throws: Failure(4)) { try await consumer.value }
    #expect(spy.removed == 1)
  }

  @Test func `a listener that ends before its registration is there is removed too`() async throws {
    for isThrowing in [false, true] {
      let removed = Log<Bool>()
      let add = { @Sendable (sink: StreamSink<[Int]>) -> ListenerRegistration in
        sink.send([1])
        sink.finish()
        return ListenerRegistration { removed.add(true) }
      }
      let streams: [AsyncThrowingStream<[Int], any Error>] =
        isThrowing
        ? [.events(add), .snapshots(merge: { $0 + $1 }, add)] : [AsyncThrowingStream(wrapping: .events(add))]
      #expect(removed.entries.count == streams.count)
      for stream in streams {
        var elements: [[Int]] = []
        for try await element in stream { elements.append(element) }
        #expect(elements == [[1]])
      }
      #expect(removed.entries.count == streams.count)
    }
  }

  @Test func `results become elements and errors`() async throws {
    let stream = AsyncThrowingStream<Int, any Error>.events { sink in
      sink.send(.success(1))
      sink.send(.failure(Failure(2)))
      return ListenerRegistration {}
    }
    #expect(try await next(of: stream) == 1)
    await #expect(throws: Failure(2)) { try await next(of: stream) }
  }

  @Test func `events are never dropped however slow the consumer`() async throws {
    let spy = Spy<[Int]>()
    for kind in [Kind.events, .throwingEvents] {
      let stream = kind.stream(of: spy)
      for number in 0..<10_000 { spy.send([number]) }
      spy.finish()
      var expected = 0
      for try await element in stream {
        if element != [expected] { Issue.record("\(element) instead of \(expected)") }
        expected += 1
      }
      #expect(expected == 10_000)
    }
  }

  @Test func `a registry makes streams that end with it`() async throws {
    let registry = ListenerRegistry<Int>()
    let (plain, throwing) = (registry.events, registry.throwingEvents)
    let merged = registry.snapshots(merge: +)
    #expect(registry.count == 3)
    registry.emit(1)
    registry.emit(2)
    registry.finish(throwing: Failure(3))
    #expect(registry.count == 0)
    var elements: [Int] = []
    for await element in plain { elements.append(element) }
    #expect(elements == [1, 2])
    let all = Log<Int>()
    await #expect(throws: Failure(3)) { for try await element in throwing { all.add(element) } }
    await #expect(throws: Failure(3)) { for try await element in merged { all.add(element) } }
    #expect(all.entries == [1, 2, 3])
  }

  @Test func `a stream of a registry is removed from it when dropped`() {
    let registry = ListenerRegistry<Int>()
    _ = registry.events
    _ = registry.throwingEvents
    _ = registry.snapshots { $1 }
    #expect(registry.count == 0)
  }

  @Test func `everything is released when a stream ends`() async throws {
    let released = Log<String>()
    func make(_ kind: Kind) -> (AsyncThrowingStream<[Int], any Error>, Spy<[Int]>) {
      let (spy, witness) = (Spy<[Int]>(), Witness { released.add(kind.rawValue) })
      let stream: AsyncThrowingStream<[Int], any Error>
      switch kind {
      case .snapshots:
        stream = .snapshots(merge: { $0 + $1 }) { sink in
          let registration = spy.add(sink)
          return ListenerRegistration { withExtendedLifetime(witness) { registration.cancel() } }
        }
      default:
        stream = .events { sink in
          let registration = spy.add(sink)
          return ListenerRegistration { withExtendedLifetime(witness) { registration.cancel() } }
        }
      }
      return (stream, spy)
    }
    for kind in [Kind.throwingEvents, .snapshots] {
      let (stream, spy) = make(kind)
      spy.send([1])
      spy.finish()
      for try await _ in stream {}
    }
    #expect(released.entries == ["throwingEvents", "snapshots"])
  }
}
