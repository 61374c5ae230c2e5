public import VestaServiceInterop

/// The object service as the owners of a project see it.
///
/// Every call is for an owner of the project; any other caller is refused with `PERMISSION_DENIED`, and a credential
/// that is not valid with `UNAUTHENTICATED`.
public protocol StorageAdminBackend: Sendable {
  /// The buckets that have objects, in the order of their names' UTF-8 bytes.
  ///
  /// A bucket exists by its name; one without objects is not listed.
  func listBuckets(context: CallContext) async throws -> [String]
}
