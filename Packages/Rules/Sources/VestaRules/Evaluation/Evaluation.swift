import VestaBytes

/// Evaluates conditions of one request.
///
/// Every expression has an outcome; nothing throws, and the budget bounds the time.
///
/// The order is production's: the operands of `&&`, `||` and `?:` from left to right and only as far as needed, all
/// other operands and arguments last one first, while the error that is reported is the first one in the order of
/// writing.
struct Evaluation {
  let code: RulesCode
  let service: RulesService
  let dialect: RulesDialect
  let request: RulesRequest
  let documents: any RulesDocuments
  let facts: QueryFacts?
  var budget: RulesBudget
  /// The match that is being asked, and the path it was bound to.
  var match: CompiledMatch?
  var binding = MatchBinding(match: 0, globs: .none)
  let path: MatchedPath
  /// The arguments and variables of the functions that are being called.
  var stack: [Operand] = []
  var base = 0
  var variables = 0
  var failures: [FailureRecord] = []
  /// The failure that has ended the decision, whatever other statements say.
  private var end: RulesFailure?
  var isEnded: Bool { if case .some = end { true } else { false } }
  /// The lookups whose documents have to be read first.
  var needs: [(function: RulesLookupFunction, path: RulesPath)] = []
  /// The data of the documents of the request, once it was looked for; nil where there is none.
  private var after: RulesMap??
  private var before: RulesMap??
  /// Where outcomes are counted.
  private let coverage: CoverageTable?
  /// Whether outcomes are counted or recorded, so that every expression has to be evaluated.
  var isRecorded: Bool { coverage != nil || trace != nil }
  /// Where the decision is recorded.
  let trace: TraceRecorder?
  /// Receives the values of `debug()`.
  let debugged: (@Sendable (RulesValue, RulesPosition) -> Void)?

  init(
    _ ruleset: Ruleset, _ request: RulesRequest, _ path: MatchedPath, documents: any RulesDocuments,
    facts: QueryFacts?, budget: RulesBudget, recorder: EvaluationRecorder?
  ) {
    code = ruleset.code
    debugged = ruleset.isQuiet ? nil : ruleset.code.debugged
    service = ruleset.service
    dialect = ruleset.dialect
    self.path = path
    self.request = request
    self.documents = documents
    self.facts = facts
    self.budget = budget
    switch recorder {
    case .coverage(let table)?: (coverage, trace) = (table, nil)
    case .trace(let recorder)?: (coverage, trace) = (nil, recorder)
    case nil: (coverage, trace) = (nil, nil)
    }
  }

  // MARK: Failures

  mutating func fail(_ failure: RulesFailure, _ step: Int) -> Operand {
    if failure.isFinal, !isEnded { end = failure }
    failures.append(FailureRecord(failure: failure, step: step))
    return .failure(Int32(failures.count - 1))
  }

  // MARK: Steps

  mutating func evaluate(_ step: Int) -> Operand {
    if let coverage {
      let outcome = evaluateStep(step)
      // Constants are in no report.
      if code.program.steps[step].code != .constant { count(outcome, step, in: coverage) }
      return outcome
    }
    guard let trace else { return evaluateStep(step) }
    let record = trace.began(step)
    let outcome = evaluateStep(step)
    trace.ended(record, outcome.recorded(failures))
    return outcome
  }

  private mutating func evaluateStep(_ id: Int) -> Operand {
    budget.expressions -= 1
    guard budget.expressions >= 0, !isEnded else {
      // Expressions after the end fail for the same reason.
      return fail(end ?? .expressionLimit(budget.expressionLimit), id)
    }
    let step = code.program.steps[id]
    let (a, b, c) = (Int(step.a), Int(step.b), Int(step.c))
    switch step.code {
    case .constant: return .value(code.program.constants[a])
    case .request: return .value(.map(request.map(dialect: dialect, service: service)))
    case .requestField: return requestField(step.a, id)
    case .resource: return resource(id)
    case .capture: return capture(a, id)
    case .parameter: return stack[base + a]
    case .variable: return variable(a, b)
    case .unbound: return fail(.nullValue, id)
    case .list: return literalList(a, b) ?? list(a, id)
    case .map: return map(a, id)
    case .path: return path(a, id)
    case .not: return not(a, id)
    case .negate: return negate(a, id)
    case .binary: return binary(c, a, b, id)
    case .isType: return isType(a, code.program.names[b], id)
    case .all: return chain(a, until: false)
    case .any: return chain(a, until: true)
    case .conditional: return conditional(a, b, c)
    case .member: return member(a, b, id, of: DataOfRequest(rawValue: step.c))
    case .index: return index(a, b, id, of: DataOfRequest(rawValue: step.c))
    case .slice: return slice(a, b, c, id)
    case .call: return call(a, b, id)
    case .builtin: return builtin(Builtin.all[a], b, id)
    case .unknownCall: return unknown(code.program.names[a], nil, b, id)
    case .method: return method(a, ValueMethod.all[b], c, id)
    case .unknownMethod: return unknown(code.program.names[b], a, c, id)
    }
  }

