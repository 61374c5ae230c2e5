import VestaConcurrency
import VestaServiceInterop

/// The responses of a call that had one request.
final class GRPCReader: Sendable {
  private let body: ByteStream
  private let messages: GRPCMessages
  private let fields: HTTPFields
  private let isRepeatable: Bool
  /// The deadline, and the table that it is in.
  private let limit = Locked<(registration: ListenerRegistration, table: ServiceDeadlines)?>(nil)

  init(_ response: HTTPResponse, _ options: GRPCOptions, _ compression: TransportCompression?, isRepeatable: Bool) {
    body = response.body.stream
    messages = GRPCMessages(body, limit: options.messageBytes, compression: compression)
    fields = response.fields
    self.isRepeatable = isRepeatable
  }

  /// Ends the call at a time, unless it ends before.
  func limit(until deadline: Int64, by table: ServiceDeadlines) {
    let registration = table.add(at: deadline) { [body] in body.cancel() }
    limit.withLock { $0 = (registration, table) }
  }

  /// The responses that are there, at least one; `nil` after success.
  ///
  /// - Throws: ``GRPCError``; `CancellationError`.
  func nextBatch() async throws -> [[UInt8]]? {
    do {
      if let batch = try await messages.nextBatch() { return batch }
      if let error = GRPCWire.error(GRPCWire.hasStatus(fields) ? fields : body.trailers) { throw error }
      return nil
    } catch is CancellationError {
      if Task.isCancelled { throw CancellationError() }
      throw GRPCError(.deadlineExceeded, "The deadline has passed.")
    } catch let error as TransportError {
      throw GRPCError(error, isRepeatable: isRepeatable)
    }
  }

  /// Leaves the call, or notes its end.
  func cancel() {
    limit.withLock { $0.take() }?.registration.cancel()
    body.cancel()
  }
}

/// A call of gRPC with its requests and responses as values.
///
/// Owned by the responses alone: dropping them ends the call.
final class GRPCDuplex<Request: Sendable>: Sendable {
  private enum Phase: Sendable {
    case open
    /// The caller has said that no request follows.
    case finished
    case cancelled
    /// A request could not be written.
    case failed(any Error)
  }

  private let call: GRPCClientCall
  private let encode: @Sendable (Request) throws -> [UInt8]
  private let failure: @Sendable (any Error) -> any Error
  private let phase = Locked(Phase.open)

  init(
    _ call: GRPCClientCall, _ encode: @escaping @Sendable (Request) throws -> [UInt8],
    failure: @escaping @Sendable (any Error) -> any Error
  ) {
    self.call = call
    self.encode = encode
    self.failure = failure
  }

  deinit { call.cancel() }

  /// The caller's end.
  func call<Response: Sendable>(
    _ decode: @escaping @Sendable ([UInt8]) throws -> Response?
  ) -> DuplexCall<Request, Response> {
    DuplexCall(
      responses: AsyncThrowingStream { try await self.next(decode) },
      send: { [weak self] in self?.send($0) }, finish: { [weak self] in self?.finish() },
      cancel: { [weak self] in self?.cancel() })
  }

  private func next<Response: Sendable>(
    _ decode: @Sendable ([UInt8]) throws -> Response?
  ) async throws -> [Response]? {
    do {
      guard let batch = try await call.nextBatch() else {
        try end()
        return nil
      }
      return try batch.compactMap(decode)
    } catch is CancellationError {
      return nil
    } catch {
      call.cancel()
      if case .cancelled = phase.withLock({ $0 }) { return nil }
      throw failure(error)
    }
  }

  /// Whether the responses have ended in order.
  private func end() throws {
    switch phase.withLock({ $0 }) {
    case .finished, .cancelled: return
    case .failed(let error): throw error
    case .open: throw GRPCError(.unavailable, "The service has ended a call that is still needed.")
    }
  }

  private func send(_ request: Request) {
    do {
      call.offer(try encode(request))
    } catch {
      let invalid = ServiceStatus(.invalidArgument, "Invalid request: \(error)")
      phase.withLock { if case .open = $0 { $0 = .failed(invalid) } }
      call.cancel()
    }
  }

  private func finish() {
    phase.withLock { if case .open = $0 { $0 = .finished } }
    call.finish()
  }

  private func cancel() {
    phase.withLock { $0 = .cancelled }
    call.cancel()
  }
}
