/// A condition on the topics of a registration: `'a' in topics && ('b' in topics || !('c' in topics))`.
///
/// As Firebase documents it, parentheses are evaluated first, and then a condition is evaluated from left to right:
/// `&&` binds no closer than `||`, so `a || b && c` is `(a || b) && c`. `!` negates what follows it immediately. At
/// most five topics.
public struct TopicCondition: Sendable, Hashable {
  indirect enum Node: Sendable, Hashable {
    case topic(String)
    case not(Node)
    /// Operands that are combined from left to right.
    case chain(first: Node, rest: [Link])
  }

  /// An operator with the operand that follows it.
  struct Link: Sendable, Hashable {
    var isAnd: Bool
    var operand: Node
  }

  /// Why a string is no condition, and where.
  public struct SyntaxError: Error, Hashable {
    /// The number of the character, counted from 1.
    public let column: Int
    /// The token that is expected there.
    public let message: String
  }

  let node: Node

  /// The topics that the condition names.
  public let topics: Set<String>

  /// Parses a condition.
  ///
  /// - Parameter text: The condition; double quotes are read like single ones.
  public init(_ text: String) throws(SyntaxError) {
    var parser = TopicConditionParser(text)
    node = try parser.parse()
    topics = parser.topics
  }

  /// Whether the condition holds for a registration.
  ///
  /// - Parameter topics: The topics that it is subscribed to.
  public func holds(for topics: Set<String>) -> Bool { Self.holds(node, topics) }

  private static func holds(_ node: Node, _ topics: Set<String>) -> Bool {
    switch node {
    case .topic(let name): topics.contains(name)
    case .not(let node): !holds(node, topics)
    case .chain(let first, let rest):
      rest.reduce(holds(first, topics)) { value, link in
        // `true ||` and `false &&` stay what they are.
        value == link.isAnd ? holds(link.operand, topics) : value
      }
    }
  }
}

private struct TopicConditionParser {
  private let characters: [Character]
  private let size: Int
  private var index = 0
  private var depth = 0
  private(set) var topics: Set<String> = []

  /// The longest condition that is read, in bytes: a single character can have any number of them.
  private static let maximumSize = 5000
  private static let spaces: Set<Character> = [" ", "\t", "\n", "\r", "\r\n"]

  init(_ text: String) {
    size = text.utf8.count
    characters = size <= Self.maximumSize ? Array(text) : []
  }

  mutating func parse() throws(TopicCondition.SyntaxError) -> TopicCondition.Node {
    guard size <= Self.maximumSize else { throw error("It is longer than \(Self.maximumSize) bytes.") }
    let node = try chain()
    guard peek == nil else { throw error("Expected && or || or the end.") }
    return node
  }

  private var peek: Character? {
    mutating get {
      while index < characters.count, Self.spaces.contains(characters[index]) { index += 1 }
      return index < characters.count ? characters[index] : nil
    }
  }

  private var atSpace: Bool { index < characters.count && Self.spaces.contains(characters[index]) }

  private func error(_ message: String) -> TopicCondition.SyntaxError {
    TopicCondition.SyntaxError(column: min(index, characters.count) + 1, message: message)
  }

  private mutating func accept(_ symbol: String) -> Bool {
    guard peek != nil, characters[index...].starts(with: symbol) else { return false }
    index += symbol.count
    return true
  }

  private mutating func chain() throws(TopicCondition.SyntaxError) -> TopicCondition.Node {
    let first = try operand()
    var rest: [TopicCondition.Link] = []
    while true {
      let isAnd = accept("&&")
      guard isAnd || accept("||") else { break }
      rest.append(TopicCondition.Link(isAnd: isAnd, operand: try operand()))
    }
    return rest.isEmpty ? first : .chain(first: first, rest: rest)
  }

  private mutating func operand() throws(TopicCondition.SyntaxError) -> TopicCondition.Node {
    guard depth < 30 else { throw error("The condition is nested too deeply.") }
    depth += 1
    defer { depth -= 1 }
    if accept("!") { return .not(try operand()) }
    if accept("(") {
      let node = try chain()
      guard accept(")") else { throw error("Expected \")\".") }
      return node
    }
    return try topic()
  }

  private mutating func topic() throws(TopicCondition.SyntaxError) -> TopicCondition.Node {
    guard let quote = peek, quote == "'" || quote == "\"" else { throw error("Expected a topic in single quotes.") }
    let start = index
    index += 1
    guard let end = characters[index...].firstIndex(of: quote) else {
      index = start
      throw error("The topic that begins here does not end.")
    }
    let name = String(characters[index..<end])
    guard TopicName.isValid(name) else { throw error("\"\(name)\" is not the name of a topic.") }
    index = end + 1
    guard accept("in"), atSpace, accept("topics") else { throw error("Expected \"in topics\".") }
    topics.insert(name)
    guard topics.count <= 5 else { throw error("A condition has at most five topics.") }
    return .topic(name)
  }
}
