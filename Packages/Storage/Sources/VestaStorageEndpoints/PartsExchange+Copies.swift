import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageWire
import VestaTransportInterop

/// Parts that are copied from objects.
extension PartsExchange {
  /// Makes a part of an object, or of the bytes of it that `x-goog-copy-source-range` names.
  ///
  /// The caller has to be allowed to read the object.
  func copy(_ id: String, _ number: Int, from source: ObjectName) async throws -> HTTPResponse {
    if let refusal = refusal(of: number) { return refusal }
    try await checkActive(id)
    var read = ReadRequest(object: source, preconditions: exchange.route.sourcePreconditions)
    if let generation = exchange.route.sourceGeneration { read.preconditions.ifGenerationMatch = generation }
    if let text = exchange.field("x-goog-copy-source-range") {
      guard case .bounds(let first, let last)? = ByteRangeField(text), last < .max else {
        return refused("InvalidArgument", "The range of a copy is bytes=FIRST-LAST.")
      }
      (read.offset, read.length) = (first, last - first + 1)
    }
    let opened = try await exchange.backend.openObject(read, context: exchange.context)
    defer { opened.content.close() }
    guard read.offset + (read.length ?? 0) <= opened.object.size else {
      return refused("InvalidRange", "The object \(source.name) has \(opened.object.size) bytes.")
    }
    let made = try await store(number, of: id, expected: ContentDigest()) { sink in
      while case let bytes = try await opened.content.read(maximumLength: exchange.tuning.chunkLength), !bytes.isEmpty {
        try await sink.write(bytes)
      }
    }
    return xml(PartsWire.copied(made))
  }
}

/// The uploads in parts that are under way in a bucket, which owners may list.
struct UploadListExchange: Sendable {
  let exchange: StorageExchange
  let bucket: String

  func respond() async throws -> HTTPResponse {
    // Its refusal of another caller is that of all calls on buckets.
    _ = try await exchange.admin(of: bucket).listBuckets(context: exchange.context)
    let limit = exchange.parameter("max-uploads").flatMap { Int($0) } ?? 1_000
    let request = PartsWire.UploadsRequest(
      bucket: bucket, prefix: exchange.parameter("prefix") ?? "", delimiter: exchange.parameter("delimiter"),
      keyMarker: exchange.parameter("key-marker") ?? "", idMarker: exchange.parameter("upload-id-marker") ?? "",
      limit: min(max(limit, 1), 1_000), encodesNames: exchange.parameter("encoding-type") == "url")
    let bytes = PartsWire.list(try await uploads(), by: request)
    return HTTPResponse(.ok, fields: [.contentType: StorageErrorWire.xmlType], body: .bytes(bytes))
  }

  private func uploads() async throws -> [PartsWire.Upload] {
    var found: [PartsWire.Upload] = []
    // A page has the ids of a thousand uploads, of all buckets.
    var request = ListRequest(bucket: PartsExchange.bucket, delimiter: "/")
    repeat {
      let page = try await exchange.backend.listObjects(request, context: PartsExchange.context)
      for prefix in page.prefixes {
        if let upload = try await upload(String(prefix.dropLast())) { found.append(upload) }
      }
      request.pageToken = page.nextPageToken
    } while request.pageToken != nil
    return found
  }

  /// An upload of the bucket that is under way.
  private func upload(_ id: String) async throws -> PartsWire.Upload? {
    let note = ObjectName(bucket: PartsExchange.bucket, name: PartsExchange.noteName(of: id))
    do {
      let found = try await exchange.backend.getObject(note, preconditions: .none, context: PartsExchange.context)
      guard found.metadata.custom["bucket"] == bucket, let key = found.metadata.custom["key"] else { return nil }
      let name = ObjectName(bucket: bucket, name: key)
      guard await !PartsExchange(exchange: exchange, object: name).isUploadOver(id) else { return nil }
      return PartsWire.Upload(key: key, id: id, start: found.timeCreated)
    } catch let error as StorageServiceError where error.code == .notFound {
      return nil
    }
  }
}
