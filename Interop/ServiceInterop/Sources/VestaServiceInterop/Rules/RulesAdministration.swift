/// Replaces the security rules of a project while it runs.
///
/// The package of the rules provides it as a component. The endpoints of a server use it for the calls by which tools
/// and test kits set rules.
///
/// Promises of every implementation:
/// - Requests are decided by the old rules until the new ones are compiled, and by the new ones from the return on.
/// - Rules that do not compile change nothing.
public protocol RulesAdministration: Sendable {
  /// Compiles rules and changes nothing.
  ///
  /// - Parameters:
  ///   - source: The text of the rules.
  ///   - product: The product whose rules they would be.
  /// - Returns: The warnings of the compiler.
  /// - Throws: ``RulesRefusal`` with everything that is wrong in rules that do not compile.
  func checkRules(_ source: String, of product: RuledProduct) async throws(RulesRefusal) -> [RulesRemark]

  /// Compiles rules and puts them in force.
  ///
  /// - Parameters:
  ///   - source: The text of the rules.
  ///   - product: The product whose rules they are.
  /// - Returns: The warnings of the compiler.
  /// - Throws: ``RulesRefusal`` with everything that is wrong in rules that do not compile.
  func replaceRules(
    with source: String, of product: RuledProduct
  ) async throws(RulesRefusal) -> [RulesRemark]

  /// The text of the rules in force; `nil` where none were set.
  ///
  /// - Parameter product: The product whose rules they are.
  func rulesInForce(of product: RuledProduct) -> String?

  /// Compiles the rules of one database or bucket, and puts them in force.
  ///
  /// - Parameters:
  ///   - source: The text of the rules.
  ///   - product: The product whose rules they are.
  ///   - scope: The database or the bucket. One without separate rules has the rules of
  ///     all others, which are replaced.
  /// - Returns: The warnings of the compiler.
  /// - Throws: ``RulesRefusal`` with everything that is wrong in rules that do not compile.
  func replaceRules(
    with source: String, of product: RuledProduct, scope: String
  ) async throws(RulesRefusal) -> [RulesRemark]

  /// Compiles rules of single buckets, and puts them in force in place of all rules of Storage.
  ///
  /// - Parameters:
  ///   - sources: The texts of the rules, by bucket.
  ///   - others: The text of the rules of all other buckets; `nil` denies everything in them.
  /// - Returns: The warnings of the compiler.
  /// - Throws: ``RulesRefusal`` with everything that is wrong in rules that do not compile; no rules are changed then.
  func replaceRules(
    ofBuckets sources: [String: String], others: String?
  ) async throws(RulesRefusal) -> [RulesRemark]

  /// The text of the rules in force for one database or bucket; `nil` where none were set.
  func rulesInForce(of product: RuledProduct, scope: String) -> String?

  /// The outcomes of all expressions of the rules in force, counted since these were put in force.
  ///
  /// - Parameters:
  ///   - product: The product whose rules they are.
  ///   - form: The form of the report.
  /// - Returns: The report; `nil` where there are no rules, and where outcomes are not counted.
  func coverage(of product: RuledProduct, as form: RulesCoverageForm) -> String?
}

/// The form of a report on the coverage of rules.
public enum RulesCoverageForm: Sendable, Hashable {
  /// The report of local test suites, in JSON.
  case json
  /// A page for people, in HTML.
  case page
  /// LCOV, as tools for coverage read it.
  case lcov
}

/// A product with security rules.
public enum RuledProduct: String, Sendable, Hashable, CaseIterable {
  /// Firestore.
  case firestore
  /// Storage.
  case storage
  /// The Realtime Database.
  case database
}

/// A remark of the compiler of rules.
public struct RulesRemark: Sendable, Hashable {
  /// Whether the rules cannot be used because of it.
  public var isError: Bool
  /// The text.
  public var message: String
  /// The line and the column, both from 1; `nil` for a remark about the whole text.
  public var place: Place?

  /// A place in the text of rules.
  public struct Place: Sendable, Hashable {
    /// The line, from 1.
    public var line: Int
    /// The column, from 1.
    public var column: Int
    /// The offset of the first character, from 0.
    public var startOffset: Int
    /// The offset of the last character, from 0.
    public var endOffset: Int

    /// A place.
    public init(line: Int, column: Int, startOffset: Int, endOffset: Int) {
      self.line = line
      self.column = column
      self.startOffset = startOffset
      self.endOffset = endOffset
    }
  }

  /// A remark.
  ///
  /// - Parameters:
  ///   - isError: Whether the rules cannot be used because of it.
  ///   - message: The text.
  ///   - place: The place that it is about.
  public init(isError: Bool, message: String, place: Place? = nil) {
    self.isError = isError
    self.message = message
    self.place = place
  }
}

/// The failure to put rules in force, with everything that is wrong in them.
public struct RulesRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The remarks, errors and warnings, by their places.
  public var remarks: [RulesRemark]

  /// A failure.
  ///
  /// - Parameter remarks: The remarks, by their places.
  public init(_ remarks: [RulesRemark]) { self.remarks = remarks }

  /// The remarks, a line each: `line:column: text`.
  public var description: String {
    remarks.map { remark in
      remark.place.map { "\($0.line):\($0.column): \(remark.message)" } ?? remark.message
    }.joined(separator: "\n")
  }
}

extension RulesAdministration {
  /// The rules of all: there are none for single databases or buckets.
  public func replaceRules(
    with source: String, of product: RuledProduct, scope: String
  ) async throws(RulesRefusal) -> [RulesRemark] {
    try await replaceRules(with: source, of: product)
  }

  /// The rules of all buckets together; rules of single buckets are refused.
  public func replaceRules(
    ofBuckets sources: [String: String], others: String?
  ) async throws(RulesRefusal) -> [RulesRemark] {
    guard sources.isEmpty, let others else {
      throw RulesRefusal([RulesRemark(isError: true, message: "Rules of single buckets are not supported.")])
    }
    return try await replaceRules(with: others, of: .storage)
  }

  /// The rules of all.
  public func rulesInForce(of product: RuledProduct, scope: String) -> String? { rulesInForce(of: product) }
}
