/// A call on a snapshot that `data`, `newData`, `root`, `child` and `parent` name, taken apart when the rules are
/// compiled: the way to the snapshot becomes one list of names, and not one for each step.
struct DatabaseLook: Sendable {
  /// Where the way begins.
  enum Start: Sendable { case data, newData, root }

  /// A step of the way.
  enum Step: Sendable {
    /// One name.
    case name(String)
    /// The names that an expression is.
    case child(NodeID)
    case parent
  }

  let start: Start
  let steps: [Step]
  /// The names of a `hasChildren`, where all of them are written as they are; `nil` otherwise.
  let names: [String]?

  /// The calls of an expression that are taken apart, by their nodes.
  ///
  /// A call whose result is only the target of another call is a step of that call, so that all steps together are as
  /// many as the expression has calls.
  static func looks(of nodes: [DatabaseSyntax]) -> [DatabaseLook?] {
    var looks = [DatabaseLook?](repeating: nil, count: nodes.count)
    for (id, node) in nodes.enumerated() {
      guard case .call(let target, let method, let arguments) = node, method.isOfSnapshots, !method.isStep else {
        continue
      }
      looks[id] = DatabaseLook(target, method, arguments, nodes)
    }
    return looks
  }

  private init?(_ target: NodeID, _ method: DatabaseMethod, _ arguments: [NodeID], _ nodes: [DatabaseSyntax]) {
    var (place, steps) = (target, [Step]())
    while case .call(let target, let method, let arguments) = nodes[place] {
      switch (method, arguments.first) {
      case (.child, let argument?):
        steps.append(DatabaseLook.plainName(nodes[argument]).map(Step.name) ?? .child(argument))
      case (.parent, nil): steps.append(.parent)
      default: return nil
      }
      place = target
    }
    switch nodes[place] {
    case .data: start = .data
    case .newData: start = .newData
    case .root: start = .root
    default: return nil
    }
    self.steps = steps.reversed()
    if method == .hasChildren, let list = arguments.first, case .array(let elements) = nodes[list] {
      let names = elements.compactMap { DatabaseLook.plainName(nodes[$0]) }
      self.names = names.count == elements.count ? names : nil
    } else {
      names = nil
    }
  }

  /// The text of a node that is written as one, and that is one name.
  private static func plainName(_ node: DatabaseSyntax) -> String? {
    guard case .string(let name) = node, isName(name) else { return nil }
    return name
  }

  /// Whether a text is one name, and not several or none.
  static func isName(_ text: String) -> Bool { !text.isEmpty && !text.utf8.contains(UInt8(ascii: "/")) }
}

extension DatabaseMethod {
  /// Whether the result is a snapshot as well.
  fileprivate var isStep: Bool { self == .child || self == .parent }
}
