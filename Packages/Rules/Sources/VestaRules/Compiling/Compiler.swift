import VestaBytes
import VestaPatterns

/// Turns a checked tree into the form that is evaluated: names become numbers, constants are collected.
struct Compiler {
  private let tree: SyntaxTree
  private let scopes: ScopeTable
  private let service: RulesService
  private let tuning: RulesTuning
  private var program = Program()
  private var nameNumbers: [String: Int32] = [:]
  /// The patterns so far, by the bytes of their text.
  private var patterns: [UTF8String: PatternResult] = [:]
  /// The paths on which `bind()` is called.
  private var templates: Set<NodeID> = []

  /// Where an expression stands: its scope, and the parameters and variables of its function.
  private struct Place {
    var scope: Int
    var parameters: [String] = []
    var variables: [(name: String, value: NodeID)] = []
  }

  init(_ tree: SyntaxTree, service: RulesService, tuning: RulesTuning) {
    self.tree = tree
    self.service = service
    self.tuning = tuning
    scopes = ScopeTable(tree)
  }

  static func compile(
    _ tree: SyntaxTree, service: RulesService, tuning: RulesTuning
  ) -> (program: Program, matches: [CompiledMatch]) {
    var compiler = Compiler(tree, service: service, tuning: tuning)
    return compiler.run()
  }

  private mutating func run() -> (program: Program, matches: [CompiledMatch]) {
    program.steps = Array(repeating: Step(code: .unbound), count: tree.nodes.count)
    program.spans = tree.nodes.map { ($0.anchor, $0.extent, $0.name ?? $0.anchor) }
    for function in tree.functions { compile(function) }
    var matches: [CompiledMatch] = []
    for (index, scope) in tree.scopes.enumerated() where scopes.serviceName(of: index) == service.rawValue {
      for allow in scope.allows {
        if let condition = allow.condition { compile(condition, Place(scope: index)) }
      }
      guard case .match = scope.kind else { continue }
      matches += groups(of: scope).map { match($0, in: index) }
    }
    matches.sort { $0.allows[0].extent.start < $1.allows[0].extent.start }
    return (program, matches)
  }

  private mutating func compile(_ function: FunctionSyntax) {
    var place = Place(scope: function.scope, parameters: function.parameters.map(\.name))
    for variable in function.lets {
      compile(variable.value, place)
      place.variables.append((variable.name.name, variable.value))
    }
    compile(function.result, place)
    program.functions.append(
      CompiledFunction(
        name: function.name.name, parameterCount: function.parameters.count,
        variableCount: function.lets.count, result: function.result))
  }

  private func match(_ allows: [AllowSyntax], in scope: Int) -> CompiledMatch {
    CompiledMatch(
      segments: scopes.segments[scope].map(MatchSegment.init),
      captureNames: scopes.captures[scope].map(\.name),
      allows: allows.map { allow in
        CompiledAllow(
          methods: allow.methods.reduce(0) { $0 | $1.bit }, condition: allow.condition, extent: allow.extent,
          shortcut: program.shortcut(of: allow.condition, depth: tuning.shortcutDepth))
      })
  }

  /// The statements of a match, apart where inner matches stand between them: statements are asked in the order of
  /// writing.
  private func groups(of scope: ScopeSyntax) -> [[AllowSyntax]] {
    let inner = scope.matches.map { tree.scopes[$0].extent.start }
    var groups: [[AllowSyntax]] = []
    var next = 0
    for allow in scope.allows {
      let first = next
      while next < inner.count, inner[next] < allow.extent.start { next += 1 }
      if groups.isEmpty || next > first { groups.append([]) }
      groups[groups.count - 1].append(allow)
    }
    return groups
  }

  private mutating func constant(_ value: RulesValue) -> Int32 {
    program.constants.append(value)
    return Int32(program.constants.count - 1)
  }

  private mutating func name(_ name: String) -> Int32 {
    if let number = nameNumbers[name] { return number }
    program.names.append(name)
    nameNumbers[name] = Int32(program.names.count - 1)
    return Int32(program.names.count - 1)
  }

