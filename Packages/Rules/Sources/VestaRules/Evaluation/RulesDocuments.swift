/// The functions that look documents up.
public enum RulesLookupFunction: String, Sendable, CaseIterable, Hashable {
  /// `get`, in Storage `firestore.get`: the document before the request.
  case get
  /// `exists`, in Storage `firestore.exists`.
  case exists
  /// `getAfter`: the document after the whole commit.
  case getAfter
  /// `existsAfter`.
  case existsAfter

  /// Whether the function asks about the state after the commit.
  public var isAfter: Bool { self == .getAfter || self == .existsAfter }
  /// Whether the function returns a boolean.
  public var isExistence: Bool { self == .exists || self == .existsAfter }
}

/// The answer to a lookup.
public enum RulesLookup: Sendable {
  /// The document, as the map that `get` returns: `data`, `id`, `__name__`.
  case found(RulesMap)
  /// There is no such document.
  case missing
  /// The lookup failed; its expression is an error.
  case unavailable
  /// The document has to be read first.
  ///
  /// The decision ends with `needs`; it is made again later.
  case notYetRead
  /// The function does not exist here.
  case noSuchFunction
}

/// The documents that rules look up.
///
/// An adapter of a store answers from what the transaction has read, and with ``RulesLookup/notYetRead`` where it has
/// to read first; see `Ruleset.decide(_:budget:read:)`.
public protocol RulesDocuments {
  /// Returns the document at a path.
  func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup
}

/// No documents: every lookup finds nothing.
public struct NoRulesDocuments: RulesDocuments, Sendable {
  /// No documents.
  public init() {}

  /// Returns that nothing is there.
  public func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup { .missing }
}

/// The budget of a request: one value for all writes of a commit, and for all alternatives of a query.
///
/// Documents that were looked up are kept, so that a repeated lookup is free and sees the same state.
public struct RulesBudget: Sendable {
  private struct Access: Sendable {
    let function: RulesLookupFunction
    let path: RulesPath
    var answer: RulesLookup
  }

  let limits: RulesLimits
  /// The expressions that may still be evaluated.
  public internal(set) var expressions: Int
  /// The expressions that the current write had when it began.
  private var expressionsAtStart: Int
  /// The expressions that are left to the writes of a commit together; `nil` where they have no limit together.
  private var commitExpressions: Int?
  var work: WorkMeter
  private var accesses: [Access] = []
  /// The number of documents that count, of the request and of the writes before the current one.
  public private(set) var accessCount = 0
  private var countedBefore = 0
  private let accessLimit: Int
  private let writeLimit: Int
  private var writtenPath: RulesPath?

  /// The budget of a request.
  ///
  /// - Parameters:
  ///   - accesses: The number of documents that may be looked up.
  ///   - limits: The figures of everything else.
  public init(accesses: Int? = nil, limits: RulesLimits = RulesLimits()) {
    self.limits = limits
    expressions = limits.expressions
    expressionsAtStart = expressions
    work = WorkMeter(left: limits.work)
    accessLimit = accesses ?? limits.accesses
    writeLimit = accesses ?? limits.accesses
  }

  /// The budget of a commit: its own number of documents over all writes, and the usual one for each of them.
  public static func commit(limits: RulesLimits = RulesLimits()) -> RulesBudget {
    RulesBudget(total: limits.commitAccesses, each: limits.accesses, limits: limits)
  }

  private init(total: Int, each: Int, limits: RulesLimits) {
    self.limits = limits
    expressions = limits.expressions
    expressionsAtStart = expressions
    work = WorkMeter(left: limits.work)
    accessLimit = total
    writeLimit = each
    commitExpressions = limits.commitExpressions
  }

  /// Begins with the next write of a commit.
  ///
  /// The expressions count anew for each write, and together where ``RulesLimits/commitExpressions`` limits them; the
  /// documents of all writes count together.
  ///
  /// - Parameter path: The document that is written, whose state after the commit is free.
  public mutating func beginWrite(_ path: RulesPath) {
    let used = expressionsAtStart - expressions
    expressions = limits.expressions
    if let left = commitExpressions {
      commitExpressions = left - used
      expressions = min(expressions, left - used)
    }
    expressionsAtStart = expressions
    work = WorkMeter(left: limits.work)
    writtenPath = path
    countedBefore = accessCount
  }

  /// The limit that ends a write which evaluates too many expressions.
  var expressionLimit: Int {
    expressionsAtStart < limits.expressions ? limits.commitExpressions ?? limits.expressions : limits.expressions
  }

  /// Looks a document up, from what is kept or from `documents`.
  mutating func lookUp(
    _ function: RulesLookupFunction, _ path: RulesPath, in documents: any RulesDocuments
  ) -> RulesLookup {
    var isCounted = function.isAfter && path == writtenPath
    for index in accesses.indices where accesses[index].path == path {
      let access = accesses[index]
      // A document counts once for each of the two states.
      if access.function.isAfter == function.isAfter { isCounted = true }
      guard access.function == function else { continue }
      if case .notYetRead = access.answer {
        accesses[index].answer = documents.lookUp(function, path)
        return accesses[index].answer
      }
      return access.answer
    }
    if !isCounted {
      guard accessCount < accessLimit, accessCount - countedBefore < writeLimit else { return .unavailable }
      accessCount += 1
    }
    let answer = documents.lookUp(function, path)
    accesses.append(Access(function: function, path: path, answer: answer))
    return answer
  }
}
