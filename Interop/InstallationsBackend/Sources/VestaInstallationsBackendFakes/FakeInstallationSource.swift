import VestaConcurrency
public import VestaInstallationsBackend

/// An installation with a fixed id, whose token changes when it was refused.
///
/// It honours the promises.
///
/// ```swift
/// let source = FakeInstallationSource(id: "ada") { "fis-\($0)" }
/// ```
public final class FakeInstallationSource: InstallationSource {
  private let id: String
  private let token: @Sendable (Int) -> String
  private let refused = Locked<[String]>([])
  private let number = Locked(0)
  private let failure = Locked<InstallationsServiceError?>(nil)

  /// An installation.
  ///
  /// - Parameters:
  ///   - id: Its id.
  ///   - token: Makes its token, by the number of tokens that were refused while they were current.
  public init(id: String = "id", token: @escaping @Sendable (_ number: Int) -> String = { "token-\($0)" }) {
    self.id = id
    self.token = token
  }

  /// The tokens that were refused, also late.
  public var refusedTokens: [String] { refused.withLock { $0 } }

  /// Has every later call fail, or none.
  public func fail(with error: InstallationsServiceError?) { failure.withLock { $0 = error } }

  /// The id and the token.
  public func credential() async throws(InstallationsServiceError) -> InstallationCredential {
    if let failure = failure.withLock({ $0 }) { throw failure }
    return InstallationCredential(id: id, token: token(number.withLock { $0 }))
  }

  /// Notes the token, and has another one where it was the current one.
  public func tokenWasRefused(_ token: String) {
    refused.withLock { $0.append(token) }
    number.withLock { number in if token == self.token(number) { number += 1 } }
  }
}
