import VestaRules

/// The reason why an expression has no value.
enum NaiveError: Error {
  /// An error whose message is recorded.
  case message(String)
  /// An error of which the description of the language tells a part of the message.
  case containing(String)
  /// An error whose message nothing tells.
  case unknown
  /// The program is too long for the oracle.
  case tooLong
}

/// Evaluates expressions one inside of the other, each time that they are needed.
final class NaiveEvaluator {
  typealias Value = NaiveValue

  /// The names of a function's arguments and variables.
  final class Frame {
    var values: [String: Value] = [:]
    var variables: [String: NaiveExpression] = [:]
    var failures: [String: NaiveError] = [:]
  }

  let request: NaiveRequest
  /// The values of captures by the scopes that declare them.
  var captures: [ObjectIdentifier: [String: Value]] = [:]
  private var steps = 0
  private var lookedUp: [[NaiveText]] = []

  init(_ request: NaiveRequest) { self.request = request }

  func value(_ expression: NaiveExpression, _ frame: Frame, _ scope: NaiveScope) throws(NaiveError) -> Value {
    steps += 1
    if steps > 20_000 { throw .tooLong }
    switch expression {
    case .literal(let value): return value
    case .name(let name): return try self.name(name, frame, scope)
    case .list(let items): return .list(try all(items, frame, scope))
    case .map(let pairs): return try map(pairs, frame, scope)
    case .path(let segments): return try path(segments, frame, scope)
    case .not(let inner): return .bool(!(try bool(value(inner, frame, scope))))
    case .negate(let inner): return try NaiveOperators.negated(value(inner, frame, scope))
    case .binary("&&", let left, let right): return try logic(left, right, frame, scope, decisive: false)
    case .binary("||", let left, let right): return try logic(left, right, frame, scope, decisive: true)
    case .binary("in", let left, let right):
      // The collection is the first operand.
      let operands = try all([right, left], frame, scope)
      return try NaiveOperators.contained(operands[1], operands[0])
    case .binary(let sign, let left, let right):
      let operands = try all([left, right], frame, scope)
      return try NaiveOperators.apply(sign, operands[0], operands[1])
    case .isType(let inner, let type):
      let name = try value(inner, frame, scope).typeName
      return .bool(name == type || type == "number" && ["int", "float"].contains(name))
    case .conditional(let condition, let yes, let no):
      return try value(bool(value(condition, frame, scope)) ? yes : no, frame, scope)
    case .member(let target, let name): return try member(target, name, frame, scope)
    case .index(let target, let index):
      let operands = try all([target, index], frame, scope)
      return try NaiveOperators.element(operands[0], operands[1])
    case .slice(let target, let from, let to):
      let operands = try all([target, from, to], frame, scope)
      return try NaiveOperators.slice(operands[0], operands[1], operands[2])
    case .call(let name, let arguments): return try call(name, arguments, frame, scope)
    case .method(let target, let name, let arguments):
      let operands = try all([target] + arguments, frame, scope)
      return try NaiveMethods.call(operands[0], name, Array(operands.dropFirst()))
    case .matching(let target, let name, let pattern, let rest):
      let operands = try all([target] + rest, frame, scope)
      return try NaiveMethods.call(operands[0], name, pattern, Array(operands.dropFirst()))
    }
  }

  // MARK: Operands

  private typealias Outcome = Result<Value, NaiveError>

  private func outcome(_ expression: NaiveExpression, _ frame: Frame, _ scope: NaiveScope) throws(NaiveError) -> Outcome
  {
    do throws(NaiveError) {
      return .success(try value(expression, frame, scope))
    } catch {
      if case .tooLong = error { throw error }
      return .failure(error)
    }
  }

  /// Evaluates all operands, the last one first; the error is that of the first one in the order of writing.
  private func all(
    _ expressions: [NaiveExpression], _ frame: Frame, _ scope: NaiveScope
  ) throws(NaiveError) -> [Value] {
    var outcomes: [Outcome] = []
    for expression in expressions.reversed() { outcomes.insert(try outcome(expression, frame, scope), at: 0) }
    var values: [Value] = []
    for outcome in outcomes { values.append(try outcome.get()) }
    return values
  }

  private func bool(_ value: Value) throws(NaiveError) -> Bool {
    if case .bool(let bool) = value { return bool }
    throw .message("Type error. Received: [\(value.typeName)] Expected: [bool].")
  }

  private func logic(
    _ left: NaiveExpression, _ right: NaiveExpression, _ frame: Frame, _ scope: NaiveScope, decisive: Bool
  ) throws(NaiveError) -> Value {
    func operand(_ expression: NaiveExpression) throws(NaiveError) -> Result<Bool, NaiveError> {
      do throws(NaiveError) {
        return .success(try bool(value(expression, frame, scope)))
      } catch {
        if case .tooLong = error { throw error }
        return .failure(error)
      }
    }
    let first = try operand(left)
    if case .success(decisive) = first { return .bool(decisive) }
    let second = try operand(right)
    if case .success(decisive) = second { return .bool(decisive) }
    _ = try first.get()
    _ = try second.get()
    return .bool(!decisive)
  }

