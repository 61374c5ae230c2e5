import VestaConcurrency
public import VestaServiceInterop

extension HTTPBody {
  /// Reads the whole body within a time: a peer that has sent the head may send the rest slowly, or never.
  ///
  /// - Parameters:
  ///   - limit: The largest number of bytes that is accepted.
  ///   - time: How long the body may take.
  ///   - clock: The clock of the time.
  /// - Returns: The bytes.
  /// - Throws: As ``collect(upTo:)``; ``TransportError`` with `.timedOut`, the rest is then refused.
  public func collect(upTo limit: Int, within time: Duration, by clock: ServiceClock) async throws -> [UInt8] {
    guard case .stream(let stream, _) = self else { return try await collect(upTo: limit) }
    let isLate = Locked(false)
    let timer = clock.schedule(after: time) {
      isLate.withLock { $0 = true }
      stream.cancel()
    }
    defer { timer.cancel() }
    do {
      return try await collect(upTo: limit)
    } catch is CancellationError where isLate.withLock({ $0 }) {
      throw TransportError(.timedOut, "The body has not ended within \(time).")
    }
  }
}

extension HTTPClient {
  /// Sends a request, and reads the whole response; both within one time.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - limit: The largest number of bytes of the body that is accepted.
  ///   - time: How long the exchange may take.
  ///   - clock: The clock of the time.
  /// - Returns: The head of the response, and its body.
  /// - Throws: As ``send(_:timeout:)`` and ``HTTPBody/collect(upTo:within:by:)``.
  public nonisolated(nonsending) func send(
    _ request: HTTPRequest, collecting limit: Int, within time: Duration, by clock: ServiceClock
  ) async throws -> (head: HTTPResponse, body: [UInt8]) {
    let start = clock.now()
    let response = try await send(request, timeout: time)
    let rest = time - .microseconds(max(0, clock.now() - start))
    return (response, try await response.body.collect(upTo: limit, within: max(.zero, rest), by: clock))
  }
}
