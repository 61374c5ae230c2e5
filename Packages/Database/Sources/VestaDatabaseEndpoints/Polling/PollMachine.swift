import VestaDatabaseWire

/// Which poll of a session is answered with what; pure.
///
/// A text is sent by the poll that waits, and waits itself where none does. One poll waits at a time: a newer one ends
/// the older one. Answers are numbered over the session, and the client orders them by that.
///
/// | event | answered |
/// |---|---|
/// | poll 1 | - |
/// | poll 2 | poll 1: nothing |
/// | a text | poll 2: the text |
/// | two texts | - |
/// | poll 3 | poll 3: both |
struct PollMachine: Sendable {
  /// An answer to a poll.
  struct Answer: Sendable, Equatable {
    let poll: Int
    let script: [UInt8]
  }

  private var waiting: Int?
  private var texts: [[UInt8]] = []
  /// The first answer is that of the start.
  private var number = 1
  private var isOver = false

  /// The size of the texts that wait.
  private(set) var backlog = 0

  /// A poll has arrived.
  mutating func arrived(_ poll: Int) -> [Answer] {
    let older = waiting.take()
    if isOver {
      return [older, poll].compactMap(\.self).map { Answer(poll: $0, script: DatabasePollAnswer.close) }
    }
    var answers: [Answer] = []
    if let older { answers.append(answer(older)) }
    waiting = poll
    return texts.isEmpty ? answers : answers + flush()
  }

  /// There is something to send.
  mutating func send(_ text: [UInt8]) -> [Answer] {
    guard !isOver else { return [] }
    texts.append(text)
    backlog += text.count
    return flush()
  }

  /// A poll has waited long enough.
  mutating func heldLong(_ poll: Int) -> [Answer] {
    guard waiting == poll else { return [] }
    waiting = nil
    return [answer(poll)]
  }

  /// A poll has been left by its client.
  mutating func left(_ poll: Int) { if waiting == poll { waiting = nil } }

  /// The session is over.
  mutating func end() -> [Answer] {
    guard !isOver else { return [] }
    isOver = true
    return waiting.take().map { [Answer(poll: $0, script: DatabasePollAnswer.close)] } ?? []
  }

  private mutating func flush() -> [Answer] { waiting.take().map { [answer($0)] } ?? [] }

  private mutating func answer(_ poll: Int) -> Answer {
    defer { (number, texts, backlog) = (number + 1, [], 0) }
    return Answer(poll: poll, script: DatabasePollAnswer.data(number: number, messages: texts))
  }
}
