import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageWire
import VestaTransportInterop

/// A download of an object, or of a part of one.
struct DownloadExchange: Sendable {
  let exchange: StorageExchange

  func respond(_ name: ObjectName, _ token: String?) async throws -> HTTPResponse {
    let wanted = exchange.field("range").flatMap { ByteRangeField($0) }
    var read = ReadRequest(object: name, preconditions: exchange.route.preconditions, downloadToken: token)
    switch wanted {
    case nil: break
    case .from(let first)?: read.offset = first
    case .suffix(let count)?: read.suffix = count
    case .bounds(let first, let last)?: (read.offset, read.length) = (first, last == .max ? nil : last - first + 1)
    }
    let download = try await exchange.backend.openObject(read, context: exchange.context)
    do {
      try exchange.check(download.object)
      try exchange.checkTags(download.object)
      if let response = try await decompressed(download, token) { return response }
      return try await response(of: download, wanted)
    } catch {
      download.content.close()
      throw error
    }
  }

  private func response(of download: ObjectDownload, _ wanted: ByteRangeField?) async throws -> HTTPResponse {
    let size = download.object.size
    var bounds: ClosedRange<Int64>?
    // The first bytes of an object of nothing are its content; clients that bound a download ask for them.
    if let wanted, size > 0 || wanted.begins > 0 {
      guard let found = wanted.bytes(of: size) else {
        throw StorageServiceError(
          .outOfRange, "The requested range cannot be satisfied.", reason: .outOfRange(size: size))
      }
      bounds = found
    }
    let length = bounds.map { Int($0.upperBound - $0.lowerBound) + 1 } ?? Int(size)
    var fields = HTTPFields(named: DownloadHeaders.fields(of: download.object, bytes: bounds))
    overrideFields(&fields)
    return HTTPResponse(
      bounds == nil ? .ok : HTTPStatus(206), fields: fields, body: try await body(of: download.content, length))
  }

  /// Sets the fields that the query of a download by Google's XML chooses, as signed URLs do.
  func overrideFields(_ fields: inout HTTPFields) {
    guard exchange.route.api == .xml else { return }
    if let value = exchange.parameter("response-content-type") { fields.set(.contentType, value) }
    if let value = exchange.parameter("response-content-disposition") { fields.set("content-disposition", value) }
  }

  /// The content as a body: small content at once, and larger one while the client reads it.
  private func body(of content: any ObjectContent, _ length: Int) async throws -> HTTPBody {
    if length > exchange.tuning.readLength, let section = content.section(), section.count == length {
      content.close()
      // The system sends the file where the connection is in clear.
      return .stream(ByteStream(section), length: length)
    }
    let first = try await content.read(maximumLength: exchange.tuning.readLength)
    guard !first.isEmpty || length == 0 else {
      // Said before the response has begun: a connection that is cut would be repeated for minutes.
      throw StorageServiceError(.dataLoss, "The content ends before its object does.")
    }
    guard first.count < length else {
      content.close()
      return .bytes(first)
    }
    let (stream, readLength) = (ByteStream(), exchange.tuning.readLength)
    let reading = Task { await Self.write(first, and: content, to: stream, length, readLength) }
    stream.pipe.setDemand(nil, onCancel: { reading.cancel() })
    return .stream(stream, length: length)
  }

  private static func write(
    _ first: [UInt8], and content: any ObjectContent, to stream: ByteStream, _ length: Int, _ readLength: Int
  ) async {
    defer { content.close() }
    do {
      var (next, left) = (first, length)
      while !next.isEmpty {
        left -= next.count
        try await stream.write(next)
        next = try await content.read(maximumLength: readLength)
      }
      if left == 0 { stream.finish() } else { stream.fail(TransportError(.closed, "The content ended early.")) }
    } catch {
      stream.fail(error)
    }
  }
}

extension ByteRangeField {
  /// The first byte; of a suffix the first of all.
  fileprivate var begins: Int64 {
    switch self {
    case .from(let first), .bounds(let first, _): first
    case .suffix: 0
    }
  }
}
