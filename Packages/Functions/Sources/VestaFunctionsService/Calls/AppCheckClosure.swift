import VestaFunctionsBackend
import VestaServiceInterop

/// The closure of the options that verifies App Check tokens.
struct AppCheckClosure: AppCheckVerifier {
  let verify: @Sendable (String) async throws -> String
  /// Without it no token can be consumed.
  var consume: (@Sendable (String) async throws -> Bool)?

  func verify(
    appCheckToken token: String, project: String?
  ) async throws(ServiceStatus) -> (appID: String, tokenID: String?) {
    try await (translated { try await verify(token) }, nil)
  }

  func consume(appCheckToken token: String, project: String?) async throws(ServiceStatus) -> Bool {
    guard let consume else { throw FailureRules.noConsumption.status }
    return try await translated { try await consume(token) }
  }

  private func translated<Value>(_ body: () async throws -> Value) async throws(ServiceStatus) -> Value {
    do {
      return try await body()
    } catch let failure as FunctionsServiceError {
      throw failure.status
    } catch is CancellationError {
      throw ServiceStatus(.cancelled, "The call was cancelled.")
    } catch {
      throw .unauthenticated
    }
  }
}
