import VestaConcurrency

/// The auth global work queue as a global actor: all state of all `Auth`s and `User`s is isolated to it.
///
/// - Public asynchronous methods go there at once: an `await` on something isolated to it, or a task that begins on it.
/// - Public synchronous methods are `AuthActor.sync { … }` around something private.
/// - Private code is isolated to it, which the compiler checks, and the executor asserts at run time.
///
/// Nothing of an app runs on it: handlers are called, and released, on the callback queue; backends and App Check are
/// called off the queue (``AuthCaller``). So `sync` never waits for itself. The one exception is documented at
/// ``CredentialStore``.
@globalActor
actor AuthActor {
  static let shared = AuthActor()

  /// The auth global work queue.
  static let queue = WorkQueue(label: "vesta.auth.global-work-queue")

  nonisolated var unownedExecutor: UnownedSerialExecutor { Self.queue.asUnownedSerialExecutor() }

  /// Runs `body` on the queue and waits for it; for public synchronous methods only.
  static func sync<Value: Sendable>(_ body: @AuthActor () throws -> Value) rethrows -> Value {
    try queue.sync { try assumeIsolated(body) }
  }

  /// Runs `body` on the queue and returns to the caller's executor, whether it succeeds or fails.
  ///
  /// Every public asynchronous method calls this. Ending such a method with a call of something isolated to this
  /// actor would be wrong with the compiler of Swift 6.3: when the call throws, the caller's `catch` runs on this
  /// queue. The `do` and `catch` below, which look idle, are what brings a failure back; `make check` finds calls
  /// without them.
  nonisolated(nonsending) static func run<Value: Sendable>(
    _ body: @Sendable @AuthActor () async throws -> Value
  ) async throws -> Value {
    do { return try await body() } catch { throw error }
  }

  /// Runs `body` here and now; stops the process when that is not on the queue.
  static func assumeIsolated<Value: Sendable>(_ body: @AuthActor () throws -> Value) rethrows -> Value {
    queue.assertOnQueue()
    return try withoutActuallyEscaping(body) { body in
      // Sound: isolation is no part of a function's representation, and this is the actor's queue; MainActor does it
      // so.
      try unsafeBitCast(body, to: (() throws -> Value).self)()
    }
  }
}
