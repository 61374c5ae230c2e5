public import Foundation
import VestaCore

/// Why an operation of Auth failed, with the numbers and names of Firebase's SDK.
///
/// An ``AuthError`` has the code, and can be matched against it directly:
///
/// ```swift
/// do {
///   try await auth.signIn(withEmail: email, password: password)
/// } catch AuthErrorCode.wrongPassword {
///   …
/// } catch {
///   switch AuthErrorCode(rawValue: (error as NSError).code) {
///   case .networkError: …
///   default: …
///   }
/// }
/// ```
///
/// The thrown error is an ``AuthError``, which a cast turns into its code: `catch let code as AuthErrorCode` and
/// `error as? AuthErrorCode` match it as `error as? AuthError` does. The codes are in `AuthErrorCode+All.swift`.
public struct AuthErrorCode: RawRepresentable, Hashable, Error, Sendable, CaseIterable, CustomStringConvertible {
  /// The number.
  public let rawValue: Int

  /// The name in Swift, such as "wrongPassword".
  public let description: String

  /// The meaning of the code and what to do, for errors without a message.
  let message: String

  init(_ rawValue: Int, _ name: String, _ message: String) {
    self.rawValue = rawValue
    description = name
    self.message = message
  }

  /// The code with a number.
  ///
  /// - Parameter rawValue: The number; the result is `nil` for an unknown one.
  public init?(rawValue: Int) {
    guard let code = Self.byNumber[rawValue] else { return nil }
    self = code
  }

  private static let byNumber = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

  /// The code itself, so that `error.code` reads alike for a code and for an ``AuthError``.
  public var code: Self { self }

  /// Whether two codes have the same number.
  public static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }

  /// Feeds the number to a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension AuthErrorCode: CustomNSError {
  /// Lets `catch AuthErrorCode.wrongPassword` match an ``AuthError``, an `NSError` made of one, or a code.
  public static func ~= (code: Self, error: any Error) -> Bool { error.hasCode(code.rawValue, in: AuthErrorDomain) }

  /// ``AuthErrorDomain``.
  public static var errorDomain: String { AuthErrorDomain }

  /// The number of the code.
  public var errorCode: Int { rawValue }
}

extension AuthErrorCode {
  /// The name under which Firebase's SDKs report the code, such as `ERROR_WRONG_PASSWORD`.
  var name: String {
    switch self {
    // These are not the Swift name in capitals.
    case .networkError: "ERROR_NETWORK_REQUEST_FAILED"
    case .missingAndroidPackageName: "ERROR_MISSING_ANDROID_PKG_NAME"
    case .blockingCloudFunctionError: "ERROR_BLOCKING_CLOUD_FUNCTION_RESPONSE"
    default: "ERROR_" + Self.inCapitals(description)
    }
  }

  /// `invalidAPIKey` as `INVALID_API_KEY`: a word begins where an upper-case letter follows a lower-case one, or
  /// precedes one.
  static func inCapitals(_ name: String) -> String {
    let letters = Array(name)
    var result = ""
    for (index, letter) in letters.enumerated() {
      if index > 0, letter.isUppercase {
        let followsSmall = letters[index - 1].isLowercase
        let startsWord = index + 1 < letters.count && letters[index + 1].isLowercase
        if followsSmall || startsWord { result.append("_") }
      }
      result += letter.uppercased()
    }
    return result
  }
}