  // MARK: Names

  private func name(_ name: String, _ frame: Frame, _ scope: NaiveScope) throws(NaiveError) -> Value {
    if let failure = frame.failures[name] { throw failure }
    if let value = frame.values[name] { return value }
    if let variable = frame.variables[name] {
      // Evaluated when it is first used, once.
      do throws(NaiveError) {
        let value = try value(variable, frame, scope)
        frame.values[name] = value
        return value
      } catch {
        frame.failures[name] = error
        throw error
      }
    }
    for scope in sequence(first: scope, next: \.parent) {
      if let value = captures[ObjectIdentifier(scope)]?[name] { return value }
    }
    if name == "resource", let resource = request.existing { return resource }
    if name == "request" { return .map(request.variable) }
    throw .message("Null value error.")
  }

  private func member(
    _ target: NaiveExpression, _ name: String, _ frame: Frame, _ scope: NaiveScope
  ) throws(NaiveError) -> Value {
    switch try value(target, frame, scope) {
    case .null: throw .message("Null value error.")
    case .map(let map):
      if let value = map[name] { return value }
      throw .message("Property \(name) is undefined on object.")
    default: throw .message("Property \(name) is undefined on object.")
    }
  }

  // MARK: Literals with operands

  private func map(
    _ pairs: [(NaiveExpression, NaiveExpression)], _ frame: Frame, _ scope: NaiveScope
  ) throws(NaiveError) -> Value {
    let values = try all(pairs.flatMap { [$0.0, $0.1] }, frame, scope)
    var map = NaiveMap()
    for index in stride(from: 0, to: values.count, by: 2) {
      guard case .string(let name) = values[index] else { throw .unknown }
      map[name] = values[index + 1]
    }
    return .map(map)
  }

  private func path(_ segments: [NaiveSegment], _ frame: Frame, _ scope: NaiveScope) throws(NaiveError) -> Value {
    var parts: [Result<[NaiveText], NaiveError>] = []
    for segment in segments.reversed() {
      switch segment {
      case .literal(let text): parts.insert(.success([NaiveText(text.utf16)]), at: 0)
      case .expression(let expression):
        switch try outcome(expression, frame, scope) {
        case .success(.string(let text)):
          // A text with slashes is several segments, and an empty one is a segment that no document has.
          parts.insert(.success(text.contains(0x2F) ? NaiveOperators.segments(text) : [text]), at: 0)
        case .success(.path(let path)): parts.insert(.success(path), at: 0)
        case .success(.int(let number)): parts.insert(.success([NaiveText("\(number)".utf16)]), at: 0)
        case .success: parts.insert(.failure(.unknown), at: 0)
        case .failure(let error): parts.insert(.failure(error), at: 0)
        }
      }
    }
    var path: [NaiveText] = []
    for part in parts { path += try part.get() }
    return .path(path)
  }

  // MARK: Calls

  private func call(
    _ name: String, _ arguments: [NaiveExpression], _ frame: Frame, _ scope: NaiveScope
  ) throws(NaiveError) -> Value {
    for outer in sequence(first: scope, next: \.parent) {
      guard let function = outer.functions.first(where: { $0.name == name }) else { continue }
      guard arguments.count == function.parameters.count else {
        _ = try all(arguments, frame, scope)
        throw .containing("Incorrect number of arguments")
      }
      let inner = Frame()
      // The error of an argument is one of its parameter, wherever that is used.
      for (parameter, argument) in zip(function.parameters, arguments).reversed() {
        switch try outcome(argument, frame, scope) {
        case .success(let value): inner.values[parameter] = value
        case .failure(let error): inner.failures[parameter] = error
        }
      }
      for variable in function.variables { inner.variables[variable.name] = variable.value }
      return try value(function.result, inner, outer)
    }
    let values = try all(arguments, frame, scope)
    if ["get", "exists"].contains(name) { return try lookUp(name, values) }
    return try NaiveBuiltins.call(name, values)
  }

  private func lookUp(_ name: String, _ values: [Value]) throws(NaiveError) -> Value {
    guard values.count == 1 else { throw .containing("Incorrect number of arguments") }
    guard case .path(let path) = values[0] else {
      throw .message(
        "Unsupported operation error. Received: \(name)(\(values[0].typeName)). Expected: \(name)(path).")
    }
    if !lookedUp.contains(path) {
      // The eleventh document is an error like others.
      if lookedUp.count == 10 { throw .containing("Service call error. Function: [\(name)], Argument: [path_value {") }
      lookedUp.append(path)
    }
    let found = request.documents.first { $0.path == path }?.document
    if name == "exists" { return .bool(found != nil) }
    return found.map { .map($0) } ?? .null
  }
}
