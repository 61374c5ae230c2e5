import VestaBytes
import VestaPatterns

/// Looks at names, calls and limits of a parsed file.
///
/// Names that mean nothing and calls with a wrong number of arguments are warnings, as in production: at run time they
/// are errors of their expression only.
struct Checker {
  let tree: SyntaxTree
  let source: SourceText
  let scopes: ScopeTable
  let limits: RulesLimits
  private(set) var issues: [RulesIssue] = []
  private var usedFunctions: Set<Int> = []
  /// The functions that each function calls, in the order of writing.
  private var calls: [[Int]]
  /// The names in paths on which `bind()` is called.
  private var templateNames: Set<NodeID> = []
  /// The regular expressions that can be read.
  private var patterns: Set<UTF8String> = []

  init(_ tree: SyntaxTree, source: SourceText, limits: RulesLimits) {
    self.tree = tree
    self.source = source
    self.limits = limits
    scopes = ScopeTable(tree)
    calls = Array(repeating: [], count: tree.functions.count)
  }

  /// The names that an expression sees in addition to its scope's.
  private struct Locals {
    var names: [String] = []
    var used: Set<String> = []
    /// The parameters and variables so far, without variables that a later one of the same name has replaced.
    var declared: [NamedSpan] = []
    var function: Int?
    /// Whether no statement can reach the function: there is no request then, as production says.
    var isUnreachable = false
  }

  static func check(_ tree: SyntaxTree, source: SourceText, limits: RulesLimits) -> [RulesIssue] {
    var checker = Checker(tree, source: source, limits: limits)
    checker.run()
    return checker.issues
  }

  private mutating func run() {
    if tree.scopes.count == 1 { issues.append(RulesIssue(.error, "The file declares no service.", at: nil)) }
    for scope in tree.scopes.indices { check(scope: scope) }
    let reachable = tree.reachableFunctions(scopes)
    for function in tree.functions.indices { check(function: function, isReachable: reachable.contains(function)) }
    for (index, function) in tree.functions.enumerated() where !usedFunctions.contains(index) {
      warn("Unused function: \(function.name.name).", function.name.span)
    }
    checkCalls()
  }

  private mutating func warn(_ message: String, _ span: Span) {
    issues.append(RulesIssue(.warning, message, at: source.position(span)))
  }

  private mutating func error(_ message: String, _ span: Span) {
    issues.append(RulesIssue(.error, message, at: source.position(span)))
  }

  private mutating func declare(_ name: NamedSpan) {
    if Builtin.packages.contains(name.name) { packageError(name.name, name.span) }
  }

  private mutating func packageError(_ name: String, _ span: Span) {
    error("\(name) is a package and cannot be used as variable name.", span)
  }

  // MARK: Scopes and functions

  private mutating func check(scope: Int) {
    let syntax = tree.scopes[scope]
    checkNames(of: syntax)
    if scopes.captures[scope].count > limits.captures {
      error("More than \(limits.captures) captures are nested.", syntax.pathSpan)
    }
    if scopes.segments[scope].count > limits.pathSegments {
      error("The paths of nested matches have more than \(limits.pathSegments) segments.", syntax.pathSpan)
    }
    for allow in syntax.allows {
      var locals = Locals()
      if let condition = allow.condition { check(condition, scope, &locals) }
    }
  }

  /// Reports functions and captures of one scope that have the same name.
  private mutating func checkNames(of scope: ScopeSyntax) {
    var functions: Set<String> = []
    for function in scope.functions.map({ tree.functions[$0].name }) where !functions.insert(function.name).inserted {
      error("The function [\(function.name)] is already declared in the current scope.", function.span)
    }
    var captures: Set<String> = []
    for capture in scope.path.compactMap(\.capture) {
      declare(capture)
      if !captures.insert(capture.name).inserted { alreadyBound(capture) }
    }
  }

  private mutating func alreadyBound(_ name: NamedSpan) {
    error("The identifier [\(name.name)] is already bound in the current scope.", name.span)
  }

