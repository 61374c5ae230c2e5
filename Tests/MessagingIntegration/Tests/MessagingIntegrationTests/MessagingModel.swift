import VestaConcurrency
import VestaMessagingBackend

/// The documentation's promises about messages: which ones have to arrive at a client, which ones must not, and in
/// which order.
///
/// It knows what was sent and what clients did, each with a time before and a time after; what ran at the same time as
/// a change of topics may have been before it or after it.
struct MessagingModel: Sendable {
  struct Message: Sendable {
    var number: Int
    var target: PushMessage.Target
    var begin: Int
    var end = Int.max
    var isAccepted = false
    var isHigh = false
    var isImmediate = false
    var collapseKey: String?
  }

  struct Change: Sendable {
    var topic: String
    var isMember: Bool
    var begin: Int
    var end = Int.max
    /// Whether the token was deleted with all its topics.
    var isDeletion = false
    /// Whether it may have happened before a deletion that precedes it.
    var isUncertain = false
  }

  struct Registration: Sendable {
    var token: String
    var begin: Int
    /// When its deletion began.
    var deletion = Int.max
  }

  struct Client: Sendable {
    var registrations: [Registration] = []
    var changes: [Change] = []
    var taken: Set<Int> = []
  }

  struct Loop: Sendable {
    var client: Int
    var run: Int
    var begin: Int
    var end = Int.max
    var taken: [(number: Int, time: Int)] = []
  }

  private(set) var time = 0
  private(set) var messages: [Message] = []
  var clients: [Client]
  private(set) var loops: [Loop] = []
  private(set) var problems: [String] = []

  init(clients count: Int) { clients = Array(repeating: Client(), count: count) }

  mutating func tick() -> Int {
    time += 1
    return time
  }

  // MARK: Events

  mutating func sends(_ message: Message) -> Int {
    var message = message
    message.begin = tick()
    message.number = messages.count
    messages.append(message)
    return message.number
  }

  mutating func sent(_ number: Int, isAccepted: Bool) {
    messages[number].end = tick()
    messages[number].isAccepted = isAccepted
  }

  mutating func changes(_ client: Int, _ topic: String, to isMember: Bool) -> Int {
    clients[client].changes.append(Change(topic: topic, isMember: isMember, begin: tick()))
    return clients[client].changes.count - 1
  }

  /// A change was made, and the earlier ones of its topic, which were not answered when their app ended.
  mutating func changed(_ client: Int, _ index: Int) {
    let change = clients[client].changes[index], now = tick()
    for before in clients[client].changes.indices.prefix(index + 1)
    where clients[client].changes[before].topic == change.topic && clients[client].changes[before].end == .max {
      clients[client].changes[before].end = now
    }
    // A change that waited while the token was deleted is made with the next token.
    let later = clients[client].changes.dropFirst(index + 1)
    if later.contains(where: { $0.topic == change.topic && $0.isDeletion }) {
      var copy = change
      copy.end = now
      // Until there is a new token it may have been made before the deletion, and be answered late.
      copy.isUncertain = clients[client].registrations.last?.deletion != .max
      clients[client].changes.append(copy)
    }
  }

  mutating func registered(_ client: Int, _ token: String) {
    guard clients[client].registrations.last?.token != token else { return }
    clients[client].registrations.append(Registration(token: token, begin: tick()))
  }

  /// A deletion of the token ends the registration with its topics.
  mutating func deletes(_ client: Int, topics: [String]) -> [Int] {
    let last = clients[client].registrations.count - 1
    if last >= 0 { clients[client].registrations[last].deletion = tick() }
    return topics.map { topic in
      let index = changes(client, topic, to: false)
      clients[client].changes[index].isDeletion = true
      return index
    }
  }

  /// The token and its topics are deleted; changes that wait are not.
  mutating func deleted(_ client: Int, _ changes: [Int]) {
    let now = tick()
    for index in changes { clients[client].changes[index].end = now }
  }

  mutating func loopBegins(_ client: Int, run: Int) -> Int {
    loops.append(Loop(client: client, run: run, begin: tick()))
    return loops.count - 1
  }

  mutating func loopEnds(_ index: Int) { loops[index].end = tick() }

