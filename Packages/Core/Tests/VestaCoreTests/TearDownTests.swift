import Dispatch
import Testing
import VestaConcurrency
import VestaTesting

@testable import VestaCore

private protocol Base: Sendable {}
private protocol Upper: Sendable {}

/// Writes down the end of each instance.
private final class Witness: Base, Upper, ComponentLifecycleMaintainer {
  let name: String
  let app: VestaApp?
  let diary: Locked<[String]>
  private let base: (any Base)?

  init(_ name: String, app: VestaApp?, diary: Locked<[String]>, base: (any Base)? = nil) {
    (self.name, self.app, self.diary, self.base) = (name, app, diary, base)
  }

  deinit { diary.withLock { $0.append("\(name) freed") } }

  func appWillBeDeleted(_ app: VestaApp) async {
    await Task.yield()
    let baseIsThere = app.container.resolve((any Base).self) != nil
    diary.withLock { $0.append("\(name) ends, base is there: \(baseIsThere)") }
  }
}

/// The end of an app: in order, completely, and without leaving anything behind.
@Suite struct TearDownTests {
  private enum LayeredLibrary: TestLibrary {
    @TaskLocal static var diary = Locked<[String]>([])
    static func components() -> [Component] {
      let diary = diary
      return [
        Component((any Upper).self, dependencies: [.required((any Base).self)]) { container, isCacheable in
          isCacheable = true
          let base = try container.require((any Base).self)
          return Witness("upper", app: container.app, diary: diary, base: base)
        },
        Component((any Base).self) { container, isCacheable in
          isCacheable = true
          return Witness("base", app: container.app, diary: diary)
        },
      ]
    }
  }

  @Test func `instances end in reverse order of creation and are freed`() async throws {
    let diary = Locked<[String]>([])
    let name = uniqueName()
    try await LayeredLibrary.$diary.withValue(diary) {
      let app = try VestaApp.configure(name: name, options: VestaOptions(), libraries: [LayeredLibrary.self])
      _ = try app.container.require((any Upper).self)
      #expect(await app.delete())
    }
    let entries = diary.withLock { $0 }
    #expect(entries.prefix(2) == ["upper ends, base is there: true", "base ends, base is there: true"])
    // The instances hold their app: they are freed all the same once it is deleted.
    #expect(Set(entries.dropFirst(2)) == ["upper freed", "base freed"])
  }

  @Test func `what was never created is not created to be ended`() async throws {
    let diary = Locked<[String]>([])
    try await LayeredLibrary.$diary.withValue(diary) {
      let app = try VestaApp.configure(
        name: uniqueName(), options: VestaOptions(), libraries: [LayeredLibrary.self])
      await app.delete()
    }
    #expect(diary.withLock { $0 }.isEmpty)
  }

  @Test func `a deleted app provides nothing and says why`() async throws {
    let app = try VestaApp.configure(name: uniqueName(), options: VestaOptions(), libraries: [LayeredLibrary.self])
    let kept = app.container
    _ = try kept.require((any Upper).self)
    await app.delete()
    for container in [kept, app.container] {
      #expect(container.resolve((any Upper).self) == nil)
      #expect(container.resolveAll((any Upper).self).isEmpty)
      let error = #expect(throws: VestaError.self) { try container.require((any Upper).self) }
      #expect(error?.code == .appDeleted)
      #expect(error?.message.contains(app.name) == true)
    }
  }

  @Test func `deleting twice says that the second time there was nothing to do`() async throws {
    let app = try VestaApp.configure(name: uniqueName(), options: VestaOptions(), libraries: [])
    #expect(await app.delete())
    #expect(await !app.delete())
  }

