/// One step of the compiled form.
///
/// Operands are numbers: of other steps, of constants, of names, of lists.
struct Step: Sendable {
  enum Code: UInt8, Sendable {
    /// The constant `a`.
    case constant
    /// The whole variable `request`, as a map.
    case request
    /// The member of `request` with the number `a` of `RequestField`.
    case requestField
    /// The variable `resource`.
    case resource
    /// The capture with the number `a` of the match.
    case capture
    /// The parameter with the number `a`.
    case parameter
    /// The variable with the number `a` of the function; its value is step `b`, evaluated when it is first used.
    case variable
    /// A name that means nothing.
    case unbound
    /// The list of the steps of list `a`; literal list `b - 1` has its value where `b` is not zero.
    case list
    /// The map of the steps of list `a`, names and values in turns.
    case map
    /// The path of the steps of list `a`.
    case path
    case not
    case negate
    /// The binary operator `c` of the steps `a` and `b`.
    case binary
    /// Whether step `a` is of the type `b`.
    case isType
    /// `&&` of the steps of list `a`.
    case all
    /// `||` of the steps of list `a`.
    case any
    /// `a ? b : c`.
    case conditional
    /// The member with the name `b` of step `a`; `c` is the number of the `DataOfRequest` that step `a` is, or zero.
    case member
    /// Step `a` at the index of step `b`; `c` as of a member.
    case index
    /// Step `a` from step `b` to step `c`.
    case slice
    /// The declared function `a` with the arguments of list `b`.
    case call
    /// The built-in function `a` with the arguments of list `b`.
    case builtin
    /// A function with the name `a` that does not exist, with the arguments of list `b`.
    case unknownCall
    /// The method with the number `b` of step `a`, with the arguments of list `c`.
    case method
    /// A method with the name `b` that no type has, of step `a`, with the arguments of list `c`.
    case unknownMethod
  }

  var code: Code
  var a: Int32 = 0
  var b: Int32 = 0
  var c: Int32 = 0
}

/// The data of a document that a request is about, which most rules look at again and again.
enum DataOfRequest: Int32, Sendable {
  /// `request.resource.data`
  case after = 1
  /// `resource.data`
  case before = 2

  /// The expressions that evaluating it costs.
  var cost: Int { self == .after ? 3 : 2 }
}

/// The members of `request`.
enum RequestField: Int32, Sendable, CaseIterable {
  case auth, method, path, query, resource, time

  init?(name: String) {
    guard let found = RequestField.allCases.first(where: { $0.name == name }) else { return nil }
    self = found
  }

  var name: String {
    switch self {
    case .auth: "auth"
    case .method: "method"
    case .path: "path"
    case .query: "query"
    case .resource: "resource"
    case .time: "time"
    }
  }
}

/// A function in the compiled form.
struct CompiledFunction: Sendable {
  let name: String
  let parameterCount: Int
  let variableCount: Int
  let result: Int
}

/// An `allow` statement in the compiled form.
struct CompiledAllow: Sendable {
  /// Bit n is set for the n-th method of `RulesMethod.allCases`.
  let methods: UInt8
  /// The step of the condition; none means always.
  let condition: Int?
  let extent: Span
  /// The outcome where it is known without evaluating the condition.
  let shortcut: Shortcut?

  func names(_ method: RulesMethod) -> Bool { methods & method.bit != 0 }
}

extension RulesMethod {
  var bit: UInt8 {
    switch self {
    case .get: 1
    case .list: 2
    case .create: 4
    case .update: 8
    case .delete: 16
    }
  }
}

extension Program {
  /// The step of the map in `map.keys()`, of which `hasOnly` and its like need no list of the names.
  func mapOfNames(_ target: Int) -> Int? {
    let step = steps[target]
    guard step.code == .method, ValueMethod.all[Int(step.b)] == .keys, lists[Int(step.c)].isEmpty else { return nil }
    return Int(step.a)
  }
}

/// A ruleset in the form that is evaluated.
///
/// Step numbers are the numbers of the nodes of the tree.
struct Program: Sendable {
  var steps: [Step] = []
  var spans: [(anchor: Span, extent: Span, name: Span)] = []
  var constants: [RulesValue] = []
  var names: [String] = []
  var lists: [[Int32]] = []
  /// The values of lists that are made of literals alone.
  var literalLists: [RulesValue] = []
  var functions: [CompiledFunction] = []
  var methods: [ValueMethod] = []
  /// The compiled patterns of calls with a literal, by the step of the literal.
  var patterns: [Int: PatternResult] = [:]
  /// Whether some condition reads `request.time`.
  var readsTime = false
  /// Whether some condition reads `request.query`.
  var readsQuery = false
}
