import VestaCryptoInterop

/// An ID token that was verified; its statements about its account are still to be compared with the account.
struct Proof: Sendable {
  var claims: JWTObject
  var localID: String
  var tenantID: String?
  var issuedAt: Int64
  /// The epoch of the account when the token was issued; `nil` in tokens of versions that did not write it.
  var epoch: Int64?

  /// Whether nothing has ended the sessions of the account since the token was issued.
  func isCurrent(for user: UserRecord) -> Bool {
    if let epoch { return epoch == user.epoch }
    return issuedAt >= user.validSince ?? 0
  }
}

/// The account of an ID token, found in order.
struct Caller: Sendable {
  var user: UserRecord
  var facts: SessionFacts
}