  private mutating func check(function index: Int, isReachable: Bool) {
    let function = tree.functions[index]
    var locals = Locals(function: index, isUnreachable: !isReachable)
    for parameter in function.parameters {
      declare(parameter)
      if locals.names.contains(parameter.name) { alreadyBound(parameter) }
      bind(parameter, &locals)
    }
    for variable in function.lets {
      check(variable.value, function.scope, &locals)
      declare(variable.name)
      if locals.names.contains(variable.name.name) {
        alreadyBound(variable.name)
        unbind(variable.name.name, &locals)
      }
      bind(variable.name, &locals)
    }
    check(function.result, function.scope, &locals)
    for name in locals.declared { warnIfUnused(name, locals) }
  }

  private func bind(_ name: NamedSpan, _ locals: inout Locals) {
    locals.names.append(name.name)
    locals.declared.append(name)
  }

  /// Forgets a name that a variable of the same name replaces.
  private mutating func unbind(_ name: String, _ locals: inout Locals) {
    if let first = locals.declared.firstIndex(where: { $0.name == name }) {
      warnIfUnused(locals.declared.remove(at: first), locals)
    }
    locals.used.remove(name)
  }

  private mutating func warnIfUnused(_ name: NamedSpan, _ locals: Locals) {
    if !locals.used.contains(name.name) { warn("Unused variable: \(name.name).", name.span) }
  }

  // MARK: Expressions

  private mutating func check(_ root: NodeID, _ scope: Int, _ locals: inout Locals) {
    // A list and no recursion, because chains can be long.
    var waiting = [root]
    while let id = waiting.popLast() {
      let node = tree.nodes[id]
      switch node.kind {
      case .name(let name): check(name: name, id, node.anchor, scope, &locals)
      case .call(let name, let arguments): check(call: name, arguments.count, node.anchor, scope, locals)
      case .method(let target, "bind", _):
        if case .path(let parts) = tree.nodes[target].kind { templateNames.formUnion(parts.compactMap(\.expression)) }
      case .method(let target, let name, let arguments):
        if let package = package(of: target, scope, locals) {
          check(builtin: package + "." + name, arguments.count, node.anchor)
          waiting += arguments.reversed()
          continue
        }
        if ["matches", "split"].contains(name), arguments.count == 1 { check(pattern: arguments[0]) }
      default: break
      }
      waiting += tree.children(of: id).reversed()
    }
  }

  /// Reports an expression of `matches` and `split` that cannot be read, where it is written in the rules; that of
  /// `replace` is an error of its call, as in the official emulator.
  private mutating func check(pattern id: NodeID) {
    guard case .literal(.string(let text)) = tree.nodes[id].kind, patterns.insert(UTF8String(text)).inserted else {
      return
    }
    do throws(PatternError) {
      _ = try Pattern(text, isReused: false)
    } catch {
      // One that is only too large here may be none of production's errors.
      guard error.code == .syntax else { return }
      patterns.remove(UTF8String(text))
      self.error("Invalid regular expression pattern. Pattern: \(text).", tree.nodes[id].anchor)
    }
  }

  /// The package that a target of a method names, if it is one.
  private func package(of target: NodeID, _ scope: Int, _ locals: Locals) -> String? {
    guard case .name(let name) = tree.nodes[target].kind else { return nil }
    if Builtin.packages.contains(name) { return name }
    let isBound = locals.names.contains(name) || scopes.capture(name, from: scope) != nil
    return name == "firestore" && !isBound ? name : nil
  }

  private mutating func check(name: String, _ id: NodeID, _ span: Span, _ scope: Int, _ locals: inout Locals) {
    let isOfRequest = ["request", "resource"].contains(name) && !locals.isUnreachable
    if Builtin.packages.contains(name) {
      packageError(name, span)
      locals.used.insert(name)
    } else if locals.names.contains(name) {
      locals.used.insert(name)
    } else if scopes.capture(name, from: scope) == nil, !isOfRequest, !templateNames.contains(id) {
      warn("Invalid variable name: \(name).", span)
    }
  }

