import CVestaZlib
public import VestaTransportInterop

extension TransportCompression {
  /// Compression by gzip, on zlib.
  public static let gzip = gzip(TransportTuning())

  /// Compression by gzip, with constants of a test's own.
  static func gzip(_ tuning: TransportTuning) -> TransportCompression {
    let piece = tuning.gzipPieceBytes
    return TransportCompression(
      name: "gzip", compress: { try Gzip.compress($0, piece: piece) },
      decompress: { try Gzip.decompress($0, limit: $1, piece: piece) })
  }
}

/// Whole arrays of bytes in the format of gzip (RFC 1952).
enum Gzip {
  /// Fifteen bits of window, and the header of gzip.
  private static let windowBits: Int32 = 15 + 16

  static func compress(_ bytes: [UInt8], piece: Int = TransportTuning().gzipPieceBytes) throws -> [UInt8] {
    var stream = z_stream()
    guard
      deflateInit2_(
        &stream, 1, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        == Z_OK
    else { throw TransportError(.exhausted, "There is no memory to compress.") }
    defer { deflateEnd(&stream) }
    return try run(&stream, bytes, limit: .max, piece: piece) { deflate(&$0, Z_FINISH) }
  }

  /// - Throws: `TransportError` with `.tooLarge` as soon as there are more bytes than the limit.
  static func decompress(_ bytes: [UInt8], limit: Int, piece: Int = TransportTuning().gzipPieceBytes) throws -> [UInt8]
  {
    var stream = z_stream()
    guard inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw TransportError(.exhausted, "There is no memory to decompress.")
    }
    defer { inflateEnd(&stream) }
    return try run(&stream, bytes, limit: limit, piece: piece) { inflate(&$0, Z_NO_FLUSH) }
  }

  private static func run(
    _ stream: inout z_stream, _ bytes: [UInt8], limit: Int, piece: Int, _ step: (inout z_stream) -> Int32
  ) throws -> [UInt8] {
    var (result, input) = ([UInt8](), bytes)
    let pieceSize = max(1, piece)
    // Unsafe pointers, used inside the closures only.
    try input.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = UInt32(clamping: input.count)
      try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: pieceSize) { piece in
        while true {
          stream.next_out = piece.baseAddress
          stream.avail_out = UInt32(pieceSize)
          let status = step(&stream)
          let count = pieceSize - Int(stream.avail_out)
          guard count <= limit - result.count else {
            throw TransportError(.tooLarge, "The bytes are more than \(limit) when they are decompressed.")
          }
          result.append(contentsOf: UnsafeBufferPointer(rebasing: piece[..<count]))
          if status == Z_STREAM_END { return }
          guard status == Z_OK, count > 0 || stream.avail_in > 0 else {
            throw TransportError(.protocolViolation, "The bytes are not compressed by gzip.")
          }
        }
      }
    }
    guard stream.avail_in == 0 else { throw TransportError(.protocolViolation, "Bytes follow the end of gzip.") }
    return result
  }
}
