import VestaAuthBackend
import VestaCryptoInterop

/// Checks the strings of a request without reading the store.
enum Checks {
  /// The longest address of RFC 5321, with its brackets.
  static let longestEmail = 256

  /// Longer passwords are refused before they are hashed.
  static let longestPassword = 4096

  /// The longest custom claims, in bytes.
  static let longestClaims = 1000

  /// The names that custom claims cannot have: the registered claims of tokens.
  static let reservedClaims: Set<String> = [
    "iss", "aud", "sub", "iat", "exp", "nbf", "jti", "nonce", "azp", "acr", "amr", "cnf", "auth_time", "firebase",
    "at_hash", "c_hash",
  ]

  /// The address in the form in which it is kept.
  ///
  /// Refused is what two readers could take for different addresses, or what is invisible: control and format
  /// characters, spaces, a second `@`, the characters with which mail programs separate and quote addresses, and those
  /// that domain names take for a dot, or fonts show as an `@`.
  static func email(_ text: String, or code: AuthServiceError.Code = .invalidEmail) throws(AuthServiceError) -> String {
    let email = canonicalEmail(text)
    let parts = email.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty, text.utf8.count <= longestEmail,
      email.utf8.count <= longestEmail, email.unicodeScalars.allSatisfy(isEmailScalar)
    else { throw AuthServiceError(code) }
    return email
  }

  /// Composed (NFC) and in lower case: the form by which addresses are compared.
  static func canonicalEmail(_ text: String) -> String { composed(composed(text).lowercased()) }

  private static func isEmailScalar(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator, .spaceSeparator:
      false
    default:
      !scalar.properties.isWhitespace
        && !",;:<>()[]\\\"\u{3002}\u{FF0E}\u{FF61}\u{FF20}\u{FE6B}".unicodeScalars.contains(scalar)
    }
  }

  /// The number, which begins with `+` and has 3 to 15 digits.
  static func phoneNumber(
    _ text: String, or code: AuthServiceError.Code = .invalidPhoneNumber
  ) throws(AuthServiceError) -> String {
    let digits = text.utf8.dropFirst()
    guard text.utf8.first == UInt8(ascii: "+"), (3...15).contains(digits.count),
      digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { throw AuthServiceError(code, "Invalid format.") }
    return text
  }

  /// A user id that a caller chose.
  static func localID(_ text: String) throws(AuthServiceError) -> String {
    guard !text.isEmpty else { throw AuthServiceError(.missingLocalID) }
    guard text.unicodeScalars.count <= 128, text.utf8.count <= 512 else {
      throw AuthServiceError(.invalidArgument, "A user id has 1 to 128 characters.")
    }
    return text
  }

  /// Text that is there.
  static func present(_ text: String?, or code: AuthServiceError.Code) throws(AuthServiceError) -> String {
    guard let text, !text.isEmpty else { throw AuthServiceError(code) }
    return text
  }

  /// The longest name, in bytes as JSON has it.
  static let longestName = 1024

  /// The longest URL of a picture, in bytes as JSON has it.
  static let longestURL = 2048

  /// Refuses a name or the URL of a picture that is too long.
  ///
  /// Both are in every ID token, so the limits apply to their form there.
  static func profile(_ displayName: String?, _ photoURL: String? = nil) throws(AuthServiceError) {
    guard (displayName?.lengthInJSON ?? 0) <= longestName else {
      throw AuthServiceError(.invalidArgument, "A display name has \(longestName) bytes at most.")
    }
    guard (photoURL?.lengthInJSON ?? 0) <= longestURL else {
      throw AuthServiceError(.invalidArgument, "A photo URL has \(longestURL) bytes at most.")
    }
  }

  /// A provider's user as an administrator links it.
  static func provider(_ provider: ProviderUserInfo) throws(AuthServiceError) {
    _ = try present(provider.providerID, or: .missingProviderID)
    _ = try present(provider.rawID, or: .missingRawID)
    guard provider.providerID.utf8.count <= 256 else {
      throw AuthServiceError(.invalidArgument, "A provider id has 256 bytes at most.")
    }
    guard provider.rawID.utf8.count <= 1024 else {
      throw AuthServiceError(.invalidArgument, "A raw id has 1024 bytes at most.")
    }
    try profile(provider.displayName, provider.photoURL)
    let others = [provider.email, provider.federatedID, provider.phoneNumber, provider.screenName]
    guard others.allSatisfy({ ($0?.utf8.count ?? 0) <= 2048 }) else {
      throw AuthServiceError(.invalidArgument, "A part of a provider's user is longer than 2048 bytes.")
    }
  }

  /// A code and the id of its verification, both of them there.
  static func presented(_ code: String, _ sessionInfo: String) throws(AuthServiceError) -> (
    code: String, session: String
  ) {
    (try present(code, or: .missingCode), try present(sessionInfo, or: .missingSessionInfo))
  }

  /// How many bytes an account may add to its ID token, so that the token, with the claims of its session and its
  /// signature, stays below `JWT.defaultMaximumSize`.
  static let longestIdentity = 8192

  /// Refuses an account whose ID tokens could not be verified.
  static func tokenSize(of user: UserRecord) throws(AuthServiceError) {
    var size = (user.displayName?.lengthInJSON ?? 0) + (user.photoURL?.lengthInJSON ?? 0)
    size += user.customAttributes?.lengthInJSON ?? 0
    size += 2 * (user.email?.lengthInJSON ?? 0) + 2 * user.localID.lengthInJSON
    for provider in user.providers { size += provider.providerID.lengthInJSON + provider.rawID.lengthInJSON + 8 }
    guard size <= longestIdentity else {
      throw AuthServiceError(
        .invalidArgument,
        "The ID token of the account would be too large. Shorten its name, or remove providers or custom claims.")
    }
  }

  /// Custom claims: a JSON object without reserved names, of at most 1000 bytes.
  static func customClaims(_ json: String) throws(AuthServiceError) {
    guard json.utf8.count <= longestClaims else { throw AuthServiceError(.claimsTooLarge) }
    guard let claims = ClaimsText.read(json) else { throw AuthServiceError(.invalidClaims) }
    try freeNames(of: claims.members.map(\.name))
  }

  /// Refuses reserved names.
  static func freeNames(of names: [String]) throws(AuthServiceError) {
    if let name = names.first(where: reservedClaims.contains) { throw AuthServiceError(.forbiddenClaim, name) }
  }
}

