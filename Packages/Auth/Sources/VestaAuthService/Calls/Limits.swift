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
    guard try await core.sharesStore else { return }
    let (key, limit, now) = (account.key(tenant, slots: options.tuning.guessSlots), options.accountGuesses, now)
    let (address, addressLimit) = (context.clientAddress, options.addressGuesses)
    let sweeping = options.tuning.sweptLimits
    let mayGo = try await core.write { transaction in
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
    core.limits.withLock { limits in
      limits.accounts.reset("\(tenant)\u{0}\(account)")
      if let address = context.clientAddress { limits.addresses.giveBack(address, now: now) }
    }
  }
}

extension AuthCall {
  private func name(_ account: String) -> String { "\(tenant)\u{0}\(account)" }

  /// Takes one guess for an account, and one for the address of the caller.
  func takeGuess(_ account: String, from address: String?) throws {
    let mayGo = core.limits.withLock { limits in
      guard let address else { return limits.accounts.take(name(account), now: now) }
      guard limits.addresses.take(address, now: now) else { return false }
      return limits.accounts.take(name(account), now: now)
    }
    guard mayGo else { throw AuthServiceError.tooManyGuesses }
  }
}

extension AuthWriteCall {
  /// The limits on guessing, as far as this call counts.
  var guesses: GuessLedger { GuessLedger(call: self) }
}

extension AuthServiceError {
  fileprivate static let tooManyGuesses = AuthServiceError(
    .tooManyAttempts, "Too many unsuccessful attempts. Please try again later.")
}
