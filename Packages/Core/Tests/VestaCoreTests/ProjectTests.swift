import Foundation
import Testing
import VestaConcurrency
import VestaFiles
import VestaTesting

@testable import VestaCore

/// Engines belong to a project in a directory, and what an app keeps belongs to the app.
@Suite struct ProjectTests {
  private final class Engine: Sendable {
    let home: EngineHome
    init(_ home: EngineHome) { self.home = home }
  }

  private final class Part: Sendable {}

  private enum EngineLibrary: TestLibrary {
    /// The events, and the gate for which a closing engine waits.
    @TaskLocal static var diary = VestaTesting.Log<String>()
    @TaskLocal static var closing: Latch?

    static func components() -> [Component] {
      let (diary, closing) = (diary, closing)
      return [
        EmbeddedService<Engine>.component(product: "Sample", keeps: ["beside", "sample"]) { _, home in
          diary.add("made")
          return Engine(home)
        } close: { _ in
          await closing?.wait()
          diary.add("closed")
        },
        EmbeddedService<Engine>.provides(Engine.self) { $0 },
        Component.contribution(Part.self) { _, isCacheable in
          isCacheable = true
          return Part()
        },
      ]
    }
  }

  private func app(_ options: VestaOptions, _ name: String = uniqueName()) throws -> VestaApp {
    try VestaApp.configure(name: name, options: options, libraries: [EngineLibrary.self])
  }

  private func engine(_ app: VestaApp) throws -> Engine { try VestaApp.instance(of: Engine.self, for: app) }

  @Test func `apps of one project share an engine, which is closed with the last of them`() async throws {
    let diary = VestaTesting.Log<String>()
    try await EngineLibrary.$diary.withValue(diary) {
      let options = VestaOptions(projectID: uniqueName())
      let (first, second) = (try app(options), try app(options))
      let engine = try engine(first)
      #expect(try self.engine(second) === engine)
      #expect(diary.entries == ["made"])
      #expect(engine.home.resolveAll(Part.self).count == 2)
      await first.delete()
      #expect(diary.entries == ["made"])
      // The engine was made for the first app, and asks the ones that are left.
      #expect(engine.home.resolveAll(Part.self).count == 1)
      let third = try app(options)
      #expect(try self.engine(third) === engine)
      await second.delete()
      await third.delete()
      #expect(diary.entries == ["made", "closed"])
      #expect(engine.home.resolveAll(Part.self).isEmpty)
    }
  }

  @Test func `an app that never needed the engine keeps it open for the others`() async throws {
    let diary = VestaTesting.Log<String>()
    try await EngineLibrary.$diary.withValue(diary) {
      let options = VestaOptions(projectID: uniqueName())
      let (first, second) = (try app(options), try app(options))
      let engine = try engine(first)
      await first.delete()
      #expect(try self.engine(second) === engine && diary.entries == ["made"])
      await second.delete()
      #expect(diary.entries == ["made", "closed"])
    }
  }

  @Test func `projects and directories have separate engines`() async throws {
    try await withTemporaryDirectory { directory in
      let project = uniqueName()
      let apps = [
        try app(VestaOptions(projectID: project, backend: .embedded(directory: directory))),
        try app(VestaOptions(projectID: project + "x", backend: .embedded(directory: directory))),
        try app(VestaOptions(projectID: project)),
        // The same directory by another path.
        try app(
          VestaOptions(
            projectID: project,
            backend: .embedded(directory: directory.appending(path: "../\(directory.lastPathComponent)/")))),
      ]
      let engines = try apps.map(engine)
      #expect(Set(engines.map(ObjectIdentifier.init)).count == 3)
      #expect(engines[0] === engines[3])
      for app in apps { await app.delete() }
    }
  }

  @Test func `64 apps at once make one engine`() async throws {
    let diary = VestaTesting.Log<String>()
    try await EngineLibrary.$diary.withValue(diary) {
      let options = VestaOptions(projectID: uniqueName())
      let apps = try (0..<64).map { _ in try app(options) }
      let engines = Log<ObjectIdentifier>()
      await onThreads(64) { index in
        if let engine = try? VestaApp.instance(of: Engine.self, for: apps[index]) {
          engines.add(ObjectIdentifier(engine))
        }
      }
      #expect(engines.entries.count == 64 && Set(engines.entries).count == 1)
      await withTaskGroup(of: Void.self) { group in
        for app in apps { group.addTask { await app.delete() } }
      }
      #expect(diary.entries == ["made", "closed"])
    }
  }

