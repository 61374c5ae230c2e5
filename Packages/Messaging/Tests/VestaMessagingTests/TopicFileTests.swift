import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaFiles
import VestaMessagingBackend
import VestaMessagingBackendFakes
import VestaServiceInterop
import VestaTesting

@testable import VestaMessaging

/// The file of the changes of topics that wait.
@Suite struct TopicFileTests {
  private let directory: URL
  private let keeper: TemporaryDirectory

  init() throws {
    keeper = try TemporaryDirectory("topics")
    directory = URL(filePath: keeper.path, directoryHint: .isDirectory)
  }

  private var path: String { directory.appending(path: "messaging-client/topics.log").path }
  private func file(slack: Int = 4) -> TopicFile { TopicFile(directory: directory, slack: slack) }
  private func lines() throws -> [String] {
    String(decoding: try DurableFile.read(path) ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// The state of the client: the changes that wait, and the part of it that is not written.
  private struct Model {
    var queue = TopicQueue()
    var events: [TopicEvent] = []

    mutating func add(_ action: TopicQueue.Action, _ topic: String) {
      events.append(.called(action, topic))
      _ = queue.add(action, topic)
    }

    mutating func answer() {
      guard let next = queue.next else { return }
      events.append(.answered)
      _ = queue.finish(next.action, next.topic)
    }

    mutating func save(_ file: TopicFile) {
      file.save { (events, queue) }
      events = []
    }
  }

  @Test func `a change is appended to the file, and the registration is not written again`() async throws {
    let bench = try Bench()
    _ = try await bench.messaging.token()
    bench.backend.fail(.unavailable)
    let folder = bench.app.dataDirectory.appending(path: "messaging-client")
    let registration = folder.appending(path: "registration.json").path
    let before = try OpenFile(reading: registration).identity()
    var inodes: Set<UInt64> = []
    for number in 0..<50 {
      bench.messaging.subscribe(toTopic: "t\(number)") { _ in }
      while bench.messaging.state.withLock({ $0.topics.count <= number || !$0.topicEvents.isEmpty }) {
        await Task.yield()
      }
      if number > 0 { inodes.insert(try OpenFile(reading: folder.appending(path: "topics.log").path).identity().inode) }
    }
    #expect(try OpenFile(reading: registration).identity() == before)
    #expect(inodes.count == 1)
    bench.messaging.end()
    // The next run sends them all, in order.
    bench.backend.fail(nil)
    let second = Bench.client(bench.app, bench.backend, bench.clock)
    try await bench.backend.changes.wait(for: "the topics") { $0 == (0..<50).map { "+t\($0)" } }
    second.end()
    await bench.app.delete()
  }

  @Test func `changes that an earlier version has kept with the registration are sent`() async throws {
    let bench = try Bench()
    _ = try await bench.messaging.token()
    bench.messaging.end()
    var old = TopicQueue()
    for (action, topic) in [(.subscribe, "a"), (.subscribe, "b"), (.unsubscribe, "a")] as [(TopicQueue.Action, String)]
    { _ = old.add(action, topic) }
    let kept = old
    bench.messaging.change { $0.topics = kept }
    let second = Bench.client(bench.app, bench.backend, bench.clock)
    try await bench.backend.changes.wait(for: "the topics") { $0 == ["+a", "+b", "-a"] }
    #expect(second.state.withLock { $0.stored.topics == nil })
    second.end()
    await bench.app.delete()
  }

  @Test(arguments: 0..<20)
  func `after any history the file has the changes that wait, in few lines`(seed: UInt64) throws {
    var (random, model, kept) = (SplitMix(seed: seed), Model(), file())
    for _ in 0..<300 {
      switch random.below(8) {
      case 0..<3: model.add(random.oneIn(2) ? .subscribe : .unsubscribe, "t\(random.below(5))")
      case 3..<6: model.answer()
      case 6: model.save(kept)
      default:
        model.save(kept)
        kept = file()
        #expect(kept.load() == model.queue, "seed \(seed)")
      }
    }
    for _ in 0..<500 {
      model.add(.subscribe, "x")
      model.answer()
      model.save(kept)
    }
    while !model.queue.isEmpty { model.answer() }
    model.save(kept)
    #expect(file().load().isEmpty)
    #expect(try lines().count <= 20, "seed \(seed)")
  }

  @Test func `changes that all wait are appended, however many they are`() throws {
    var (model, inodes): (Model, Set<UInt64>) = (Model(), [])
    let kept = file(slack: 2)
    for number in 0..<40 {
      model.add(.subscribe, "t\(number)")
      model.save(kept)
      inodes.insert(try OpenFile(reading: path).identity().inode)
    }
    #expect(inodes.count == 1)
    #expect(file().load() == model.queue)
  }

  @Test func `of a file that is torn at any byte the whole lines count, and it is written on`() throws {
    var model = Model()
    model.add(.subscribe, "first")
    model.save(file())
    for topic in ["a", "b"] { model.add(.unsubscribe, topic) }
    model.answer()
    let whole = Array("+first\n-a\n-b\n.\n".utf8)
    for length in 0..<whole.count {
      for tail in [[], [UInt8](repeating: 0, count: 3)] {
        try DurableFile.replace(path, with: Array(whole.prefix(length)) + tail)
        let torn = file()
        var next = Model(queue: torn.load())
        #expect(next.queue == TopicEvent.replay(Array(whole.prefix(length))).queue, "\(length)")
        next.add(.subscribe, "later")
        next.save(torn)
        #expect(file().load() == next.queue, "\(length)")
      }
    }
    #expect(!DurableFile.exists(path + ".damaged"))
  }

  @Test(arguments: ["+a\n\u{0}\n+b\n", "+a\n.\n.\n+b\n", "+a\n+/\n", "{}\n"])
  func `a damaged line ends the valid part, and the file is kept under another name`(text: String) throws {
    try DurableFile.makeDirectory(directory.appending(path: "messaging-client").path)
    try DurableFile.replace(path, with: Array(text.utf8))
    let damaged = file()
    var model = Model(queue: damaged.load())
    #expect(model.queue == TopicEvent.replay(Array(text.utf8)).queue)
    #expect(try DurableFile.read(path + ".damaged") == Array(text.utf8))
    model.add(.subscribe, "next")
    model.save(damaged)
    #expect(file().load() == model.queue)
  }

  @Test func `what could not be written is written with the next change`() throws {
    var model = Model()
    let kept = file(slack: 100)
    model.add(.subscribe, "a")
    model.save(kept)
    try DurableFile.remove(path)
    try FileManager.default.createDirectory(atPath: path + "/x", withIntermediateDirectories: true)
    model.add(.subscribe, "b")
    model.save(kept)
    try FileManager.default.removeItem(atPath: path)
    model.add(.unsubscribe, "c")
    model.save(kept)
    #expect(file().load() == model.queue)
    #expect(try lines() == ["+a", "+b", "-c"])
  }
}