  private mutating func check(call name: String, _ count: Int, _ span: Span, _ scope: Int, _ locals: Locals) {
    guard let function = scopes.function(name, from: scope) else {
      if locals.isUnreachable, Builtin(rawValue: name)?.isLookup == true {
        return warn("Invalid function name: \(name).", span)
      }
      return check(builtin: name, count, span)
    }
    usedFunctions.insert(function)
    if let caller = locals.function { calls[caller].append(function) }
    if tree.functions[function].parameters.count != count {
      warn("Incorrect number of arguments supplied to function: \(name).", span)
    }
  }

  private mutating func check(builtin name: String, _ count: Int, _ span: Span) {
    guard let builtin = Builtin(rawValue: name) else { return warn("Invalid function name: \(name).", span) }
    if builtin.arity != count { warn("Incorrect number of arguments supplied to function: \(name).", span) }
  }

  // MARK: Calls of functions

  /// Reports functions that call themselves, by themselves or through others, and the first chain that is too long.
  private mutating func checkCalls() {
    let recursive = recursiveFunctions()
    for function in recursive.sorted() {
      error("Recursive call is not allowed.", tree.functions[function].name.span)
    }
    guard recursive.isEmpty else { return }
    var heights: [Int?] = Array(repeating: nil, count: calls.count)
    for function in calls.indices {
      guard height(function, &heights) > limits.callDepth + 1 else { continue }
      let names = longestChain(from: function, heights).map { tree.functions[$0].name.name }.joined(separator: "->")
      issues.append(
        RulesIssue(
          .error, "Maximum allowed call depth of \(limits.callDepth) is reached for [\(names)] call stack.", at: nil))
      return
    }
  }

  /// The longest chain of calls that begins with a function, up to the first call that is too deep.
  private func longestChain(from function: Int, _ heights: [Int?]) -> [Int] {
    var chain = [function]
    while chain.count <= limits.callDepth, let last = chain.last,
      let next = calls[last].max(by: { (heights[$0] ?? 0) < (heights[$1] ?? 0) })
    {
      chain.append(next)
    }
    return chain
  }

  /// The number of functions on the longest chain of calls that begins with a function; the graph has no cycle.
  private func height(_ root: Int, _ heights: inout [Int?]) -> Int {
    var waiting = [root]
    while let function = waiting.last {
      let open = calls[function].filter { heights[$0] == nil }
      if open.isEmpty {
        heights[function] = 1 + (calls[function].map { heights[$0] ?? 0 }.max() ?? 0)
        waiting.removeLast()
      } else {
        waiting += open
      }
    }
    return heights[root] ?? 0
  }

  /// The functions that can reach themselves.
  private func recursiveFunctions() -> Set<Int> {
    // Functions that call no remaining one are removed; the rest has all cycles, and the functions that lead to them.
    var callers: [[Int]] = Array(repeating: [], count: calls.count)
    var open = calls.map { Set($0).count }
    for (caller, callees) in calls.enumerated() { for callee in Set(callees) { callers[callee].append(caller) } }
    var leaves = open.indices.filter { open[$0] == 0 }
    while let leaf = leaves.popLast() {
      for caller in callers[leaf] {
        open[caller] -= 1
        if open[caller] == 0 { leaves.append(caller) }
      }
    }
    let left = Set(open.indices.filter { open[$0] > 0 })
    // Of a file that has more of them the first ones are reported: the search for each is as long as the cycle.
    return Set(left.sorted().prefix(64).filter { reaches($0, within: left) })
  }

  private func reaches(_ start: Int, within allowed: Set<Int>) -> Bool {
    var (seen, waiting) = (Set<Int>(), calls[start].filter(allowed.contains))
    while let function = waiting.popLast() {
      if function == start { return true }
      if seen.insert(function).inserted { waiting += calls[function].filter(allowed.contains) }
    }
    return false
  }
}
