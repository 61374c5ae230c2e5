import Dispatch
import Foundation
import Testing
import VestaConcurrency
import VestaTesting

@testable @_spi(VestaTesting) import VestaCore

private protocol Left: Sendable {}
private protocol Right: Sendable {}
private struct Thing: Left, Right {}
private struct Broken: Error {}

/// Dependencies that are absent, that failed, and that meet across containers.
@Suite struct DependencyTests {
  private func app(_ libraries: [any Library.Type], name: String = #function) throws -> VestaApp {
    try VestaApp.configure(name: uniqueName(name), options: VestaOptions(), libraries: libraries)
  }

  private enum FailingLibrary: TestLibrary {
    static func components() -> [Component] { [Component((any Left).self, caching: .shared) { _ in throw Broken() }] }
  }

  @Test func `find distinguishes an absent dependency from one that failed`() async throws {
    let without = try app([])
    #expect(try without.container.find((any Left).self) == nil)
    let failing = try app([FailingLibrary.self])
    let error = try #require(throws: VestaError.self) { try failing.container.find((any Left).self) }
    #expect(error.code == .creationFailed)
    await failing.delete()
    #expect(throws: VestaError.self) { try failing.container.find((any Left).self) }
  }

  private enum ContributingLibrary: TestLibrary {
    static func components() -> [Component] { [.contribution((any Left).self) { _, _ in Thing() }] }
  }

  @Test func `an override replaces all contributions too`() throws {
    let app = try app([ContributingLibrary.self])
    #expect(app.container.resolveAll((any Left).self).count == 1)
    struct Fake: Left {}
    app.container.override((any Left).self, with: Fake())
    let all = app.container.resolveAll((any Left).self)
    #expect(all.count == 1 && all.first is Fake)
    app.container.override((any Left).self, with: nil)
    #expect(app.container.resolveAll((any Left).self).first is Thing)
  }

  private final class Provider: Left {
    let table = InstanceTable<String, Int>()
  }

  private enum CrosswiseLibrary: TestLibrary {
    @TaskLocal static var both = (left: VestaTesting.Gate(), right: VestaTesting.Gate())
    @TaskLocal static var table = InstanceTable<String, Int>()

    static func components() -> [Component] {
      let (both, table) = (both, table)
      return [
        Component((any Right).self, caching: .shared) { _ in
          both.left.open()
          _ = both.right.passes()
          _ = try table.instance(for: "db") { 1 }
          return Thing()
        }
      ]
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `a component and an instance that need each other on two threads get an error, not a deadlock`() async throws {
    let both = (left: VestaTesting.Gate(), right: VestaTesting.Gate())
    let table = InstanceTable<String, Int>()
    try await CrosswiseLibrary.$both.withValue(both) {
      try await CrosswiseLibrary.$table.withValue(table) {
        let app = try app([CrosswiseLibrary.self])
        let first = Task { await TestThreads.run { Result { try app.container.require((any Right).self) } } }
        let second = Task {
          await TestThreads.run {
            Result {
              try table.instance(for: "db") {
                both.right.open()
                _ = both.left.passes()
                _ = try app.container.require((any Right).self)
                return 2
              }
            }
          }
        }
        let results = (await first.value, await second.value)
        var errors: [VestaError] = []
        if case .failure(let error as VestaError) = results.0 { errors.append(error) }
        if case .failure(let error as VestaError) = results.1 { errors.append(error) }
        // The thread that closed the cycle got the error; the other one may then have succeeded.
        #expect(!errors.isEmpty)
        #expect(
          errors.contains { "\($0)".contains("cycle") || "\($0)".contains("needs that same instance") }, "\(errors)")
      }
    }
  }

  private enum OtherAppLibrary: TestLibrary {
    @TaskLocal static var other = VestaTesting.Log<VestaApp>()
    @TaskLocal static var mine = VestaTesting.Gate()
    @TaskLocal static var theirs = VestaTesting.Gate()

