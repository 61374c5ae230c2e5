public import VestaTesting

/// The promises of `MessagingBackend` and `MessagingAdminBackend` as checks.
public enum MessagingContracts {
  /// All promises.
  public static let all: [Contract<MessagingSubject>] = registrations + deliveries + topics + refusals
}
