import VestaBytes
public import VestaServiceInterop
public import VestaStorageBackend
import VestaStorageWire
import VestaTransportInterop

extension StorageRemote {
  // MARK: In one request

  /// Stores a small object in one call.
  public func putObject(
    _ request: UploadRequest, content: [UInt8], context: CallContext
  ) async throws -> StorageObject {
    try checkTokens(request)
    guard content.count <= UploadLimits.singleCallLength else {
      throw StorageServiceError(.invalidArgument, "The content has more than \(UploadLimits.singleCallLength) bytes.")
    }
    if let size = request.expected.size, size != content.count { throw Self.mismatch }
    let (body, boundary) = Self.multipart(request, content)
    let route = StorageRoute(
      .firebase, .upload(bucket: request.object.bucket, name: request.object.name, .multipart),
      preconditions: request.preconditions)
    var call = self.request(route.method, route.target, body: body)
    call.fields.append("x-goog-upload-protocol", "multipart")
    call.fields.append(.contentType, "multipart/related; boundary=\(boundary)")
    call.timeout = timeout(of: body.count)
    call.answerGrace = options.tuning.answerGrace
    // With a precondition a repeated upload would be refused because of the first one.
    call.isRepeatable = request.preconditions == .none
    return try await rest.call(call, context: context) { try ObjectWire.object(json: $0.body) }
  }

  // MARK: In parts

  /// The metadata and the content of an upload in one body, and the boundary between them.
  private static func multipart(_ request: UploadRequest, _ content: [UInt8]) -> (body: [UInt8], boundary: String) {
    let boundary = Hex.encode(SystemRandom.bytes(16))
    let metadata = MetadataWire.json(
      of: UploadBody(
        metadata: request.metadata, digest: request.expected, downloadTokens: tokens(request.downloadTokens)))
    let body = MultipartMachine.body(
      metadata: metadata, contentType: request.metadata.contentType ?? "application/octet-stream", content: content,
      boundary: boundary)
    return (body, boundary)
  }

  /// Starts a resumable upload.
  public func startUpload(_ request: UploadRequest, context: CallContext) async throws -> UploadID {
    try checkTokens(request)
    let body = UploadBody(
      metadata: request.metadata, digest: request.expected, downloadTokens: Self.tokens(request.downloadTokens))
    let route = StorageRoute(
      .firebase, .upload(bucket: request.object.bucket, name: request.object.name, .resumable(id: nil)),
      preconditions: request.preconditions)
    let command = ResumableCommand.start(length: request.size, contentType: request.metadata.contentType)
    var call = self.command(command, "POST", route.target, body: MetadataWire.json(of: body))
    call.fields.append(.contentType, "application/json; charset=utf-8")
    // The id is needed to cancel the upload.
    call.answerGrace = options.tuning.answerGrace
    return try await rest.call(call, context: context) { answer in
      let started = try ResumableAnswer(field: { Self.field($0, answer.fields) })
      // The path alone: the requests, tokens too, stay at the server that was chosen.
      guard let target = started.url.flatMap({ HTTPURL($0) })?.target, Self.isSession(target) else {
        throw BytesError(.malformed, "the answer has no address of the upload")
      }
      return UploadID(rawValue: target)
    }
  }

  /// Appends bytes to an upload.
  public func appendToUpload(
    _ id: UploadID, offset: Int64, bytes: [UInt8], context: CallContext
  ) async throws -> UploadStatus {
    try checkSession(id)
    guard bytes.count <= UploadLimits.chunkLength else {
      throw StorageServiceError(.invalidArgument, "A part has at most \(UploadLimits.chunkLength) bytes.")
    }
    guard offset >= 0 else { throw StorageServiceError(.outOfRange, "A part cannot begin at \(offset).") }
    guard let granularity = options.granularity else { return try await append(id, offset, bytes, context) }
    let (start, whole) = try rests.take(id, offset, bytes)
    let count = whole.count / granularity * granularity
    let (sent, rest) = (Array(whole.prefix(count)), Array(whole.dropFirst(count)))
    if !sent.isEmpty { _ = try await append(id, start, sent, context) }
    rests.keep(id, start + Int64(count), rest)
    return UploadStatus(state: .active, received: start + Int64(whole.count), crc32c: nil)
  }

  private func append(
    _ id: UploadID, _ offset: Int64, _ bytes: [UInt8], _ context: CallContext
  ) async throws -> UploadStatus {
    var call = command(.upload(offset: offset, isLast: false), "POST", id.rawValue, body: bytes)
    call.fields.append(HTTPFieldName(stringLiteral: ResumableCommand.exactOffset), "1")
    call.timeout = timeout(of: bytes.count)
    let answer = try await rest.call(call, context: context) { answer in
      try ResumableAnswer(field: { Self.field($0, answer.fields) })
    }
    let end = offset + Int64(bytes.count)
    // Bytes that were there already are dropped by the service: the caller believed less to be there.
    if let received = answer.received, received != end {
      throw StorageServiceError(
        .outOfRange, "The upload has \(received) bytes, and the part begins at \(offset).",
        reason: .wrongOffset(received: received))
    }
    return UploadStatus(state: answer.isActive ? .active : .final, received: end, crc32c: answer.crc32c)
  }

