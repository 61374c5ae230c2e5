import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageWire
import VestaTransportInterop

/// An upload in parts by Google's XML, whose parts arrive in any order and at the same time.
///
/// The upload is one of the backend's, which takes the bytes at the end, in the order of the parts; until then each is
/// an object in a bucket that no request can name. So parts survive a restart, and the object is there as a whole
/// or not at all.
///
/// | request | upload of the backend | parts |
/// |---|---|---|
/// | `POST ?uploads` | started, for the caller | the notes of finished uploads are removed; `UPLOAD/00000` is made |
/// | `PUT ?partNumber&uploadId` | must be active | `UPLOAD/00001`, …: the last one of a number counts |
/// | `POST ?uploadId` | gets all bytes, and is finished | removed afterwards |
/// | `DELETE ?uploadId` | cancelled | removed |
struct PartsExchange: Sendable {
  let exchange: StorageExchange
  let object: ObjectName

  var backend: any StorageBackend { exchange.backend }
  private var tuning: StorageEndpointsTuning { exchange.tuning }

  func respond(_ call: StorageRoute.PartsCall) async throws -> HTTPResponse {
    switch call {
    case .start: return try await start()
    case .put(let id, let number): return try await put(id, number)
    case .copy(let id, let number, let source): return try await copy(id, number, from: source)
    case .complete(let id): return try await complete(id)
    case .cancel(let id):
      try await checkActive(id)
      try await backend.cancelUpload(UploadID(rawValue: id), context: exchange.context)
      try await remove(id)
      return HTTPResponse(.noContent)
    case .list(let id, let marker, let limit): return try await list(id, marker, limit)
    }
  }

  private func start() async throws -> HTTPResponse {
    let upload = try await UploadExchange(exchange: exchange, bucket: object.bucket, name: object.name).requestOfXML()
    let id = try await backend.startUpload(upload, context: exchange.context)
    await sweep(from: id.rawValue)
    // Uploads are listed by these notes: the backend finds an upload by its id alone.
    let note = UploadRequest(
      object: PartsBucket.note(of: id.rawValue),
      metadata: ObjectMetadata(custom: ["bucket": object.bucket, "key": object.name]), downloadTokens: .none,
      isContinuable: false)
    _ = try await backend.putObject(note, content: [], context: PartsBucket.context)
    return xml(PartsWire.started(object, id: id.rawValue))
  }

  private func put(_ id: String, _ number: Int) async throws -> HTTPResponse {
    if let refusal = refusal(of: number) { return refusal }
    try await checkActive(id)
    let body = DownloadHeaders.upload(exchange.request.fields.map { ($0.name.lowercased(), $0.value) })
    let made = try await store(number, of: id, expected: body.digest) { sink in
      for try await bytes in exchange.request.body.stream { try await sink.write(bytes) }
    }
    let fields = [
      (name: "etag", value: "\"\(PartsWire.tag(of: made))\""),
      (name: "x-goog-hash", value: ObjectWire.hash(of: made)),
    ]
    return HTTPResponse(.ok, fields: HTTPFields(named: fields))
  }

  func refusal(of number: Int) -> HTTPResponse? {
    guard !(1...tuning.parts).contains(number) else { return nil }
    return refused("InvalidArgument", "The number of a part is 1 to \(tuning.parts), and not \(number).")
  }

  /// Stores a part.
  ///
  /// - Parameter write: Gives the sink all bytes.
  func store(
    _ number: Int, of id: String, expected: ContentDigest, write: (inout UploadSink) async throws -> Void
  ) async throws -> StorageObject {
    let part = UploadRequest(
      object: PartsBucket.part(number, of: id), expected: expected, downloadTokens: .none, isContinuable: false)
    var sink = UploadSink(part, to: backend, PartsBucket.context, chunkLength: tuning.chunkLength)
    do {
      try await write(&sink)
      return try await sink.finish()
    } catch {
      await sink.giveUp()
      throw error
    }
  }

  private func list(_ id: String, _ marker: Int, _ limit: Int) async throws -> HTTPResponse {
    try await checkActive(id)
    let rest = try await parts(of: id).filter { $0.key > marker }.sorted { $0.key < $1.key }
    let page = PartsWire.Page(
      parts: rest.prefix(limit).map { ($0.key, $0.value) }, marker: marker, limit: limit,
      isTruncated: rest.count > limit)
    return xml(PartsWire.list(page, of: object, id: id))
  }

  // MARK: The end

