public import VestaServiceInterop
public import VestaStorageBackend

/// A backend that asks a hook before and after each call, so that tests can fail, delay and count calls.
///
/// ```swift
/// let flaky = HookedStorageBackend(engine) { call, moment in
///   if call == .append, moment == .after, chance.isBad { throw StorageServiceError(.unavailable, "lost the answer") }
/// }
/// ```
public struct HookedStorageBackend: StorageBackend {
  /// A method of the protocol.
  public enum Call: Sendable, Hashable, CaseIterable {
    /// `putObject`
    case put
    /// `startUpload`
    case start
    /// `appendToUpload`
    case append
    /// `finalizeUpload`
    case finalize
    /// `uploadStatus`
    case status
    /// `keepUpload`
    case keep
    /// `cancelUpload`
    case cancel
    /// `openObject`
    case open
    /// Reading an open object.
    case read
    /// `getObject`
    case get
    /// `listObjects`
    case list
    /// `updateObject`
    case update
    /// `deleteObject`
    case delete
    /// `changeDownloadTokens`
    case tokens
  }

  /// The time at which the hook runs.
  public enum Moment: Sendable, Hashable {
    /// The call has not happened: throwing loses the request.
    case before
    /// The call has happened: throwing loses the answer.
    case after
  }

  private let base: any StorageBackend
  private let hook: @Sendable (Call, Moment) async throws -> Void
  private let whenClosed: @Sendable () -> Void
  private let change: @Sendable (Call, CallContext) throws -> CallContext

  /// A backend around another one.
  ///
  /// - Parameters:
  ///   - base: The other one.
  ///   - whenClosed: Called each time that an open object is closed.
  ///   - change: Returns the context that the other backend gets in place of the caller's, or refuses it.
  ///   - hook: Called before and after each call.
  public init(
    _ base: any StorageBackend, whenClosed: @escaping @Sendable () -> Void = {},
    context change: @escaping @Sendable (Call, CallContext) throws -> CallContext = { $1 },
    hook: @escaping @Sendable (Call, Moment) async throws -> Void
  ) {
    self.base = base
    self.whenClosed = whenClosed
    self.change = change
    self.hook = hook
  }

  private func around<Result>(
    _ call: Call, _ context: CallContext, _ body: (CallContext) async throws -> Result
  ) async throws -> Result {
    try await hook(call, .before)
    let result = try await body(try change(call, context))
    try await hook(call, .after)
    return result
  }

  /// Asks the hook around the call.
  public func putObject(
    _ request: UploadRequest, content: [UInt8], context: CallContext
  ) async throws -> StorageObject {
    try await around(.put, context) { try await base.putObject(request, content: content, context: $0) }
  }

  /// Asks the hook around the call.
  public func startUpload(_ request: UploadRequest, context: CallContext) async throws -> UploadID {
    try await around(.start, context) { try await base.startUpload(request, context: $0) }
  }

  /// Asks the hook around the call.
  public func appendToUpload(
    _ id: UploadID, offset: Int64, bytes: [UInt8], context: CallContext
  ) async throws -> UploadStatus {
    try await around(.append, context) { try await base.appendToUpload(id, offset: offset, bytes: bytes, context: $0) }
  }

  /// Asks the hook around the call.
  public func finalizeUpload(
    _ id: UploadID, expected: ContentDigest, context: CallContext
  ) async throws -> StorageObject {
    try await around(.finalize, context) { try await base.finalizeUpload(id, expected: expected, context: $0) }
  }

  /// Asks the hook around the call.
  public func uploadStatus(_ id: UploadID, context: CallContext) async throws -> UploadStatus {
    try await around(.status, context) { try await base.uploadStatus(id, context: $0) }
  }

  /// Asks the hook around the call.
  public func keepUpload(_ id: UploadID, context: CallContext) async throws -> UploadStatus {
    try await around(.keep, context) { try await base.keepUpload(id, context: $0) }
  }

  /// Asks the hook around the call.
  public func cancelUpload(_ id: UploadID, context: CallContext) async throws {
    try await around(.cancel, context) { try await base.cancelUpload(id, context: $0) }
  }

  /// Asks the hook around the call, and around each reading.
  public func openObject(_ request: ReadRequest, context: CallContext) async throws -> ObjectDownload {
    let download = try await around(.open, context) { try await base.openObject(request, context: $0) }
    let content = HookedContent(base: download.content, whenClosed: whenClosed, hook: hook)
    return ObjectDownload(object: download.object, content: content)
  }

  /// Asks the hook around the call.
  public func getObject(
    _ object: ObjectName, preconditions: Preconditions, context: CallContext
  ) async throws -> StorageObject {
    try await around(.get, context) { try await base.getObject(object, preconditions: preconditions, context: $0) }
  }

  /// Asks the hook around the call.
  public func listObjects(_ request: ListRequest, context: CallContext) async throws -> ListPage {
    try await around(.list, context) { try await base.listObjects(request, context: $0) }
  }

  /// Asks the hook around the call.
  public func updateObject(
    _ object: ObjectName, change: MetadataChange, preconditions: Preconditions, context: CallContext
  ) async throws -> StorageObject {
    try await around(.update, context) {
      try await base.updateObject(object, change: change, preconditions: preconditions, context: $0)
    }
  }

  /// Asks the hook around the call.
  public func deleteObject(_ object: ObjectName, preconditions: Preconditions, context: CallContext) async throws {
    try await around(.delete, context) {
      try await base.deleteObject(object, preconditions: preconditions, context: $0)
    }
  }

  /// Asks the hook around the call.
  public func changeDownloadTokens(
    _ object: ObjectName, _ action: DownloadTokenAction, context: CallContext
  ) async throws -> StorageObject {
    try await around(.tokens, context) { try await base.changeDownloadTokens(object, action, context: $0) }
  }
}

private struct HookedContent: ObjectContent {
  let base: any ObjectContent
  let whenClosed: @Sendable () -> Void
  let hook: @Sendable (HookedStorageBackend.Call, HookedStorageBackend.Moment) async throws -> Void

  func read(maximumLength: Int) async throws -> [UInt8] {
    try await hook(.read, .before)
    return try await base.read(maximumLength: maximumLength)
  }

  func close() {
    base.close()
    whenClosed()
  }
}
