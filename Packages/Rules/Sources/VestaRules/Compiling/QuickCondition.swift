import VestaBytes

/// The user and the fields of one document, for decisions that look at few of them.
///
/// The functions take the caller and the document instead of keeping them, so that a decision copies neither.
public protocol QuickRulesRequest {
  /// The caller of the get.
  associatedtype Caller
  /// The document, or its absence.
  associatedtype Resource

  /// Whether `request.auth` is not null.
  static func isSignedIn(_ caller: Caller) -> Bool

  /// The member `uid` of `request.auth`; nil where there is no user.
  static func uid(of caller: Caller) -> RulesValue?

  /// A member of `request.auth.token`; nil where there is none, and where there is no user.
  static func claim(_ name: String, of caller: Caller) -> RulesValue?

  /// Whether `resource` is not null.
  static func exists(_ resource: Resource) -> Bool

  /// A member of `resource.data`; nil where there is none, and where there is no document.
  static func field(_ name: String, of resource: Resource) -> RulesValue?
}

/// A value that a quick decision asks for.
public enum QuickRulesQuestion: Sendable {
  /// The member `uid` of `request.auth`.
  case uid
  /// A member of `request.auth.token`.
  case claim(String)
  /// A member of `resource.data`.
  case field(String)
  /// A member of `request.resource.data`.
  case writtenField(String)
}

/// A condition that is made of comparisons of the user, of captures, of fields and of constants, with the calls of
/// functions taken apart when it is compiled.
///
/// Most rules for reading are such. It says nothing about errors: where something is missing, or not as simple as it
/// looks, the condition is evaluated in full.
indirect enum QuickCondition: Sendable {
  /// A value that is compared.
  enum Operand: Sendable {
    case constant(RulesValue)
    case uid
    case claim(String)
    case field(String)
    /// A field of the document after a write.
    case writtenField(String)
    /// The segment of the path at an index.
    case segment(Int)
  }

  case constant(Bool)
  case signedIn
  case hasResource
  case value(Operand)
  case equal(Operand, Operand)
  case not(QuickCondition)
  case all([QuickCondition])
  case any([QuickCondition])

  /// Whether it compares `resource` with null.
  var asksForResource: Bool {
    switch self {
    case .hasResource: true
    case .not(let inner): inner.asksForResource
    case .all(let inner), .any(let inner): inner.contains(where: \.asksForResource)
    case .constant, .signedIn, .value, .equal: false
    }
  }

  /// Whether two values are equal; nil for values that are compared in full, and for longer strings.
  static func equal(_ left: RulesValue, _ right: RulesValue, upTo longest: Int) -> Bool? {
    switch (left, right) {
    case (.string(let l), .string(let r)):
      guard l.utf8.count <= longest, r.utf8.count <= longest else { return nil }
      return UTF8Order.equal(l, r)
    case (.bool(let l), .bool(let r)): return l == r
    case (.int(let l), .int(let r)): return l == r
    case (.null, .null): return true
    case (.string, .bool), (.string, .int), (.string, .null), (.bool, .string), (.bool, .int), (.bool, .null),
      (.int, .string), (.int, .bool), (.int, .null), (.null, .string), (.null, .bool), (.null, .int):
      return false
    default: return nil
    }
  }
}

/// Takes conditions apart into quick ones.
struct QuickCompiler {
  private let program: Program
  private let match: CompiledMatch
  private let tuning: RulesTuning
  /// Whether requests have a document after a write.
  private let isWrite: Bool
  /// The steps so far; a called function counts each time.
  private var size = 0

  /// The arguments of a call, and where they were written.
  private final class Frame {
    let arguments: [Int32]
    let outer: Frame?

    init(_ arguments: [Int32], _ outer: Frame?) { (self.arguments, self.outer) = (arguments, outer) }
  }

  private enum Part {
    case auth, token, resource, data, written, writtenData
    case operand(QuickCondition.Operand)

    /// The member of this name; nil where conditions have no quick form of it.
    func member(_ name: String) -> Part? {
      switch (self, name) {
      case (.auth, "uid"): .operand(.uid)
      case (.auth, "token"): .token
      case (.resource, "data"): .data
      case (.written, "data"): .writtenData
      case (.token, let name): .operand(.claim(name))
      case (.data, let name): .operand(.field(name))
      case (.writtenData, let name): .operand(.writtenField(name))
      default: nil
      }
    }
  }

  private init(_ program: Program, _ match: CompiledMatch, _ tuning: RulesTuning, isWrite: Bool) {
    (self.program, self.match, self.tuning, self.isWrite) = (program, match, tuning, isWrite)
  }

