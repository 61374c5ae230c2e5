import VestaTransportInterop

/// Writes messages of HTTP/1.1 into one buffer.
enum MessageWriter {
  /// How a body is sent.
  enum Framing: Equatable {
    /// There is none, and none is said: a request without one, or a status that forbids it.
    case none
    case length(Int)
    case chunked
    /// The end of the connection is that of the body, for clients of HTTP/1.0.
    case untilEnd
  }

  /// The statement about the connection after the message.
  enum Connection: Equatable {
    /// The default of the version.
    case usual
    case close
    /// For clients of HTTP/1.0 that ask for it.
    case keepAlive
    case upgrade
  }

  /// Writes the head of a response.
  ///
  /// - Parameter date: The whole line of the date with its CR LF.
  static func head(
    _ response: HTTPResponse, _ framing: Framing, _ connection: Connection, date: [UInt8], into out: inout [UInt8]
  ) {
    if response.status.code == 200 {
      append("HTTP/1.1 200 OK\r\n", &out)
    } else {
      append("HTTP/1.1 ", &out)
      append(decimal: response.status.code, &out)
      append(" ", &out)
      out.append(contentsOf: response.status.reason.utf8)
      append("\r\n", &out)
    }
    append(response.fields, &out)
    if !response.fields.contains(.date) { out.append(contentsOf: date) }
    append(framing, connection, &out)
  }

  /// Writes the head of a request.
  static func head(_ request: HTTPRequest, _ framing: Framing, _ connection: Connection, into out: inout [UInt8]) {
    out.append(contentsOf: request.method.name.utf8)
    append(" ", &out)
    out.append(contentsOf: request.target.utf8)
    append(" HTTP/1.1\r\nhost: ", &out)
    out.append(contentsOf: request.authority.utf8)
    append("\r\n", &out)
    append(request.fields, &out)
    append(framing, connection, &out)
  }

  /// Whether a request can be written so that the server reads what was meant: no space or line's end in its line.
  static func isWritable(_ request: HTTPRequest) -> Bool {
    HTTPFieldName.isToken(request.method.name) && !request.target.isEmpty
      && request.target.utf8.allSatisfy { $0 > 32 && $0 < 127 } && !request.authority.isEmpty
      && Authority.isAllowed(request.authority)
  }

  /// Writes the line before the bytes of a chunk.
  static func chunk(_ count: Int, into out: inout [UInt8]) {
    out.append(contentsOf: String(count, radix: 16).utf8)
    append("\r\n", &out)
  }

  /// Writes the line after the bytes of a chunk.
  static func chunkEnd(into out: inout [UInt8]) { append("\r\n", &out) }

  /// Writes the last chunk and the trailers.
  static func end(trailers: HTTPFields, into out: inout [UInt8]) {
    append("0\r\n", &out)
    append(trailers, &out)
    append("\r\n", &out)
  }

  private static func append(_ framing: Framing, _ connection: Connection, _ out: inout [UInt8]) {
    switch framing {
    case .none, .untilEnd: break
    case .length(let length):
      append("content-length: ", &out)
      append(decimal: length, &out)
      append("\r\n", &out)
    case .chunked: append("transfer-encoding: chunked\r\n", &out)
    }
    switch connection {
    case .usual: break
    case .close: append("connection: close\r\n", &out)
    case .keepAlive: append("connection: keep-alive\r\n", &out)
    case .upgrade: append("connection: upgrade\r\n", &out)
    }
    append("\r\n", &out)
  }

  /// Writes fields, without the ones that the transport writes itself.
  private static func append(_ fields: HTTPFields, _ out: inout [UInt8]) {
    fields.withEachField { name, value in
      switch name.count {
      case 4 where Bytes.equal(name.bindMemory(to: UInt8.self), "host"): return
      case 10 where Bytes.equal(name.bindMemory(to: UInt8.self), "connection"): return
      case 14 where Bytes.equal(name.bindMemory(to: UInt8.self), "content-length"): return
      case 17 where Bytes.equal(name.bindMemory(to: UInt8.self), "transfer-encoding"): return
      default: break
      }
      out.append(contentsOf: name)
      append(": ", &out)
      out.append(contentsOf: value)
      append("\r\n", &out)
    }
  }

  @inline(__always)
  static func append(_ text: StaticString, _ out: inout [UInt8]) {
    out.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  static func append(decimal number: Int, _ out: inout [UInt8]) {
    guard number >= 10 else { return out.append(UInt8(48 + max(0, number))) }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var (rest, index) = (number, 20)
      while rest > 0 {
        index -= 1
        digits[index] = UInt8(48 + rest % 10)
        rest /= 10
      }
      out.append(contentsOf: UnsafeBufferPointer(rebasing: digits[index..<20]))
    }
  }
}
