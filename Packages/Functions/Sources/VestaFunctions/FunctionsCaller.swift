import VestaAppCheckInterop
import VestaAuthInterop
import VestaBytes
import VestaFunctionsBackend
import VestaMessagingInterop
import VestaServiceInterop

/// The way to the service: with the tokens of Auth, App Check and Messaging, and a deadline.
struct FunctionsCaller: Sendable {
  var backend: any FunctionsBackend
  let auth: (any AuthInterop)?
  let appCheck: (any AppCheckInterop)?
  let messaging: (any MessagingInterop)?
  /// Connects to the emulator that `useEmulator` names; `nil` where no library can.
  var emulators: EmulatorConnection<any FunctionsBackend>?
  var clock = ServiceClock.system

  /// Calls a function.
  func call(
    _ location: FunctionLocation, _ data: JSONValue, timeout: Double, options: HTTPSCallableOptions
  ) async throws -> JSONValue {
    do {
      let context = try await context(timeout: timeout, options: options)
      return try await backend.call(call(location, data), context: context)
    } catch {
      throw Self.error(for: error, location)
    }
  }

  /// Starts a streaming call when the events are first asked for.
  func stream(
    _ location: FunctionLocation, _ data: JSONValue, timeout: Double, options: HTTPSCallableOptions
  ) async throws -> AsyncThrowingStream<FunctionEvent, any Error> {
    let context: CallContext
    do {
      context = try await self.context(timeout: timeout, options: options)
    } catch let error where !(error is CancellationError) {
      throw FunctionsError(.invalidArgument, "The ID token could not be fetched: \(error)")
    }
    return backend.stream(call(location, data), context: context)
  }

  private func call(_ location: FunctionLocation, _ data: JSONValue) -> FunctionCall {
    // The registration token is sent if it is known, and never waited for.
    FunctionCall(location.target, data: data, instanceIDToken: messaging?.fcmToken)
  }

  /// The caller and its tokens; the deadline counts from before they are fetched.
  ///
  /// A call is made once, also where its token is refused: a function may have run and refused the caller itself.
  private func context(timeout: Double, options: HTTPSCallableOptions) async throws -> CallContext {
    let microseconds = timeout.isFinite ? min(max(timeout, 0), 1e9) * 1e6 : 1e15
    let caller = BackendCaller(auth: auth, appCheck: appCheck, clock: clock)
    return try await caller.context(
      timeout: .microseconds(Int64(microseconds)),
      appCheckUse: options.requireLimitedUseAppCheckTokens ? .limited : .current)
  }

  static func error(for error: any Error, _ location: FunctionLocation) -> any Error {
    switch error {
    case let error as FunctionsServiceError: FunctionsError(error, region: location.region, url: location.url)
    case is CancellationError: FunctionsError(.cancelled)
    default: error
    }
  }
}
