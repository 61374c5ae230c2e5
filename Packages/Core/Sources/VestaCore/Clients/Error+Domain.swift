import Foundation

extension Error {
  /// Whether the error, seen as an `NSError`, has a code of a domain.
  ///
  /// The pattern of a product's `catch` clauses:
  ///
  /// ```swift
  /// public static func ~= (code: Code, error: any Error) -> Bool { error.hasCode(code.rawValue, in: MyErrorDomain) }
  /// ```
  ///
  /// Each product declares the operator itself. One in this module would not be found by a program that imports the
  /// product alone and has the upcoming feature `MemberImportVisibility`.
  public func hasCode(_ code: Int, in domain: String) -> Bool {
    let error = self as NSError
    return error.domain == domain && error.code == code
  }
}
