import VestaConcurrency
public import VestaRules
public import VestaServiceInterop

extension ProjectRules: RulesAdministration {
  /// Compiles rules beside the ones in force.
  public func checkRules(_ source: String, of product: RuledProduct) async throws(RulesRefusal) -> [RulesRemark] {
    do throws(RulesetError) {
      return try await RulesCompilers.run { () throws(RulesetError) in
        try product.compile(source)
      }.map(RulesRemark.init)
    } catch {
      throw RulesRefusal(error.issues.map(RulesRemark.init))
    }
  }

  /// Compiles the rules of one product, and puts them in force if they compile.
  public func replaceRules(
    with source: String, of product: RuledProduct
  ) async throws(RulesRefusal) -> [RulesRemark] {
    do throws(ProjectRulesError) {
      let warnings = try await replace(with: Self.sources(.text(source), of: product))
      return (warnings.firestore + warnings.storage).map(RulesRemark.init)
    } catch {
      let issues = [error.firestore, error.storage, error.database].flatMap { $0?.issues ?? [] }
      throw RulesRefusal(issues.map(RulesRemark.init))
    }
  }

  /// Compiles the rules of a database or a bucket, and puts them in force if they compile.
  ///
  /// A bucket in which everything is denied, as it was not named, has its own rules from then on: other buckets that
  /// were not named stay denied.
  public func replaceRules(
    with source: String, of product: RuledProduct, scope: String
  ) async throws(RulesRefusal) -> [RulesRemark] {
    if let known = rules(of: product, scope: scope) { return try await known.replaceRules(with: source, of: product) }
    let own = try await bucketRules(source)
    buckets.withLock { $0.named[scope] = own }
    return own.storage.current?.warnings.map(RulesRemark.init) ?? []
  }

  /// Compiles the rules of single buckets, and puts them in force in place of all rules of Storage.
  public func replaceRules(
    ofBuckets sources: [String: String], others: String?
  ) async throws(RulesRefusal) -> [RulesRemark] {
    var (named, remarks): ([String: ProjectRules], [RulesRemark]) = ([:], [])
    for (bucket, source) in sources.sorted(by: { $0.key < $1.key }) {
      let rules = try await bucketRules(source)
      remarks += rules.storage.current?.warnings.map(RulesRemark.init) ?? []
      named[bucket] = rules
    }
    // Last, as it is the only step that can fail from here on.
    if let others { remarks += try await replaceRules(with: others, of: .storage) }
    buckets.withLock { $0 = BucketRules(named: named, deniesOthers: others == nil) }
    return remarks
  }

  /// Compiles the rules of a bucket.
  private func bucketRules(_ source: String) async throws(RulesRefusal) -> ProjectRules {
    do throws(ProjectRulesError) {
      return try await RulesCompilers.run { [limits, reporting] () throws(ProjectRulesError) in
        try ProjectRules(RulesSources(storage: .text(source)), limits: limits, reporting: reporting)
      }
    } catch {
      throw RulesRefusal(error.storage?.issues.map(RulesRemark.init) ?? [])
    }
  }

  /// The text of the rules in force for a database or a bucket.
  public func rulesInForce(of product: RuledProduct, scope: String) -> String? {
    rules(of: product, scope: scope)?.rulesInForce(of: product)
  }

  /// The text of the rules in force; of a file as it was when it was compiled.
  public func rulesInForce(of product: RuledProduct) -> String? {
    switch product {
    case .firestore: firestore.current?.text
    case .storage: storage.current?.text
    case .database: database.current?.source
    }
  }
}

extension RuledProduct {
  /// Compiles rules of the product.
  ///
  /// - Returns: The warnings.
  public func compile(_ source: String) throws(RulesetError) -> [RulesIssue] {
    switch self {
    case .firestore: return try Ruleset(source, for: .firestore).warnings
    case .storage: return try Ruleset(source, for: .storage).warnings
    case .database:
      _ = try DatabaseRuleset(source)
      return []
    }
  }
}

extension ProjectRules {
  /// The outcomes of the expressions of the rules in force; `nil` where they are not counted.
  public func coverage(of product: RuledProduct, as form: RulesCoverageForm) -> String? {
    let file = "\(product.rawValue).rules"
    switch product {
    case .firestore: return firestoreReports?.coverage(of: firestore).map { $0.report(as: form, file) }
    case .storage: return storageReports?.coverage(of: storage).map { $0.report(as: form, file) }
    case .database: return databaseReports?.coverage(of: database).map { $0.report(as: form, file) }
    }
  }
}

extension RulesCoverage {
  fileprivate func report(as form: RulesCoverageForm, _ file: String) -> String {
    switch form {
    case .json: json(fileName: file)
    case .page: html()
    case .lcov: lcov(fileName: file)
    }
  }
}

extension DatabaseRulesCoverage {
  fileprivate func report(as form: RulesCoverageForm, _ file: String) -> String {
    switch form {
    case .json: json(fileName: file)
    case .page: html()
    case .lcov: lcov(fileName: file)
    }
  }
}

extension RulesRemark {
  /// The remark of an issue that the compiler found.
  public init(_ issue: RulesIssue) {
    self.init(
      isError: issue.severity == .error, message: issue.message,
      place: issue.position.map {
        Place(line: $0.line, column: $0.column, startOffset: $0.startOffset, endOffset: $0.endOffset)
      })
  }
}