  private mutating func list(_ nodes: [NodeID]) -> Int32 {
    program.lists.append(nodes.map(Int32.init))
    return Int32(program.lists.count - 1)
  }

  /// The number of a list of literals, from one; zero where an element is no literal.
  private mutating func literalList(_ nodes: [NodeID]) -> Int32 {
    var values: [RulesValue] = []
    values.reserveCapacity(nodes.count)
    for node in nodes {
      guard case .literal(let value) = tree.nodes[node].kind else { return 0 }
      values.append(value)
    }
    program.literalLists.append(.list(values))
    return Int32(program.literalLists.count)
  }

  // MARK: Expressions

  private mutating func compile(_ root: NodeID, _ place: Place) {
    var waiting = [root]
    while let id = waiting.popLast() {
      program.steps[id] = step(id, place)
      if program.steps[id].reads(.time) { program.readsTime = true }
      if program.steps[id].reads(.query) { program.readsQuery = true }
      if case .method(_, _, let arguments) = tree.nodes[id].kind, program.steps[id].code != .method,
        program.steps[id].code != .unknownMethod
      {
        waiting += arguments
      } else if program.steps[id].code != .requestField {
        waiting += tree.children(of: id)
      }
    }
  }

  private mutating func step(_ id: NodeID, _ place: Place) -> Step {
    switch tree.nodes[id].kind {
    case .literal(let value): return Step(code: .constant, a: constant(value))
    case .name(let name): return variable(name, place)
    case .list(let items): return Step(code: .list, a: list(items), b: literalList(items))
    case .map(let pairs): return Step(code: .map, a: list(pairs.flatMap { [$0.key, $0.value] }))
    case .path(let parts): return path(parts, templates.contains(id) ? place : nil)
    case .not(let inner): return Step(code: .not, a: Int32(inner))
    case .negate(let inner): return Step(code: .negate, a: Int32(inner))
    case .binary(let binary, let left, let right):
      return Step(code: .binary, a: Int32(left), b: Int32(right), c: binary.number)
    case .isType(let inner, let type): return Step(code: .isType, a: Int32(inner), b: name(type))
    case .all(let operands): return Step(code: .all, a: list(operands))
    case .any(let operands): return Step(code: .any, a: list(operands))
    case .conditional(let a, let b, let c):
      return Step(code: .conditional, a: Int32(a), b: Int32(b), c: Int32(c))
    case .member(let target, let name): return member(target, name, place)
    case .index(let target, let index):
      return Step(code: .index, a: Int32(target), b: Int32(index), c: data(target, place))
    case .slice(let target, let from, let to):
      return Step(code: .slice, a: Int32(target), b: Int32(from), c: Int32(to))
    case .call(let name, let arguments):
      if let function = scopes.function(name, from: place.scope) {
        return Step(code: .call, a: Int32(function), b: list(arguments))
      }
      return builtin(name, arguments)
    case .method(let target, let name, let arguments): return method(target, name, arguments, place)
    }
  }

  private func isBound(_ name: String, _ place: Place) -> Bool {
    place.parameters.contains(name) || place.variables.contains { $0.name == name }
      || scopes.capture(name, from: place.scope) != nil
  }

  private func variable(_ name: String, _ place: Place) -> Step {
    if let index = place.variables.lastIndex(where: { $0.name == name }) {
      return Step(code: .variable, a: Int32(index), b: Int32(place.variables[index].value))
    }
    if let index = place.parameters.lastIndex(of: name) { return Step(code: .parameter, a: Int32(index)) }
    if let number = scopes.capture(name, from: place.scope) { return Step(code: .capture, a: Int32(number)) }
    switch name {
    case "request": return Step(code: .request)
    case "resource": return Step(code: .resource)
    default: return Step(code: .unbound)
    }
  }

  private mutating func member(_ target: NodeID, _ name: String, _ place: Place) -> Step {
    if case .name("request") = tree.nodes[target].kind, !isBound("request", place),
      let field = RequestField(name: name)
    {
      return Step(code: .requestField, a: field.rawValue)
    }
    return Step(code: .member, a: Int32(target), b: self.name(name), c: data(target, place))
  }

