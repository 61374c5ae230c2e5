import VestaCryptoInterop

/// How the service reads the times in tokens that it signed itself, when its clock has been set back since.
///
/// The time at which such a token was issued cannot lie ahead of the real time, so the token shows that the clock is
/// wrong, not the token. Within the tolerance the token counts as issued now. Its expiry is not extended.
///
/// Example: the clock shows 1000 and a token is issued, `iat` 1000, `exp` 4600. The clock is set back to 998. The
/// token is then judged at 1000, and accepted.
enum ClockTolerance {
  /// By how many seconds the clock may have been set back: a correction by NTP or a virtual machine that was resumed.
  static let seconds: Int64 = 600

  /// The time at which to judge a token.
  ///
  /// - Parameters:
  ///   - claims: The claims of the token, which need not have been verified yet.
  ///   - now: The time, in seconds since 1970.
  static func time(for claims: JWTObject, now: Int64) -> Int64 {
    let issued = claims["iat"]?.integer ?? now
    return issued > now && issued - now <= seconds ? issued : now
  }
}
