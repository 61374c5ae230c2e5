import VestaBytes
import VestaConcurrency
import VestaFirestoreWire
import VestaServiceInterop

/// The backend's stream of a session: earlier messages wait for its opening.
final class WebChannelSource<Request: Sendable, Response: Sendable>: Sendable {
  private struct State {
    var call: DuplexCall<Request, Response>?
    var early: [Request] = []
    /// The lengths of the requests that have no response yet.
    var unanswered = Fifo<Int>()
    var waitingBytes = 0
    /// Why a message of the browser cannot be a request; the messages after it are of no interest.
    var refusal: ServiceStatus?
    var task: Task<Void, Never>?
    var isOver = false
  }

  private let isAnswered: Bool
  private let state = Locked(State())

  /// - Parameter isAnswered: Whether each request has one response, in their order.
  init(isAnswered: Bool) { self.isAnswered = isAnswered }

  /// The bytes of the requests that have no response yet.
  var waitingBytes: Int { state.withLock { $0.waitingBytes } }

  func run(_ work: @escaping @Sendable () async -> Void) {
    let task = Task { await work() }
    let isOver = state.withLock { state in
      state.task = task
      return state.isOver
    }
    if isOver { task.cancel() }
  }

  func set(_ call: DuplexCall<Request, Response>) {
    while true {
      let early = state.withLock { state -> [Request] in
        defer { state.early = [] }
        if state.early.isEmpty || state.isOver { state.call = call }
        return state.early
      }
      if early.isEmpty { break }
      for request in early { call.send(request) }
    }
    if state.withLock({ $0.isOver }) { call.cancel() }
  }

  /// Takes a message of the browser.
  ///
  /// - Returns: The status with which the stream ends now; `nil` while it continues. One that cannot be read ends the
  ///   stream, as soon as those before it are answered: a browser takes the end for the answer to the first write that
  ///   has none.
  func take(_ text: String, as request: (JSONValue) throws -> Request?) -> ServiceStatus? {
    do {
      guard !text.isEmpty else { throw Self.tooLarge }
      let json = try JSONValue(json: Array(text.utf8), limits: WebChannelFrames.limits)
      if let request = try request(json) { send(request, text.utf8.count) }
      return nil
    } catch {
      let refusal = status(of: (error as? BytesError).map { BytesFailure(message: $0.message) } ?? error)
      return state.withLock { state in
        if state.refusal == nil { state.refusal = refusal }
        return state.unanswered.isEmpty ? state.refusal : nil
      }
    }
  }

  /// Notes responses.
  ///
  /// - Returns: The status with which the stream ends now; `nil` while it continues.
  func answered(_ count: Int) -> ServiceStatus? {
    state.withLock { state in
      for _ in 0..<count { state.waitingBytes -= state.unanswered.popFirst() ?? 0 }
      return state.unanswered.isEmpty ? state.refusal : nil
    }
  }

  private static var tooLarge: ServiceStatus {
    ServiceStatus(.invalidArgument, "Request payload size exceeds the limit: 10485760 bytes.")
  }

  private func send(_ request: Request, _ bytes: Int) {
    let call = state.withLock { state -> DuplexCall<Request, Response>? in
      guard state.refusal == nil else { return nil }
      if isAnswered {
        state.unanswered.append(bytes)
        state.waitingBytes += bytes
      }
      if state.call == nil { state.early.append(request) }
      return state.call
    }
    call?.send(request)
  }

  func cancel() {
    let (call, task) = state.withLock { state in
      state.isOver = true
      defer { state.task = nil }
      return (state.call, state.task)
    }
    call?.cancel()
    task?.cancel()
  }
}
