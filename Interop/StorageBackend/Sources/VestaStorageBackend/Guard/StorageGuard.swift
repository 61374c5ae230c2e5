public import VestaServiceInterop

/// Decides which calls of a `StorageBackend` its callers may make; only the engine asks it.
///
/// The engine asks for each object that a call reads or changes, inside the transaction that does so, with the
/// object before and after: no other call can happen between the decision and the change. It asks for these
/// operations, and for no others:
///
/// | call | operation |
/// |---|---|
/// | `openObject`, `getObject` | ``StorageGuardedOperation/get(_:existing:)``, also for an object that is not there |
/// | `openObject` with a download token of the object | not asked: who has the token may read |
/// | `changeDownloadTokens` that ensures a token | ``StorageGuardedOperation/get(_:existing:)`` |
/// | `listObjects` | ``StorageGuardedOperation/list(bucket:prefix:)`` |
/// | `putObject`, `startUpload`, `finalizeUpload` | ``StorageGuardedOperation/upload(_:existing:)`` |
/// | `updateObject`, `changeDownloadTokens` | ``StorageGuardedOperation/update(_:existing:new:)`` |
/// | `composeObject` | as `openObject` for each source, as `finalizeUpload`, and as `deleteObject` for a source that it deletes |
/// | `deleteObject` | ``StorageGuardedOperation/delete(_:existing:)`` |
///
/// - A resumable upload is asked about twice, with the caller that started it: when it begins, with the size and the
///   digests that the caller states (0 and none otherwise), so that nothing is stored that would be refused at its end;
///   and when it is finished, with the content's. A continued or repeated call is not asked about.
///   `appendToUpload`, `uploadStatus`, `keepUpload` and `cancelUpload` read and change no object; who calls them knows
///   the secret id of the upload.
/// - It is asked before preconditions and before the existence of the object are looked at, so that a caller who is
///   denied learns nothing of them: the call fails with `permissionDenied` and has changed nothing.
/// - A caller for whom `CallContext.isOwner` holds is not asked about.
/// - Answers are not kept: the engine asks anew for every call.
///
/// An engine without a guard lets every caller do everything.
public protocol StorageGuard: Sendable {
  /// Whether the caller may do something.
  ///
  /// It is called while a transaction of the engine is open, perhaps more than once for a call whose transaction has to
  /// be repeated: it must not call the engine, and changes nothing.
  ///
  /// - Parameters:
  ///   - operation: The object before and after.
  ///   - time: The time of the call, in microseconds since 1970.
  ///   - context: The caller; of an upload the one that started it.
  /// - Throws: `StorageServiceError` where it cannot decide; the call fails with it and has changed nothing.
  nonisolated(nonsending) func allows(
    _ operation: StorageGuardedOperation, at time: Int64, context: CallContext
  ) async throws -> Bool
}

/// The access to an object that a guard decides about.
public enum StorageGuardedOperation: Sendable, Hashable {
  /// Reads an object, its content or its metadata.
  case get(ObjectName, existing: StorageObject?)
  /// Lists the objects below a prefix.
  case list(bucket: String, prefix: String)
  /// Creates an object, or replaces one that exists.
  ///
  /// The new one has neither a generation nor times: they are made by the commit.
  case upload(StorageObject, existing: StorageObject?)
  /// Changes the metadata of an object; without one there is no new one either.
  case update(ObjectName, existing: StorageObject?, new: StorageObject?)
  /// Deletes an object.
  case delete(ObjectName, existing: StorageObject?)
}