    static func components() -> [Component] {
      let (other, mine, theirs) = (other, mine, theirs)
      return [
        Component((any Left).self, caching: .shared) { _ in
          mine.open()
          _ = theirs.passes()
          _ = try other.entries[0].container.require((any Left).self)
          return Thing()
        }
      ]
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `components of two apps that need each other get an error with both apps in it`() async throws {
    let gates = (VestaTesting.Gate(), VestaTesting.Gate())
    let apps = (VestaTesting.Log<VestaApp>(), VestaTesting.Log<VestaApp>())
    func make(_ other: VestaTesting.Log<VestaApp>, _ mine: VestaTesting.Gate, _ theirs: VestaTesting.Gate) throws
      -> VestaApp
    {
      try OtherAppLibrary.$other.withValue(other) {
        try OtherAppLibrary.$mine.withValue(mine) {
          try OtherAppLibrary.$theirs.withValue(theirs) { try app([OtherAppLibrary.self]) }
        }
      }
    }
    let first = try make(apps.1, gates.0, gates.1)
    let second = try make(apps.0, gates.1, gates.0)
    apps.0.add(first)
    apps.1.add(second)
    let results = await withTaskGroup(of: String?.self, returning: [String].self) { group in
      for app in [first, second] {
        group.addTask {
          await TestThreads.run {
            do {
              _ = try app.container.require((any Left).self)
              return nil
            } catch {
              return "\(error)"
            }
          }
        }
      }
      return await group.reduce(into: []) { if let text = $1 { $0.append(text) } }
    }
    #expect(results.contains { $0.contains(first.name) && $0.contains(second.name) }, "\(results)")
  }
}

/// Reaching the instance of a product, and the engine of a service.
@Suite struct InstancesTests {
  private final class Engine: Sendable {
    let directory: String
    let diary: VestaTesting.Log<String>
    init(_ directory: String, _ diary: VestaTesting.Log<String>) { (self.directory, self.diary) = (directory, diary) }
  }

  private struct Part: Left {
    let engine: Engine
  }

  private enum ServiceLibrary: TestLibrary {
    @TaskLocal static var diary = VestaTesting.Log<String>()

    static func components() -> [Component] {
      let diary = diary
      return [
        EmbeddedService<Engine>.component(product: "Sample") { _, home in
          diary.add("made")
          return Engine(home.path, diary)
        } close: { engine in
          engine.diary.add("closed")
          throw Broken()
        },
        EmbeddedService<Engine>.provides((any Left).self) { Part(engine: $0) },
        EmbeddedService<Engine>.provides(Engine.self) { $0 },
      ]
    }
  }

  @Test func `an app has one engine, made when it is needed and closed with the app`() async throws {
    let diary = VestaTesting.Log<String>()
    try await ServiceLibrary.$diary.withValue(diary) {
      let options = VestaOptions(projectID: uniqueName())
      let app = try VestaApp.configure(name: uniqueName(), options: options, libraries: [ServiceLibrary.self])
      #expect(diary.entries.isEmpty)
      let part = try #require(try VestaApp.instance(of: (any Left).self, for: app) as? Part)
      #expect(try VestaApp.instance(of: Engine.self, for: app) === part.engine)
      #expect(part.engine.directory == app.project.layout.enginesPath)
      #expect(diary.entries == ["made"])
      await app.delete()
      #expect(diary.entries == ["made", "closed"])
    }
  }

  @Test func `an app with another backend gets an error: there is no transport`() throws {
    let options = VestaOptions()
    options.backend = .emulator(host: "localhost", port: 8080)
    let app = try VestaApp.configure(name: uniqueName(), options: options, libraries: [ServiceLibrary.self])
    let error = try #require(throws: VestaError.self) { try VestaApp.instance(of: Engine.self, for: app) }
    #expect(error.code == .creationFailed)
    #expect(error.message.contains("emulator:localhost:8080"))
    #expect(error.message.contains("Sample"))
  }

