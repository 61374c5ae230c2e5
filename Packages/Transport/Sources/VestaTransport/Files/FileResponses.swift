public import VestaBytes
public import VestaTransportInterop

/// A file of the system that is open for reading.
public final class TransportFile: ReadableFile, Sendable {
  /// The number by which the system knows the open file.
  public let descriptor: Int32

  /// The number of bytes when it was opened.
  public let size: Int

  /// A tag that is another one when the file was written or replaced.
  public let tag: String

  /// Opens a file.
  ///
  /// - Parameter path: The path; `nil` for one that cannot be read, and for what is no file.
  public init?(_ path: String) {
    descriptor = PlatformFile.open(path)
    guard descriptor >= 0 else { return nil }
    guard let stamp = PlatformFile.stamp(descriptor), stamp.isRegular else {
      PlatformSocket.close(descriptor)
      return nil
    }
    size = Int(stamp.size)
    let parts = [UInt64(stamp.size), UInt64(bitPattern: stamp.seconds), UInt64(stamp.nanoseconds), stamp.inode]
    tag = "\"" + parts.map { String($0, radix: 36) }.joined(separator: "-") + "\""
  }

  deinit { PlatformSocket.close(descriptor) }

  /// Reads bytes at a position.
  public func read(at offset: Int64, count: Int) -> [UInt8]? { PlatformFile.read(descriptor, at: offset, count: count) }

  /// The answer to GET or HEAD of the file: whole, a range of it, or that it has not changed.
  ///
  /// - Parameters:
  ///   - request: The request, whose `range`, `if-range` and `if-none-match` are followed. Several ranges are answered
  ///     with the whole file, as HTTP allows.
  ///   - fields: Further fields, such as `content-type`.
  public func response(to request: HTTPRequest, fields: HTTPFields = [:]) -> HTTPResponse {
    var fields = fields
    fields.set("etag", tag)
    fields.set("accept-ranges", "bytes")
    if let known = request.fields["if-none-match"], Self.names(known, tag) {
      return HTTPResponse(HTTPStatus(304), fields: fields)
    }
    let isSame = request.fields.first("if-range").map { $0 == tag } ?? true
    guard request.method == .get, isSame, let range = request.fields.first("range"),
      let asked = ByteRangeField(range)
    else { return HTTPResponse(fields: fields, body: body(0..<size)) }
    guard let found = asked.bytes(of: Int64(size)).map({ Int($0.lowerBound)..<Int($0.upperBound) + 1 }) else {
      fields.set("content-range", "bytes */\(size)")
      return HTTPResponse(HTTPStatus(416), fields: fields)
    }
    fields.set("content-range", "bytes \(found.lowerBound)-\(found.upperBound - 1)/\(size)")
    return HTTPResponse(HTTPStatus(206), fields: fields, body: body(found))
  }

  private func body(_ range: Range<Int>) -> HTTPBody {
    guard !range.isEmpty else { return .bytes([]) }
    let section = FileSection(self, offset: Int64(range.lowerBound), count: range.count)
    return .stream(ByteStream(section), length: range.count)
  }

  private static func names(_ list: String, _ tag: String) -> Bool {
    list.split(separator: ",").contains { entry in
      let name = entry.drop { $0 == " " }.prefix { $0 != " " }
      return name == "*" || name == tag || name == "W/" + tag
    }
  }
}
