import VestaConcurrency
import VestaFunctionsBackend
import VestaFunctionsWire
import VestaServiceInterop
import VestaTransportInterop

/// The reader's end of a streaming call: opens it when it is first read, and leaves it when it is no longer read.
final class RemoteEvents: Sendable {
  typealias Opened = (stream: ByteStream, failure: @Sendable (any Error) -> FunctionsServiceError)

  private struct State {
    var opened: Opened?
    var timer: ListenerRegistration?
    var reader: ServerSentEventReader
    var unread: [ServerSentEvent] = []
    var isOver = false
    var isLate = false
  }

  private let clock: ServiceClock
  private let deadline: Int64?
  private let open: @Sendable () async throws -> Opened
  private let state: Locked<State>

  /// - Parameters:
  ///   - clock: The clock of the deadline.
  ///   - deadline: Until when the end of the stream is wanted.
  ///   - limit: The largest event, in bytes.
  ///   - open: Opens the stream.
  init(clock: ServiceClock, deadline: Int64?, limit: Int, open: @escaping @Sendable () async throws -> Opened) {
    self.clock = clock
    self.deadline = deadline
    self.open = open
    state = Locked(State(reader: ServerSentEventReader(limit: limit)))
  }

  deinit { leave() }

  /// The next message, then the result, then `nil`.
  func next() async throws -> FunctionEvent? {
    do {
      return try await event()
    } catch {
      leave()
      throw error
    }
  }

  private func event() async throws -> FunctionEvent? {
    if state.withLock({ $0.isOver }) { return nil }
    let opened = try await openedStream()
    while true {
      if let event = state.withLock({ $0.unread.isEmpty ? nil : $0.unread.removeFirst() }) {
        let event = try CallableWire.event(data: Array(event.data.utf8))
        if case .result = event { leave() }
        return event
      }
      do {
        guard let bytes = try await opened.stream.next() else { throw Self.noResult }
        try state.withLock { state in state.unread += try state.reader.read(bytes) }
      } catch {
        throw state.withLock { $0.isLate } ? Self.late : opened.failure(error)
      }
    }
  }

  private func openedStream() async throws -> Opened {
    if let opened = state.withLock({ $0.opened }) { return opened }
    let opened = try await open()
    let timer = deadline.map { deadline in
      clock.schedule(at: deadline) { [weak self, weak stream = opened.stream] in
        self?.state.withLock { $0.isLate = true }
        stream?.cancel()
      }
    }
    state.withLock { ($0.opened, $0.timer) = (opened, timer) }
    return opened
  }

  private func leave() {
    let (opened, timer) = state.withLock { state in
      state.isOver = true
      return (state.opened.take(), state.timer.take())
    }
    timer?.cancel()
    opened?.stream.cancel()
  }

  private static let noResult = FunctionsServiceError(.dataLoss, "The stream has ended before its result.")

  private static let late = FunctionsServiceError(.deadlineExceeded, "DEADLINE EXCEEDED")
}
