import VestaAuthBackend

// The ownership of accounts, and the sessions that end when it changes. All functions are pure decisions about records.

extension UserRecord {
  /// Hands the account to the owner of its mailbox, which was proven now and had not been proven before.
  ///
  /// A user without the mailbox may have made the account, so nothing of that set-up is kept: no way to sign in,
  /// no second factor, no session, no open code, and no earlier address to return to. All paths that prove a mailbox
  /// (an e-mail link, a password reset, an identity provider, a recovery) use this one function.
  mutating func ownershipWasProven(now: Int64) {
    removePassword()
    emailLinkSignIn = false
    phoneNumber = nil
    providers = []
    passkeys = []
    factors = []
    initialEmail = nil
    recoveries = []
    emailVerified = true
    revokeTokens(now: now)
  }

  /// Takes away every way to sign in but the mailbox and its password.
  ///
  /// Any of them may be that of a thief who was signed in for a while. Second factors stay: the mails about them say
  /// how to take a foreign one away.
  mutating func removeWaysIn() {
    providers = []
    passkeys = []
    phoneNumber = nil
  }

  /// Gives the account back to the owner of an earlier address, who sets a new password next.
  ///
  /// Changes that were made after the one that is taken back are void, and their owners cannot return with codes of
  /// their own; an earlier owner still can.
  ///
  /// - Parameters:
  ///   - ticket: The ticket of the code.
  ///   - hash: The SHA-256 of the code.
  ///   - keepsWaysIn: Whether nothing but the address changes, as on a local server of Firebase's: test suites sign in
  ///     with the password that they have set.
  ///   - now: The time, in milliseconds since 1970.
  mutating func recover(_ ticket: TicketRecord, _ hash: [UInt8], keepsWaysIn: Bool, now: Int64) {
    let earlier = recoveries.prefix { $0.hash != hash }
    let first = earlier.isEmpty ? nil : initialEmail
    email = ticket.email
    if keepsWaysIn {
      emailVerified = true
    } else if ticket.wasVerified == true {
      // The person who changed the address knew the password, and may have linked more.
      removePassword()
      removeWaysIn()
      emailVerified = true
      revokeTokens(now: now)
    } else {
      ownershipWasProven(now: now)
    }
    recoveries = Array(earlier)
    initialEmail = first
  }

  /// Starts the life of a new account: tokens of an earlier account with the same id are not its tokens.
  ///
  /// - Parameters:
  ///   - epoch: A random number, see `Secrets.newEpoch()`.
  ///   - now: The time, in milliseconds since 1970.
  mutating func begin(epoch: Int64, now: Int64) {
    self.epoch = epoch
    validSince = max(validSince ?? 0, now / 1000)
  }
}

extension TicketRecord {
  /// Binds the ticket to an account as it is now: the end of the account's sessions ends the ticket as well.
  mutating func bind(to user: UserRecord) {
    localID = user.localID
    epoch = user.epoch
  }

  /// Whether the ticket belongs to the account, and nothing has ended its sessions since the ticket was issued.
  func isCurrent(for user: UserRecord) -> Bool { localID == user.localID && epoch == user.epoch }

  /// Whether a code by e-mail may still do to the account what it was sent for.
  ///
  /// - Parameters:
  ///   - type: The purpose of the code.
  ///   - user: The account of the code.
  ///   - hash: The SHA-256 of the code.
  func isUsable(_ type: OobRequestType, by user: UserRecord, hash: [UInt8]) -> Bool {
    switch type {
    // It changes nothing but the mark of an address, and proves that address whatever has happened since.
    case .verifyEmail: user.email == email
    case .verifyAndChangeEmail: isCurrent(for: user) && (user.email == email || user.email == nil)
    case .recoverEmail: user.recoveries.contains { $0.hash == hash }
    case .revertSecondFactorAddition: user.localID == localID && user.factors.contains { $0.id == factorID }
    case .emailSignIn: true
    default: isCurrent(for: user) && user.email == email
    }
  }
}
