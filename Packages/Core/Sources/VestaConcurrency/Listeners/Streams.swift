// The one way to make a stream of a listener.
//
// The listener is added when the stream is made. It is removed at once when the consumer's task is cancelled, when the
// consumer leaves its loop, when the stream or its iterator is dropped, iterated or not, and when the listener reports
// the end or an error. (The standard stream and its iterator share one storage: a stream that is also kept in a
// variable lives on after the loop was left, until the variable is released.)
//
// The listener may be called back before `addListener` has returned, and may end the stream then.

extension AsyncStream where Element: Sendable {
  /// A stream of all events of a listener, none dropped, none merged.
  ///
  /// ```swift
  /// var authStateChanges: AsyncStream<User?> {
  ///   .events { sink in addStateDidChangeListener { sink.send($0) } }
  /// }
  /// ```
  ///
  /// - Parameter addListener: Adds a listener that writes to the sink, and returns what removes it.
  /// - Returns: The stream. Events that the consumer has not taken yet are buffered without a limit.
  public static func events(
    _ addListener: (StreamSink<Element>) -> ListenerRegistration
  ) -> AsyncStream<Element> {
    let (stream, continuation) = makeStream(of: Element.self, bufferingPolicy: .unbounded)
    let lifeline = StreamLifeline()
    // Before anything can end the stream: a handler that is set after the end never runs.
    continuation.onTermination = { _ in lifeline.cut() }
    lifeline.attach(
      addListener(StreamSink(put: { continuation.yield($0) }, end: { _ in continuation.finish() })))
    return stream
  }
}

extension AsyncThrowingStream where Element: Sendable, Failure == any Error {
  /// A stream of all events of a listener, none dropped, none merged; it can end with an error.
  ///
  /// - Parameter addListener: Adds a listener that writes to the sink, and returns what removes it.
  /// - Returns: The stream. Events that the consumer has not taken yet are buffered without a limit.
  public static func events(
    _ addListener: (StreamSink<Element>) -> ListenerRegistration
  ) -> AsyncThrowingStream<Element, any Error> {
    let (stream, continuation) = makeStream(of: Element.self, bufferingPolicy: .unbounded)
    let lifeline = StreamLifeline()
    // Before anything can end the stream: a handler that is set after the end never runs.
    continuation.onTermination = { _ in lifeline.cut() }
    lifeline.attach(
      addListener(StreamSink(put: { continuation.yield($0) }, end: { continuation.finish(throwing: $0) })))
    return stream
  }

  /// A stream of snapshots, in which the ones not yet taken are merged into one.
  ///
  /// At most one snapshot waits, so memory stays bounded however slow the consumer is; and it has everything that
  /// changed since the last one that the consumer took. The end or an error follows the waiting one. For a
  /// cancelled task the stream ends at once.
  ///
  /// ```swift
  /// var snapshots: AsyncThrowingStream<QuerySnapshot, any Error> {
  ///   .snapshots(merge: { waiting, new in new.withChanges(since: waiting) }) { sink in
  ///     addSnapshotListener { sink.send($0) }
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - merge: Makes one snapshot of the one that waits and the one that follows it. Called with no lock held, on the
  ///     thread that sends, in the order of sending.
  ///   - addListener: Adds a listener that writes to the sink, and returns what removes it.
  /// - Returns: The stream.
  public static func snapshots(
    merge: @escaping @Sendable (_ waiting: Element, _ new: Element) -> Element,
    _ addListener: (StreamSink<Element>) -> ListenerRegistration
  ) -> AsyncThrowingStream<Element, any Error> {
    snapshots(merge: merge, make: { $0 }, addListener)
  }

  /// A stream of snapshots that are made when the consumer takes them, of a state that is cheap to merge.
  ///
  /// For a producer with many consumers: one that lags costs the producer a merge of two states for each event, and
  /// neither the making of a snapshot nor anything that the program brings, such as decoding.
  ///
  /// - Parameters:
  ///   - merge: Makes one state of the one that waits and the one that follows it. Called with no lock held, on the
  ///     thread that sends, in the order of sending.
  ///   - make: Makes the snapshot. Called on the consumer's task; its error ends the stream.
  ///   - addListener: Adds a listener that writes states to the sink, and returns what removes it.
  /// - Returns: The stream.
  public static func snapshots<Waiting: Sendable>(
    merge: @escaping @Sendable (_ waiting: Waiting, _ new: Waiting) -> Waiting,
    make: @escaping @Sendable (Waiting) throws -> Element,
    _ addListener: (StreamSink<Waiting>) -> ListenerRegistration
  ) -> AsyncThrowingStream<Element, any Error> {
    let mailbox = SnapshotMailbox(merge: merge)
    mailbox.lifeline.attach(
      addListener(StreamSink(put: { mailbox.post($0) }, end: { mailbox.finish(throwing: $0) })))
    let reader = SnapshotReader(mailbox)
    return AsyncThrowingStream {
      guard let waiting = try await reader.mailbox.next() else { return nil }
      do { return try make(waiting) } catch {
        reader.mailbox.abandon()
        throw error
      }
    }
  }
}

extension ListenerRegistry {
  /// A stream of the events that are emitted from now on; it ends when the registry finishes.
  public var events: AsyncStream<Event> {
    .events { sink in add(onEnd: { sink.finish(throwing: $0) }, { sink.send($0) }) }
  }

  /// A stream of the events that are emitted from now on; it ends when the registry finishes, with its error if any.
  public var throwingEvents: AsyncThrowingStream<Event, any Error> {
    .events { sink in add(onEnd: { sink.finish(throwing: $0) }, { sink.send($0) }) }
  }

  /// A stream of the snapshots that are emitted from now on, merged while the consumer lags.
  ///
  /// - Parameter merge: Makes one snapshot of the one that waits and the one that follows it.
  /// - Returns: The stream; it ends when the registry finishes, with its error if any.
  public func snapshots(
    merge: @escaping @Sendable (_ waiting: Event, _ new: Event) -> Event
  ) -> AsyncThrowingStream<Event, any Error> {
    .snapshots(merge: merge) { sink in add(onEnd: { sink.finish(throwing: $0) }, { sink.send($0) }) }
  }
}

/// Owned by the stream alone, so that it is released with the stream and its iterators, and then removes the listener.
private final class SnapshotReader<Element: Sendable>: Sendable {
  let mailbox: SnapshotMailbox<Element>

  init(_ mailbox: SnapshotMailbox<Element>) { self.mailbox = mailbox }

  deinit { mailbox.abandon() }
}
