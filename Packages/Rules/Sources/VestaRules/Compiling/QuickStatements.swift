import VestaBytes

/// The quick forms of the statements of a match about one method, in flat lists of plain numbers.
///
/// A condition is a way through tests: each says which one is next where it holds, and where it does not. So deciding
/// needs no calls inside of calls, and counts no reference for each step.
final class QuickStatements: Sendable {
  private struct Test: Sendable {
    enum Code: UInt8, Sendable {
      case signedIn, hasResource
      /// The operand `a`, which is a boolean.
      case value
      /// Whether the operands `a` and `b` are equal.
      case equal
    }

    /// The ends of the way.
    static let holds: Int32 = -1
    static let fails: Int32 = -2

    let code: Code
    var a: Int32 = 0
    var b: Int32 = 0
    /// The next test, or an end.
    let whenTrue: Int32
    let whenFalse: Int32
  }

  private struct Operand: Sendable {
    enum Source: UInt8, Sendable { case constant, uid, claim, field, writtenField, segment }

    let source: Source
    /// The number of the constant, of the name or of the segment.
    var index = 0
  }

  /// The statements: their first tests, and the expressions that each counts as.
  private let roots: [(test: Int32, cost: Int)]
  private let tests: [Test]
  private let operands: [Operand]
  private let constants: [RulesValue]
  private let names: [String]

  init(_ statements: [(condition: QuickCondition, cost: Int)]) {
    var builder = Builder()
    roots = statements.map { (builder.add($0.condition, Test.holds, Test.fails), $0.cost) }
    (tests, operands) = (builder.tests, builder.operands)
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
      guard left >= 0 else { return nil }
      var next = root.test
      while next >= 0 {
        let test = tests[Int(next)]
        let isTrue: Bool
        switch test.code {
        case .signedIn: isTrue = isSignedIn
        case .hasResource: isTrue = hasResource
        case .value:
          guard case .bool(let bool)? = value(test.a, name, places, ask) else { return nil }
          isTrue = bool
        case .equal:
          guard let left = value(test.a, name, places, ask), let right = value(test.b, name, places, ask),
            let isEqual = QuickCondition.equal(left, right, upTo: longest)
          else { return nil }
          isTrue = isEqual
        }
        next = isTrue ? test.whenTrue : test.whenFalse
      }
      if next == Test.holds { return true }
    }
    return false
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

  /// Collects the tests of conditions, each after the ones that follow it.
  private struct Builder {
    var tests: [Test] = []
    var operands: [Operand] = []
    var constants: [RulesValue] = []
    var names: [String] = []

    /// Adds a condition.
    ///
    /// - Parameters:
    ///   - condition: The condition.
    ///   - yes: The test that is next where it holds.
    ///   - no: The test that is next where it does not.
    /// - Returns: Its first test.
    mutating func add(_ condition: QuickCondition, _ yes: Int32, _ no: Int32) -> Int32 {
      switch condition {
      case .constant(let bool): return bool ? yes : no
      case .signedIn: tests.append(Test(code: .signedIn, whenTrue: yes, whenFalse: no))
      case .hasResource: tests.append(Test(code: .hasResource, whenTrue: yes, whenFalse: no))
      case .value(let operand): tests.append(Test(code: .value, a: add(operand), whenTrue: yes, whenFalse: no))
      case .equal(let left, let right):
        tests.append(Test(code: .equal, a: add(left), b: add(right), whenTrue: yes, whenFalse: no))
      case .not(let inner): return add(inner, no, yes)
      case .all(let inner): return inner.reversed().reduce(yes) { add($1, $0, no) }
      case .any(let inner): return inner.reversed().reduce(no) { add($1, yes, $0) }
      }
      return Int32(tests.count - 1)
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
