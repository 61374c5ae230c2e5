import Synchronization

/// Settings for tests.
public final class AuthSettings: Sendable {
  private let isDisabled: Atomic<Bool>

  /// Settings as they are without any.
  public init() { isDisabled = Atomic(false) }

  init(copying other: AuthSettings) { isDisabled = Atomic(other.isAppVerificationDisabledForTesting) }

  /// Whether phone numbers are verified without a proof of the app's identity; the backend must allow that.
  public var isAppVerificationDisabledForTesting: Bool {
    get { isDisabled.load(ordering: .relaxed) }
    set { isDisabled.store(newValue, ordering: .relaxed) }
  }
}
