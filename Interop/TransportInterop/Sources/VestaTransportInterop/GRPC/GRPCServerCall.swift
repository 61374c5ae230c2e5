import VestaConcurrency
import VestaServiceInterop

/// The server's end of a call with streams.
public final class GRPCServerCall: Sendable {
  private struct State: Sendable {
    var metadata: HTTPFields = [:]
    /// The reply that waits for the head.
    var head: Turn<HTTPResponse>?
    var response: HTTPResponse?
    var isEnded = false
    var task: Task<Void, Never>?
    var onEnd: (@Sendable () -> Void)?
  }

  /// The requests of the caller, until it has said that none follows.
  public let requests: GRPCMessages

  private let output: ByteStream
  private let options: GRPCOptions
  private let state = Locked(State())

  init(_ requests: GRPCMessages, _ options: GRPCOptions) {
    self.requests = requests
    self.options = options
    output = ByteStream(limit: options.streamBytes)
  }

  /// Sets the fields before the first response; without effect after it.
  public func setMetadata(_ metadata: HTTPFields) { state.withLock { $0.metadata = metadata } }

  /// Sends a response, and waits while the caller lags.
  ///
  /// - Throws: ``TransportError`` with `.closed` when the caller has left; `CancellationError`.
  public func send(_ message: [UInt8]) async throws {
    begin()
    try await output.write(try GRPCMessages.frame(message))
  }

  /// Sends several responses at once, and waits while the caller lags.
  ///
  /// - Throws: As ``send(_:)-([UInt8])``.
  public func send(_ frames: GRPCFrames) async throws {
    begin()
    try await output.write(frames.bytes)
  }

  /// Sends a response without waiting.
  ///
  /// - Returns: Whether the caller keeps up.
  @discardableResult
  public func offer(_ message: [UInt8]) -> Bool {
    begin()
    var frame: [UInt8] = []
    GRPCMessageMachine.write(message, into: &frame)
    return output.offer(frame)
  }

  /// Sends several responses at once without waiting.
  ///
  /// - Returns: Whether the caller keeps up.
  @discardableResult
  public func offer(_ frames: GRPCFrames) -> Bool {
    begin()
    return output.offer(frames.bytes)
  }

  /// Whether the caller keeps up with the responses.
  public var keepsUp: Bool { output.pipe.hasRoom }

  /// Ends the call with a status, and cancels the task that serves it.
  ///
  /// For a call whose task may be waiting for a caller that reads nothing. Without effect after the end.
  public func fail(_ error: GRPCError) { end(error, cancelsTask: true) }

  // MARK: The handler's side

  /// Runs the closure of the method until the call has ended.
  func start(
    on executor: (any TaskExecutor)?, onEnd: @escaping @Sendable () -> Void,
    _ serve: @escaping @Sendable (GRPCServerCall) async throws -> Void
  ) {
    output.pipe.setDemand(nil, onCancel: { [weak self] in self?.cancel() })
    let task = Task(executorPreference: executor) { [self] in
      do {
        try await serve(self)
        end(nil)
      } catch {
        end(GRPCError(error))
      }
    }
    let isEnded = state.withLock { state in
      if state.isEnded { return true }
      state.task = task
      state.onEnd = onEnd
      return false
    }
    if isEnded { onEnd() }
  }

  /// The head of the response, as soon as there is a message, or the status.
  func response() async throws -> HTTPResponse {
    do {
      return try await Turn<HTTPResponse>().wait { turn in
        let response = state.withLock { state in
          if state.response == nil { state.head = turn }
          return state.response
        }
        if let response { turn.begin()?.resume(returning: response) }
      }
    } catch {
      cancel()
      throw error
    }
  }

  private func begin() {
    let (turn, response) = state.withLock { state -> (Turn<HTTPResponse>?, HTTPResponse?) in
      guard state.response == nil, !state.isEnded else { return (nil, nil) }
      let fields = GRPCWire.head(state.metadata, options.compression)
      let response = HTTPResponse(fields: fields, body: .stream(output))
      state.response = response
      return (state.head.take(), response)
    }
    if let response { turn?.begin()?.resume(returning: response) }
  }

  /// Ends the call with a status; a later end is ignored.
  func end(_ error: GRPCError?, cancelsTask: Bool = false) {
    // Success without a message has a head and trailers, as all streams have.
    if error == nil { begin() }
    let trailers = GRPCWire.trailers(error)
    let ended = state.withLock { state -> State? in
      guard !state.isEnded else { return nil }
      var ended = state
      if state.response == nil {
        // Nothing was sent: the head is all there is.
        var fields = GRPCWire.head(state.metadata, options.compression)
        fields.append(contentsOf: trailers)
        state.response = HTTPResponse(fields: fields)
        ended.response = state.response
      } else {
        ended.head = nil
      }
      state.isEnded = true
      state.task = nil
      state.onEnd = nil
      state.head = nil
      return ended
    }
    guard let ended else { return }
    output.finish(trailers: trailers)
    if let response = ended.response { ended.head?.begin()?.resume(returning: response) }
    if cancelsTask { ended.task?.cancel() }
    ended.onEnd?()
  }

  /// The caller has left.
  private func cancel() { end(GRPCError(.cancelled, "The caller has left."), cancelsTask: true) }
}
