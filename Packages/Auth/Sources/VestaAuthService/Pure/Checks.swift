import VestaCryptoInterop
import VestaAuthBackend

/// What can be said of a request's text without looking anything up.
enum Checks {
  /// The longest address of RFC 5321, with its brackets.
  static let longestEmail = 256

  /// Longer passwords are refused before they are hashed.
  static let longestPassword = 4096

  /// The longest custom claims, in bytes.
  static let longestClaims = 1000

  /// The names that custom claims cannot have: those of the tokens themselves.
  static let reservedClaims: Set<String> = [
    "iss", "aud", "sub", "iat", "exp", "nbf", "jti", "nonce", "azp", "acr", "amr", "cnf", "auth_time", "firebase",
    "at_hash", "c_hash",
  ]

  /// The address in the form in which it is kept: lower case.
  static func email(_ text: String, or code: IdentityError.Code = .invalidEmail) throws(IdentityError) -> String {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty, text.utf8.count <= longestEmail,
      !text.unicodeScalars.contains(where: { $0.properties.isWhitespace || $0.value < 0x20 || $0.value == 0x7F })
    else { throw IdentityError(code) }
    return text.lowercased()
  }

  /// The number, which begins with `+` and has 3 to 15 digits.
  static func phoneNumber(
    _ text: String, or code: IdentityError.Code = .invalidPhoneNumber
  ) throws(IdentityError) -> String {
    let digits = text.utf8.dropFirst()
    guard text.utf8.first == UInt8(ascii: "+"), (3...15).contains(digits.count),
      digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { throw IdentityError(code, "Invalid format.") }
    return text
  }

  /// A user id that a caller chose.
  static func localID(_ text: String) throws(IdentityError) -> String {
    guard !text.isEmpty else { throw IdentityError(.missingLocalID) }
    guard text.unicodeScalars.count <= 128, text.utf8.count <= 512 else {
      throw IdentityError(.invalidArgument, "A user id has 1 to 128 characters.")
    }
    return text
  }

  /// Text that is there.
  static func present(_ text: String?, or code: IdentityError.Code) throws(IdentityError) -> String {
    guard let text, !text.isEmpty else { throw IdentityError(code) }
    return text
  }

  /// A name or an address of a picture; neither may be a way to fill the disk.
  static func profile(_ text: String?) throws(IdentityError) {
    guard (text?.utf8.count ?? 0) <= 8192 else {
      throw IdentityError(.invalidArgument, "A name or a URL is longer than 8192 bytes.")
    }
  }

  /// Custom claims: a JSON object without reserved names, of at most 1000 bytes.
  static func customClaims(_ json: String) throws(IdentityError) {
    guard json.utf8.count <= longestClaims else { throw IdentityError(.claimsTooLarge) }
    guard let claims = ClaimsText.read(json) else { throw IdentityError(.invalidClaims) }
    try freeNames(of: claims.members.map(\.name))
  }

  /// Refuses reserved names.
  static func freeNames(of names: [String]) throws(IdentityError) {
    if let name = names.first(where: reservedClaims.contains) { throw IdentityError(.forbiddenClaim, name) }
  }
}

extension PasswordPolicy {
  /// Refuses a password that breaks the policy.
  ///
  /// Without enforcement six characters are enough; too long is too long in any case.
  func check(_ password: String) throws(IdentityError) {
    guard password.utf8.count <= Checks.longestPassword else {
      throw IdentityError(.passwordDoesNotMeetRequirements, "Missing password requirements: [Password is too long]")
    }
    guard isEnforced else {
      guard password.unicodeScalars.count >= 6 else {
        throw IdentityError(.weakPassword, "Password should be at least 6 characters")
      }
      return
    }
    let missing = missingRequirements(of: password)
    guard missing.isEmpty else {
      let list = missing.joined(separator: ", ")
      throw IdentityError(.passwordDoesNotMeetRequirements, "Missing password requirements: [\(list)]")
    }
  }

  /// What a password lacks, in the order of the service.
  func missingRequirements(of password: String) -> [String] {
    let scalars = password.unicodeScalars
    let special = Set(allowedNonAlphanumericCharacters.unicodeScalars)
    let rules: [(isMet: Bool, text: String)] = [
      (scalars.count >= minimumLength, "Password must contain at least \(minimumLength) characters"),
      (scalars.count <= maximumLength, "Password may contain at most \(maximumLength) characters"),
      (
        !requiresLowercase || scalars.contains { ("a"..."z").contains($0) },
        "Password must contain a lower case character"
      ),
      (
        !requiresUppercase || scalars.contains { ("A"..."Z").contains($0) },
        "Password must contain an upper case character"
      ),
      (
        !requiresNumeric || scalars.contains { ("0"..."9").contains($0) },
        "Password must contain a numeric character"
      ),
      (
        !requiresNonAlphanumeric || scalars.contains(where: special.contains),
        "Password must contain a non-alphanumeric character"
      ),
    ]
    return rules.filter { !$0.isMet }.map(\.text)
  }

  /// Refuses settings that make no sense.
  func validate() throws(IdentityError) {
    guard (6...30).contains(minimumLength), (minimumLength...4096).contains(maximumLength) else {
      throw IdentityError(.invalidConfig, "The minimum length is 6 to 30, the maximum up to 4096 and not below it.")
    }
  }
}
