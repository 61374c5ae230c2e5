import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageWire
import VestaTransportInterop

extension StorageExchange {
  // MARK: Metadata

  func get(_ name: ObjectName) async throws -> HTTPResponse {
    var found = try await backend.getObject(name, preconditions: route.preconditions, context: context)
    try check(found)
    if route.api == .firebase, found.downloadTokens.isEmpty {
      found = try await backend.changeDownloadTokens(name, .ensure, context: context)
    }
    return object(found)
  }

  func update(_ name: ObjectName) async throws -> HTTPResponse {
    let bytes = try await document()
    try checkAccess(in: bytes)
    let change = bytes.isEmpty ? MetadataChange() : try MetadataWire.change(json: bytes)
    try await checkGeneration(of: name)
    let changed = try await backend.updateObject(
      name, change: change, preconditions: route.preconditions, context: context)
    var resource = ObjectWire.object(of: changed, form: form, origin: origin)
    if setsAccessList(in: bytes) {
      resource["acl"] = AccessWire.publicList(of: changed, project: host.defaultProject)["items"]
    }
    return json(resource)
  }

  func list(_ list: ListRequest) async throws -> HTTPResponse {
    if route.api == .firebase, !list.prefix.isEmpty, !list.prefix.hasSuffix("/") {
      throw StorageServiceError(
        .invalidArgument,
        "The prefix parameter is required to be empty or ends with a single / character.")
    }
    let pattern = route.api == .google ? try parameter("matchGlob").map { try NamePattern($0) } : nil
    var page = try await backend.listObjects(list, context: context)
    if let pattern {
      page.items = try await Self.matching(pattern, page.items) { $0.name.name }
      page.prefixes = try await Self.matching(pattern, page.prefixes) { $0 }
    }
    // Clients make places of names, and there is none with an empty part.
    if route.api == .firebase { page.items.removeAll { !$0.name.isPlace } }
    return json(ListWire.json(of: page, form: form, origin: origin))
  }

  /// The elements whose names match; other calls have their turns in between.
  private static func matching<Element>(
    _ pattern: NamePattern, _ list: [Element], _ name: (Element) -> String
  ) async throws -> [Element] {
    var found: [Element] = []
    for (index, element) in list.enumerated() {
      if index % 32 == 31 {
        try Task.checkCancellation()
        await Task.yield()
      }
      if pattern.matches(name(element)) { found.append(element) }
    }
    return found
  }

  /// Refuses an object of another generation than the request names, as one that is not there.
  func check(_ object: StorageObject) throws { try check(object, is: route.generation) }

  /// Refuses an object of another generation than a wanted one, as one that is not there.
  func check(_ object: StorageObject, is wanted: Int64?) throws {
    guard let generation = wanted, generation != object.generation else { return }
    throw StorageServiceError(.notFound, "No such object: \(object.name.bucket)/\(object.name.name)#\(generation)")
  }

  /// Looks at the generation that a change names; the change itself holds for it too.
  func checkGeneration(of name: ObjectName) async throws {
    guard route.generation != nil else { return }
    try check(try await backend.getObject(name, preconditions: .none, context: context))
  }

  // MARK: Content

  func download(_ name: ObjectName, _ token: String?) async throws -> HTTPResponse {
    let wanted = field("range").flatMap(ByteRangeWire.wanted)
    var read = ReadRequest(object: name, preconditions: route.preconditions, downloadToken: token)
    switch wanted {
    case nil: break
    case .from(let first)?: read.offset = first
    case .suffix(let count)?: read.suffix = count
    case .bounds(let first, let last)?: (read.offset, read.length) = (first, last == .max ? nil : last - first + 1)
    }
    let download = try await backend.openObject(read, context: context)
    do {
      try check(download.object)
      return try await response(of: download, wanted)
    } catch {
      download.content.close()
      throw error
    }
  }

  private func response(of download: ObjectDownload, _ wanted: ByteRangeWire.Wanted?) async throws -> HTTPResponse {
    let size = download.object.size
    var bounds: ClosedRange<Int64>?
    // The first bytes of an object of nothing are its content; clients that bound a download ask for them.
    if let wanted, size > 0 || wanted.begins > 0 {
      guard let found = ByteRangeWire.bytes(wanted, of: size) else {
        throw StorageServiceError(
          .outOfRange, "The requested range cannot be satisfied.", reason: .outOfRange(size: size))
      }
      bounds = found
    }
    let length = bounds.map { Int($0.upperBound - $0.lowerBound) + 1 } ?? Int(size)
    var fields = Self.fields(DownloadHeaders.fields(of: download.object, bytes: bounds))
    overrideFields(&fields)
    return HTTPResponse(
      bounds == nil ? .ok : HTTPStatus(206), fields: fields, body: try await body(of: download.content, length))
  }

  /// Sets the fields that the query of a download by Google's XML chooses, as signed URLs do.
  private func overrideFields(_ fields: inout HTTPFields) {
    guard route.api == .xml else { return }
    if let value = parameter("response-content-type") { fields.set(.contentType, value) }
    if let value = parameter("response-content-disposition") { fields.set("content-disposition", value) }
  }

  /// The content as a body: small content at once, and larger one while the client reads it.
  private func body(of content: any ObjectContent, _ length: Int) async throws -> HTTPBody {
    if length > tuning.readLength, let section = content.section(), section.count == length {
      content.close()
      // The system sends the file where the connection is in clear.
      return .stream(ByteStream(section), length: length)
    }
    let first = try await content.read(maximumLength: tuning.readLength)
    guard !first.isEmpty || length == 0 else {
      // Said before the response has begun: a connection that is cut would be repeated for minutes.
      throw StorageServiceError(.dataLoss, "The content ends before its object does.")
    }
    guard first.count < length else {
      content.close()
      return .bytes(first)
    }
    let (stream, readLength) = (ByteStream(), tuning.readLength)
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

extension ByteRangeWire.Wanted {
  /// The first byte; of a suffix the first of all.
  fileprivate var begins: Int64 {
    switch self {
    case .from(let first), .bounds(let first, _): first
    case .suffix: 0
    }
  }
}

extension ObjectName {
  /// Whether every part of the name between slashes has a character.
  fileprivate var isPlace: Bool {
    name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty }
  }
}
