import VestaConcurrency
import VestaRules
import VestaRulesGuards
import VestaServiceInterop

extension ServerRules {
  /// Replaces the rules of Storage of all projects, by bucket.
  ///
  /// Worked example: a tool sets the rules of the buckets `a` and `b`. Everything in other buckets is denied, whatever
  /// `firebase.json` names for them, until a file of their rules changes or a tool sets the rules of all buckets.
  func replaceRules(
    ofBuckets sources: [String: String], others: String?
  ) async throws(RulesRefusal) -> [RulesRemark] {
    var warnings: [RulesIssue] = []
    for source in sources.sorted(by: { $0.key < $1.key }).map(\.value) + (others.map { [$0] } ?? []) {
      do throws(RulesetError) {
        warnings += try RuledProduct.storage.compile(source)
      } catch {
        throw RulesRefusal(error.issues.map(RulesRemark.init))
      }
    }
    state.withLock { state in
      state.texts = state.texts.filter { $0.key.product != .storage }
      for (bucket, source) in sources { state.texts[Place(product: .storage, name: bucket)] = source }
      state.texts[Place(product: .storage)] = others
      state.deniesOtherBuckets = others == nil
    }
    try await replaceBuckets()
    return warnings.map(RulesRemark.init)
  }
}