  @Test func `deletions at the same time all wait for the end`() async throws {
    let diary = Locked<[String]>([])
    try await LayeredLibrary.$diary.withValue(diary) {
      let app = try VestaApp.configure(
        name: uniqueName(), options: VestaOptions(), libraries: [LayeredLibrary.self])
      _ = try app.container.require((any Upper).self)
      await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<8 {
          group.addTask {
            let deleted = await app.delete()
            let ended = diary.withLock { $0.filter { $0.contains("ends") }.count }
            return !deleted || ended == 2
          }
        }
        for await isConsistent in group { #expect(isConsistent) }
      }
      #expect(VestaApp.app(name: app.name) == nil)
    }
    #expect(diary.withLock { $0.filter { $0.contains("ends") }.count } == 2)
  }

  @Test func `the completion form calls back on the queue of the options`() async throws {
    let queue = DispatchQueue(label: "callbacks")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let options = VestaOptions()
    options.callbackQueue = queue
    let app = try VestaApp.configure(name: uniqueName(), options: options, libraries: [])
    let (isDeleted, isOnQueue) = await withCheckedContinuation { continuation in
      app.delete { isDeleted in
        continuation.resume(returning: (isDeleted, DispatchQueue.getSpecific(key: key) == true))
      }
    }
    #expect(isDeleted && isOnQueue)
  }

  private enum GatedLibrary: TestLibrary {
    @TaskLocal static var gate = (entered: DispatchSemaphore(value: 0), open: DispatchSemaphore(value: 0))
    @TaskLocal static var diary = Locked<[String]>([])
    static func components() -> [Component] {
      let (gate, diary) = (gate, diary)
      return [
        Component((any Base).self) { container, isCacheable in
          isCacheable = true
          gate.entered.signal()
          gate.open.wait()
          return Witness("late", app: container.app, diary: diary)
        }
      ]
    }
  }

  @Test func `an instance that is being created is waited for and ended too`() async throws {
    let diary = Locked<[String]>([])
    let gate = (entered: DispatchSemaphore(value: 0), open: DispatchSemaphore(value: 0))
    try await GatedLibrary.$diary.withValue(diary) {
      try await GatedLibrary.$gate.withValue(gate) {
        let app = try VestaApp.configure(name: uniqueName(), options: VestaOptions(), libraries: [GatedLibrary.self])
        let container = app.container
        async let isResolved = onThread { container.resolve((any Base).self) != nil }
        await onThread { gate.entered.wait() }
        let isOver = Locked(false)
        let deletion = Task {
          let isDeleted = await app.delete()
          isOver.withLock { $0 = true }
          return isDeleted
        }
        while container.gate.waitingCloses == 0, !isOver.withLock({ $0 }) { await Task.yield() }
        #expect(!isOver.withLock { $0 })
        gate.open.signal()
        #expect(await deletion.value)
        #expect(await isResolved)
      }
    }
    #expect(diary.withLock { $0.contains { $0.hasPrefix("late ends") } })
  }

  /// Looks at its app's name while the app is being deleted.
  private final class Onlooker: Base, ComponentLifecycleMaintainer {
    let report: @Sendable (String) -> Void
    init(_ report: @escaping @Sendable (String) -> Void) { self.report = report }

    func appWillBeDeleted(_ app: VestaApp) async {
      #expect(VestaApp.app(name: app.name) == nil)
      do {
        try VestaApp.configure(name: app.name, options: VestaOptions(), libraries: [])
        report("configured")
      } catch { report("\(error)") }
    }
  }

  private enum OnlookerLibrary: TestLibrary {
    @TaskLocal static var reports = Locked<[String]>([])
    static func components() -> [Component] {
      let reports = reports
      return [
        Component((any Base).self) { _, isCacheable in
          isCacheable = true
          return Onlooker { report in reports.withLock { $0.append(report) } }
        }
      ]
    }
  }

