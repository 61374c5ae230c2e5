/// The body of a request or a response: nothing, bytes that are all there, or a stream.
///
/// A stream can be read once.
public enum HTTPBody: Sendable {
  /// No body.
  case empty
  /// The whole body. Many responses may share one array; none copies it.
  case bytes([UInt8])
  /// A body that arrives while it is read; of a known length, if it was said.
  case stream(ByteStream, length: Int? = nil)

  /// A body of UTF-8.
  public static func text(_ text: String) -> HTTPBody { .bytes(Array(text.utf8)) }

  /// The whole body; `nil` for a stream.
  @inlinable
  public var bytes: [UInt8]? {
    switch self {
    case .empty: []
    case .bytes(let bytes): bytes
    case .stream: nil
    }
  }

  /// The number of bytes, as far as it is known.
  @inlinable
  public var length: Int? {
    switch self {
    case .empty: 0
    case .bytes(let bytes): bytes.count
    case .stream(_, let length): length
    }
  }

  /// The body as a stream; the stream itself if it is one.
  public var stream: ByteStream {
    switch self {
    case .empty: return ByteStream(whole: [])
    case .bytes(let bytes): return ByteStream(whole: bytes)
    case .stream(let stream, _): return stream
    }
  }

  /// Reads the whole body.
  ///
  /// - Parameter limit: The largest number of bytes that is accepted.
  /// - Returns: The bytes.
  /// - Throws: ``TransportError`` with `.tooLarge` as soon as the limit is passed, the rest is then refused; the error
  ///   that ended the stream; `CancellationError`.
  public func collect(upTo limit: Int) async throws -> [UInt8] {
    let tooLarge = TransportError(.tooLarge, "The body has more than \(limit) bytes.")
    guard case .stream(let stream, let length) = self else {
      guard let bytes, bytes.count <= limit else { throw tooLarge }
      return bytes
    }
    if let length, length > limit {
      stream.cancel()
      throw tooLarge
    }
    var collected: [UInt8] = []
    while let bytes = try await stream.next() {
      guard bytes.count <= limit - collected.count else {
        stream.cancel()
        throw tooLarge
      }
      if collected.isEmpty { collected = bytes } else { collected += bytes }
    }
    return collected
  }
}
