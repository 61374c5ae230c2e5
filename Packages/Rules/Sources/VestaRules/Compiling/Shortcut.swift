/// The outcome of a statement that is known when it is compiled, or by whether the caller is signed in.
///
/// It costs as many expressions of the budget as evaluating the condition would.
struct Shortcut: Sendable, Hashable {
  enum Outcome: Sendable, Hashable {
    case always
    case never
    /// `request.auth != null`
    case signedIn
    /// `request.auth == null`
    case signedOut

    var negated: Outcome {
      switch self {
      case .always: .never
      case .never: .always
      case .signedIn: .signedOut
      case .signedOut: .signedIn
      }
    }
  }

  let outcome: Outcome
  let cost: Int

  /// Whether it allows; nil where that is an error, as without `request.auth`.
  func holds(auth: RulesValue?) -> Bool? {
    switch outcome {
    case .always: return true
    case .never: return false
    case .signedIn, .signedOut:
      guard let auth else { return nil }
      return auth.isNull == (outcome == .signedOut)
    }
  }
}

extension RulesValue {
  fileprivate var isNull: Bool { if case .null = self { true } else { false } }
}
