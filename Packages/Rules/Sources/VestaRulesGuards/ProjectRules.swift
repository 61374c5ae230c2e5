import VestaConcurrency
import VestaCore
public import VestaRules
import VestaServiceInterop

/// The rules of a project: for Firestore, Storage and the Realtime Database, replaced together.
///
/// ```swift
/// let rules = try app.container.require(ProjectRules.self)
/// try await rules.replace(with: RulesSources(firestore: .text(source)))
/// ```
///
/// All apps of a process that name one project have the same rules, as they have the same data.
public final class ProjectRules: Sendable {
  /// The warnings of the compiler.
  public struct Warnings: Sendable, Hashable {
    /// Warnings about the rules of Firestore.
    public var firestore: [RulesIssue] = []
    /// Warnings about the rules of Storage.
    public var storage: [RulesIssue] = []
  }

  let firestore: RulesInForce<Ruleset>
  let storage: RulesInForce<Ruleset>
  let database: RulesInForce<DatabaseRuleset>
  /// Where outcomes are counted; `nil` for rules that do not explain themselves.
  let firestoreReports: SourceReports?
  let storageReports: SourceReports?
  let databaseReports: DatabaseReports?
  /// The rules of single databases, by product and name, each of that product alone.
  let named: [RuledProduct: [String: ProjectRules]]
  /// The rules of Storage by bucket.
  let buckets: Locked<BucketRules>
  let limits: RulesLimits
  let reporting: RulesReporting
  /// Where the rules in force are from.
  private let sources: Locked<RulesSources>

  /// Compiles the rules of a project; services without any deny everything.
  ///
  /// - Parameters:
  ///   - sources: The rules.
  ///   - reporting: Whether they explain themselves.
  /// - Throws: ``ProjectRulesError`` with the errors of all services.
  public convenience init(
    _ sources: RulesSources = RulesSources(), reporting: RulesReporting = RulesReporting()
  ) throws(ProjectRulesError) {
    try self.init(sources, limits: RulesLimits(), reporting: reporting)
  }

  init(
    _ sources: RulesSources, limits: RulesLimits, reporting: RulesReporting = RulesReporting()
  ) throws(ProjectRulesError) {
    let compiled = try CompiledRules(sources, limits, reporting)
    firestore = RulesInForce(firestore: compiled.firestore)
    storage = RulesInForce(compiled.storage)
    database = RulesInForce(compiled.database)
    firestoreReports = reporting.isOn ? SourceReports { RulesCoverage(of: $0) } : nil
    storageReports = reporting.isOn ? SourceReports { RulesCoverage(of: $0) } : nil
    databaseReports = reporting.isOn ? DatabaseReports { DatabaseRulesCoverage(of: $0) } : nil
    self.limits = limits
    self.reporting = reporting
    self.sources = Locked(sources)
    var named = try Self.named(sources, limits, reporting)
    buckets = Locked(BucketRules(named: named.removeValue(forKey: .storage) ?? [:]))
    self.named = named
  }

  /// The rules of the databases and buckets that have separate rules.
  private static func named(
    _ sources: RulesSources, _ limits: RulesLimits, _ reporting: RulesReporting
  ) throws(ProjectRulesError) -> [RuledProduct: [String: ProjectRules]] {
    var named: [RuledProduct: [String: ProjectRules]] = [:]
    for (product, sources) in sources.named {
      for (name, source) in sources {
        named[product, default: [:]][name] = try ProjectRules(
          Self.sources(source, of: product), limits: limits, reporting: reporting)
      }
    }
    return named
  }

  /// The rules of a database or a bucket; `nil` where there are none, and everything is denied.
  func rules(of product: RuledProduct, scope: String) -> ProjectRules? {
    guard product == .storage else { return named[product]?[scope] ?? self }
    let buckets = buckets.withLock { $0 }
    return buckets.named[scope] ?? (buckets.deniesOthers ? nil : self)
  }

