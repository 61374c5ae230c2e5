import VestaBytes

/// The quick forms of the statements of a match about one method, in flat lists of plain numbers: deciding them counts
/// no reference for each step.
final class QuickStatements: Sendable {
  private struct Step: Sendable {
    enum Code: UInt8, Sendable {
      case no, yes, signedIn, hasResource
      /// The operand `a`, which is a boolean.
      case value
      /// Whether the operands `a` and `b` are equal.
      case equal
      /// The negation of step `a`.
      case not
      /// The steps of the list from `a` up to `b`.
      case all, any
    }

    let code: Code
    var a: Int32 = 0
    var b: Int32 = 0
  }

  private struct Operand: Sendable {
    enum Source: UInt8, Sendable { case constant, uid, claim, field, writtenField, segment }

    let source: Source
    /// The number of the constant, of the name or of the segment.
    var index = 0
  }

  /// The statements: their steps, and the expressions that each counts as.
  private let roots: [(step: Int32, cost: Int)]
  private let steps: [Step]
  private let lists: [Int32]
  private let operands: [Operand]
  private let constants: [RulesValue]
  private let names: [String]

  init(_ statements: [(condition: QuickCondition, cost: Int)]) {
    var builder = Builder()
    roots = statements.map { (builder.add($0.condition), $0.cost) }
    (steps, lists, operands) = (builder.steps, builder.lists, builder.operands)
    (constants, names) = (builder.constants, builder.names)
  }

  /// Asks the statements in their order until one holds.
  ///
  /// - Parameters:
  ///   - isSignedIn: Whether `request.auth` is not null.
  ///   - hasResource: Whether `resource` is not null.
  ///   - left: The expressions that may still be evaluated; what the statements count as is taken from it.
  ///   - longest: The length up to which strings are compared, so that the cost of comparisons is within
  ///     every bound.
  ///   - ask: Returns a value of the request; nil where there is none.
  /// - Returns: `nil` where a statement has to be evaluated in full.
  func allow(
    isSignedIn: Bool, hasResource: Bool, _ name: String, _ places: SegmentPlaces, left: inout Int, upTo longest: Int,
    _ ask: (QuickRulesQuestion) -> RulesValue?
  ) -> Bool? {
    for root in roots {
      left -= root.cost
      guard left >= 0, let holds = holds(root.step, isSignedIn, hasResource, name, places, longest, ask)
      else { return nil }
      if holds { return true }
    }
    return false
  }

  private func holds(
    _ id: Int32, _ isSignedIn: Bool, _ hasResource: Bool, _ name: String, _ places: SegmentPlaces, _ longest: Int,
    _ ask: (QuickRulesQuestion) -> RulesValue?
  ) -> Bool? {
    let step = steps[Int(id)]
    switch step.code {
    case .no: return false
    case .yes: return true
    case .signedIn: return isSignedIn
    case .hasResource: return hasResource
    case .value:
      guard case .bool(let bool)? = value(step.a, name, places, ask) else { return nil }
      return bool
    case .equal:
      guard let left = value(step.a, name, places, ask),
        let right = value(step.b, name, places, ask)
      else { return nil }
      return QuickCondition.equal(left, right, upTo: longest)
    case .not: return holds(step.a, isSignedIn, hasResource, name, places, longest, ask).map { !$0 }
    case .all, .any:
      let decisive = step.code == .any
      for index in Int(step.a)..<Int(step.b) {
        guard let holds = holds(lists[index], isSignedIn, hasResource, name, places, longest, ask) else {
          return nil
        }
        if holds == decisive { return decisive }
      }
      return !decisive
    }
  }

  private func value(
    _ id: Int32, _ name: String, _ places: SegmentPlaces, _ ask: (QuickRulesQuestion) -> RulesValue?
  ) -> RulesValue? {
    let operand = operands[Int(id)]
    switch operand.source {
    case .constant: return constants[operand.index]
    case .uid: return ask(.uid)
    // Nil where there is no user or no document.
    case .claim: return ask(.claim(names[operand.index]))
    case .field: return ask(.field(names[operand.index]))
    case .writtenField: return ask(.writtenField(names[operand.index]))
    case .segment:
      guard operand.index < places.count else { return .none }
      return .string(places.segment(operand.index, of: name))
    }
  }

  /// Collects the steps of conditions.
  private struct Builder {
    var steps: [Step] = []
    var lists: [Int32] = []
    var operands: [Operand] = []
    var constants: [RulesValue] = []
    var names: [String] = []

    mutating func add(_ condition: QuickCondition) -> Int32 {
      let step: Step
      switch condition {
      case .constant(let bool): step = Step(code: bool ? .yes : .no)
      case .signedIn: step = Step(code: .signedIn)
      case .hasResource: step = Step(code: .hasResource)
      case .value(let operand): step = Step(code: .value, a: add(operand))
      case .equal(let left, let right): step = Step(code: .equal, a: add(left), b: add(right))
      case .not(let inner): step = Step(code: .not, a: add(inner))
      case .all(let inner): step = several(.all, inner)
      case .any(let inner): step = several(.any, inner)
      }
      steps.append(step)
      return Int32(steps.count - 1)
    }

    private mutating func several(_ code: Step.Code, _ conditions: [QuickCondition]) -> Step {
      var numbers: [Int32] = []
      for condition in conditions { numbers.append(add(condition)) }
      lists += numbers
      return Step(code: code, a: Int32(lists.count - numbers.count), b: Int32(lists.count))
    }

    private mutating func add(_ operand: QuickCondition.Operand) -> Int32 {
      func named(_ source: Operand.Source, _ name: String) -> Operand {
        names.append(name)
        return Operand(source: source, index: names.count - 1)
      }
      switch operand {
      case .constant(let value):
        constants.append(value)
        operands.append(Operand(source: .constant, index: constants.count - 1))
      case .uid: operands.append(Operand(source: .uid))
      case .claim(let name): operands.append(named(.claim, name))
      case .field(let name): operands.append(named(.field, name))
      case .writtenField(let name): operands.append(named(.writtenField, name))
      case .segment(let index): operands.append(Operand(source: .segment, index: index))
      }
      return Int32(operands.count - 1)
    }
  }
}
