import VestaBytes
import VestaStorageBackend

/// The row of an object.
struct ObjectRecord: FieldRecord, Equatable {
  var generation: Int64 = 0
  var metageneration: Int64 = 0
  var size: Int64 = 0
  var crc32c: Int64 = 0
  var md5: [UInt8]?
  var timeCreated: Int64 = 0
  var updated: Int64 = 0
  var metadata = MetadataRecord()
  var downloadTokens: [String] = []
  /// The place of the content: the id of a blob, or of a content row.
  var blob = ""
  var isInline = false

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &generation)
    try visitor.field(2, &metageneration)
    try visitor.field(3, &size)
    try visitor.field(4, &crc32c)
    try visitor.field(5, &md5)
    try visitor.field(6, &timeCreated)
    try visitor.field(7, &updated)
    try visitor.field(8, &metadata)
    try visitor.field(9, &downloadTokens)
    try visitor.field(10, &blob)
    try visitor.field(11, &isInline)
  }

  /// The object as callers see it.
  func object(named name: ObjectName) -> StorageObject {
    StorageObject(
      name: name, generation: generation, metageneration: metageneration, size: size,
      crc32c: UInt32(truncatingIfNeeded: crc32c), md5: md5, timeCreated: timeCreated, updated: updated,
      metadata: metadata.metadata, downloadTokens: downloadTokens)
  }

  /// The id of the content.
  var blobID: BlobID? { BlobID(rawValue: blob) }

  /// Whether a token is one of the object's, in a time that says nothing of how much of it is right.
  func hasToken(_ token: String?) -> Bool {
    guard let token, !token.isEmpty else { return false }
    let bytes = Array(token.utf8)
    return downloadTokens.reduce(false) { found, own in
      let own = Array(own.utf8)
      guard own.count == bytes.count else { return found }
      return zip(own, bytes).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0 || found
    }
  }
}

/// The metadata that an uploader chose.
struct MetadataRecord: FieldRecord, Equatable {
  var contentType: String?
  var cacheControl: String?
  var contentDisposition: String?
  var contentEncoding: String?
  var contentLanguage: String?
  /// The custom metadata: each name followed by its value, in the order of names.
  var custom: [String] = []
  var customTime: Int64?

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &contentType)
    try visitor.field(2, &cacheControl)
    try visitor.field(3, &contentDisposition)
    try visitor.field(4, &contentEncoding)
    try visitor.field(5, &contentLanguage)
    try visitor.field(6, &custom)
    try visitor.field(7, &customTime)
    guard custom.count.isMultiple(of: 2) else { throw BytesError(.malformed, "field 6: a name has no value") }
  }

  init() {}

  init(_ metadata: ObjectMetadata) {
    contentType = metadata.contentType
    cacheControl = metadata.cacheControl
    contentDisposition = metadata.contentDisposition
    contentEncoding = metadata.contentEncoding
    contentLanguage = metadata.contentLanguage
    customTime = metadata.customTime
    custom = metadata.custom.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
  }

  var metadata: ObjectMetadata {
    var values: [String: String] = [:]
    for index in stride(from: 0, to: custom.count - 1, by: 2) { values[custom[index]] = custom[index + 1] }
    return ObjectMetadata(
      contentType: contentType, cacheControl: cacheControl, contentDisposition: contentDisposition,
      contentEncoding: contentEncoding, contentLanguage: contentLanguage, custom: values,
      customTime: customTime)
  }
}

/// The row of an upload session.
struct UploadRecord: FieldRecord, Equatable {
  /// The state of an upload; the raw values are stored.
  enum State: Int64, Sendable { case active, final, cancelled }