  // MARK: Variables

  private mutating func requestField(_ number: Int32, _ id: Int) -> Operand {
    // The expression `request` is one too.
    budget.expressions -= 1
    let value: RulesValue?
    switch RequestField(rawValue: number) {
    case .auth: value = request.auth
    case .method: value = dialect.hasMethod(service) ? .some(.string(request.method.rawValue)) : .none
    case .path: value = .path(request.path)
    case .query: value = request.query
    case .resource: value = request.resource
    case .time: value = request.time
    case nil: value = nil
    }
    guard let value else {
      return fail(.undefinedProperty(RequestField(rawValue: number)?.name ?? ""), id)
    }
    return .value(value)
  }

  private mutating func resource(_ id: Int) -> Operand {
    if facts != nil { return .symbol(QueryFacts.resource) }
    guard let value = request.existing else { return fail(.nullValue, id) }
    return .value(value)
  }

  mutating func capture(_ number: Int, _ id: Int) -> Operand {
    guard let match, number < match.capturePositions.count else { return fail(.nullValue, id) }
    let position = match.capturePositions[number]
    var (start, globs) = (0, 0)
    if match.globCount > 0 {
      for segment in match.segments[..<position] {
        if segment == .glob {
          start += binding.globs[globs]
          globs += 1
        } else {
          start += 1
        }
      }
    } else {
      start = position
    }
    if match.segments[position] == .glob {
      var names: [String] = []
      for index in start..<(start + binding.globs[globs]) {
        guard let name = path.name(at: index) else { return fail(.unknown, id) }
        names.append(name)
      }
      return .value(.path(RulesPath(names)))
    }
    guard let name = path.name(at: start) else { return fail(.unknown, id) }
    return .value(.string(name))
  }

  /// The value of a variable, which is evaluated when it is first used.
  private mutating func variable(_ number: Int, _ step: Int) -> Operand {
    let slot = variables + number
    if case .unset = stack[slot] {
      let value = evaluate(step)
      stack[slot] = value
      return value
    }
    return stack[slot]
  }

  /// The data of a document of the request, at the same cost of the budget.
  ///
  /// - Returns: `nil` where the expression has to be evaluated in full.
  mutating func data(_ place: DataOfRequest) -> RulesMap? {
    guard !isRecorded, !isEnded, place.cost <= budget.expressions else { return nil }
    let found: RulesMap?
    switch place {
    case .after:
      if after == nil { after = .some(request.resource?.dataOfDocument) }
      found = after ?? nil
    case .before:
      if before == nil { before = .some(facts == nil ? request.existing?.dataOfDocument : nil) }
      found = before ?? nil
    }
    if found != nil { budget.expressions -= place.cost }
    return found
  }

  // MARK: Logic

  /// `&&` until false, `||` until true: the decisive operand wins over an error on any side; without one the first
  /// error is the outcome.
  private mutating func chain(_ list: Int, until decisive: Bool) -> Operand {
    let operands = code.program.lists[list]
    var failure: Operand?
    // Each operator counts, and so does each test of its left operand.
    budget.expressions -= 2 * operands.count - 3
    for operand in operands {
      let step = Int(operand)
      let outcome = evaluate(step)
      switch outcome {
      case .value(.bool(let bool)):
        if bool == decisive { return outcome }
      case .value(let value):
        let wrong = fail(.notBool(value), step)
        failure = failure ?? wrong
      case .failure: failure = failure ?? outcome
      case .symbol, .unset:
        let unknown = fail(.unknown, step)
        failure = failure ?? unknown
      }
      if let end { return failure ?? fail(end, step) }
    }
    return failure ?? .value(.bool(!decisive))
  }

