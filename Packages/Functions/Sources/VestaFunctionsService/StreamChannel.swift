import VestaBytes
import VestaConcurrency
import VestaFunctionsBackend

/// The messages between a function and its reader: a few may wait, then the function does.
final class StreamChannel: Sendable {
  /// The largest number of unread messages.
  private let capacity: Int

  private struct State {
    var unread: [JSONValue] = []
    var end: Result<JSONValue, any Error>?
    var reader: Turn<Void>?
    var writers: [Turn<Void>] = []
    var isAbandoned = false

    /// Whether messages are no longer taken.
    var isOver: Bool { isAbandoned || end != nil }
  }

  private let state = Locked(State())

  init(capacity: Int = FunctionsTuning().unreadMessages) { self.capacity = max(1, capacity) }

  /// The number of senders that wait for room, cancelled ones included; for tests.
  var waitingSenderCount: Int { state.withLock { $0.writers.count } }

  /// Sends a message, once there is room for it; messages after the function's end are left out.
  func send(_ message: JSONValue) async throws {
    while true {
      let reader = state.withLock { state -> (isSent: Bool, reader: Turn<Void>?) in
        if state.isOver { return (true, nil) }
        guard state.unread.count < capacity else { return (false, nil) }
        state.unread.append(message)
        return (true, state.reader.take())
      }
      if reader.isSent {
        reader.reader?.begin()?.resume()
        return
      }
      try await Turn<Void>().wait { turn in
        let isFull = state.withLock { state in
          let isFull = state.unread.count >= capacity && !state.isOver
          if isFull { state.writers.append(turn) }
          return isFull
        }
        if !isFull { turn.begin()?.resume() }
      }
    }
  }

  /// The function has ended.
  func finish(_ result: Result<JSONValue, any Error>) {
    let (reader, writers) = state.withLock { state in
      if state.end == nil { state.end = result }
      defer { state.writers = [] }
      return (state.reader.take(), state.writers)
    }
    reader?.begin()?.resume()
    for writer in writers { writer.begin()?.resume() }
  }

  /// The next message, then the result, then `nil`.
  func next() async throws -> FunctionEvent? {
    while true {
      let step = state.withLock { state -> Step in
        if !state.unread.isEmpty { return .event(.message(state.unread.removeFirst())) }
        switch state.end {
        case .success(let result):
          state.end = .failure(StreamIsOver())
          return .event(.result(result))
        case .failure(let error): return .end(error)
        case nil: return .wait
        }
      }
      switch step {
      case .event(let event):
        wakeWriter()
        return event
      case .end(let error):
        state.withLock { $0.end = .failure(StreamIsOver()) }
        if error is StreamIsOver { return nil }
        throw error
      case .wait: try await waitForMessage()
      }
    }
  }

  /// The reader has left: nothing more is kept for it.
  func abandon() {
    let writers = state.withLock { state in
      state.isAbandoned = true
      state.unread = []
      defer { state.writers = [] }
      return state.writers
    }
    for writer in writers { writer.begin()?.resume() }
  }

  /// Resumes the sender that has waited longest; cancelled ones do not count.
  private func wakeWriter() {
    while let writer = state.withLock({ $0.writers.isEmpty ? nil : $0.writers.removeFirst() }) {
      if let continuation = writer.begin() { return continuation.resume() }
    }
  }

  private func waitForMessage() async throws {
    try await Turn<Void>().wait { turn in
      let isThere = state.withLock { state in
        let isThere = !state.unread.isEmpty || state.end != nil
        if !isThere { state.reader = turn }
        return isThere
      }
      if isThere { turn.begin()?.resume() }
    }
  }

  private enum Step {
    case event(FunctionEvent)
    case end(any Error)
    case wait
  }

  private struct StreamIsOver: Error {}
}