  /// The number of the `DataOfRequest` that an expression is; zero for others.
  private func data(_ id: NodeID, _ place: Place) -> Int32 {
    guard case .member(let document, "data") = tree.nodes[id].kind else { return 0 }
    switch tree.nodes[document].kind {
    case .name("resource") where !isBound("resource", place): return DataOfRequest.before.rawValue
    case .member(let request, "resource"):
      guard case .name("request") = tree.nodes[request].kind, !isBound("request", place) else { return 0 }
      return DataOfRequest.after.rawValue
    default: return 0
    }
  }

  /// A path; what is written between its slashes are constants.
  ///
  /// - Parameter template: Where the path is, if `bind()` is called on it: a name that nothing else binds stays then.
  private mutating func path(_ parts: [PathPart], _ template: Place?) -> Step {
    var steps: [Int32] = []
    for part in parts {
      switch part {
      // A literal segment has no node: its number is that of the constant, as a negative number.
      case .literal(let text): steps.append(-1 - constant(.string(text)))
      case .expression(let node):
        if let template, case .name(let name) = tree.nodes[node].kind, variable(name, template).code == .unbound {
          steps.append(-1 - constant(.string("$(\(name))")))
        } else {
          steps.append(Int32(node))
        }
      }
    }
    program.lists.append(steps)
    return Step(code: .path, a: Int32(program.lists.count - 1))
  }

  private mutating func builtin(_ name: String, _ arguments: [NodeID]) -> Step {
    guard let builtin = Builtin(rawValue: name), builtin.isAvailable(in: service) else {
      return Step(code: .unknownCall, a: self.name(name), b: list(arguments))
    }
    return Step(code: .builtin, a: builtin.number, b: list(arguments))
  }

  private mutating func method(_ target: NodeID, _ name: String, _ arguments: [NodeID], _ place: Place) -> Step {
    if case .name(let package) = tree.nodes[target].kind,
      Builtin.packages.contains(package) || package == "firestore" && !isBound(package, place)
    {
      return builtin(package + "." + name, arguments)
    }
    guard let method = ValueMethod(rawValue: name) else {
      return Step(code: .unknownMethod, a: Int32(target), b: self.name(name), c: list(arguments))
    }
    if let pattern = arguments.first, method.takesPattern, case .literal(.string(let text)) = tree.nodes[pattern].kind {
      let result = patterns[UTF8String(text)] ?? PatternResult(text)
      patterns[UTF8String(text)] = result
      program.patterns[pattern] = result
    }
    if method == .bind { templates.insert(target) }
    return Step(code: .method, a: Int32(target), b: method.number, c: list(arguments))
  }
}

/// A compiled pattern, or the reason why it is none.
enum PatternResult: Sendable {
  case pattern(Pattern)
  case failure(String, steps: Int)

  /// Compiles a pattern that is written in the rules.
  init(_ text: String) { self.init(text, isReused: true, PatternLimits()) }

  /// Compiles a pattern that is a value of a request, and is matched once.
  ///
  /// - Parameter steps: The steps that reading it may take.
  init(_ text: String, steps: Int) {
    var limits = PatternLimits()
    limits.steps = steps
    self.init(text, isReused: false, limits)
  }

  private init(_ text: String, isReused: Bool, _ limits: PatternLimits) {
    do throws(PatternError) {
      self = .pattern(try Pattern(text, isReused: isReused, limits: limits))
    } catch {
      self = .failure(error.description, steps: error.steps)
    }
  }

  /// The steps that reading it took.
  var steps: Int {
    switch self {
    case .pattern(let pattern): pattern.steps
    case .failure(_, let steps): steps
    }
  }
}

extension CaseIterable where Self: Equatable, AllCases.Index == Int {
  /// The position among all cases.
  var number: Int32 { Int32(Self.allCases.firstIndex(of: self) ?? 0) }
}
