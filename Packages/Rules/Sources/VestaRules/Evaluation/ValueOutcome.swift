/// The outcome of an operation on values.
enum ValueOutcome {
  case value(RulesValue)
  case failure(RulesFailure)

  static let yes = ValueOutcome.value(.bool(true))
  static let no = ValueOutcome.value(.bool(false))
}
