import Foundation
import VestaConcurrency
import VestaCore
import VestaFiles
import VestaMessagingBackend

/// The file of the changes of topics that wait: a line for everything that happened to them, appended and synced.
///
/// | line | meaning |
/// |---|---|
/// | `+news` | the app wants to be subscribed to `news` |
/// | `-news` | it no longer wants to |
/// | `.` | the service has answered the first change that waits |
///
/// A change costs its own line, however many wait. Where most lines are of changes that are answered, the file is
/// replaced by one of the waiting changes. After a crash the changes of the whole lines are there.
final class TopicFile: Sendable {
  private struct Known {
    var length: Int64 = 0
    var lines = 0
    /// The number of lines up to which the file is appended to without another look.
    var limit: Int
    /// Whether the file has everything that happened, and nothing else.
    var isWhole = true
  }

  private let path: String
  private let slack: Int
  private let known: Locked<Known>

  /// A file, which need not exist.
  ///
  /// - Parameter slack: The number of lines of answered changes that a file may always have.
  init(directory: URL, slack: Int) {
    path = directory.appending(path: "messaging-client/topics.log").path
    self.slack = slack
    known = Locked(Known(limit: slack))
  }

  /// Reads the changes that wait; the lines after the first damaged one are set aside.
  func load() -> TopicQueue {
    known.withLock { known in
      do {
        guard let bytes = try DurableFile.read(path) else { return TopicQueue() }
        let found = TopicEvent.replay(bytes)
        known = Known(
          length: Int64(bytes.count), lines: found.lines, limit: slack, isWhole: found.length == bytes.count)
        // The end of a line that a crash has torn was acknowledged to no caller.
        if bytes[found.length...].contains(TopicEvent.end) {
          log.error("I-MSG000002", "A part of \(path) is damaged, and is left out; the file is kept as \(aside).")
          try DurableFile.replace(aside, with: bytes)
        }
        return found.queue
      } catch {
        log.error("I-MSG000002", "The changes of topics that wait cannot be read, and count as absent: \(error)")
        // The next change would replace the file that cannot be read right now.
        try? DurableFile.move(path, to: aside)
        known.isWhole = false
        return TopicQueue()
      }
    }
  }

  /// Writes what has happened: `current` is called when it is this call's turn, and returns what is not written yet,
  /// and the changes that wait after it.
  func save(_ current: () -> (events: [TopicEvent], queue: TopicQueue)) {
    // Held while writing: the lines are in the order of the events.
    known.withLock { known in
      let (events, queue) = current()
      guard !events.isEmpty else { return }
      do {
        if try hasRoom(for: events.count, queue, &known), try append(events, &known) { return }
        try replace(with: queue, &known)
      } catch {
        known.isWhole = false
        log.error("I-MSG000003", "Changes of topics could not be saved, and hold until the process ends: \(error)")
      }
    }
  }

  private var aside: String { path + ".damaged" }

  /// Whether a number of lines may be appended: at most every other line is of a change that is answered, and some
  /// more.
  private func hasRoom(for count: Int, _ queue: TopicQueue, _ known: inout Known) throws -> Bool {
    if known.lines + count > known.limit { known.limit = 2 * queue.count + slack }
    return known.isWhole && known.lines + count <= known.limit
  }

  /// - Returns: Whether it is done; `false` when the file is missing or is not the one that was written last.
  private func append(_ events: [TopicEvent], _ known: inout Known) throws -> Bool {
    guard DurableFile.exists(path) else { return false }
    let file = try OpenFile(writing: path, .never)
    defer { file.close() }
    guard try file.size() == known.length else { return false }
    let bytes = events.flatMap(\.line)
    try file.write(bytes, at: known.length)
    try file.sync()
    known.length += Int64(bytes.count)
    known.lines += events.count
    return true
  }

  private func replace(with queue: TopicQueue, _ known: inout Known) throws {
    let events = queue.batches.flatMap { batch in batch.topics.map { TopicEvent.called(batch.action, $0) } }
    let bytes = events.flatMap(\.line)
    try DurableFile.makeDirectory(FilePath.parent(of: path))
    try DurableFile.replace(path, with: bytes)
    known = Known(length: Int64(bytes.count), lines: events.count, limit: 2 * events.count + slack)
  }
}

/// An event of the changes of topics that wait.
enum TopicEvent: Sendable, Equatable {
  case called(TopicQueue.Action, String)
  /// The service has answered the first change.
  case answered

  static let end = UInt8(ascii: "\n")

  /// The line of the file.
  var line: [UInt8] {
    switch self {
    case .called(.subscribe, let topic): Array("+\(topic)\n".utf8)
    case .called(.unsubscribe, let topic): Array("-\(topic)\n".utf8)
    case .answered: Array(".\n".utf8)
    }
  }

  /// The event of a line without its end; `nil` for a line that is damaged.
  init?(_ line: ArraySlice<UInt8>) {
    let topic = String(decoding: line.dropFirst(), as: UTF8.self)
    switch line.first {
    case UInt8(ascii: ".") where line.count == 1: self = .answered
    case UInt8(ascii: "+") where TopicName.isValid(topic): self = .called(.subscribe, topic)
    case UInt8(ascii: "-") where TopicName.isValid(topic): self = .called(.unsubscribe, topic)
    default: return nil
    }
  }

  /// The changes that wait after the lines of a file, up to the first line that is damaged or has no end.
  static func replay(_ bytes: [UInt8]) -> (queue: TopicQueue, lines: Int, length: Int) {
    var (queue, lines, length) = (TopicQueue(), 0, 0)
    while let end = bytes[length...].firstIndex(of: end), let event = TopicEvent(bytes[length..<end]),
      queue.apply(event)
    {
      (lines, length) = (lines + 1, end + 1)
    }
    return (queue, lines, length)
  }
}

extension TopicQueue {
  /// - Returns: Whether it can have happened.
  fileprivate mutating func apply(_ event: TopicEvent) -> Bool {
    switch event {
    case .called(let action, let topic): _ = add(action, topic)
    case .answered:
      guard let next else { return false }
      _ = finish(next.action, next.topic)
    }
    return true
  }
}

private let log = Logger(service: "VestaMessaging")