  mutating func take(_ number: Int, by index: Int) {
    let loop = loops[index], message = messages[number]
    let label = "message \(number) (\(message.target)) at client \(loop.client)"
    for other in loops where other.client == loop.client && other.run == loop.run {
      for taken in other.taken where taken.number == number && (other.begin == loop.begin || taken.time < loop.begin) {
        problems.append("\(label) is handed over twice in one run")
      }
    }
    if isFor(loop.client, message) == false { problems.append("\(label) is not for it") }
    // Waiting messages arrive by priority, and within one priority in the order of acceptance.
    let passing = lastPassing(to: index, message)
    for taken in loop.taken where !message.isImmediate && taken.time > passing {
      let later = messages[taken.number]
      if !later.isImmediate, later.isHigh == message.isHigh, message.end < later.begin {
        problems.append("\(label) comes after \(later.number), which was accepted later")
      }
    }
    loops[index].taken.append((number, tick()))
    clients[loop.client].taken.insert(number)
  }

  /// The time up to which a loop may have been passed on a message by another one, which is left without taking it: what
  /// was taken by then may have been accepted later.
  private func lastPassing(to index: Int, _ message: Message) -> Int {
    let loop = loops[index]
    // A loop that has taken something was there when a later message arrived, and was not passed that.
    if let first = loop.taken.first, first.time < message.begin { return 0 }
    let others = loops.indices.filter { other in
      other != index && loops[other].client == loop.client && loops[other].run == loop.run
        && loops[other].end > loop.begin && !loops[other].taken.contains { $0.number == message.number }
    }
    return others.map { loops[$0].end }.max() ?? 0
  }

  mutating func broken(_ problem: String) { problems.append(problem) }

  // MARK: Checks

  /// The messages that have to arrive at a client and have not.
  func missing(_ client: Int) -> [Message] {
    messages.filter { mustArrive(client, $0) && !clients[client].taken.contains($0.number) }
  }

  private func mustArrive(_ client: Int, _ message: Message) -> Bool {
    guard message.isAccepted, !message.isImmediate, isFor(client, message) == true else { return false }
    guard let registration = clients[client].registrations.last(where: { $0.begin < message.begin }),
      registration.deletion == .max
    else { return false }
    // Of those with one key the last one is delivered.
    guard let key = message.collapseKey else { return true }
    return !messages.contains {
      $0.number != message.number && $0.collapseKey == key && $0.end > message.begin
    }
  }

  /// Whether a message is for a client; `nil` where either answer is right.
  private func isFor(_ client: Int, _ message: Message) -> Bool? {
    switch message.target {
    case .token(let token): clients[client].registrations.contains { $0.token == token }
    case .topic(let topic): isMember(client, topic, message)
    case .condition(let condition):
      // Terms from left to right: `'a' in topics`, `!('a' in topics)`.
      condition.split(separator: " ").reduce(into: (value: Bool?.none, operation: "", isFirst: true)) { result, word in
        switch word {
        case "&&", "||": result.operation = String(word)
        case "in", "topics", "topics)": break
        default:
          let name = word.filter(\.isLetter), member = isMember(client, name, message)
          let term = word.hasPrefix("!") ? member.map { !$0 } : member
          if result.isFirst {
            result = (term, "", false)
          } else if result.operation == "&&" {
            result.value = result.value == false || term == false ? false : both(result.value, term) { $0 && $1 }
          } else {
            result.value = result.value == true || term == true ? true : both(result.value, term) { $0 || $1 }
          }
        }
      }.value
    case .installation: nil
    }
  }

  private func both(_ left: Bool?, _ right: Bool?, _ body: (Bool, Bool) -> Bool) -> Bool? {
    guard let left, let right else { return nil }
    return body(left, right)
  }

  private func isMember(_ client: Int, _ topic: String, _ message: Message) -> Bool? {
    let changes = clients[client].changes.filter { $0.topic == topic }
    let before = changes.filter { $0.end < message.begin }
    let beside = changes.filter { $0.begin < message.end && $0.end > message.begin }
    if before.last?.isUncertain == true { return nil }
    let state = before.last?.isMember ?? false
    return beside.contains { $0.isMember != state } ? nil : state
  }
}
