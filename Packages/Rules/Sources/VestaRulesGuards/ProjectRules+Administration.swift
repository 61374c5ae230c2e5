import VestaRules
public import VestaServiceInterop

extension ProjectRules: RulesAdministration {
  /// Compiles the rules of one product, and puts them in force if they compile.
  public func replaceRules(
    with source: String, of product: RuledProduct
  ) async throws(RulesRefusal) -> [RulesRemark] {
    var sources = RulesSources()
    switch product {
    case .firestore: sources.firestore = .text(source)
    case .storage: sources.storage = .text(source)
    case .database: sources.database = .text(source)
    }
    do throws(ProjectRulesError) {
      let warnings = try await replace(with: sources)
      return (warnings.firestore + warnings.storage).map(RulesRemark.init)
    } catch {
      let issues = [error.firestore, error.storage, error.database].flatMap { $0?.issues ?? [] }
      throw RulesRefusal(issues.map(RulesRemark.init))
    }
  }

  /// The text of the rules in force, read from their file where they are from one.
  public func rulesInForce(of product: RuledProduct) -> String? {
    let sources = sourcesInForce
    let source =
      switch product {
      case .firestore: sources.firestore
      case .storage: sources.storage
      case .database: sources.database
      }
    return source.flatMap { try? $0.text() }
  }
}

extension RulesRemark {
  init(_ issue: RulesIssue) {
    self.init(
      isError: issue.severity == .error, message: issue.message,
      place: issue.position.map {
        Place(line: $0.line, column: $0.column, startOffset: $0.startOffset, endOffset: $0.endOffset)
      })
  }
}
