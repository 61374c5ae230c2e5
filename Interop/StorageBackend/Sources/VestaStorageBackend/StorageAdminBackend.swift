public import VestaServiceInterop

/// The object service as the owners of a project see it.
///
/// Every call is for an owner of the project; any other caller is refused with `PERMISSION_DENIED`, and a credential
/// that is not valid with `UNAUTHENTICATED`.
public protocol StorageAdminBackend: Sendable {
  /// The buckets that were made, and the buckets that have objects, in the order of their names' UTF-8 bytes.
  ///
  /// A bucket that was not made exists by its name, and is listed while it has objects.
  func listBuckets(context: CallContext) async throws -> [String]

  /// Makes a bucket.
  ///
  /// - Throws: `ALREADY_EXISTS` for one that was made; `INVALID_ARGUMENT` for a name that none can have.
  func createBucket(_ name: String, context: CallContext) async throws

  /// Deletes a bucket without objects.
  ///
  /// - Throws: `FAILED_PRECONDITION` for one with objects; `NOT_FOUND` for one that was not made and has none.
  func deleteBucket(_ name: String, context: CallContext) async throws
}
