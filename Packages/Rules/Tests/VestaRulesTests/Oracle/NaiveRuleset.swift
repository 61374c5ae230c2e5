import VestaRules

/// A segment of the path of a match.
enum NaiveMatchSegment {
  case literal(String)
  case capture(String)
  case glob(String)
}

struct NaiveFunction {
  let name: String
  let parameters: [String]
  var variables: [(name: String, value: NaiveExpression)] = []
  var result = NaiveExpression.literal(.null)
  /// A function calls functions of higher ranks only, so that no program runs forever.
  let rank: Int
}

/// The file, the service or a match: its members stand in the order of writing.
final class NaiveScope {
  enum Member {
    case match(NaiveScope)
    case allow(methods: [String], condition: NaiveExpression?)
  }

  let parent: NaiveScope?
  let path: [NaiveMatchSegment]
  var functions: [NaiveFunction] = []
  var members: [Member] = []

  init(_ parent: NaiveScope?, _ path: [NaiveMatchSegment] = []) { (self.parent, self.path) = (parent, path) }

  /// The segments of the scope and of those around it, with the scopes that they stand in.
  var segments: [(segment: NaiveMatchSegment, scope: NaiveScope)] {
    (parent?.segments ?? []) + path.map { ($0, self) }
  }
}

/// A request, with the documents that its rules look up.
struct NaiveRequest {
  var method = "get"
  var path: [NaiveText] = []
  /// The members of `request` that are not absent.
  var fields = NaiveMap()
  var existing: NaiveValue?
  var documents: [(path: [NaiveText], document: NaiveMap)] = []

  /// The variable `request`.
  var variable: NaiveMap {
    var map = fields
    map["method".naive] = .text(method)
    map["path".naive] = .path(path)
    return map
  }
}

extension String {
  var naive: NaiveText { NaiveText(utf16) }
}

/// A ruleset as the oracle has it.
struct NaiveRuleset {
  let version: Int
  let file: NaiveScope
  let service: NaiveScope

  /// The answer about a statement that did not allow a request; nil for one that is false.
  typealias Refusal = NaiveError?

  /// Asks the statements of all matches that apply, in the order of writing, until one allows the request.
  ///
  /// - Returns: The refusals; nil where the request is allowed.
  func decide(_ request: NaiveRequest) throws(NaiveError) -> [Refusal]? {
    let evaluator = NaiveEvaluator(request)
    var refusals: [Refusal] = []
    for (methods, condition, scope) in statements(of: service) {
      guard methods.contains(where: { covers($0, request.method) }), let lengths = bind(scope, request.path) else {
        continue
      }
      capture(scope, request.path, lengths, evaluator)
      do throws(NaiveError) {
        let value = try condition.map { expression throws(NaiveError) in
          try evaluator.value(expression, NaiveEvaluator.Frame(), scope)
        }
        switch value ?? .bool(true) {
        case .bool(true): return nil
        case .bool(false): refusals.append(nil)
        case let other: throw .message("Type error. Received: [\(other.typeName)] Expected: [bool].")
        }
      } catch {
        if case .tooLong = error { throw error }
        refusals.append(error)
      }
    }
    return refusals
  }

  private typealias Statement = (methods: [String], condition: NaiveExpression?, scope: NaiveScope)

  private func statements(of scope: NaiveScope) -> [Statement] {
    scope.members.flatMap { member -> [Statement] in
      switch member {
      case .match(let inner): return statements(of: inner)
      case .allow(let methods, let condition): return [(methods, condition, scope)]
      }
    }
  }

  private func covers(_ word: String, _ method: String) -> Bool {
    word == method || word == "read" && ["get", "list"].contains(method)
      || word == "write" && ["create", "update", "delete"].contains(method)
  }

  /// The numbers of segments that the segments of a match take of a path; each glob takes as few as it can.
  private func bind(_ scope: NaiveScope, _ path: [NaiveText]) -> [Int]? {
    let pattern = scope.segments.map(\.segment)
    func search(_ index: Int, _ start: Int) -> [Int]? {
      guard index < pattern.count else { return start == path.count ? [] : nil }
      switch pattern[index] {
      case .literal(let text):
        guard start < path.count, path[start] == text.naive else { return nil }
        return search(index + 1, start + 1).map { [1] + $0 }
      case .capture:
        guard start < path.count else { return nil }
        return search(index + 1, start + 1).map { [1] + $0 }
      case .glob:
        // In version 1 a glob is the last segment, and not empty.
        if version == 1, index + 1 < pattern.count { return nil }
        for length in (version == 1 ? 1 : 0)...max(version == 1 ? 1 : 0, path.count - start) {
          guard start + length <= path.count else { return nil }
          if let rest = search(index + 1, start + length) { return [length] + rest }
        }
        return nil
      }
    }
    return search(0, 0)
  }

  private func capture(_ scope: NaiveScope, _ path: [NaiveText], _ lengths: [Int], _ evaluator: NaiveEvaluator) {
    evaluator.captures = [:]
    var start = 0
    for ((segment, scope), length) in zip(scope.segments, lengths) {
      switch segment {
      case .literal: break
      case .capture(let name): evaluator.captures[ObjectIdentifier(scope), default: [:]][name] = .string(path[start])
      case .glob(let name):
        evaluator.captures[ObjectIdentifier(scope), default: [:]][name] = .path(Array(path[start..<start + length]))
      }
      start += length
    }
  }

  // MARK: The text

  var text: String {
    let head = version == 2 ? "rules_version = '2';\n" : ""
    return head + file.functions.map(function).joined() + "service cloud.firestore {\n\(body(service))}\n"
  }

  private func function(_ function: NaiveFunction) -> String {
    let variables = function.variables.map { "let \($0.name) = \(NaiveWriter.text($0.value));\n" }.joined()
    return "function \(function.name)(\(function.parameters.joined(separator: ", "))) {\n\(variables)"
      + "return \(NaiveWriter.text(function.result));\n}\n"
  }

  private func body(_ scope: NaiveScope) -> String {
    let members = scope.members.map { member in
      switch member {
      case .match(let inner): return "match \(inner.path.map(segment).joined()) {\n\(body(inner))}\n"
      case .allow(let methods, let condition):
        let condition = condition.map { ": if " + NaiveWriter.text($0) } ?? ""
        return "allow \(methods.joined(separator: ", "))\(condition);\n"
      }
    }
    // Functions may stand behind the statements that call them.
    let functions = scope.functions.map(function)
    return functions.count % 2 == 0 ? (functions + members).joined() : (members + functions).joined()
  }

  private func segment(_ segment: NaiveMatchSegment) -> String {
    switch segment {
    case .literal(let text): "/\(text)"
    case .capture(let name): "/{\(name)}"
    case .glob(let name): "/{\(name)=**}"
    }
  }
}
