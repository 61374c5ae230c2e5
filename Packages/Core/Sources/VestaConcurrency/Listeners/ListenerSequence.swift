/// The events of a listener as an asynchronous sequence: each loop over it has a separate listener.
///
/// The listener is added when a loop begins, and removed at once when the loop is left, its task is cancelled, or its
/// iterator is dropped.
///
/// ```swift
/// public typealias AuthStateChangesSequence = ListenerSequence<User?>
///
/// public var authStateChanges: AuthStateChangesSequence {
///   ListenerSequence { [self] in .events { sink in addStateListener { sink.send($0) } } }
/// }
/// ```
public struct ListenerSequence<Element: Sendable>: AsyncSequence, Sendable {
  /// It never fails.
  public typealias Failure = Never

  private let makeStream: @Sendable () -> AsyncStream<Element>

  /// A sequence.
  ///
  /// - Parameter makeStream: Adds a listener and returns its stream; called once for each loop.
  public init(_ makeStream: @escaping @Sendable () -> AsyncStream<Element>) { self.makeStream = makeStream }

  /// Adds a listener, which is removed with the iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(makeStream()) }

  /// Reads the events of one listener; it belongs to one task.
  public struct Iterator: AsyncIteratorProtocol {
    private var base: AsyncStream<Element>.Iterator

    init(_ stream: AsyncStream<Element>) { base = stream.makeAsyncIterator() }

    /// Waits for the next event; `nil` at the end.
    public mutating func next() async -> Element? { await base.next(isolation: #isolation) }
  }
}

/// The events of a listener that can fail, as an asynchronous sequence: each loop over it has a separate listener.
///
/// Keeps the promises of ``ListenerSequence``; an error of the listener is thrown by the loop.
public struct ThrowingListenerSequence<Element: Sendable>: AsyncSequence, Sendable {
  /// The error that the listener reports.
  public typealias Failure = any Error

  private let makeStream: @Sendable () -> AsyncThrowingStream<Element, any Error>

  /// A sequence.
  ///
  /// - Parameter makeStream: Adds a listener and returns its stream; called once for each loop.
  public init(_ makeStream: @escaping @Sendable () -> AsyncThrowingStream<Element, any Error>) {
    self.makeStream = makeStream
  }

  /// Adds a listener, which is removed with the iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(makeStream()) }

  /// Reads the events of one listener; it belongs to one task.
  public struct Iterator: AsyncIteratorProtocol {
    private var base: AsyncThrowingStream<Element, any Error>.Iterator

    init(_ stream: AsyncThrowingStream<Element, any Error>) { base = stream.makeAsyncIterator() }

    /// Waits for the next event; `nil` at the end.
    public mutating func next() async throws -> Element? { try await base.next(isolation: #isolation) }
  }
}

@available(*, unavailable, message: "An iterator belongs to the task that reads it.")
extension ListenerSequence.Iterator: Sendable {}

@available(*, unavailable, message: "An iterator belongs to the task that reads it.")
extension ThrowingListenerSequence.Iterator: Sendable {}
