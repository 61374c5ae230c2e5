import VestaConcurrency
public import VestaServiceInterop

/// Rules that are any text but the empty one, which does not parse.
public final class FakeRulesAdministration: RulesAdministration {
  private let text = Locked<String?>(nil)

  /// No rules.
  public init() {}

  /// Refuses the empty text as it is refused when it is put in force.
  public func checkRules(_ source: String, of product: RuledProduct) async throws(RulesRefusal) -> [RulesRemark] {
    guard !source.isEmpty else {
      let place = RulesRemark.Place(line: 1, column: 2, startOffset: 1, endOffset: 2)
      throw RulesRefusal([RulesRemark(isError: true, message: "Parse error.", place: place)])
    }
    return []
  }

  /// Puts a text in force.
  ///
  /// - Throws: `RulesRefusal` with a remark at line 1 and column 2, for the empty text.
  public func replaceRules(
    with source: String, of product: RuledProduct
  ) async throws(RulesRefusal) -> [RulesRemark] {
    let remarks = try await checkRules(source, of: product)
    text.withLock { $0 = source }
    return remarks
  }

  /// The text in force, of all products.
  public func rulesInForce(of product: RuledProduct) -> String? { text.withLock { $0 } }

  /// The product, the form, and the number of bytes in force; `nil` before there are rules.
  public func coverage(of product: RuledProduct, as form: RulesCoverageForm) -> String? {
    text.withLock { $0 }.map { "\(product) \(form) \($0.utf8.count)" }
  }
}