  /// The quick form of a statement's condition; nil where it has none.
  ///
  /// Its evaluation in full stays within the budget: a step uses few expressions, and a unit of work for each 16 bytes
  /// of the strings that are compared.
  ///
  /// - Parameter method: The method of the requests: creations and updates have a document after them.
  static func condition(
    of allow: CompiledAllow, about method: RulesMethod, in match: CompiledMatch, _ program: Program,
    _ limits: RulesLimits
  ) -> (condition: QuickCondition, cost: Int)? {
    guard let root = allow.condition else { return (.constant(true), 1) }
    guard match.globCount == 0 || match.globCount == 1 && match.segments.last == .glob,
      limits.work >= limits.tuning.quickWork
    else { return nil }
    let isWrite = method == .create || method == .update
    var compiler = QuickCompiler(program, match, limits.tuning, isWrite: isWrite)
    guard let condition = compiler.condition(root, nil), compiler.size < limits.tuning.quickSteps else { return nil }
    return (condition, (compiler.size + 1) * limits.tuning.quickStepCost)
  }

  private mutating func condition(_ id: Int, _ frame: Frame?) -> QuickCondition? {
    size += 1
    guard size < tuning.quickSteps else { return nil }
    let step = program.steps[id]
    switch step.code {
    case .constant:
      guard case .bool(let bool) = program.constants[Int(step.a)] else { return nil }
      return .constant(bool)
    case .not: return condition(Int(step.a), frame).map(QuickCondition.not)
    case .all: return several(step, frame).map(QuickCondition.all)
    case .any: return several(step, frame).map(QuickCondition.any)
    case .binary: return comparison(step, frame)
    case .variable: return condition(Int(step.b), frame)
    case .parameter:
      guard let frame else { return nil }
      return condition(Int(frame.arguments[Int(step.a)]), frame.outer)
    case .call:
      guard let (body, inner) = call(step, frame) else { return nil }
      return condition(body, inner)
    default:
      guard case .operand(let operand)? = part(id, frame) else { return nil }
      return .value(operand)
    }
  }

  private mutating func several(_ step: Step, _ frame: Frame?) -> [QuickCondition]? {
    var all: [QuickCondition] = []
    for id in program.lists[Int(step.a)] {
      guard let next = condition(Int(id), frame) else { return nil }
      all.append(next)
    }
    return all
  }

  private mutating func call(_ step: Step, _ frame: Frame?) -> (body: Int, Frame)? {
    let function = program.functions[Int(step.a)]
    let arguments = program.lists[Int(step.b)]
    guard function.parameterCount == arguments.count else { return nil }
    // An argument is evaluated also where it is not used, and documents that it looks up count.
    for argument in arguments where !cannotFail(Int(argument), frame) { return nil }
    return (function.result, Frame(arguments, frame))
  }

  /// Whether an argument has a value in every request.
  private mutating func cannotFail(_ id: Int, _ frame: Frame?) -> Bool {
    switch part(id, frame) {
    case .auth?, .resource?, .written?, .operand(.constant)?, .operand(.segment)?: true
    default: false
    }
  }

  private mutating func comparison(_ step: Step, _ frame: Frame?) -> QuickCondition? {
    let isNegated: Bool
    switch BinaryOperator.all[Int(step.c)] {
    case .equal: isNegated = false
    case .notEqual: isNegated = true
    default: return nil
    }
    guard let left = part(Int(step.a), frame), let right = part(Int(step.b), frame) else { return nil }
    let equal: QuickCondition
    switch (left, right) {
    case (.auth, .operand(.constant(.null))), (.operand(.constant(.null)), .auth): equal = .not(.signedIn)
    case (.resource, .operand(.constant(.null))), (.operand(.constant(.null)), .resource): equal = .not(.hasResource)
    case (.operand(let left), .operand(let right)): equal = .equal(left, right)
    default: return nil
    }
    return isNegated ? .not(equal) : equal
  }

  private mutating func part(_ id: Int, _ frame: Frame?) -> Part? {
    size += 1
    guard size < tuning.quickSteps else { return nil }
    let step = program.steps[id]
    switch step.code {
    case .constant: return .operand(.constant(program.constants[Int(step.a)]))
    case .resource: return .resource
    case .requestField:
      switch RequestField(rawValue: step.a) {
      case .auth: return .auth
      case .resource: return isWrite ? .written : nil
      default: return nil
      }
    case .variable: return part(Int(step.b), frame)
    case .parameter:
      guard let frame else { return nil }
      return part(Int(frame.arguments[Int(step.a)]), frame.outer)
    case .capture:
      let position = match.capturePositions[Int(step.a)]
      return match.segments[position] == .glob ? nil : .operand(.segment(position))
    case .member: return part(Int(step.a), frame)?.member(program.names[Int(step.b)])
    default: return nil
    }
  }
}
