import VestaAppCheckInterop
import VestaAuthBackend
import VestaServiceInterop

/// The way to the backend: off the work queue, with an App Check token, and with Auth's errors.
struct AuthCaller: Sendable {
  let backend: any AuthBackend
  let appCheck: (any AppCheckInterop)?

  /// Makes one call.
  ///
  /// The call runs on the cooperative pool, not on the caller's actor: an engine hashes passwords and calls code of the
  /// app, neither of which has a place on the work queue.
  @concurrent
  func call<Response: Sendable>(
    context: CallContext,
    _ operation: @Sendable (any AuthBackend, CallContext) async throws(AuthServiceError) -> Response
  ) async throws -> Response {
    var context = context
    context.appCheck = AppCheckState(await appCheck?.getToken(forcingRefresh: false).token)
    do {
      return try await operation(backend, context)
    } catch {
      throw AuthErrorTable.error(for: error)
    }
  }
}
