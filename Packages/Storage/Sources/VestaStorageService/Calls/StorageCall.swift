import VestaBytes
import VestaConcurrency
import VestaCryptoInterop
import VestaEngineInterop
import VestaEventsInterop
import VestaServiceInterop
import VestaStorageBackend
import VestaStoreInterop

/// One call of the service: the engine, who calls, and when.
///
/// Each family of calls is a type: ``ObjectCall`` reads, lists, changes and deletes objects, ``UploadCall`` brings new
/// ones, ``BucketCall`` is for the buckets. They share the store, the guard, and the step that puts content in place.
protocol StorageCall: Sendable {
  var engine: StorageEngine { get }
  var context: CallContext { get }
  /// Microseconds since 1970.
  var now: Int64 { get }

  init(engine: StorageEngine, context: CallContext, now: Int64)
}

extension StorageCall {
  /// Reads; a store in another process brings what the body begins with along with the beginning.
  func read<Result>(
    expecting first: StoreFirstRead, _ body: (any StoreReader) async throws -> Result
  ) async throws -> Result {
    try await engine.frame.store().read(expecting: first, body)
  }

  /// The row of an object now.
  func object(_ name: ObjectName) async throws -> ObjectRecord? {
    try await read(expecting: .keys([Keys.object(name)])) { try await $0.object(name) }
  }

  /// The row of an upload now.
  func upload(_ id: UploadID) async throws -> UploadRecord? {
    try await read(expecting: .keys([Keys.upload(id)])) { try await $0.upload(id) }
  }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> Result {
    let garbage = engine.garbage.withLock { $0 }
    let result = try await engine.frame.write { transaction in
      let result = try await body(transaction)
      // Removed blobs need no row; their rows are deleted with the next commit instead of a separate one.
      for id in garbage { try await transaction.delete(Keys.garbage(id)) }
      return result
    }
    if !garbage.isEmpty { engine.garbage.withLock { $0.removeAll { garbage.contains($0) } } }
    return result
  }

  /// A new id that cannot be guessed.
  func newID() throws -> String { Hex.encode(try engine.crypto.randomBytes(count: 16)) }

  /// A new blob.
  func newBlob() throws -> BlobID {
    guard let id = BlobID(rawValue: try newID()) else { throw StorageServiceError(.internal, "No blob id was made.") }
    return id
  }

  /// A new download token, in the form of a UUID.
  func newToken() throws -> String {
    var bytes = try engine.crypto.randomBytes(count: 16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = Hex.encode(bytes)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(index) { text += "-" }
      text.append(digit)
    }
    return text
  }
}

extension StorageServiceError {
  /// The refusal of a call on an object that is not there.
  static func noObject(_ name: ObjectName) -> StorageServiceError {
    StorageServiceError(.notFound, "No such object: \(name.bucket)/\(name.name)")
  }
}
