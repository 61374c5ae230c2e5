/// The outcome of an expression.
enum Operand: Sendable {
  case value(RulesValue)
  /// An error, by its number in the evaluation.
  case failure(Int32)
  /// A part of a document that a query returns, by its number among the facts about the query.
  case symbol(Int32)
  /// A variable that has not been used yet.
  case unset

  static let yes = Operand.value(.bool(true))
  static let no = Operand.value(.bool(false))
}

/// An error and where it is.
struct FailureRecord: Sendable {
  let failure: RulesFailure
  /// The step whose place is reported.
  let step: Int
}