  @Test func `an instance that cannot be reached says what to do`() throws {
    let app = try VestaApp.configure(name: uniqueName(), options: VestaOptions(), libraries: [])
    let error = try #require(throws: VestaError.self) { try VestaApp.instance(of: Engine.self, for: app) }
    #expect(error.code == .notProvided)
    #expect(VestaApp.instanceOrStop(of: Int.self, for: try numbered(), call: "x") == 7)
  }

  private func numbered() throws -> VestaApp {
    enum Numbers: TestLibrary {
      static func components() -> [Component] { [Component(Int.self, caching: .perRequest) { _ in 7 }] }
    }
    return try VestaApp.configure(name: uniqueName(), options: VestaOptions(), libraries: [Numbers.self])
  }

  @Test func `an entry point without its app stops the process with a sentence`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = VestaApp.instanceOrStop(of: String.self, call: "Sample.sample()")
    }
    let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(text.contains("Sample.sample(): There is no default app. Call VestaApp.configure(libraries:) first."))
  }
}

@Suite struct CompletionFormTests {
  private let queue = DispatchQueue(label: "callbacks")

  @Test(.timeLimit(.minutes(10))) func `a handler is called once on its queue with the value or the error`() async {
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let heard = VestaTesting.Log<String>()
    CompletionForm.start(
      on: queue,
      { (value: Int?, error: (any Error)?) in
        heard.add("\(String(describing: value)) \(error == nil) \(DispatchQueue.getSpecific(key: key) == true)")
      }
    ) { 7 }
    await heard.wait { $0.count == 1 }
    CompletionForm.start(
      on: queue,
      { (value: Int?, error: (any Error)?) in
        heard.add("\(String(describing: value)) \(error is Broken)")
      }
    ) { throw Broken() }
    await heard.wait { $0.count == 2 }
    CompletionForm.start(on: queue, { error in heard.add("\(error == nil)") }) {}
    await heard.wait { $0.count == 3 }
    #expect(heard.entries == ["Optional(7) true true", "nil true", "true"])
  }

  @Test(.timeLimit(.minutes(10))) func `operations begin in the order in which they were started`() async {
    let order = VestaTesting.Log<Int>()
    for number in 0..<100 {
      CompletionForm.start(on: queue, nil as (@Sendable ((any Error)?) -> Void)?) {
        order.add(number)
        await Task.yield()
      }
    }
    await order.wait { $0.count == 100 }
    #expect(order.entries == Array(0..<100))
  }

  @Test(.timeLimit(.minutes(10))) func `what the handler captured is released on its queue`() async {
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let released = VestaTesting.Log<Bool>()
    let gate = VestaTesting.Gate()
    func start() {
      let witness = VestaTesting.Witness { released.add(DispatchQueue.getSpecific(key: key) == true) }
      CompletionForm.start(on: queue, { (_: Int?, _: (any Error)?) in withExtendedLifetime(witness) {} }) {
        await gate.wait()
        return 1
      }
    }
    start()
    gate.open()
    await released.wait { $0.count == 1 }
    #expect(released.entries == [true])
  }

  @Test func `a handle removes its listener once, and other objects are ignored`() {
    let removed = VestaTesting.Log<Int>()
    let handle: any NSObjectProtocol = ListenerHandle(ListenerRegistration { removed.add(1) })
    ListenerHandle.remove(NSObject())
    ListenerHandle.remove(handle)
    ListenerHandle.remove(handle)
    #expect(removed.entries == [1])
  }
}

/// The duties of an app beyond its components.
@Suite struct AppLifeTests {
  private final class Suicidal: ComponentLifecycleMaintainer {
    func appWillBeDeleted(_ app: VestaApp) async { await app.delete() }
  }

