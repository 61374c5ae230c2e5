public import VestaTesting

/// What every `AuthBackend` promises, as checks.
///
/// ```swift
/// for outcome in await IdentityContracts.all.run(against: { try await makeSubject() }) { print(outcome) }
/// ```
public enum IdentityContracts {
  /// All promises; each wants a fresh subject.
  public static let all: [Contract<IdentitySubject>] = accounts + sessions + codes
}
