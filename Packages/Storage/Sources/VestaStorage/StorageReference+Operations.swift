public import Foundation
import VestaServiceInterop
import VestaStorageBackend

extension StorageReference {
  // MARK: Metadata

  /// The metadata of the object.
  ///
  /// - Throws: `StorageError`.
  public func getMetadata() async throws -> StorageMetadata {
    let name = try objectNameToRead()
    return StorageMetadata(
      try await call { try await $0.getObject(name, preconditions: .none, context: $1) })
  }

  /// Changes the metadata of the object.
  ///
  /// Changes since the metadata was read are sent: new values are set, values that are `nil` now are removed.
  /// Of metadata that the app made, only what is set is sent.
  ///
  /// - Parameter metadata: The metadata.
  /// - Returns: The metadata as it is afterwards.
  /// - Throws: `StorageError`; nothing has changed then.
  public func updateMetadata(_ metadata: StorageMetadata) async throws -> StorageMetadata {
    let name = try objectNameToRead()
    let change = metadata.change
    return StorageMetadata(
      try await call { try await $0.updateObject(name, change: change, preconditions: .none, context: $1) })
  }

  /// A URL under which a server hands the object out to every caller with the URL.
  ///
  /// - Throws: `StorageError`.
  public func downloadURL() async throws -> URL {
    let name = try objectNameToRead()
    var object = try await call { try await $0.getObject(name, preconditions: .none, context: $1) }
    if object.downloadTokens.isEmpty {
      object = try await call { try await $0.changeDownloadTokens(name, .ensure, context: $1) }
    }
    guard let token = object.downloadTokens.first,
      let url = storage.address.downloadURL(bucket: object.name.bucket, name: object.name.name, token: token)
    else { throw StorageError.unknown(message: "Failed to retrieve a download URL.", serverError: [:]).thrown }
    return url
  }

  /// Deletes the object.
  ///
  /// - Throws: `StorageError`.
  public func delete() async throws {
    let name = try objectNameToRead()
    try await call { try await $0.deleteObject(name, preconditions: .none, context: $1) }
  }

  // MARK: Listing

  /// The first objects below this path.
  ///
  /// - Parameter maxResults: How many objects and prefixes at most, 1 to 1000.
  /// - Throws: `StorageError`.
  public func list(maxResults: Int64) async throws -> StorageListResult {
    try await page(maxResults: try Self.checked(maxResults), pageToken: nil)
  }

  /// The next objects below this path.
  ///
  /// - Parameters:
  ///   - maxResults: How many objects and prefixes at most, 1 to 1000.
  ///   - pageToken: The token of the page before.
  /// - Throws: `StorageError`.
  public func list(maxResults: Int64, pageToken: String) async throws -> StorageListResult {
    try await page(maxResults: try Self.checked(maxResults), pageToken: pageToken)
  }

  /// All objects below this path, in memory at once.
  ///
  /// - Throws: `StorageError`; the first failure ends it.
  public func listAll() async throws -> StorageListResult {
    var prefixes: [StorageReference] = []
    var items: [StorageReference] = []
    var token: String?
    repeat {
      let page = try await page(maxResults: 1000, pageToken: token)
      prefixes += page.prefixes
      items += page.items
      token = page.pageToken
    } while token != nil
    return StorageListResult(prefixes: prefixes, items: items, pageToken: nil)
  }

  static func checked(_ maxResults: Int64) throws(StorageFailure) -> Int {
    guard (1...1000).contains(maxResults) else {
      let message = "Argument 'maxResults' must be between 1 and 1000 inclusive."
      throw StorageError.invalidArgument(message: message).thrown
    }
    return Int(maxResults)
  }

  private func page(maxResults: Int, pageToken: String?) async throws -> StorageListResult {
    let request = ListRequest(
      bucket: bucket, prefix: fullPath.isEmpty ? "" : fullPath + "/", delimiter: "/", maximumResults: maxResults,
      pageToken: pageToken)
    let page = try await call { try await $0.listObjects(request, context: $1) }
    return StorageListResult(
      prefixes: page.prefixes.map { root().child($0) }, items: page.items.map { root().child($0.name.name) },
      pageToken: page.nextPageToken)
  }

  private func objectNameToRead() throws(StorageFailure) -> ObjectName {
    guard !fullPath.isEmpty else {
      let message = "The root of a bucket is no object. Use child(_:) to name one."
      throw StorageError.invalidArgument(message: message).thrown
    }
    return objectName
  }

  private func call<Response: Sendable>(
    _ operation: (any StorageBackend, CallContext) async throws -> Response
  ) async throws -> Response {
    try await storage.caller.call(
      about: objectName, retrySeconds: storage.maxOperationRetryTime, operation)
  }
}
