import Dispatch

/// A mailbox with room for one element: an element that arrives while one waits is merged with it.
///
/// The merge is the caller's code and runs without the lock. So the poster takes the waiting element out, merges,
/// and puts the outcome back; later elements are queued, and the same thread merges that too, up to 256
/// elements: the rest is merged on a queue. When 64 elements are queued, because merging is slower than posting,
/// posters wait for the merging: so memory stays bounded.
final class SnapshotMailbox<Element: Sendable>: Sendable {
  private struct State {
    var waiting: Element?
    var incoming = Fifo<Element>()
    var isMerging = false
    var crowded: [DispatchSemaphore] = []
    var isClosed = false
    var isAbandoned = false
    var error: (any Error)?
    var consumers = Fifo<CheckedContinuation<Element?, any Error>>()

    /// The answer to a consumer now; `nil` if it has to wait.
    mutating func answer() -> Result<Element?, any Error>? {
      if isAbandoned { return .success(nil) }
      if let element = waiting.take() { return .success(element) }
      guard isClosed, !isMerging else { return nil }
      if let error = error.take() { return .failure(error) }
      return .success(nil)
    }
  }

  private let state = Locked(State())
  private let merge: @Sendable (Element, Element) -> Element
  let lifeline = StreamLifeline()

  init(merge: @escaping @Sendable (Element, Element) -> Element) { self.merge = merge }

  /// The number of consumers that wait.
  var consumerCount: Int { state.withLock { $0.consumers.count } }

  /// Puts an element in.
  func post(_ element: Element) {
    // A merge that posts must not wait for itself.
    let mayWait = !ThreadHoldings.contains(ObjectIdentifier(self))
    let (isMine, room) = state.withLock { state -> (Bool, DispatchSemaphore?) in
      guard !state.isClosed else { return (false, nil) }
      state.incoming.append(element)
      guard state.isMerging else {
        state.isMerging = true
        return (true, nil)
      }
      guard mayWait, state.incoming.count > Self.crowd else { return (false, nil) }
      let room = DispatchSemaphore(value: 0)
      state.crowded.append(room)
      return (false, room)
    }
    room?.wait()
    if isMine { mergeSome() }
  }

  private static var crowd: Int { 64 }
  private static var turn: Int { 256 }

  /// No more elements: present elements can still be taken, followed by the end, or `error`.
  func finish(throwing error: (any Error)?) {
    let consumers = state.withLock { state -> [CheckedContinuation<Element?, any Error>] in
      guard !state.isClosed else { return [] }
      state.isClosed = true
      // A snapshot that is being merged is delivered to a waiting consumer by the thread that merges.
      guard !state.isMerging else {
        state.error = error
        return []
      }
      let consumers = state.consumers.takeAll()
      if consumers.isEmpty { state.error = error }
      return consumers
    }
    lifeline.cut()
    resume(consumers, error: error)
  }

  /// The consumer was released: nothing is kept, and waiting tasks get the end.
  func abandon() {
    let (consumers, dropped) = state.withLock { state in
      state.isClosed = true
      state.isAbandoned = true
      let dropped = (state.waiting.take(), state.incoming.takeAll(), state.error.take())
      return (state.consumers.takeAll(), dropped)
    }
    withExtendedLifetime(dropped) {}
    lifeline.cut()
    resume(consumers, error: nil)
  }

  /// Takes what is in, or waits for it.
  ///
  /// `nil` is the end, also for a task that was cancelled.
  func next() async throws -> Element? {
    // A snapshot that is ready needs no continuation.
    if !Task.isCancelled, let answer = state.withLock({ $0.answer() }) { return try answer.get() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        take(continuation)
      }
    } onCancel: {
      abandon()
    }
  }

  private func take(_ consumer: CheckedContinuation<Element?, any Error>) {
    let answer = state.withLock { state in
      let answer = state.answer()
      if answer == nil { state.consumers.append(consumer) }
      return answer
    }
    if let answer { consumer.resume(with: answer) }
  }

  /// Merges what is queued, up to a limit, after which it continues elsewhere.
  private func mergeSome() {
    var count = 0
    while let (waiting, new) = takeForMerging() {
      let merged =
        if let waiting { ThreadHoldings.hold(ObjectIdentifier(self), while: { merge(waiting, new) }) } else { new }
      putBack(merged)
      count += 1
      if count == Self.turn { return DispatchQueue.global().async { self.mergeSome() } }
    }
  }

  private func takeForMerging() -> (Element?, Element)? {
    let (work, crowded, consumers, error) = state.withLock {
      state -> (
        (Element?, Element)?, [DispatchSemaphore], [CheckedContinuation<Element?, any Error>], (any Error)?
      ) in
      let new = state.incoming.popFirst()
      let crowded = state.incoming.count * 2 <= Self.crowd ? state.crowded : []
      if !crowded.isEmpty { state.crowded = [] }
      if let new { return ((state.waiting.take(), new), crowded, [], nil) }
      state.isMerging = false
      let consumers = state.isClosed ? state.consumers.takeAll() : []
      return (nil, crowded, consumers, consumers.isEmpty ? nil : state.error.take())
    }
    for semaphore in crowded { semaphore.signal() }
    resume(consumers, error: error)
    return work
  }

  private func putBack(_ element: Element) {
    let consumer = state.withLock { state in
      let consumer = state.consumers.popFirst()
      if consumer == nil, !state.isAbandoned { state.waiting = element }
      return consumer
    }
    consumer?.resume(returning: element)
  }

  /// Ends the wait of `consumers`: the first of them gets the error.
  private func resume(_ consumers: [CheckedContinuation<Element?, any Error>], error: (any Error)?) {
    for (index, consumer) in consumers.enumerated() {
      if index == 0, let error { consumer.resume(throwing: error) } else { consumer.resume(returning: nil) }
    }
  }
}