  private mutating func conditional(_ condition: Int, _ yes: Int, _ no: Int) -> Operand {
    let outcome = evaluate(condition)
    switch outcome {
    case .value(.bool(let bool)): return evaluate(bool ? yes : no)
    case .value(let value): return fail(.notBool(value), condition)
    case .failure: return outcome
    case .symbol, .unset: return fail(.unknown, condition)
    }
  }

  private mutating func not(_ operand: Int, _ id: Int) -> Operand {
    let outcome = evaluate(operand)
    switch outcome {
    case .value(.bool(let bool)): return .value(.bool(!bool))
    case .value(let value): return fail(.notBool(value), operand)
    case .failure: return outcome
    case .symbol, .unset: return fail(.unknown, id)
    }
  }

  private mutating func isType(_ operand: Int, _ type: String, _ id: Int) -> Operand {
    switch evaluate(operand) {
    case .value(let value):
      if type == "number" {
        switch value {
        case .int, .float: return .yes
        default: return .no
        }
      }
      return .value(.bool(value.typeName == type))
    case .symbol(let symbol): return QuerySymbols.isType(symbol, type, id, &self)
    case .unset: return fail(.unknown, id)
    case .failure(let number): return .failure(number)
    }
  }

  // MARK: Calls

  /// Evaluates arguments onto the stack, last one first; the first failure in the order of writing, if there is one.
  mutating func arguments(_ list: Int, room: Int = 0) -> Operand? {
    let steps = code.program.lists[list]
    let start = stack.count
    if steps.isEmpty, room == 0 { return nil }
    // Once, and not for each of the first few.
    if stack.capacity == 0 { stack.reserveCapacity(16) }
    for _ in 0..<(steps.count + room) { stack.append(.unset) }
    var failure: Operand?
    for index in steps.indices.reversed() {
      let outcome = evaluate(Int(steps[index]))
      if case .failure = outcome { failure = outcome }
      stack[start + index] = outcome
    }
    return failure
  }

  private mutating func call(_ number: Int, _ list: Int, _ id: Int) -> Operand {
    let start = stack.count
    let count = code.program.lists[list].count
    let (parameters, room) = (
      code.program.functions[number].parameterCount, code.program.functions[number].variableCount
    )
    let failure = arguments(list, room: room)
    defer { stack.drop(to: start) }
    // The error of an argument is the outcome of its parameter: where that decides nothing, it is none of the call.
    if let failure, isEnded { return failure }
    guard count == parameters else {
      return failure ?? fail(.incorrectArguments(code.program.functions[number].name), id)
    }
    // The call of the body is an expression, and so is each argument.
    budget.expressions -= 1 + count
    let (outerBase, outerVariables) = (base, variables)
    base = start
    variables = start + count
    defer { (base, variables) = (outerBase, outerVariables) }
    return evaluate(code.program.functions[number].result)
  }

  /// A function that does not exist: its arguments are evaluated like any others.
  private mutating func unknown(_ name: String, _ target: Int?, _ list: Int, _ id: Int) -> Operand {
    let start = stack.count
    let failure = arguments(list)
    stack.drop(to: start)
    if let target {
      switch evaluate(target) {
      case .failure(let number): return .failure(number)
      case .value(.null): return failure ?? fail(.nullValue, id)
      case .symbol: return failure ?? fail(.unknown, id)
      default: break
      }
    }
    return failure ?? fail(.functionNotFound(name), id)
  }
}

extension RulesValue {
  /// The data of a document as rules see it; `nil` for another value.
  fileprivate var dataOfDocument: RulesMap? {
    guard case .map(let map) = self, case .map(let data)? = map["data"] else { return nil }
    return data
  }
}

extension [Operand] {
  mutating func drop(to count: Int) { removeLast(self.count - count) }
}

extension RulesFailure {
  /// A value that is not a boolean where one is needed.
  static func notBool(_ value: RulesValue) -> RulesFailure { .typeMismatch(received: value.typeName, expected: "bool") }
}
