import VestaAuthBackend
import VestaConcurrency
import VestaServiceInterop

/// The limits on guessing of one engine.
struct GuessLimits: Sendable {
  var accounts, addresses, recipients, digits: RateLimiter

  init(_ options: AuthServiceOptions) {
    accounts = RateLimiter(options.accountGuesses)
    addresses = RateLimiter(options.addressGuesses)
    recipients = RateLimiter(options.codesPerRecipient)
    digits = RateLimiter(options.digitGuesses)
  }
}

extension AuthOperation {
  /// Forgets the guesses for an account after a right one.
  func forgiveGuesses(_ account: String, tenant: String) {
    engine.limits.withLock { limits in
      limits.accounts.reset("\(tenant)\u{0}\(account)")
      if let address = context.clientAddress { limits.addresses.giveBack(address, now: now) }
    }
  }
}

extension AuthCall {
  private func name(_ account: String) -> String { "\(tenant)\u{0}\(account)" }

  /// Takes one guess for an account, and one for the address that the call comes from.
  func takeGuess(_ account: String, from address: String?) throws {
    let mayGo = engine.limits.withLock { limits in
      guard let address else { return limits.accounts.take(name(account), now: now) }
      guard limits.addresses.take(address, now: now) else { return false }
      return limits.accounts.take(name(account), now: now)
    }
    guard mayGo else {
      throw AuthServiceError(.tooManyAttempts, "Too many unsuccessful attempts. Please try again later.")
    }
  }

  /// Takes one guess of the digits that were sent to a phone, from the limit that all codes of the phone share.
  ///
  /// The first guess at each code is let through in any case. Anybody can ask for codes of a phone and use up its limit
  /// with wrong digits; its owner, who reads the message, still signs in with the first guess at a code of their own.
  /// So a phone is guessed at most once for each message that it gets, and as often as the limit says besides; messages
  /// have their own limit, ``AuthServiceOptions/codesPerRecipient``.
  ///
  /// - Parameters:
  ///   - phone: The phone.
  ///   - isFirst: Whether no wrong digits have been presented with this code.
  /// - Returns: Whether the guess came out of the limit, to be given back if it is right.
  func takeDigitGuess(_ phone: String, isFirst: Bool) throws -> Bool {
    let isTaken = engine.limits.withLock { $0.digits.take(name(phone), now: now) }
    guard isTaken || isFirst else {
      throw AuthServiceError(.tooManyAttempts, "Too many wrong codes. Please ask for a new code.")
    }
    return isTaken
  }

  /// Gives a guess back that was right.
  func forgiveDigitGuess(_ phone: String) { engine.limits.withLock { $0.digits.giveBack(name(phone), now: now) } }

  /// Counts a message to a mailbox or a phone.
  func takeMessage(to recipient: String, or code: AuthServiceError.Code) throws {
    // Called within transactions: one that runs again counts twice, which errs on the safe side.
    guard engine.limits.withLock({ $0.recipients.take(recipient, now: now) }) else {
      throw AuthServiceError(code, "Too many codes were asked for. Please try again later.")
    }
  }
}
