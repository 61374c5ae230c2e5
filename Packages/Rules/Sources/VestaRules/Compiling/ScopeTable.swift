/// The names that each scope of a file declares, and those it sees.
struct ScopeTable {
  private let tree: SyntaxTree
  /// The functions of a scope by name; of two of one name the first.
  private var functions: [[String: Int]] = []
  /// The captures of a scope and its ancestors, outermost first.
  private(set) var captures: [[NamedSpan]] = []
  /// The segments of the paths of a scope and its ancestors.
  private(set) var segments: [[SegmentSyntax]] = []

  init(_ tree: SyntaxTree) {
    self.tree = tree
    for scope in tree.scopes {
      var named: [String: Int] = [:]
      for function in scope.functions {
        let name = tree.functions[function].name.name
        if named[name] == nil { named[name] = function }
      }
      functions.append(named)
      captures.append((scope.parent.map { captures[$0] } ?? []) + scope.path.compactMap(\.capture))
      segments.append((scope.parent.map { segments[$0] } ?? []) + scope.path)
    }
  }

  /// The function that a name means in a scope: the innermost one.
  func function(_ name: String, from scope: Int) -> Int? {
    var current = Optional(scope)
    while let index = current {
      if let found = functions[index][name] { return found }
      current = tree.scopes[index].parent
    }
    return nil
  }

  /// The number of the capture that a name means in a scope: the innermost one.
  func capture(_ name: String, from scope: Int) -> Int? {
    captures[scope].lastIndex { $0.name == name }
  }

  /// The name of the service that a scope is in.
  func serviceName(of scope: Int) -> String? {
    var current = Optional(scope)
    while let index = current {
      if case .service(let name) = tree.scopes[index].kind { return name }
      current = tree.scopes[index].parent
    }
    return nil
  }
}

extension SegmentSyntax {
  var capture: NamedSpan? {
    switch self {
    case .literal: nil
    case .capture(let name), .glob(let name, _): name
    }
  }
}

extension SyntaxTree {
  /// The functions that some statement calls, directly or through others.
  func reachableFunctions(_ scopes: ScopeTable) -> Set<Int> {
    var reached: Set<Int> = []
    var waiting: [(root: NodeID, scope: Int)] = self.scopes.indices.flatMap { scope in
      self.scopes[scope].allows.compactMap(\.condition).map { ($0, scope) }
    }
    while let (node, scope) = waiting.popLast() {
      waiting += children(of: node).map { ($0, scope) }
      guard case .call(let name, _) = nodes[node].kind, let found = scopes.function(name, from: scope),
        reached.insert(found).inserted
      else { continue }
      let function = functions[found]
      waiting += (function.lets.map(\.value) + [function.result]).map { ($0, function.scope) }
    }
    return reached
  }
}
