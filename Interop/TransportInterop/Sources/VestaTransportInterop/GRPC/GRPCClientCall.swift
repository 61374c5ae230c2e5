import VestaConcurrency
import VestaServiceInterop

/// The client's end of a call with streams.
///
/// Requests and responses travel independently. Cancelling the task that reads, or dropping the call, cancels it.
public final class GRPCClientCall: Sendable {
  private struct State: Sendable {
    var head: Result<GRPCMessages, any Error>?
    var response: HTTPResponse?
    var waiting: [Turn<Void>] = []
    var task: Task<Void, Never>?
    var timer: ListenerRegistration?
    var isLate = false
    var isCancelled = false
  }

  private let upload: ByteStream
  private let options: GRPCOptions
  private let compression: @Sendable (HTTPResponse) throws -> TransportCompression?
  private let state = Locked(State())

  init(
    _ upload: ByteStream, _ options: GRPCOptions,
    compression: @escaping @Sendable (HTTPResponse) throws -> TransportCompression?
  ) {
    self.upload = upload
    self.options = options
    self.compression = compression
  }

  deinit { stop() }

  func start(_ request: HTTPRequest, on client: any HTTPClient, timeout: Duration) {
    let task = Task { [weak self] in
      do {
        let response = try await client.send(request, timeout: timeout)
        guard let self else { return response.body.stream.cancel() }
        began(response)
      } catch {
        self?.resolve(.failure(error), nil)
      }
    }
    state.withLock { $0.task = task }
  }

  /// Keeps the timer of the deadline.
  func end(with timer: ListenerRegistration) {
    let isOver = state.withLock { state in
      state.timer = timer
      return state.isCancelled
    }
    if isOver { timer.cancel() }
  }

  func expire() {
    state.withLock { $0.isLate = true }
    stop()
  }

  private func began(_ response: HTTPResponse) {
    do {
      try GRPCChannel.check(response)
      let messages = GRPCMessages(
        response.body.stream, limit: options.messageBytes, compression: try compression(response))
      resolve(.success(messages), response)
    } catch {
      response.body.stream.cancel()
      resolve(.failure(error), nil)
    }
  }

  private func resolve(_ head: Result<GRPCMessages, any Error>, _ response: HTTPResponse?) {
    let (waiting, isCancelled) = state.withLock { state in
      state.head = head
      state.response = response
      defer { state.waiting = [] }
      return (state.waiting, state.isCancelled)
    }
    if isCancelled { response?.body.stream.cancel() }
    for turn in waiting { turn.begin()?.resume() }
  }

  // MARK: Requests

  /// Sends a request, and waits while the server lags.
  ///
  /// - Throws: ``TransportError`` with `.closed` when the call is over, ``next()`` says why; `CancellationError`.
  public func send(_ message: [UInt8]) async throws { try await upload.write(try GRPCMessages.frame(message)) }

  /// Sends a request without waiting.
  ///
  /// - Returns: Whether the server keeps up.
  @discardableResult
  public func offer(_ message: [UInt8]) -> Bool {
    var frame: [UInt8] = []
    GRPCMessageMachine.write(message, into: &frame)
    return upload.offer(frame)
  }

  /// Says that no request follows.
  public func finish() { upload.finish() }

  // MARK: Responses

  /// The next response; `nil` when the call has succeeded, or was cancelled by ``cancel()``.
  ///
  /// - Throws: ``GRPCError`` with the status of the call; `CancellationError`, and the call is cancelled.
  public func next() async throws -> [UInt8]? {
    // Most responses have arrived with others: then nothing is waited for.
    if let message = opened?.takeReady() { return message }
    return try await read { try await $0.next() }
  }

  /// All responses that are there, at least one; `nil` as ``next()``.
  func nextBatch() async throws -> [[UInt8]]? { try await read { try await $0.nextBatch() } }

  /// The fields before the first response, as soon as they are there.
  ///
  /// - Throws: As ``next()``.
  public func metadata() async throws -> HTTPFields {
    _ = try await messages()
    return state.withLock { $0.response?.fields } ?? [:]
  }

  /// The fields after the last response; they are there when ``next()`` has returned `nil`.
  public var trailers: HTTPFields { state.withLock { $0.response }?.body.stream.trailers ?? [:] }

  private func read<Value>(_ take: (GRPCMessages) async throws -> Value?) async throws -> Value? {
    do {
      let messages = try await messages()
      if let value = try await take(messages) { return value }
      let fields = state.withLock { $0.response?.fields } ?? [:]
      if let error = GRPCWire.error(GRPCWire.hasStatus(fields) ? fields : trailers) { throw error }
      stop()
      return nil
    } catch {
      let state = state.withLock { $0 }
      stop()
      if state.isLate { throw GRPCError(.deadlineExceeded, "The deadline has passed.") }
      if Task.isCancelled { throw CancellationError() }
      if state.isCancelled { return nil }
      throw GRPCError(error)
    }
  }

  /// The messages of the response, if its head is there; `nil` for a task that is cancelled, which reads no more.
  private var opened: GRPCMessages? {
    guard !Task.isCancelled else { return nil }
    return state.withLock { state in
      guard !state.isCancelled, case .success(let messages) = state.head else { return nil }
      return messages
    }
  }

  /// The messages of the response, when its head is there.
  private func messages() async throws -> GRPCMessages {
    if let opened { return opened }
    try await Turn<Void>().wait { turn in
      let waits = state.withLock { state in
        guard state.head == nil, !state.isCancelled else { return false }
        state.waiting.append(turn)
        return true
      }
      if !waits { turn.begin()?.resume() }
    }
    guard let head = state.withLock({ $0.head }) else { throw CancellationError() }
    return try head.get()
  }

  // MARK: The end

  /// Cancels the call: the server is notified, and ``next()`` returns `nil`.
  public func cancel() { stop() }

  private func stop() {
    let state = state.withLock { state in
      defer {
        state.isCancelled = true
        state.waiting = []
        state.timer = nil
      }
      return state
    }
    guard !state.isCancelled else { return }
    state.timer?.cancel()
    state.task?.cancel()
    state.response?.body.stream.cancel()
    upload.cancel()
    for turn in state.waiting { turn.begin()?.resume() }
  }
}
