import VestaCore

extension TOTPMultiFactorGenerator {
  /// Completion form of ``generateSecret(with:)``.
  @preconcurrency
  public static func generateSecret(
    with session: MultiFactorSession, completion: @escaping @Sendable (TOTPSecret?, (any Error)?) -> Void
  ) {
    CompletionForm.start(on: session.callbackQueue, completion) { try await generateSecret(with: session) }
  }
}
