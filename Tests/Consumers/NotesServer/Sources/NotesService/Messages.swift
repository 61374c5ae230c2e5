import Foundation
import VestaAuthBackend
import VestaAuthService
public import VestaCore
import VestaCrypto
import VestaFirestore
import VestaFirestoreService
import VestaTransportInterop

extension NotesService {
  /// The needs of the service, apart from a store.
  public static let libraries: [any Library.Type] = [
    AuthServiceLibrary.self, FirestoreLibrary.self, FirestoreServiceLibrary.self, CryptoLibrary.self,
  ]
}

/// The body of a client's request for an account.
struct Account: Decodable {
  var email: String
  var password: String
}

/// The body of a client's request for a note.
struct NewNote: Decodable {
  var text: String
}

/// A note as clients see it.
struct Note: Encodable {
  var id: String
  var text: String
}

/// A note as it is kept.
struct NoteDocument: Codable {
  var text: String
  @ServerTimestamp var written: Timestamp?
}

/// An answer that says what was wrong.
struct Refusal: Error {
  let status: HTTPStatus
  let message: String

  init(_ status: HTTPStatus, _ message: String) { (self.status, self.message) = (status, message) }

  /// The meaning of a failure of Auth for a client.
  init(_ error: AuthServiceError) {
    switch error.code {
    case .emailExists: self.init(409, "This address has an account already.")
    case .invalidLoginCredentials, .userDisabled: self.init(401, "Address and password do not belong together.")
    case .tooManyAttempts: self.init(429, "Too many attempts. Try again later.")
    case .invalidEmail, .missingEmail, .missingPassword, .weakPassword: self.init(400, "\(error)")
    default: self.init(unexpected: error)
    }
  }

  /// The cause is for the log, not for clients.
  init(unexpected error: any Error) {
    Logger(service: "NotesService").error("NOTES-1", "A request failed: \(error)")
    self.init(500, "Something failed here. Try again.")
  }
}

extension HTTPResponse {
  static func json(_ value: some Encodable, _ status: HTTPStatus = .ok) -> HTTPResponse {
    guard let data = try? JSONEncoder().encode(value) else { return HTTPResponse(500) }
    return HTTPResponse(status, fields: [.contentType: "application/json"], body: .bytes(Array(data)))
  }
}

extension HTTPRequest {
  func decoded<Value: Decodable>() throws(Refusal) -> Value {
    do {
      return try JSONDecoder().decode(Value.self, from: Data(body.bytes ?? []))
    } catch {
      throw Refusal(400, "The body is no JSON object with the members that are needed.")
    }
  }
}
