import VestaConcurrency

/// The bytes of a body while they travel, and the trailers after them.
///
/// ```swift
/// let stream = ByteStream()
/// Task {
///   for part in parts { try await stream.write(part) }   // no faster than the peer reads
///   stream.finish(trailers: ["checksum": sum])
/// }
/// return .response(HTTPResponse(.ok, body: .stream(stream)))
/// ```
public final class ByteStream: AsyncSequence, Sendable {
  /// The pieces of the body.
  public let pipe: DemandPipe<[UInt8]>

  private let end = Locked(HTTPFields())

  /// A stream.
  ///
  /// - Parameter limit: The number of bytes that wait to be read at which the writer pauses.
  public init(limit: Int = 65_536) { pipe = DemandPipe(limit: limit) { $0.count } }

  /// A stream of bytes that are all there, and the trailers after them.
  public convenience init(whole bytes: [UInt8], trailers: HTTPFields = [:]) {
    self.init(limit: .max)
    if !bytes.isEmpty { pipe.offer(bytes) }
    finish(trailers: trailers)
  }

  /// The fields after the body; they are there when the end has been read.
  public var trailers: HTTPFields { end.withLock { $0 } }

  /// Writes bytes, and waits while the reader lags.
  ///
  /// - Throws: As ``DemandPipe/write(_:)``.
  public func write(_ bytes: [UInt8]) async throws {
    if !bytes.isEmpty { try await pipe.write(bytes) }
  }

  /// Writes bytes without waiting.
  ///
  /// - Returns: Whether the writer should go on.
  @discardableResult
  public func offer(_ bytes: [UInt8]) -> Bool { pipe.offer(bytes) }

  /// Ends the body; a later end is ignored.
  ///
  /// - Parameter trailers: The fields after it; HTTP/1.1 sends them only where the peer has said that it takes them, by
  ///   `te: trailers`.
  public func finish(trailers: HTTPFields = [:]) {
    guard !pipe.isFinished else { return }
    end.withLock { $0 = trailers }
    pipe.finish()
  }

  /// Ends the body with an error: the peer sees that it is not whole.
  public func fail(_ error: any Error) { pipe.fail(error) }

  /// The next bytes, never empty ones; `nil` at the end.
  ///
  /// - Throws: As ``DemandPipe/next()``.
  public func next() async throws -> [UInt8]? {
    while let bytes = try await pipe.next() {
      if !bytes.isEmpty { return bytes }
    }
    return nil
  }

  /// Leaves the body; the peer is told not to send the rest.
  public func cancel() { pipe.cancel() }

  /// Reads the bytes; there is one reader.
  public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

  /// Reads a stream of bytes.
  public struct Iterator: AsyncIteratorProtocol {
    let stream: ByteStream

    /// The next bytes.
    public mutating func next() async throws -> [UInt8]? { try await stream.next() }
  }
}
