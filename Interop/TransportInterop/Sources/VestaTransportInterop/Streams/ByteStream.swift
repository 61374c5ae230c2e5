public import VestaBytes
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
  /// The part of a file that the body is; `nil` for a body that is written.
  ///
  /// A transport that has a faster way for it leaves ``pipe`` alone.
  public let section: FileSection?

  private let pieces: DemandPipe<[UInt8]>
  private let reading = Locked(Reading())

  /// How far a file has been read.
  private struct Reading: Sendable {
    var isBegun = false
    var count = 0
  }

  private let end = Locked(HTTPFields())

  /// A stream.
  ///
  /// - Parameter limit: The number of bytes that wait to be read at which the writer pauses.
  public init(limit: Int = 65_536) {
    section = nil
    pieces = DemandPipe(limit: limit) { $0.count }
  }

  /// A stream of a part of a file, which is read when it is asked for.
  public init(_ section: FileSection, limit: Int = 65_536) {
    self.section = section
    pieces = DemandPipe(limit: limit) { $0.count }
  }

  /// A stream of bytes that are all there, and the trailers after them.
  public convenience init(whole bytes: [UInt8], trailers: HTTPFields = [:]) {
    self.init(limit: .max)
    if !bytes.isEmpty { pipe.offer(bytes) }
    finish(trailers: trailers)
  }

  /// The pieces of the body.
  public var pipe: DemandPipe<[UInt8]> {
    if let section { begin(section) }
    return pieces
  }

  private func begin(_ section: FileSection) {
    let isFirst = reading.withLock { reading in
      defer { reading.isBegun = true }
      return !reading.isBegun
    }
    guard isFirst else { return }
    pieces.setDemand({ [weak self] in self?.readOn(section) })
    readOn(section)
  }

  /// Reads until the reader lags; called by one at a time, as a hook is called only after an offer was refused.
  private func readOn(_ section: FileSection) {
    while true {
      let (start, count) = reading.withLock { reading in
        let start = reading.count
        let count = Swift.min(section.count - start, 65_536)
        reading.count += count
        return (start, count)
      }
      guard count > 0 else { return pieces.finish() }
      guard let bytes = section.file.read(at: section.offset + Int64(start), count: count), bytes.count == count else {
        return pieces.fail(TransportError(.connectionLost, "The file has become shorter, or cannot be read."))
      }
      if !pieces.offer(bytes) { return }
    }
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
  /// - Returns: Whether the writer should continue.
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

  /// Leaves the body; the peer is asked not to send the rest.
  public func cancel() { pieces.cancel() }

  /// Reads the bytes; there is one reader.
  public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

  /// Reads a stream of bytes.
  public struct Iterator: AsyncIteratorProtocol {
    let stream: ByteStream

    /// The next bytes.
    public mutating func next() async throws -> [UInt8]? { try await stream.next() }
  }
}