extension String {
  /// How many bytes the string has in JSON: control characters are escaped with six, quotes and backslashes with two.
  fileprivate var lengthInJSON: Int {
    utf8.reduce(0) { $0 + ($1 < 0x20 ? 6 : $1 == UInt8(ascii: "\"") || $1 == UInt8(ascii: "\\") ? 2 : 1) }
  }
}

extension PasswordPolicy {
  /// Refuses a password that breaks the policy.
  ///
  /// Without enforcement six characters are enough; too long is too long in any case.
  func check(_ password: String) throws(AuthServiceError) {
    guard password.utf8.count <= Checks.longestPassword else {
      throw AuthServiceError(.passwordDoesNotMeetRequirements, "Missing password requirements: [Password is too long]")
    }
    guard isEnforced else {
      guard password.unicodeScalars.count >= 6 else {
        throw AuthServiceError(.weakPassword, "Password should be at least 6 characters")
      }
      return
    }
    let missing = missingRequirements(of: password)
    guard missing.isEmpty else {
      let list = missing.joined(separator: ", ")
      throw AuthServiceError(.passwordDoesNotMeetRequirements, "Missing password requirements: [\(list)]")
    }
  }

  /// The requirements that a password does not meet, in the order of the service.
  func missingRequirements(of password: String) -> [String] {
    let scalars = password.unicodeScalars
    let special = Set(allowedNonAlphanumericCharacters.unicodeScalars)
    let hasSpecial = scalars.contains(where: special.contains)
    func has(_ range: ClosedRange<Unicode.Scalar>) -> Bool { scalars.contains(where: range.contains) }
    let rules: [(isMet: Bool, text: String)] = [
      (scalars.count >= minimumLength, "Password must contain at least \(minimumLength) characters"),
      (scalars.count <= maximumLength, "Password may contain at most \(maximumLength) characters"),
      (!requiresLowercase || has("a"..."z"), "Password must contain a lower case character"),
      (!requiresUppercase || has("A"..."Z"), "Password must contain an upper case character"),
      (!requiresNumeric || has("0"..."9"), "Password must contain a numeric character"),
      (!requiresNonAlphanumeric || hasSpecial, "Password must contain a non-alphanumeric character"),
    ]
    return rules.filter { !$0.isMet }.map(\.text)
  }

  /// Refuses settings that make no sense.
  func validate() throws(AuthServiceError) {
    guard (6...30).contains(minimumLength), (minimumLength...4096).contains(maximumLength) else {
      throw AuthServiceError(.invalidConfig, "The minimum length is 6 to 30, the maximum up to 4096 and not below it.")
    }
  }
}
