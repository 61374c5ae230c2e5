import VestaFunctionsBackend
import VestaServiceInterop

/// The closure of the options that verifies App Check tokens.
struct AppCheckClosure: AppCheckVerifier {
  let verify: @Sendable (String) async throws -> String

  func verify(
    appCheckToken token: String, project: String?
  ) async throws(ServiceStatus) -> (appID: String, tokenID: String?) {
    do {
      return (try await verify(token), nil)
    } catch let failure as FunctionsServiceError {
      throw failure.status
    } catch is CancellationError {
      throw ServiceStatus(.cancelled, "The call was cancelled.")
    } catch {
      throw .unauthenticated
    }
  }
}
