import VestaAuthBackend
import VestaCryptoInterop
import VestaEventsInterop
import VestaServiceInterop
import VestaStoreInterop

/// The errors of a call on their way out of the engine: translated into the seam's terms, whatever they were.
struct ServiceError: ServiceFailure {
  let error: AuthServiceError

  init(_ error: AuthServiceError) { self.error = error }

  init(_ code: ServiceCode, _ message: String) {
    switch code {
    case .cancelled: error = AuthServiceError(.cancelled)
    case .internal: error = AuthServiceError(.internalError, message)
    default: error = AuthServiceError(AuthServiceError.Code(code.name), message)
    }
  }

  init(_ status: ServiceStatus) { self.init(status.code, status.message) }

  /// The canonical code of the failure; the names of Auth's own failures are in the message, as on the wire.
  var status: ServiceStatus {
    let code = ServiceCode(name: error.code.rawValue) ?? (error.code == .internalError ? .internal : .invalidArgument)
    return ServiceStatus(code, error.wireMessage)
  }

  /// The failure for an error of something that the engine uses; `nil` for an unknown error.
  init?(translating error: any Error) {
    switch error {
    case let error as AuthServiceError: self.error = error
    case let error as StoreError:
      self.error = AuthServiceError(error.isPassing ? .unavailable : .internalError, "\(error)")
    case let error as CryptoError:
      self.error = AuthServiceError(.internalError, "The crypto provider failed: \(error.code).")
    case let error as EventOutboxFull:
      self.error = ServiceError(.resourceExhausted, error.description).error
    default: return nil
    }
  }
}