  @Test func `an app that is being deleted is not found, and its name is free`() async throws {
    let reports = Locked<[String]>([])
    let name = uniqueName()
    try await OnlookerLibrary.$reports.withValue(reports) {
      let app = try VestaApp.configure(name: name, options: VestaOptions(), libraries: [OnlookerLibrary.self])
      _ = try app.container.require((any Base).self)
      #expect(await app.delete())
    }
    #expect(reports.withLock { $0 } == ["configured"])
    // The deletion has left the app alone that has the name now.
    let next = try #require(VestaApp.app(name: name))
    #expect(await next.delete())
    #expect(VestaApp.app(name: name) == nil)
  }

  /// Deletes another app while its own is being deleted.
  private final class Deleter: Base, ComponentLifecycleMaintainer {
    let other: Locked<VestaApp?>
    let isDetached: Bool
    let entered: Latch
    let go: Latch
    init(_ other: Locked<VestaApp?>, _ isDetached: Bool, _ entered: Latch, _ go: Latch) {
      (self.other, self.isDetached, self.entered, self.go) = (other, isDetached, entered, go)
    }

    func appWillBeDeleted(_ app: VestaApp) async {
      entered.open()
      await go.wait()
      let other = other.withLock { $0 }
      if isDetached {
        Task.detached { await other?.delete() }
      } else {
        async let child = other?.delete()
        _ = await child
      }
    }
  }

  private enum DeleterLibrary: TestLibrary {
    @TaskLocal static var other = Locked<VestaApp?>(nil)
    @TaskLocal static var latches = (entered: Latch(), go: Latch())
    static func components() -> [Component] {
      let (other, latches) = (other, latches)
      return [Component((any Base).self, caching: .shared) { _ in Deleter(other, false, latches.entered, latches.go) }]
    }
  }

  @Test(.timeLimit(.minutes(10))) func `apps whose ends delete each other both end`() async throws {
    for together in [false, true] {
      let others = (0..<3).map { _ in Locked<VestaApp?>(nil) }
      let latches = (0..<3).map { _ in (entered: Latch(), go: Latch()) }
      var apps: [VestaApp] = []
      for index in 0..<3 {
        try DeleterLibrary.$other.withValue(others[index]) {
          try DeleterLibrary.$latches.withValue(latches[index]) {
            apps.append(
              try VestaApp.configure(name: uniqueName(), options: VestaOptions(), libraries: [DeleterLibrary.self]))
          }
        }
        _ = try apps[index].container.require((any Base).self)
      }
      for index in 0..<3 { others[index].withLock { [apps] in $0 = apps[(index + 1) % 3] } }
      await withTaskGroup(of: Bool.self) { [apps] group in
        for index in 0..<(together ? 3 : 1) {
          group.addTask { await apps[index].delete() }
          if together { await latches[index].entered.wait() }
        }
        for latch in latches { latch.go.open() }
        for await isDeleted in group { #expect(isDeleted) }
      }
      for (index, app) in apps.enumerated() {
        #expect(VestaApp.app(name: app.name) == nil)
        _ = await app.delete()
        others[index].withLock { $0 = nil }
      }
    }
  }

  @Test func `a deletion that waits long says what it may wait for`() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let latches = (entered: Latch(), go: Latch())
      let app = try DeleterLibrary.$latches.withValue(latches) {
        try VestaApp.configure(name: "slow", options: VestaOptions(), libraries: [DeleterLibrary.self])
      }
      _ = try app.container.require((any Base).self)
      let first = Task { await app.delete() }
      await latches.entered.wait()
      let clock = ManualClock()
      Task { await DeletionWaits.$sleep.withValue({ try await clock.sleep(for: $0) }) { await app.delete() } }
      await clock.waitForTimers()
      clock.advance(by: .seconds(9))
      #expect(clock.deadlines == [clock.now + 1_000_000] && !DeletionWaits.hasWarned)
      clock.advance(by: .seconds(1))
      // The warning is logged in its own time; the exit test ends when it is there, or with its time limit.
      while !DeletionWaits.hasWarned { await Task.yield() }
      latches.go.open()
      _ = await first.value
    }
    let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(text.contains("The app \"slow\" has been being deleted for 10.0 seconds."))
  }
}
