import VestaAuthBackend
import VestaBytes
import VestaConcurrency
import VestaEngineInterop
import VestaServiceInterop
import VestaStoreInterop

/// The limits on guessing of one engine, which are all there are where no other process has the store.
struct GuessLimits: Sendable {
  var accounts, addresses, recipients, digits: RateLimiter

  init(_ options: AuthServiceOptions) {
    accounts = RateLimiter(options.accountGuesses)
    addresses = RateLimiter(options.addressGuesses)
    recipients = RateLimiter(options.codesPerRecipient)
    digits = RateLimiter(options.digitGuesses)
  }
}

extension AuthEngine {
  /// Whether other processes may have the store open, too.
  var sharesStore: Bool { get async throws { try await Self.isShared(frame.store()) } }

  static func isShared(_ store: any OrderedStore) -> Bool {
    (store as? any CommitObservable)?.tellsBeforeAcknowledging != true
  }
}

/// An account whose secret is guessed, as the limits count it.
enum GuessedAccount: Sendable {
  case password(localID: String)
  case secondFactor(localID: String)
  /// An address without an account. It costs what one with an account costs, so that neither the time nor the number of
  /// guesses reveals which it is.
  case absent(email: String)

  func key(_ tenant: TenantKey, slots: Int64) -> [UInt8] {
    switch self {
    case .password(let localID): Keys.guesses(tenant, of: localID)
    case .secondFactor(let localID): Keys.factorGuesses(tenant, of: localID)
    case .absent: Keys.guesses(tenant, ofAbsent: name % max(1, slots))
    }
  }

  /// Distinguishes the limits that share a row.
  var name: Int64 {
    guard case .absent(let email) = self else { return 0 }
    var checksum = CRC32C()
    checksum.update(Array(email.utf8))
    return Int64(checksum.value)
  }
}

extension AuthOperation {
  /// Takes one guess for an account from what all processes of the store may guess together.
  ///
  /// Called outside of any transaction, before anything is compared: no refusal undoes it.
  func takeSharedGuess(_ account: GuessedAccount, tenant: TenantKey) async throws {
    guard try await engine.sharesStore else { return }
    let (key, limit, now) = (account.key(tenant, slots: options.tuning.guessSlots), options.accountGuesses, now)
    let (address, addressLimit) = (context.clientAddress, options.addressGuesses)
    let sweeping = options.tuning.sweptLimits
    let mayGo = try await engine.write { transaction in
      if let address {
        guard try await transaction.takeShared(.address, address, addressLimit, now: now, sweeping: sweeping) else {
          return false
        }
      }
      let old = try await transaction.record(SharedGuesses.self, key)
      var guesses = old ?? SharedGuesses()
      let mayGo = guesses.take(account.name, limit, now: now)
      if guesses != old { try await transaction.put(guesses, key) }
      return mayGo
    }
    if !mayGo { throw AuthServiceError.tooManyGuesses }
  }

  /// Forgets the guesses for an account after a right one.
  func forgiveGuesses(_ account: String, tenant: TenantKey) {
    engine.limits.withLock { limits in
      limits.accounts.reset("\(tenant)\u{0}\(account)")
      if let address = context.clientAddress { limits.addresses.giveBack(address, now: now) }
    }
  }
}

extension AuthCall {
  private func name(_ account: String) -> String { "\(tenant)\u{0}\(account)" }

  /// Takes one guess for an account, and one for the address of the caller.
  func takeGuess(_ account: String, from address: String?) throws {
    let mayGo = engine.limits.withLock { limits in
      guard let address else { return limits.accounts.take(name(account), now: now) }
      guard limits.addresses.take(address, now: now) else { return false }
      return limits.accounts.take(name(account), now: now)
    }
    guard mayGo else { throw AuthServiceError.tooManyGuesses }
  }
}

extension WriteCall {
  private func name(_ account: String) -> String { "\(tenant)\u{0}\(account)" }

  /// Takes one guess of the digits that were sent to a phone, from the limit that all codes of the phone share.
  ///
  /// The first guess at each code is let through in any case. Anybody can ask for codes of a phone and use up its limit
  /// with wrong digits; its owner, who reads the message, still signs in with the first guess at a new code.
  /// So a phone is guessed at most once for each message that it gets, and within the limit in addition; messages
  /// have their own limit, ``AuthServiceOptions/codesPerRecipient``.
  ///
  /// - Parameters:
  ///   - phone: The phone.
  ///   - isFirst: Whether no wrong digits have been presented with this code.
  /// - Returns: Whether the guess was counted, to be given back if it is right.
  func takeDigitGuess(_ phone: String, isFirst: Bool) async throws -> Bool {
    var isTaken = engine.limits.withLock { $0.digits.take(name(phone), now: now) }
    if isTaken, engine.hasSharedStore {
      isTaken = try await transaction.takeShared(
        .digits, name(phone), options.digitGuesses, now: now, sweeping: options.tuning.sweptLimits)
    }
    guard isTaken || isFirst else {
      throw AuthServiceError(.tooManyAttempts, "Too many wrong codes. Please ask for a new code.")
    }
    return isTaken
  }

  /// Gives a guess back that was right.
  func forgiveDigitGuess(_ phone: String) async throws {
    engine.limits.withLock { $0.digits.giveBack(name(phone), now: now) }
    guard engine.hasSharedStore else { return }
    try await transaction.giveBackShared(.digits, name(phone), options.digitGuesses, now: now)
  }

  /// Counts a message to a mailbox or a phone.
  func takeMessage(to recipient: String, or code: AuthServiceError.Code) async throws {
    // Called within transactions: one that runs again counts twice, which errs on the safe side.
    var mayGo = engine.limits.withLock { $0.recipients.take(recipient, now: now) }
    if mayGo, engine.hasSharedStore {
      mayGo = try await transaction.takeShared(
        .recipient, recipient, options.codesPerRecipient, now: now, sweeping: options.tuning.sweptLimits)
    }
    guard mayGo else { throw AuthServiceError(code, "Too many codes were asked for. Please try again later.") }
  }
}

extension AuthServiceError {
  fileprivate static let tooManyGuesses = AuthServiceError(
    .tooManyAttempts, "Too many unsuccessful attempts. Please try again later.")
}

extension WriteCall {
  /// Forgets the guesses that all processes know of, after a right one.
  func forgiveSharedGuesses(_ account: GuessedAccount, from address: String?) async throws {
    guard try await engine.sharesStore else { return }
    try await transaction.delete(account.key(tenant, slots: options.tuning.guessSlots))
    guard let address else { return }
    try await transaction.giveBackShared(.address, address, options.addressGuesses, now: now)
  }
}
