public import VestaInstallationsBackend
public import VestaServiceInterop

/// Knows installations by tokens that say whose they are: `fis-ID`, or `fis-ID-NUMBER` from a number on.
///
/// ```swift
/// host.add((any InstallationsVerifier).self, KnownInstallations())         // every `fis-ID`
/// host.add((any InstallationsVerifier).self, KnownInstallations(from: 2))  // `fis-ada-2`, and no longer `fis-ada-1`
/// ```
public struct KnownInstallations: InstallationsVerifier {
  private let ids: Set<String>?
  private let first: Int?
  private let appID: String

  /// Some installations of one app.
  ///
  /// - Parameters:
  ///   - ids: Their ids; `nil` for all.
  ///   - first: The first number that is valid; `nil` for tokens without numbers.
  ///   - appID: The app.
  public init(_ ids: Set<String>? = nil, from first: Int? = nil, appID: String = "app") {
    (self.ids, self.first, self.appID) = (ids, first, appID)
  }

  /// The installation of a token.
  public func verify(
    token: String, context: CallContext
  ) async throws(InstallationsServiceError) -> VerifiedInstallation {
    guard let id = id(of: token), ids?.contains(id) != false else {
      throw InstallationsServiceError(.unauthenticated, "no token")
    }
    return VerifiedInstallation(id: id, appID: appID)
  }

  private func id(of token: String) -> String? {
    guard token.hasPrefix("fis-") else { return nil }
    guard let first else { return String(token.dropFirst(4)) }
    let parts = token.split(separator: "-")
    guard parts.count == 3, let number = Int(parts[2]), number >= first else { return nil }
    return String(parts[1])
  }
}