  /// Ends an upload.
  ///
  /// The digests that the sender expects are sent along; `vesta` looks at them before there is an object. The digests
  /// of the response are compared as well.
  public func finalizeUpload(
    _ id: UploadID, expected: ContentDigest, context: CallContext
  ) async throws -> StorageObject {
    try checkSession(id)
    if let size = expected.size, expected.crc32c == nil { try await checkReceived(size, of: id, context) }
    let rest = rests.rest(of: id)
    let last: ResumableCommand = rest.map { .upload(offset: $0.offset, isLast: true) } ?? .finalize
    var call = command(last, "POST", id.rawValue, body: rest?.bytes ?? [])
    if let hash = ObjectWire.hash(of: expected) { call.fields.append("x-goog-hash", hash) }
    call.timeout = timeout(of: rest?.bytes.count ?? 0)
    call.answerGrace = options.tuning.answerGrace
    let object: StorageObject
    do {
      object = try await self.rest.call(call, context: context) { try ObjectWire.object(json: $0.body) }
    } catch {
      // A refusal is the end of the upload; after a lost answer its end is sent once more.
      if !error.code.isTransient { rests.drop(id) }
      throw error
    }
    rests.drop(id)
    let isExpected =
      expected.size.map { $0 == object.size } ?? true && expected.crc32c.map { $0 == object.crc32c } ?? true
    guard isExpected else { throw Self.mismatch }
    return object
  }

  /// Cancels an upload that has received another number of bytes than its sender expects.
  private func checkReceived(_ size: Int64, of id: UploadID, _ context: CallContext) async throws {
    let status = try await uploadStatus(id, context: context)
    guard status.state == .final || status.received == size else {
      try await cancelUpload(id, context: context)
      throw Self.mismatch
    }
  }

  /// The state of an upload: a service has made durable what it says of one.
  public func keepUpload(_ id: UploadID, context: CallContext) async throws -> UploadStatus {
    try await uploadStatus(id, context: context)
  }

  /// The state of an upload: how many bytes have been received.
  public func uploadStatus(_ id: UploadID, context: CallContext) async throws -> UploadStatus {
    try checkSession(id)
    let answer = try await rest.call(command(.query, "POST", id.rawValue), context: context) { answer in
      try ResumableAnswer(field: { Self.field($0, answer.fields) })
    }
    guard answer.isActive else { return UploadStatus(state: .final, received: answer.received ?? 0, crc32c: nil) }
    let received = answer.received ?? 0
    guard let rest = rests.rest(of: id, at: received) else {
      return UploadStatus(state: .active, received: received, crc32c: answer.crc32c)
    }
    return UploadStatus(state: .active, received: received + Int64(rest.count), crc32c: nil)
  }

  /// Cancels an upload and frees what it received.
  public func cancelUpload(_ id: UploadID, context: CallContext) async throws {
    try checkSession(id)
    rests.drop(id)
    var call = command(.cancel, "POST", id.rawValue)
    call.answerGrace = options.tuning.answerGrace
    try await rest.call(call, context: context) { _ in }
  }

  // MARK: Parts of requests

  private func command(
    _ command: ResumableCommand, _ method: String, _ target: String, body: [UInt8] = []
  ) -> RESTCall {
    var call = request(method, target, body: body)
    for (name, value) in command.fields {
      if let name = HTTPFieldName(name) { call.fields.append(name, value) }
    }
    if !body.isEmpty, case .upload = command { call.fields.append(.contentType, "application/octet-stream") }
    return call
  }

  private func timeout(of bytes: Int) -> Duration {
    timeout + .seconds(bytes / max(1, options.tuning.slowestUpload))
  }

  private static func isSession(_ target: String) -> Bool { target.hasPrefix("/v0/b/") }

  private func checkSession(_ id: UploadID) throws(StorageServiceError) {
    guard Self.isSession(id.rawValue), id.rawValue.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
      throw StorageServiceError(.notFound, "This is no upload of this service.", reason: .uploadGone)
    }
  }

  private func checkTokens(_ request: UploadRequest) throws(StorageServiceError) {
    guard request.downloadTokens != .none else {
      throw StorageServiceError(.unimplemented, "Firebase's protocol has no uploads without a download token.")
    }
  }

  private static func tokens(_ tokens: UploadTokens) -> [String] {
    if case .these(let tokens) = tokens { tokens } else { [] }
  }

  private static var mismatch: StorageServiceError {
    StorageServiceError(.dataLoss, "The content is not the expected one.", reason: .contentMismatch)
  }
}