  @Test func `an app configured again at once waits with its files for the engines of before`() async throws {
    let (diary, closing) = (VestaTesting.Log<String>(), Latch())
    let (options, name) = (VestaOptions(projectID: uniqueName()), uniqueName())
    let (second, engine) = try await EngineLibrary.$diary.withValue(diary) {
      let first = try EngineLibrary.$closing.withValue(closing) { try app(options, name) }
      _ = try self.engine(first)
      let deleted = Log<Bool>()
      first.delete { deleted.add($0) }
      // Removed when `delete` has been called.
      #expect(VestaApp.app(name: name) == nil)
      while closing.waitingCount == 0 { await Task.yield() }
      let second = try app(options, name)
      return (second, try self.engine(second))
    }
    let opened = Log<String>()
    let opening = Task { opened.add(try await engine.home.ready()) }
    let path = Task { opened.add(await second.dataPathWhenFree()) }
    for _ in 0..<100 { await Task.yield() }
    #expect(opened.entries.isEmpty)
    closing.open()
    try await opening.value
    await path.value
    #expect(Set(opened.entries) == [engine.home.path, second.dataPath])
    #expect(diary.entries == ["made", "made", "closed"])
    await second.delete()
  }

  @Test func `an app configured before the engine closes keeps it open`() async throws {
    let diary = VestaTesting.Log<String>()
    try await EngineLibrary.$diary.withValue(diary) {
      let (options, name) = (VestaOptions(projectID: uniqueName()), uniqueName())
      let first = try app(options, name)
      let engine = try engine(first)
      let before = first.beginDeletion()
      let second = try app(options, name)
      #expect(await first.finishDeletion(before))
      #expect(try self.engine(second) === engine && diary.entries == ["made"])
      #expect(try await engine.home.ready() == engine.home.path)
      #expect(VestaApp.app(name: name) === second)
      await second.delete()
      #expect(diary.entries == ["made", "closed"])
    }
  }

  // MARK: Data of an earlier version

  private func write(_ text: String, _ file: URL) throws {
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  private func text(_ file: URL) -> String? {
    (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) }
  }

  private func layout(_ directory: URL, _ name: String = VestaApp.defaultName, project: String = "p") -> DataLayout {
    DataLayout(
      options: VestaOptions(projectID: project, backend: .embedded(directory: directory)), appName: name,
      environment: [:])
  }

  @Test func `the data of an earlier version is found again after a crash at any point`() async throws {
    for done in 0...4 {
      try await withTemporaryDirectory { directory in
        for name in ["sample/s", "beside/b", "session/x"] {
          try write(name, directory.appending(path: "(default)/\(name)"))
        }
        let layout = layout(directory)
        // A start that is killed after some of the steps.
        if done > 0 { try layout.adoptApp() }
        if done > 1 { try DurableFile.makeDirectory(layout.enginesPath) }
        for name in ["beside", "sample"].prefix(max(0, done - 2)) {
          try DurableFile.move("\(layout.earlierEngines[0])/\(name)", to: "\(layout.enginesPath)/\(name)")
        }
        let app = AppFolder(layout)
        #expect(text(app.url.appending(path: "session/x")) == "session/x", "\(done)")
        #expect(try layout.adoptEngine(["beside", "sample"]) == nil)
        for name in ["sample/s", "beside/b"] {
          #expect(text(URL(filePath: layout.enginesPath).appending(path: name)) == name, "\(done)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: app.url.path) == ["session"])
        #expect(try layout.adoptEngine(["beside", "sample"]) == nil)
      }
    }
  }

  @Test func `an engine finds the earlier data of the default app first, and leaves newer data alone`() async throws {
    try await withTemporaryDirectory { directory in
      let layout = layout(directory, "second")
      try write("mine", directory.appending(path: "p/second/sample/s"))
      try write("default", directory.appending(path: "p/(default)/sample/s"))
      #expect(try layout.adoptEngine(["sample"]) == nil)
      let file = URL(filePath: layout.enginesPath).appending(path: "sample/s")
      #expect(text(file) == "default")
      let note = try layout.adoptEngine(["sample"])
      #expect(note?.contains("p/second/sample is data of an earlier version") == true)
      #expect(text(file) == "default" && text(directory.appending(path: "p/second/sample/s")) == "mine")
    }
  }

  @Test func `data that cannot be moved is not passed over`() async throws {
    try await withTemporaryDirectory { directory in
      try write("s", directory.appending(path: "p/(default)/sample/s"))
      // A file has the name of the engines' folder.
      try write("", directory.appending(path: "p/(engines)"))
      #expect(throws: FileFailure.self) { try layout(directory).adoptEngine(["sample"]) }
    }
    try await withTemporaryDirectory { directory in
      try write("x", directory.appending(path: "(default)/session"))
      try write("", directory.appending(path: "p"))
      #expect(text(AppFolder(layout(directory)).url.appending(path: "session")) == "x")
    }
  }

  @Test func `a program that names no project takes no other project's data`() async throws {
    try await withTemporaryDirectory { directory in
      try write("x", directory.appending(path: "(default)/session"))
      try layout(directory, project: VestaOptions.programProject).adoptApp()
      #expect(text(directory.appending(path: "(default)/session")) == "x")
    }
  }
}