  private func complete(_ id: String) async throws -> HTTPResponse {
    let named: [PartsWire.Named]
    do {
      named = try PartsWire.parts(try await exchange.request.body.collect(upTo: tuning.partList))
    } catch TransportError.Code.tooLarge {
      return refused("MalformedXML", "The list of the parts has more than \(tuning.partList) bytes.")
    } catch let error as BytesError {
      return refused("MalformedXML", error.message)
    }
    let status = try await known(id)
    // The answer to an earlier end was lost.
    if status.state != .final {
      let parts = try await parts(of: id)
      if let refusal = refusal(of: named, parts) { return refusal }
      try await fill(id, status, with: named.compactMap { parts[$0.number] })
    }
    let made = try await backend.finalizeUpload(
      UploadID(rawValue: id), expected: ContentDigest(), context: exchange.context)
    // Parts that cannot be removed now are removed at the start of a later upload.
    try? await remove(id)
    let target = StorageRoute(.xml, .get(object)).target
    var response = xml(PartsWire.completed(made, location: exchange.origin + target))
    let fields = DownloadHeaders.fields(of: made).filter { $0.name.hasPrefix("x-goog-") }
    response.fields.append(contentsOf: HTTPFields(named: fields))
    return response
  }

  /// Why no object can be made of the parts that the caller names; `nil` where one can.
  private func refusal(of named: [PartsWire.Named], _ parts: [Int: StorageObject]) -> HTTPResponse? {
    guard !named.isEmpty else { return refused("MalformedXML", "The list has no part.") }
    guard zip(named, named.dropFirst()).allSatisfy({ $0.number < $1.number }) else {
      return refused("InvalidPartOrder", "The list of parts is not in the order of their numbers.")
    }
    for (index, part) in named.enumerated() {
      guard let found = parts[part.number], PartsWire.tag(of: found) == part.tag else {
        return refused("InvalidPart", "The part \(part.number) has not arrived, or has another ETag.")
      }
      guard found.size >= tuning.smallestPart || index == named.count - 1 else {
        return refused(
          "EntityTooSmall",
          "The part \(part.number) has \(found.size) bytes: all but the last have \(tuning.smallestPart).")
      }
    }
    return nil
  }

  /// Gives the upload the bytes of the parts, but for those that it has from an earlier end that was cut off.
  ///
  /// The checksum of all parts is compared at the end: an upload that has got other parts before makes no object.
  private func fill(_ id: String, _ status: UploadStatus, with parts: [StorageObject]) async throws {
    var known = status.received
    var checksum = CRC32C()
    var size: Int64 = 0
    var sink = UploadSink(
      continuing: UploadID(rawValue: id), of: UploadRequest(object: object), at: known, in: backend, exchange.context,
      chunkLength: tuning.chunkLength, dropsKnown: true)
    do {
      for part in parts {
        let condition = Preconditions(ifGenerationMatch: part.generation)
        let content = try await backend.openObject(
          ReadRequest(object: part.name, preconditions: condition), context: PartsBucket.context
        ).content
        defer { content.close() }
        while case let bytes = try await content.read(maximumLength: tuning.chunkLength), !bytes.isEmpty {
          checksum.update(bytes)
          size += Int64(bytes.count)
          let new = bytes.dropFirst(Int(min(known, Int64(bytes.count))))
          known -= Int64(bytes.count - new.count)
          if !new.isEmpty { try await sink.write(Array(new)) }
        }
      }
      try await sink.flush()
    } catch let error as StorageServiceError
      where error.reason == .uploadGone || error.reason == .precondition || error.code == .notFound
    {
      // The same request has ended the upload on another connection.
      guard try await backend.uploadStatus(UploadID(rawValue: id), context: exchange.context).state == .final else {
        throw error
      }
      return
    }
    _ = try await backend.finalizeUpload(
      UploadID(rawValue: id), expected: ContentDigest(size: size, crc32c: checksum.value), context: exchange.context)
  }

  // MARK: Uploads and their parts

  /// The state of an upload of this object.
  private func known(_ id: String) async throws -> UploadStatus {
    let status = try await backend.uploadStatus(UploadID(rawValue: id), context: exchange.context)
    guard let request = status.request, request.object == object else {
      throw StorageServiceError(.notFound, "The upload is one of another object.", reason: .uploadGone)
    }
    return status
  }

  /// Refuses an upload that is over, or is one of another object.
  ///
  /// Parts need the upload to be there, and not its turn: while another call or another process has it, it is.
  func checkActive(_ id: String) async throws {
    do {
      guard try await known(id).state == .final else { return }
      throw StorageServiceError(.notFound, "The upload is finished.", reason: .uploadGone)
    } catch let error as StorageServiceError where error.code == .aborted {}
  }

  // MARK: Responses

  func xml(_ bytes: [UInt8]) -> HTTPResponse {
    HTTPResponse(.ok, fields: [.contentType: StorageErrorWire.xmlType], body: .bytes(bytes))
  }

  func refused(_ code: String, _ message: String) -> HTTPResponse {
    HTTPResponse(
      .badRequest, fields: [.contentType: StorageErrorWire.xmlType],
      body: .bytes(StorageErrorWire.xml(code: code, message)))
  }
}
