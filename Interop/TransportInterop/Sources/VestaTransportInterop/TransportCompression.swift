/// A way to compress what travels, messages of gRPC and bodies of HTTP, such as gzip; a transport provides it.
public struct TransportCompression: Sendable {
  /// The name as `grpc-encoding` and `content-encoding` say it.
  public let name: String
  /// Compresses a message or a body.
  public let compress: @Sendable ([UInt8]) throws -> [UInt8]
  /// Decompresses a message or a body, and throws when the result has more bytes than the limit.
  public let decompress: @Sendable ([UInt8], _ limit: Int) throws -> [UInt8]

  /// A way to compress.
  ///
  /// - Parameters:
  ///   - name: The name as `grpc-encoding` and `content-encoding` say it.
  ///   - compress: Compresses a message or a body.
  ///   - decompress: Decompresses a message or a body, and throws as soon as the result has more bytes than the limit.
  public init(
    name: String, compress: @escaping @Sendable ([UInt8]) throws -> [UInt8],
    decompress: @escaping @Sendable ([UInt8], _ limit: Int) throws -> [UInt8]
  ) {
    self.name = name
    self.compress = compress
    self.decompress = decompress
  }
}
