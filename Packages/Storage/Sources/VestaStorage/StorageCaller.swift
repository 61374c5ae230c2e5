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

  /// The context of a call: the caller and its tokens.
  ///
  /// - Throws: `StorageError.unauthenticated` when a user is signed in whose token cannot be refreshed.
  func context() async throws -> CallContext {
    let token: String?
    do {
      token = try await auth?.getToken(forcingRefresh: false)
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      throw StorageError.unauthenticated(serverError: ["NSUnderlyingError": "\(error)"])
    }
    let appCheckToken = await appCheck?.getToken(forcingRefresh: false).token
    return CallContext(
      caller: token.map { .credential(.idToken($0)) } ?? .nobody, appCheck: AppCheckState(appCheckToken))
  }

  /// Makes a call, again and again while it fails in a way that may pass and the budget lasts.
  func call<Response: Sendable>(
    about object: ObjectName, retrySeconds: Double,
    _ operation: (any StorageBackend, CallContext) async throws -> Response
  ) async throws -> Response {
    var budget = RetryBudget(seconds: retrySeconds, first: tuning.firstRetry)
    while true {
      do {
        return try await operation(backend, try await context())
      } catch {
        guard StorageErrorTable.isRetryable(error), let delay = budget.delay(jitter: random()) else {
          throw StorageErrorTable.thrown(for: error, object: object)
        }
        do {
          try await clock.sleep(for: .seconds(delay))
        } catch {
          throw StorageError.cancelled.thrown
        }
      }
    }
  }
}
