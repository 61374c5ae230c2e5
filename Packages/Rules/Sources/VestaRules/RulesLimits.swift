/// The bounds that the compiler and the evaluator keep to, with the figures of the production service.
public struct RulesLimits: Sendable, Hashable {
  /// The largest source, in bytes.
  ///
  /// Production loads 256,001 bytes and refuses 262,143.
  public var sourceSize = 261_120
  /// The largest source of rules of the Realtime Database, in bytes.
  ///
  /// Production accepts 300 KB; its limit is not known.
  public var databaseSourceSize = 1 << 20
  /// The number of matches that are nested.
  public var matchDepth = 10
  /// The number of segments of the paths of nested matches together.
  public var pathSegments = 100
  /// The number of captures of nested matches together.
  public var captures = 20
  /// The number of parameters of a function.
  public var parameters = 7
  /// The number of variables of a function.
  public var lets = 10
  /// The number of calls that functions make of one another, below the first one.
  public var callDepth = 20
  /// The nesting of expressions.
  public var expressionDepth = 200
  /// The number of expressions that one request, or one write of a commit, evaluates.
  public var expressions = 1_000
  /// The number of expressions that all writes of a commit evaluate together; `nil` for no such limit.
  ///
  /// Batches of 500 writes, which production accepts, evaluate more than 1,000 expressions under rules as small as
  /// `request.auth != null && id != ''`.
  public var commitExpressions: Int?
  /// The number of documents that a single request or a query looks up.
  public var accesses = 10
  /// The number of documents of Firestore that one request of Storage looks up.
  public var storageAccesses = 2
  /// The number of documents that all writes of a commit look up together.
  public var commitAccesses = 20
  /// The number of alternatives that the filter of a query is taken apart into.
  public var alternatives = 100
  /// The number of readings of a filter that are tried one by one: a number in it stands for an integer and a float.
  ///
  /// Of a filter with more of them, some values are known by comparisons alone.
  public var readings = 32
  /// The units of work for operations on large values; one is about an element, or 16 bytes.
  public var work = 1 << 18
  /// Settings that change the work and not the decisions.
  var tuning = RulesTuning()

  /// The figures of the production service.
  public init() {}
}
