import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaDatabaseWire
import VestaServiceInterop
import VestaTransportInterop

/// Failures as the REST API answers them: a status, and a sentence in `error`.
enum DatabaseFailure {
  /// The response for any error; of an unknown one only its type is passed on.
  static func response(to error: any Error, of request: HTTPRequest) -> HTTPResponse {
    switch error {
    case let error as DatabaseServiceError: response(to: error, call: nil)
    case let error as BytesError: response(.badRequest, error.message)
    case let error as any ServiceFailure: response(to: DatabaseServiceError(error.status), call: nil)
    case let error as ServiceStatus: response(to: DatabaseServiceError(error), call: nil)
    case is CancellationError, is TransportError: response(.serviceUnavailable, "The request was cut off.")
    default: response(.internalServerError, "The service failed unexpectedly (\(type(of: error))).")
    }
  }

  /// The response for a failure of the backend.
  static func response(to error: DatabaseServiceError, call: DatabaseRESTCall?) -> HTTPResponse {
    if error.reply == .dataStale, let call {
      let node = error.current ?? .empty
      let reply = DatabaseReply(.dataStale, message: error.message, node: node)
      return HTTPResponse(DatabaseRESTWire.answer(failure: reply, to: call, hash: NodeHash.hash(node)), to: call)
    }
    let status: HTTPStatus =
      switch (error.reply, error.code) {
      case (.tooBig?, _): .contentTooLarge
      case (_, .permissionDenied): HTTPStatus(401)
      // A read that takes longer than its caller allows.
      case (_, .deadlineExceeded): .badRequest
      case (_, .cancelled): .serviceUnavailable
      default: HTTPStatus(error.code.httpStatus)
      }
    return response(status, sentence(for: error, call))
  }

  private static func sentence(for error: DatabaseServiceError, _ call: DatabaseRESTCall?) -> String {
    switch error.code {
    case .permissionDenied: return "Permission denied"
    case .unauthenticated where error.reply == .expiredToken: return "Auth token is expired"
    case .unauthenticated: return "Could not parse auth token."
    // Only a read without its index fails so, where there is no hash to compare.
    case .failedPrecondition where call?.action == .get:
      guard let call else { return error.message }
      let name =
        switch call.spec.index {
        case .child(let path): path.text
        default: ".value"
        }
      return
        "Index not defined, add \".indexOn\": \"\(name)\", for path \"\(call.path.description)\", to the rules"
    default: return error.message
    }
  }

  /// A failure with a sentence.
  static func response(_ status: HTTPStatus, _ sentence: String) -> HTTPResponse {
    let object: JSONObject = ["error": .string(sentence)]
    return .json((try? object.json()) ?? [], status: status, fields: [.cacheControl: "no-cache"])
  }
}

extension HTTPResponse {
  /// The response of an answer.
  init(_ answer: DatabaseRESTAnswer, to call: DatabaseRESTCall) {
    let isScript = call.callback != nil && answer.status == 200
    var fields: HTTPFields = [
      .contentType: isScript ? "application/javascript; charset=utf-8" : "application/json; charset=utf-8",
      .cacheControl: "no-cache",
    ]
    if answer.status == 204 { fields.remove(.contentType) }
    if let etag = answer.etag { fields.append("etag", etag) }
    if let name = call.download, answer.status == 200 {
      let safe = name.unicodeScalars.map { $0.value < 32 || $0 == "\"" || $0 == "\\" || $0.value > 126 ? "_" : $0 }
      fields.append("content-disposition", "attachment; filename=\"\(String(String.UnicodeScalarView(safe)))\"")
    }
    self.init(HTTPStatus(answer.status), fields: fields, body: .bytes(answer.body))
  }
}
