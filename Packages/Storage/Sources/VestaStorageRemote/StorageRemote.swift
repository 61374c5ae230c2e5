import VestaBytes
import VestaConcurrency
public import VestaServiceInterop
public import VestaStorageBackend
import VestaStorageWire
public import VestaTransportInterop

/// The object service on another machine, by Firebase's protocol: a server, an emulator, or Firebase.
///
/// - Small objects are uploaded in one request, larger ones by its resumable uploads. The id of an upload is the path
///   of its session on the server: it can be continued after a restart of the program.
/// - A download is one response that is read as the caller wants it. A connection that is cut, or silent for too long,
///   fails with `UNAVAILABLE`, and the caller opens the same generation where it stopped.
/// - Nothing is kept and nothing is repeated here: the client above has the retries. Firebase takes parts of uploads in
///   multiples of a length only: the rest of a part waits in memory for the next one, and is sent again after a loss.
/// - Of an upload, the protocol has no place for `UploadTokens.none`, nor for the request in its status; a download
///   says neither the times nor the tokens of its object. The checksum of what has arrived is stated by `vesta` alone.
///
/// ```swift
/// let service = try RESTService(client, at: "http://localhost:9199")
/// let remote = StorageRemote(on: service)
/// let object = try await remote.putObject(UploadRequest(object: name), content: bytes, context: context)
/// ```
///
/// To read on: `RESTChannel` for what all calls have in common, then `StorageRemote+Uploads.swift` and
/// `RemoteContent.swift`.
public final class StorageRemote: StorageBackend {
  typealias Channel = RESTChannel<StorageServiceError>

  let options: StorageRemoteOptions
  let rest: Channel
  let clock: ServiceClock
  let timeout: Duration
  let rests: UploadRests

  /// A service on another machine; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - service: The server.
  ///   - options: The settings.
  public init(on service: RESTService, options: StorageRemoteOptions = StorageRemoteOptions()) {
    self.options = options
    clock = service.clock
    timeout = service.options.timeout
    rests = UploadRests(limit: options.tuning.keptRests)
    rest = Channel(service) { Self.failure($0) }
  }

  // MARK: Metadata

  /// The metadata of an object, which gets a download token if it has none.
  public func getObject(
    _ object: ObjectName, preconditions: Preconditions, context: CallContext
  ) async throws -> StorageObject {
    let found = try await send(.get(object), preconditions, context) { try ObjectWire.object(json: $0.body) }
    try check(preconditions, found)
    return found
  }

  /// The names of the objects below a prefix, which is empty or ends with a slash; of objects, pages have nothing else.
  public func listObjects(_ request: ListRequest, context: CallContext) async throws -> ListPage {
    guard (1...1_000).contains(request.maximumResults) else {
      throw StorageServiceError(.invalidArgument, "A page has 1 to 1000 results, not \(request.maximumResults).")
    }
    return try await send(.list(request), .none, context) { try ListWire.page(json: $0.body) }
  }

  /// Changes the metadata of an object.
  public func updateObject(
    _ object: ObjectName, change: MetadataChange, preconditions: Preconditions, context: CallContext
  ) async throws -> StorageObject {
    try await send(.update(object), preconditions, context, body: MetadataWire.json(of: change)) {
      try ObjectWire.object(json: $0.body)
    }
  }

  /// Deletes an object.
  public func deleteObject(_ object: ObjectName, preconditions: Preconditions, context: CallContext) async throws {
    try await send(.delete(object), preconditions, context) { _ in }
  }

  /// Adds a download token to an object, or removes one.
  public func changeDownloadTokens(
    _ object: ObjectName, _ action: DownloadTokenAction, context: CallContext
  ) async throws -> StorageObject {
    switch action {
    // A read of the metadata makes the first one.
    case .ensure: return try await getObject(object, preconditions: .none, context: context)
    case .add:
      return try await send(.addToken(object), .none, context, isRepeatable: false) {
        try ObjectWire.object(json: $0.body)
      }
    case .revoke(let token):
      return try await send(.revokeToken(object, token), .none, context, hasToken: true) {
        try ObjectWire.object(json: $0.body)
      }
    }
  }

  // MARK: Sending

  func send<Value>(
    _ call: StorageRoute.Call, _ preconditions: Preconditions, _ context: CallContext, body: [UInt8] = [],
    isRepeatable: Bool = true, hasToken: Bool = false, _ decode: (RESTAnswer) throws -> Value
  ) async throws(StorageServiceError) -> Value {
    let route = StorageRoute(.firebase, call, preconditions: preconditions)
    var request = self.request(route.method, route.target, body: body)
    (request.isRepeatable, request.hasToken) = (isRepeatable, hasToken)
    if request.method != .get { request.answerGrace = options.tuning.answerGrace }
    return try await rest.call(request, context: context, decode)
  }

  func request(_ method: String, _ target: String, body: [UInt8] = []) -> RESTCall {
    var call = RESTCall(HTTPMethod(method), target, body: body)
    if let version = options.clientVersion { call.fields.append("x-firebase-storage-version", version) }
    return call
  }

  /// Refuses an object that does not meet preconditions, also where a server did not look at them.
  func check(_ preconditions: Preconditions, _ object: StorageObject) throws(StorageServiceError) {
    let isMet =
      preconditions.ifGenerationMatch.map { $0 == object.generation } ?? true
      && preconditions.ifGenerationNotMatch.map { $0 != object.generation } ?? true
      && preconditions.ifMetagenerationMatch.map { $0 == object.metageneration } ?? true
      && preconditions.ifMetagenerationNotMatch.map { $0 != object.metageneration } ?? true
    if isMet { return }
    throw StorageServiceError(
      .failedPrecondition, "The object is another generation than it must be.", reason: .precondition)
  }

  static func field(_ name: String, _ fields: HTTPFields) -> String? {
    HTTPFieldName(name).flatMap { fields.first($0) }
  }

  private static func failure(_ answer: RESTAnswer) -> StorageServiceError {
    let error = StorageErrorWire.error(status: answer.status.code, body: answer.body)
    let details = answer.failure.details
    func with(_ code: ServiceCode, _ reason: StorageServiceError.Reason?) -> StorageServiceError {
      StorageServiceError(code, error.message, reason: reason, errorDetails: details)
    }
    let size = field("content-range", answer.fields).flatMap { $0.parts(at: "/", omittingEmpty: true).last }.flatMap {
      Int64($0)
    }
    if answer.status.code == 416, let size { return with(.outOfRange, .outOfRange(size: size)) }
    if let upload = try? ResumableAnswer(field: { field($0, answer.fields) }) {
      if answer.status.code == 400, let received = upload.received {
        return with(.outOfRange, .wrongOffset(received: received))
      }
      if error.code == .notFound { return with(.notFound, .uploadGone) }
    }
    return with(error.code, error.reason)
  }
}
