import VestaBytes
import VestaServiceInterop
import VestaStorageBackend

extension StorageCall {
  /// Asks the guard, if there is one.
  ///
  /// - Parameters:
  ///   - operation: The read or the change.
  ///   - starter: The caller who started an upload; `nil` for the caller of this call.
  /// - Throws: `permissionDenied` where the guard denies it, and what it throws.
  func ask(_ operation: @autoclosure () -> StorageGuardedOperation, of starter: CallContext? = nil) async throws {
    let caller = starter ?? context
    guard let gatekeeper = engine.gatekeeper, !caller.isOwner else { return }
    guard try await gatekeeper.allows(operation(), at: now, context: caller) else {
      throw StorageServiceError(.permissionDenied, "Permission denied.")
    }
  }

  /// An object as its sender describes it when an upload begins.
  static func stated(_ request: UploadRequest, _ metadata: ObjectMetadata, _ tokens: [String]) -> StorageObject {
    StorageObject(
      name: request.object, generation: 0, metageneration: 0, size: request.size ?? request.expected.size ?? 0,
      crc32c: request.expected.crc32c ?? 0, md5: request.expected.md5, timeCreated: 0, updated: 0, metadata: metadata,
      downloadTokens: tokens)
  }

  /// An object as an upload brings it: without a generation and without times.
  static func uploaded(
    _ content: ReadyContent, as name: ObjectName, _ metadata: ObjectMetadata, _ tokens: [String]
  ) -> StorageObject {
    StorageObject(
      name: name, generation: 0, metageneration: 0, size: content.size, crc32c: content.crc32c, md5: content.md5,
      timeCreated: 0, updated: 0, metadata: metadata, downloadTokens: tokens)
  }
}

extension UploadRecord {
  /// Keeps the caller who starts the upload: the guard is asked about that one at its end.
  mutating func note(starter context: CallContext) throws {
    isOfOwner = context.isOwner
    uid = context.user?.uid
    claims = try context.user.map { String(decoding: try $0.claims.json(), as: UTF8.self) }
  }

  /// The caller who started the upload; `nil` for an owner, about whose uploads the guard is not asked.
  func starter() throws -> CallContext? {
    if isOfOwner { return nil }
    guard let uid else { return CallContext(caller: .nobody) }
    let claims = try claims.map { try JSONObject(json: Array($0.utf8)) } ?? JSONObject()
    return CallContext(caller: .user(VerifiedUser(uid: uid, claims: claims)))
  }

  /// The caller who started the upload.
  func starterOrOwner() throws -> CallContext.Caller { try starter()?.caller ?? .owner }
}
