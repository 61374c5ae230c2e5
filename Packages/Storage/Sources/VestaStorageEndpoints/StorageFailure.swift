import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageWire
import VestaTransportInterop

/// The responses to requests that are not served.
enum StorageFailure {
  /// The sentences that Firebase's API has for what rules deny.
  private static func denied(_ call: StorageRoute.Call) -> String {
    switch call {
    case .get, .download: "Permission denied. No READ permission."
    case .list: "Permission denied. No LIST permission."
    case .addToken, .revokeToken: noOwner
    default: "Permission denied. No WRITE permission."
    }
  }

  /// The sentence of Firebase's API for users who do what owners alone may do.
  static let noOwner = "Missing admin credentials."

  /// The response to a request that is no call of the service.
  static func unknown(_ request: HTTPRequest) -> HTTPResponse {
    if request.path == "/v0" || request.path == "/v0/" {
      return HTTPResponse(
        .ok, fields: [.contentType: StorageExchange.jsonType], body: .text(#"{"emulator":"storage"}"#))
    }
    guard request.path.hasPrefix("/storage/v1/") || request.path.hasPrefix("/b/") else {
      return HTTPResponse(HTTPStatus(501), fields: [.contentType: StorageExchange.text], body: .text("Not Implemented"))
    }
    let envelope = ErrorEnvelope(
      code: 501, message: "This server has no call \(request.method.name) \(request.path).", reason: "notImplemented")
    return .json((try? envelope.object.json()) ?? [], status: HTTPStatus(501))
  }

  /// The response to a request that cannot be read.
  static func malformed(_ request: HTTPRequest, _ error: BytesError) -> HTTPResponse {
    guard
      ["/storage/v1/", "/upload/storage/v1/", "/resumable/upload/storage/v1/", "/download/storage/v1/", "/b/"].contains(
        where: request.path.hasPrefix)
    else { return HTTPResponse(.badRequest, fields: [.contentType: StorageExchange.text], body: .text("\(error)")) }
    let envelope = ErrorEnvelope(code: 400, message: error.message, reason: "invalid")
    return .json((try? envelope.object.json()) ?? [], status: .badRequest)
  }

  /// The response for a failure; that of a part of an upload says whether the upload continues.
  static func response(to request: HTTPRequest, _ route: StorageRoute, _ error: any Error) -> HTTPResponse {
    var failure: StorageServiceError
    switch error {
    case let error as StorageServiceError: failure = error
    case let error as ServiceStatus: failure = StorageServiceError(error)
    case let error as BytesError: failure = StorageServiceError(.invalidArgument, error.message)
    case is CancellationError, is TransportError:
      failure = StorageServiceError(.unavailable, "The request was cut off.")
    default: failure = StorageServiceError(.internal, "The request could not be served.")
    }
    if route.api == .firebase, failure.code == .permissionDenied {
      failure = StorageServiceError(.permissionDenied, denied(route.call))
    }
    let wire = StorageErrorWire.response(of: failure, to: route)
    var status = wire.status
    let hasTag = request.fields.first("if-none-match") != nil && request.fields.first("if-match") == nil
    if status == 412, route.preconditions.isOfCaches || hasTag, route.isCached { status = 304 }
    var response = HTTPResponse(
      HTTPStatus(status), fields: [.contentType: wire.contentType], body: status == 304 ? .empty : .bytes(wire.body))
    if case .outOfRange(let size)? = failure.reason { response.fields.set("content-range", "bytes */\(size)") }
    if case .upload(_, _, .resumable) = route.call, route.api == .firebase {
      // Another request that has the upload is over soon: clients repeat what fails with 503, and not with 409.
      if failure.code == .aborted { response.status = .serviceUnavailable }
      response.fields.set("x-goog-upload-status", failure.endsUpload ? "final" : "active")
      if case .wrongOffset(let received)? = failure.reason {
        response.fields.set("x-goog-upload-size-received", "\(received)")
      }
    }
    return response
  }
}

extension StorageRoute {
  /// Whether a caller that has what it asks for is answered so: downloads, and metadata in Google's form.
  fileprivate var isCached: Bool {
    switch call {
    case .download: true
    case .get, .bucket: api == .google
    default: false
    }
  }
}

extension Preconditions {
  /// Whether the caller asks for something only if it is another one than it has, and sets no other condition.
  fileprivate var isOfCaches: Bool {
    (ifGenerationNotMatch != nil || ifMetagenerationNotMatch != nil) && ifGenerationMatch == nil
      && ifMetagenerationMatch == nil
  }
}

extension StorageServiceError {
  /// Whether an upload that fails with it takes nothing more.
  fileprivate var endsUpload: Bool {
    if case .wrongOffset? = reason { return false }
    switch code {
    case .aborted, .unavailable, .deadlineExceeded, .internal, .resourceExhausted, .cancelled: return false
    default: return true
    }
  }
}
