import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaStoreInterop

/// Makes, lists and deletes buckets, for owners.
struct BucketCall: StorageCall {
  let engine: StorageEngine
  let context: CallContext
  let now: Int64

  /// The buckets that were made, and all others with objects.
  func buckets() async throws -> [String] {
    try checkOwner()
    let first = Keys.objects
    return try await read(expecting: .scan(first, order: .ascending, limit: 1)) { reader in
      var buckets = Set(try await reader.entries(in: Keys.buckets).map { try Keys.bucketName($0.key) })
      var rest: KeyRange? = first
      while let range = rest {
        // One row of each bucket is read.
        rest = nil
        guard let found = try await reader.first(in: range) else { break }
        let bucket = try Keys.objectName(found.key).bucket
        buckets.insert(bucket)
        rest = Keys.firstKey(after: bucket).map { KeyRange(from: $0, to: first.upper) }
      }
      return buckets.sorted { UTF8Order.precedes($0, $1) }
    }
  }

  func createBucket(_ name: String) async throws {
    try checkOwner()
    try ObjectNameRules.check(bucket: name)
    try await write { transaction in
      guard try await transaction.get(Keys.bucket(name)) == nil else {
        throw StorageServiceError(.alreadyExists, "There is a bucket \(name) already.")
      }
      try await transaction.put([], for: Keys.bucket(name))
    }
  }

  func deleteBucket(_ name: String) async throws {
    try checkOwner()
    try ObjectNameRules.check(bucket: name)
    try await write { transaction in
      // Read in the transaction: an object that is stored in the meantime is a conflict.
      guard try await transaction.first(in: Keys.objects(in: name, prefix: "")) == nil else {
        throw StorageServiceError(.failedPrecondition, "The bucket \(name) has objects. Delete them first.")
      }
      guard try await transaction.get(Keys.bucket(name)) != nil else {
        throw StorageServiceError(.notFound, "There is no bucket \(name).")
      }
      try await transaction.delete(Keys.bucket(name))
    }
  }

  private func checkOwner() throws(StorageServiceError) {
    guard context.isOwner else { throw StorageServiceError(.permissionDenied, "Buckets are for owners.") }
  }
}
