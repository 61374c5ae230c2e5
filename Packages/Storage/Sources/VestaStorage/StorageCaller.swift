import VestaAppCheckInterop
import VestaAuthInterop
import VestaConcurrency
import VestaServiceInterop
import VestaStorageBackend

/// The way to the service: with the tokens of Auth and App Check, and with retries for calls that are made once.
struct StorageCaller: Sendable {
  var backend: any StorageBackend
  let auth: (any AuthInterop)?
  let appCheck: (any AppCheckInterop)?
  /// The clock by which it waits between attempts.
  var clock = ServiceClock.system
  /// Random numbers from 0 to 1, for the pauses between attempts.
  var random = Retry.systemRandom
  /// Connects to the emulator that `useEmulator` names; `nil` where no library can.
  var emulators: EmulatorConnection<any StorageBackend>?
  var tuning = StorageTuning()
  var places = TransferPlaces.shared
  var streams = OpenStreams.shared

  /// Makes one attempt, with the tokens of Auth and App Check; an ID token that is refused is refreshed, once.
  ///
  /// - Throws: The service's failure; `StorageError.unauthenticated` when a user is signed in whose token cannot be
  ///   refreshed.
  func attempt<Response: Sendable>(
    _ operation: (any StorageBackend, CallContext) async throws -> Response
  ) async throws -> Response {
    let caller = BackendCaller(
      auth: auth, appCheck: appCheck, clock: clock,
      tokenError: { StorageError.unauthenticated(serverError: ["NSUnderlyingError": "\($0)"]) })
    return try await caller.call { try await operation(backend, $0) }
  }

  /// Makes a call, again and again while it fails in a way that may pass and the budget lasts.
  func call<Response: Sendable>(
    about object: ObjectName, retrySeconds: Double,
    _ operation: (any StorageBackend, CallContext) async throws -> Response
  ) async throws -> Response {
    var budget = RetryBudget(seconds: retrySeconds, first: tuning.firstRetry)
    var notice = RetryNotice(.call, of: object)
    while true {
      do {
        return try await attempt(operation)
      } catch {
        guard StorageErrorTable.isRetryable(error), let delay = budget.delay(jitter: random()) else {
          throw StorageErrorTable.thrown(for: error, object: object)
        }
        notice.give(after: error)
        do {
          try await clock.sleep(for: .seconds(delay))
        } catch {
          throw StorageError.cancelled.thrown
        }
      }
    }
  }
}
