import VestaServiceInterop
public import VestaStorageBackend
public import VestaTesting

/// The promises of `StorageBackend`, for any implementation.
///
/// Each is checked on a fresh backend with nothing in it.
public enum StorageContracts {
  /// All of them.
  public static let all: [Contract<any StorageBackend>] = uploads + reading + changes + listing + callers + compositions

  /// Promises that a remote backend over Firebase's protocol keeps.
  ///
  /// The protocol has no upload without a download token, no status that says what an upload was started with, no
  /// custom times, and no compositions, so none that deletes its sources in one change.
  public static let overFirebase: [Contract<any StorageBackend>] = all.filter {
    ![
      "an object has the download tokens that its upload says",
      "the status of an upload says what it was started with",
      "a custom time is kept, and goes forward alone",
      "sources are deleted with the object that is made of them, and stay when it is refused",
      "a source that the new object replaces is not deleted",
    ].contains($0.name)
  }

  static let bucket = "contract-bucket"
  static let context = CallContext()

  static func name(_ name: String) -> ObjectName { ObjectName(bucket: bucket, name: name) }

  /// Content of a length in which no two blocks are alike.
  static func content(_ length: Int, seed: UInt64 = 1) -> [UInt8] {
    var random = SplitMix(seed: seed)
    return random.bytes(length)
  }

  /// Everything that an object holds.
  static func bytes(
    of object: ObjectName, in backend: any StorageBackend, context: CallContext = context
  ) async throws -> [UInt8] {
    try await drain(backend.openObject(ReadRequest(object: object), context: context))
  }

  static func drain(_ download: ObjectDownload) async throws -> [UInt8] {
    defer { download.content.close() }
    var bytes: [UInt8] = []
    while true {
      let next = try await download.content.read(maximumLength: 10_000)
      if next.isEmpty { return bytes }
      bytes += next
    }
  }

  /// Uploads in chunks.
  static func upload(
    _ bytes: [UInt8], to object: ObjectName, chunk: Int = 100_000, in backend: any StorageBackend
  ) async throws -> StorageObject {
    let id = try await backend.startUpload(UploadRequest(object: object), context: context)
    var offset = 0
    while offset < bytes.count {
      let end = min(offset + chunk, bytes.count)
      _ = try await backend.appendToUpload(
        id, offset: Int64(offset), bytes: Array(bytes[offset..<end]), context: context)
      offset = end
    }
    return try await backend.finalizeUpload(id, expected: ContentDigest(size: Int64(bytes.count)), context: context)
  }

  /// The code of the failure of a call; `nil` for none.
  static func code<Value>(_ operation: () async throws -> Value) async -> ServiceCode? {
    do {
      _ = try await operation()
      return nil
    } catch {
      return (error as? StorageServiceError)?.code ?? .unknown
    }
  }

  static func expectCode<Value>(
    _ code: ServiceCode, _ what: String, file: String = #fileID, line: Int = #line,
    _ operation: () async throws -> Value
  ) async throws {
    let error = try await expectThrows(StorageServiceError.self, what, file: file, line: line, operation)
    try expect(error.code, equals: code, what, file: file, line: line)
  }
}