  private enum SuicidalLibrary: TestLibrary {
    static func components() -> [Component] { [Component(Suicidal.self, caching: .shared) { _ in Suicidal() }] }
  }

  @Test(.timeLimit(.minutes(10))) func `an instance may delete its app while the app is being deleted`() async throws {
    let app = try VestaApp.configure(name: uniqueName(), options: VestaOptions(), libraries: [SuicidalLibrary.self])
    _ = try app.container.require(Suicidal.self)
    #expect(await app.delete())
    #expect(await !app.delete())
  }

  private enum EagerLibrary: TestLibrary {
    @TaskLocal static var seen = VestaTesting.Log<Bool>()
    @TaskLocal static var fails = false
    static func components() -> [Component] {
      let (seen, fails) = (seen, fails)
      return [
        Component((any Left).self, caching: .shared, instantiationTiming: .alwaysEager) { container in
          seen.add(VestaApp.app(name: container.appName) != nil && container.app != nil)
          if fails { throw Broken() }
          return Thing()
        }
      ]
    }
  }

  @Test func `an eager component finds its app by name`() throws {
    let seen = VestaTesting.Log<Bool>()
    try EagerLibrary.$seen.withValue(seen) {
      _ = try VestaApp.configure(name: uniqueName(), options: VestaOptions(), libraries: [EagerLibrary.self])
    }
    #expect(seen.entries == [true])
  }

  @Test func `an app whose eager component failed is not there`() throws {
    let name = uniqueName()
    EagerLibrary.$fails.withValue(true) {
      #expect(throws: VestaError.self) {
        try VestaApp.configure(name: name, options: VestaOptions(), libraries: [EagerLibrary.self])
      }
    }
    #expect(VestaApp.app(name: name) == nil)
    _ = try VestaApp.configure(name: name, options: VestaOptions(), libraries: [])
  }

  @Test func `the end of an app is posted with its name`() async throws {
    let name = uniqueName()
    let posted = VestaTesting.Log<String>()
    let token = NotificationCenter.default.addObserver(
      forName: VestaApp.didDeleteNotification, object: nil, queue: nil
    ) { notification in
      if let name = notification.userInfo?[VestaApp.nameKey] as? String { posted.add(name) }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let app = try VestaApp.configure(name: name, options: VestaOptions(), libraries: [])
    #expect(!posted.entries.contains(name))
    await app.delete()
    #expect(posted.entries.filter { $0 == name }.count == 1)
  }

  @Test func `apps can be reset for tests`() async throws {
    let name = uniqueName()
    _ = try VestaApp.configure(name: name, options: VestaOptions(), libraries: [])
    await VestaApp.resetApps { $0.name == name }
    #expect(VestaApp.allApps?[name] == nil)
  }

  @Test func `a name of 100 letters is allowed, one of 101 is not`() throws {
    let name = String((uniqueName() + String(repeating: "x", count: 100)).prefix(100))
    _ = try VestaApp.configure(name: name, options: VestaOptions(), libraries: [])
    #expect(throws: VestaError.self) {
      try VestaApp.configure(name: name + "x", options: VestaOptions(), libraries: [])
    }
  }

  @Test func `the last port is a port`() {
    #expect(VestaOptions.Backend(text: "emulator:localhost:65535", directory: nil) != nil)
    #expect(VestaOptions.Backend(text: "emulator:localhost:65536", directory: nil) == nil)
  }

  @Test func `user agents hold no control characters, and registered libraries`() {
    enum Deleting: Library {
      static let name = "a\u{7F}b\u{80}"
      static func components() -> [Component] { [] }
    }
    let text = UserAgent.string(libraries: [Deleting.self], others: ["my-framework": "1.2.3"])
    #expect(text.contains("a_b_/\(VestaVersion())"))
    #expect(text.contains("my-framework/1.2.3"))
  }

