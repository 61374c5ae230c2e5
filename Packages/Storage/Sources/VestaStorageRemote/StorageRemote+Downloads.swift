public import VestaServiceInterop
public import VestaStorageBackend
import VestaStorageWire
import VestaTransportInterop

extension StorageRemote {
  /// Opens an object for reading.
  ///
  /// The object that is returned has what the headers of a download say: its generation, its size, its digests and its
  /// type, and neither times nor tokens.
  public func openObject(_ request: ReadRequest, context: CallContext) async throws -> ObjectDownload {
    let route = StorageRoute(
      .firebase, .download(request.object, token: request.downloadToken), preconditions: request.preconditions)
    var call = self.request(route.method, route.target)
    call.hasToken = request.downloadToken != nil
    call.acceptsPages = true
    // As it is stored: its digests are the digests of the stored bytes.
    call.fields.append(.acceptEncoding, "gzip")
    if let range = request.range { call.fields.append("range", "bytes=\(range)") }
    let opened: RESTStream
    do {
      opened = try await rest.open(call, context: context)
    } catch {
      guard case .outOfRange(let size)? = error.reason, request.isEmptyTail(of: size) else { throw error }
      return try await nothing(of: request, context)
    }
    do {
      return try await download(request, opened, context)
    } catch {
      opened.body.cancel()
      throw error
    }
  }

  private func download(
    _ request: ReadRequest, _ opened: RESTStream, _ context: CallContext
  ) async throws -> ObjectDownload {
    let field = { (name: String) in Self.field(name, opened.fields) }
    let read = DownloadHeaders.object(request.object, length: opened.length.map(Int64.init), field: field)
    let object: StorageObject
    if let read {
      object = read
    } else {
      object = try await getObject(request.object, preconditions: .none, context: context)
    }
    try check(request.preconditions, object)
    let wanted = request.bytes(of: object.size)
    // A server may send everything although a part was asked for.
    let isPart = opened.status.code == 206
    let content = RemoteContent(
      opened.body, skipping: isPart ? 0 : wanted.lowerBound, length: wanted.upperBound - wanted.lowerBound,
      clock: clock, silence: options.tuning.silence
    ) { [rest] in rest.failure($0) }
    return ObjectDownload(object: object, content: content)
  }

  /// The end of an object, at which there is no byte that could be asked for.
  private func nothing(of request: ReadRequest, _ context: CallContext) async throws -> ObjectDownload {
    let object = try await getObject(request.object, preconditions: request.preconditions, context: context)
    return ObjectDownload(object: object, content: NoContent())
  }
}

extension ReadRequest {
  /// The header `range` without its unit, or `nil` for the whole; nothing is asked for by its first byte.
  fileprivate var range: String? {
    if let suffix { return "-\(max(1, suffix))" }
    guard let length else { return offset == 0 ? nil : "\(offset)-" }
    let (last, overflows) = offset.addingReportingOverflow(max(1, length) - 1)
    return overflows ? "\(offset)-" : "\(offset)-\(last)"
  }

  /// Whether the range begins at the end of an object of a size.
  fileprivate func isEmptyTail(of size: Int64) -> Bool { suffix == nil && offset == size }

  /// The bytes that are wanted of an object of a size.
  fileprivate func bytes(of size: Int64) -> Range<Int64> {
    if let suffix { return max(0, size - max(0, suffix))..<size }
    let start = min(max(0, offset), size)
    guard let length else { return start..<size }
    let (end, overflows) = start.addingReportingOverflow(max(0, length))
    return start..<(overflows ? size : min(size, end))
  }
}

/// The content of nothing.
struct NoContent: ObjectContent {
  func read(maximumLength: Int) async throws -> [UInt8] { [] }
  func close() {}
}
