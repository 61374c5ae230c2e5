import VestaCore
public import VestaFirestoreBackend
public import VestaRules
public import VestaServiceInterop
public import VestaStorageBackend

/// Decides about objects of Storage by a rules file.
///
/// ```swift
/// let guardian = StorageRulesGuard()
/// try await guardian.replace(with: source)
/// ```
public final class StorageRulesGuard: StorageGuard {
  private let rules: RulesInForce<Ruleset>
  private let reports: SourceReports?
  private let documents: FirestoreLookups?

  /// A guard that denies everything until it has rules.
  public convenience init() { self.init(RulesInForce()) }

  /// A guard whose rules look into Firestore.
  ///
  /// The documents of one decision are read at one version, as an owner: Firestore's own rules do not apply to them.
  ///
  /// - Parameters:
  ///   - firestore: The documents.
  ///   - project: The project; rules see its default database alone.
  ///   - context: The context of the owner who reads them.
  public convenience init(firestore: any FirestoreBackend, project: String, context: CallContext) {
    self.init(RulesInForce(), reading: BackendReading(backend: firestore, context: context), project: project)
  }

  init(_ rules: RulesInForce<Ruleset>, _ reports: SourceReports? = nil) {
    (self.rules, self.reports) = (rules, reports)
    documents = nil
  }

  init(
    _ rules: RulesInForce<Ruleset>, _ reports: SourceReports? = nil, reading source: any FirestoreReading,
    project: String
  ) {
    (self.rules, self.reports) = (rules, reports)
    documents = FirestoreLookups(source: source, project: project)
  }

  /// The rules that decisions are made by now; `nil` for none.
  public var current: Ruleset? { rules.current }

  /// Compiles rules, and puts them in force if they compile.
  ///
  /// - Returns: The warnings.
  /// - Throws: `RulesetError` with all errors; the rules in force are unchanged.
  @discardableResult
  public func replace(with source: String) async throws(RulesetError) -> [RulesIssue] {
    try await rules.replace { () throws(RulesetError) in try Ruleset(source, for: .storage) }.warnings
  }

  /// Whether the rules allow an operation.
  public nonisolated(nonsending) func allows(
    _ operation: StorageGuardedOperation, at time: Int64, context: CallContext
  ) async throws -> Bool {
    guard let rules = RulesOfDecision(rules, reports) else { return false }
    let request = Self.request(operation, at: time, context)
    var budget = rules.ruleset.budget
    let lookups = documents?.oneVersion(until: context.deadline)
    do {
      let decision = try await rules.decide(request, &budget) { function, path in
        guard let lookups else { return RulesLookup.unavailable }
        return try await lookups.document(at: path)
      }
      if !decision.isAllowed, rules.explains { Self.report(decision, on: operation) }
      return decision.isAllowed
    } catch let failure as any ServiceFailure {
      // Of the documents' service, while callers of this one know its own errors.
      throw StorageServiceError(failure.status)
    }
  }

  /// Logs why an operation is denied: the clients of Storage show a text of their own, whatever the answer says.
  private static func report(_ decision: RulesDecision, on operation: StorageGuardedOperation) {
    let name = operation.name
    log.info("I-RUL000002", "The rules of Storage deny gs://\(name.bucket)/\(name.name):\n\(decision.message)")
  }

  static func request(_ operation: StorageGuardedOperation, at time: Int64, _ context: CallContext) -> RulesRequest {
    func request(
      _ method: RulesMethod, _ name: ObjectName, _ existing: StorageObject?, _ new: StorageObject? = nil
    ) -> RulesRequest {
      RulesRequest(
        method, .object(name.name, bucket: name.bucket), auth: context.auth,
        resource: new.map { RulesStorageObject($0).value } ?? .null,
        time: .timestamp(RulesTimestamp(microseconds: time)),
        existing: existing.map { RulesStorageObject($0).value } ?? .null)
    }
    switch operation {
    case .get(let name, let existing): return request(.get, name, existing)
    case .list(let bucket, let prefix): return request(.list, ObjectName(bucket: bucket, name: prefix), nil)
    // Also in place of an object that is there: a rule for updates alone never admits an upload.
    case .upload(let new, let existing): return request(.create, new.name, existing, new)
    case .update(let name, let existing, let new): return request(.update, name, existing, new)
    case .delete(let name, let existing): return request(.delete, name, existing)
    }
  }
}

extension StorageGuardedOperation {
  /// The object that the operation is about; of a list its prefix.
  fileprivate var name: ObjectName {
    switch self {
    case .get(let name, _), .update(let name, _, _), .delete(let name, _): name
    case .upload(let object, _): object.name
    case .list(let bucket, let prefix): ObjectName(bucket: bucket, name: prefix)
    }
  }
}