  @Test func `a registered name and version is in the user agents of later apps`() throws {
    let name = "framework-\(UUID().uuidString)"
    VestaApp.registerLibrary(name, withVersion: "9.8.7")
    let app = try VestaApp.configure(name: uniqueName(), options: VestaOptions(), libraries: [])
    #expect(app.userAgent.contains("\(name)/9.8.7"))
  }

  @Test func `a heartbeat counts each day once and hands it out once`() {
    let day = Locked("2026-11-21")
    let heartbeat = Heartbeat(userAgent: "vesta-core/0.1.0") { day.withLock { $0 } }
    heartbeat.log()
    heartbeat.log()
    #expect(
      heartbeat.payload()
        == #"{"heartbeats":[{"agent":"vesta-core/0.1.0","dates":["2026-11-21"]}],"version":2}"#)
    #expect(heartbeat.payload() == nil)
    day.withLock { $0 = "2026-11-22" }
    #expect(heartbeat.payload()?.contains("2026-11-22") == true)
    #expect(heartbeat.payload() == nil)
  }

  @Test func `a heartbeat that is never sent keeps the last thirty days`() {
    let day = Locked(10)
    let heartbeat = Heartbeat(userAgent: "vesta-core/0.1.0") { day.withLock { "2026-01-\($0)" } }
    for _ in 0..<31 {
      heartbeat.log()
      day.withLock { $0 += 1 }
    }
    day.withLock { $0 -= 1 }
    let dates = (11...40).map { "\"2026-01-\($0)\"" }.joined(separator: ",")
    #expect(heartbeat.payload()?.contains("\"dates\":[\(dates)]") == true)
  }

  @Test func `a level is not below itself`() {
    #expect(!(VestaLoggerLevel.error < .error))
    #expect(VestaLoggerLevel.error < .warning)
  }
}

/// The parts of creation that no container test can reach for sure.
@Suite struct CreationTests {
  private final class Key {}

  @Test func `a table finds each slot wherever its place was taken`() {
    for round in 0..<50 {
      let keys = (0..<40).map { _ in Key() }
      let others = (0..<40).map { _ in Key() }
      var slots: [ObjectIdentifier: AnySlot] = [:]
      for (index, key) in keys.enumerated() {
        slots[ObjectIdentifier(key)] = AnySlot(SlotInfo(index: index, name: "", library: "", timing: .lazy))
      }
      let table = SlotTable(slots)
      for key in keys {
        let found = table.slot(for: ObjectIdentifier(key))?.takeUnretainedValue()
        #expect(found === slots[ObjectIdentifier(key)], "round \(round)")
      }
      for other in others { #expect(table.slot(for: ObjectIdentifier(other)) == nil) }
      table.deallocate()
      withExtendedLifetime((keys, others)) {}
    }
  }

  @Test(.timeLimit(.minutes(10))) func `closing a gate waits for every creation under way`() async {
    let gate = CreationGate<Int>(place: "test")
    let (mayEnd, begun) = (Locked([VestaTesting.Gate(), VestaTesting.Gate()]), VestaTesting.Log<Int>())
    let creations = (0..<2).map { number in
      Task {
        await TestThreads.run {
          #expect(gate.enter(number) == .create)
          begun.add(number)
          _ = mayEnd.withLock { $0[number] }.passes(within: .seconds(600))
          gate.leave(number)
        }
      }
    }
    await begun.wait { $0.count == 2 }
    let closed = VestaTesting.Log<Int>()
    let closing = Task {
      await gate.close()
      closed.add(1)
    }
    while gate.waitingCloses == 0 { await Task.yield() }
    mayEnd.withLock { $0[0] }.open()
    await creations[0].value
    #expect(closed.entries.isEmpty)
    #expect(gate.waitingCloses == 1)
    #expect(gate.enter(5) == .closed)
    mayEnd.withLock { $0[1] }.open()
    await closing.value
    #expect(closed.entries == [1])
    await gate.close()
  }
}