  var bucket = ""
  var name = ""
  var size: Int64?
  var metadata = MetadataRecord()
  var ifGenerationMatch: Int64?
  var ifGenerationNotMatch: Int64?
  var ifMetagenerationMatch: Int64?
  var ifMetagenerationNotMatch: Int64?
  var expectedSize: Int64?
  var expectedCRC32C: Int64?
  var expectedMD5: [UInt8]?
  var blob = ""
  var expires: Int64 = 0
  /// The number of bytes that survive a crash, and their checksum.
  var checkpoint: Int64 = 0
  var checkpointCRC32C: Int64 = 0
  var state = State.active
  /// The object of a finished upload.
  var object: ObjectRecord?
  /// The engine that writes the blob, and the version up to which no other one may.
  var owner = ""
  var ownedUntil: Int64 = 0
  /// Whether another engine may have the blob open.
  var needsCopy = false
  /// Whether only the process that has begun it can continue it.
  var isShortLived = false
  /// The user who started it, and the claims of the token as JSON; `nil` for a caller without a user and for an owner.
  var uid: String?
  var claims: String?
  var isOfOwner = false
  /// The download tokens that the request has; the service makes one where there are none and it may.
  var downloadTokens: [String] = []
  var makesNoToken = false

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &bucket)
    try visitor.field(2, &name)
    try visitor.field(3, &size)
    try visitor.field(4, &metadata)
    try visitor.field(5, &ifGenerationMatch)
    try visitor.field(6, &ifGenerationNotMatch)
    try visitor.field(7, &ifMetagenerationMatch)
    try visitor.field(8, &ifMetagenerationNotMatch)
    try visitor.field(9, &expectedSize)
    try visitor.field(10, &expectedCRC32C)
    try visitor.field(11, &expectedMD5)
    try visitor.field(12, &blob)
    try visitor.field(13, &expires)
    try visitor.field(14, &checkpoint)
    try visitor.field(15, &checkpointCRC32C)
    try visitor.field(16, &state)
    try visitor.field(17, &object)
    try visitor.field(18, &owner)
    try visitor.field(19, &ownedUntil)
    try visitor.field(20, &needsCopy)
    try visitor.field(21, &isShortLived)
    try visitor.field(22, &uid)
    try visitor.field(23, &claims)
    try visitor.field(24, &isOfOwner)
    try visitor.field(25, &downloadTokens)
    try visitor.field(26, &makesNoToken)
  }

  init() {}

  init(_ request: UploadRequest, blob: BlobID, expires: Int64) {
    bucket = request.object.bucket
    name = request.object.name
    size = request.size
    metadata = MetadataRecord(request.metadata)
    ifGenerationMatch = request.preconditions.ifGenerationMatch
    ifGenerationNotMatch = request.preconditions.ifGenerationNotMatch
    ifMetagenerationMatch = request.preconditions.ifMetagenerationMatch
    ifMetagenerationNotMatch = request.preconditions.ifMetagenerationNotMatch
    expectedSize = request.expected.size
    expectedCRC32C = request.expected.crc32c.map(Int64.init)
    expectedMD5 = request.expected.md5
    self.blob = blob.rawValue
    self.expires = expires
    isShortLived = !request.isContinuable
    switch request.downloadTokens {
    case .make: break
    case .none: makesNoToken = true
    case .these(let tokens): downloadTokens = tokens
    }
  }

  var tokens: UploadTokens { makesNoToken ? .none : downloadTokens.isEmpty ? .make : .these(downloadTokens) }

  /// The request that the upload was started with.
  var request: UploadRequest {
    UploadRequest(
      object: objectName, metadata: metadata.metadata, size: size, preconditions: preconditions, expected: expected,
      downloadTokens: tokens, isContinuable: !isShortLived)
  }

  var objectName: ObjectName { ObjectName(bucket: bucket, name: name) }
  var blobID: BlobID? { BlobID(rawValue: blob) }

  var preconditions: Preconditions {
    Preconditions(
      ifGenerationMatch: ifGenerationMatch, ifGenerationNotMatch: ifGenerationNotMatch,
      ifMetagenerationMatch: ifMetagenerationMatch, ifMetagenerationNotMatch: ifMetagenerationNotMatch)
  }

  var expected: ContentDigest {
    ContentDigest(
      size: expectedSize, crc32c: expectedCRC32C.map { UInt32(truncatingIfNeeded: $0) }, md5: expectedMD5)
  }
}