  /// The rules of one product.
  static func sources(_ source: RulesSource, of product: RuledProduct) -> RulesSources {
    switch product {
    case .firestore: RulesSources(firestore: source)
    case .storage: RulesSources(storage: source)
    case .database: RulesSources(database: source)
    }
  }

  /// Compiles rules, and puts all of them in force if all of them compile.
  ///
  /// Until then the old rules decide requests. A service that is not named keeps its rules. Of several
  /// calls at once the last one counts.
  ///
  /// - Returns: The warnings.
  /// - Throws: ``ProjectRulesError`` with the errors of all services; the rules in force are unchanged.
  @discardableResult
  public func replace(with sources: RulesSources) async throws(ProjectRulesError) -> Warnings {
    let turns = self.sources.withLock { _ in (firestore.turn(), storage.turn(), database.turn()) }
    let compiled = try await RulesCompilers.run { [limits, reporting] () throws(ProjectRulesError) in
      try CompiledRules(sources, limits, reporting)
    }
    let changed = self.sources.withLock { known in
      let changed = (
        compiled.firestore.map { firestore.put($0, turns.0) } ?? false,
        compiled.storage.map { storage.put($0, turns.1) } ?? false,
        compiled.database.map { database.put($0, turns.2) } ?? false
      )
      if changed.0 { known.firestore = sources.firestore }
      if changed.1 { known.storage = sources.storage }
      if changed.2 { known.database = sources.database }
      return changed
    }
    if changed.0 { firestore.announce() }
    if changed.1 {
      buckets.withLock { $0.deniesOthers = false }
      storage.announce()
    }
    if changed.2 { database.announce() }
    return Warnings(firestore: compiled.firestore?.warnings ?? [], storage: compiled.storage?.warnings ?? [])
  }

  /// Reads the files of the rules in force again, and puts them in force if all of them compile.
  ///
  /// - Returns: The warnings.
  /// - Throws: ``ProjectRulesError`` with the errors of all services; the rules in force are unchanged.
  @discardableResult
  public func reload() async throws(ProjectRulesError) -> Warnings {
    try await replace(with: sources.withLock { $0 })
  }
}

/// The rules of single buckets.
struct BucketRules: Sendable {
  /// The rules by bucket, each of Storage alone.
  var named: [String: ProjectRules] = [:]
  /// Whether a bucket without separate rules has none at all.
  var deniesOthers = false
}

/// The compiled rules of some services.
private struct CompiledRules: Sendable {
  var firestore: Ruleset?
  var storage: Ruleset?
  var database: DatabaseRuleset?

  init(_ sources: RulesSources, _ limits: RulesLimits, _ reporting: RulesReporting) throws(ProjectRulesError) {
    var errors = ProjectRulesError()
    do throws(RulesetError) {
      firestore = try Self.ruleset(sources.firestore, .firestore, limits, reporting)
    } catch {
      errors.firestore = error
    }
    do throws(RulesetError) {
      storage = try Self.ruleset(sources.storage, .storage, limits, reporting)
    } catch {
      errors.storage = error
    }
    do throws(RulesetError) {
      database = if let source = sources.database { try DatabaseRuleset(source.text()) } else { nil }
    } catch {
      errors.database = error
    }
    guard errors.firestore == nil, errors.storage == nil, errors.database == nil else { throw errors }
  }

  private static func ruleset(
    _ source: RulesSource?, _ service: RulesService, _ limits: RulesLimits, _ reporting: RulesReporting
  ) throws(RulesetError) -> Ruleset? {
    guard let source else { return nil }
    guard reporting.isOn else { return try Ruleset(source.text(), for: service, limits: limits) }
    return try Ruleset(source.text(), for: service, limits: limits) { value, place in
      log.notice("I-RUL000001", "debug() in the rules of \(service.rawValue), \(place.line):\(place.column): \(value)")
    }
  }
}
