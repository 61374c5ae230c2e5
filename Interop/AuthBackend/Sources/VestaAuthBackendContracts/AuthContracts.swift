public import VestaTesting

/// The promises of every `AuthBackend`, as checks.
///
/// ```swift
/// for outcome in await AuthContracts.all.run(against: { try await makeSubject() }) { print(outcome) }
/// ```
public enum AuthContracts {
  /// All promises; each wants a fresh subject.
  public static let all: [Contract<AuthSubject>] = accounts + sessions + codes
}
