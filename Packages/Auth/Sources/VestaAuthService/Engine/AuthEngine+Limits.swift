import VestaServiceInterop
import VestaAuthBackend
import VestaConcurrency

extension AuthEngine {
  /// Takes one guess for an account and one for the address that the call comes from.
  func takeGuess(_ account: String, scope: Scope, context: CallContext) throws {
    let now = now
    let name = "\(scope.tenant)\u{0}\(account)"
    let mayGo = limits.withLock { limits in
      guard let address = context.clientAddress else { return limits.accounts.take(name, now: now) }
      guard limits.addresses.take(address, now: now) else { return false }
      return limits.accounts.take(name, now: now)
    }
    guard mayGo else {
      throw IdentityError(.tooManyAttempts, "Too many unsuccessful attempts. Please try again later.")
    }
  }

  /// Forgets the guesses for an account after a right one.
  func forgiveGuesses(_ account: String, scope: Scope, context: CallContext) {
    let now = now
    limits.withLock { limits in
      limits.accounts.reset("\(scope.tenant)\u{0}\(account)")
      if let address = context.clientAddress { limits.addresses.giveBack(address, now: now) }
    }
  }

  /// Takes one guess of the digits that were sent to a phone, over all codes of that phone.
  func takeDigitGuess(_ phone: String, scope: Scope) throws {
    let now = now
    guard limits.withLock({ $0.digits.take("\(scope.tenant)\u{0}\(phone)", now: now) }) else {
      throw IdentityError(.tooManyAttempts, "Too many wrong codes. Please try again later.")
    }
  }

  /// Gives a guess back that was right.
  func forgiveDigitGuess(_ phone: String, scope: Scope) {
    let now = now
    limits.withLock { $0.digits.giveBack("\(scope.tenant)\u{0}\(phone)", now: now) }
  }

  /// Counts a message to a mailbox or a phone.
  func takeMessage(to recipient: String, or code: IdentityError.Code) throws {
    let now = now
    // Called within transactions: one that runs again counts twice, which errs on the safe side.
    guard limits.withLock({ $0.recipients.take(recipient, now: now) }) else {
      throw IdentityError(code, "Too many codes were asked for. Please try again later.")
    }
  }
}
