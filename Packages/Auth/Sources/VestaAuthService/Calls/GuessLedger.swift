import VestaAuthBackend
import VestaConcurrency
import VestaEngineInterop
import VestaStoreInterop

/// The guesses and messages that a call takes from their limits, in its transaction.
struct GuessLedger {
  let call: AuthWriteCall

  private var core: AuthCore { call.core }
  private var options: AuthServiceOptions { call.options }
  private var now: Int64 { call.now }

  private func name(_ account: String) -> String { "\(call.tenant)\u{0}\(account)" }

  /// Takes one guess of the digits that were sent to a phone, from the limit that all codes of the phone share.
  ///
  /// The first guess at each code is let through in any case. Every caller can ask for codes of a phone and use up its
  /// limit with wrong digits; its owner, who reads the message, still signs in with the first guess at a new code.
  /// So a phone is guessed at most once for each message that it gets, and within the limit in addition; messages
  /// have their own limit, ``AuthServiceOptions/codesPerRecipient``.
  ///
  /// - Parameters:
  ///   - phone: The phone.
  ///   - isFirst: Whether no wrong digits have been presented with this code.
  /// - Returns: Whether the guess was counted, to be given back if it is right.
  func takeDigitGuess(_ phone: String, isFirst: Bool) async throws -> Bool {
    var isTaken = core.limits.withLock { $0.digits.take(name(phone), now: now) }
    if isTaken, core.hasSharedStore {
      isTaken = try await call.transaction.takeShared(
        .digits, name(phone), options.digitGuesses, now: now, sweeping: options.tuning.sweptLimits)
    }
    guard isTaken || isFirst else {
      throw AuthServiceError(.tooManyAttempts, "Too many wrong codes. Please ask for a new code.")
    }
    return isTaken
  }

  /// Gives a guess back that was right.
  func forgiveDigitGuess(_ phone: String) async throws {
    core.limits.withLock { $0.digits.giveBack(name(phone), now: now) }
    guard core.hasSharedStore else { return }
    try await call.transaction.giveBackShared(.digits, name(phone), options.digitGuesses, now: now)
  }

  /// Counts a message to a mailbox or a phone.
  func takeMessage(to recipient: String, or code: AuthServiceError.Code) async throws {
    // Called within transactions: one that runs again counts twice, which errs on the safe side.
    var mayGo = core.limits.withLock { $0.recipients.take(recipient, now: now) }
    if mayGo, core.hasSharedStore {
      mayGo = try await call.transaction.takeShared(
        .recipient, recipient, options.codesPerRecipient, now: now, sweeping: options.tuning.sweptLimits)
    }
    guard mayGo else { throw AuthServiceError(code, "Too many codes were asked for. Please try again later.") }
  }

  /// Forgets the guesses that all processes know of, after a right one.
  func forgiveSharedGuesses(_ account: GuessedAccount, from address: String?) async throws {
    guard try await core.sharesStore else { return }
    try await call.transaction.delete(account.key(call.tenant, slots: options.tuning.guessSlots))
    guard let address else { return }
    try await call.transaction.giveBackShared(.address, address, options.addressGuesses, now: now)
  }
}
