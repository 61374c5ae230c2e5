import Foundation
import Testing
import VestaConcurrency
import VestaTesting

@testable import VestaCore

@Suite struct VestaAppTests {
  private enum PlainLibrary: TestLibrary {
    static func components() -> [Component] { [] }
  }

  @Test(arguments: ["", "with space", "slash/slash", "dot.dot", "ümlaut", String(repeating: "x", count: 101)])
  func `a name that cannot be used is refused`(name: String) throws {
    let error = try #require(throws: VestaError.self) {
      try VestaApp.configure(name: name, options: VestaOptions(), libraries: [])
    }
    #expect(error.code == .invalidAppName)
    #expect(VestaApp.app(name: name) == nil)
  }

  @Test func `an app is found by its name until it is deleted`() async throws {
    let name = uniqueName()
    #expect(VestaApp.app(name: name) == nil)
    let app = try VestaApp.configure(name: name, options: VestaOptions(), libraries: [PlainLibrary.self])
    #expect(VestaApp.app(name: name) === app)
    #expect(VestaApp.allApps?[name] === app)
    #expect(app.name == name && !app.isDefaultApp)
    await app.delete()
    #expect(VestaApp.app(name: name) == nil)
    #expect(VestaApp.allApps?[name] == nil)
    try VestaApp.configure(name: name, options: VestaOptions(), libraries: [])
  }

  @Test func `a second app of the same name is refused`() throws {
    let name = uniqueName()
    try VestaApp.configure(name: name, options: VestaOptions(), libraries: [])
    let error = try #require(throws: VestaError.self) {
      try VestaApp.configure(name: name, options: VestaOptions(), libraries: [])
    }
    #expect(error.code == .duplicateApp)
    #expect(error.message.contains(name))
  }

  @Test func `a graph that is unsound leaves the name free`() throws {
    let name = uniqueName()
    #expect(throws: VestaError.self) {
      try VestaApp.configure(
        name: name, options: VestaOptions(), libraries: [PlainLibrary.self, PlainLibrary.self])
    }
    try VestaApp.configure(name: name, options: VestaOptions(), libraries: [])
  }

  @Test func `the app keeps a copy of its options`() throws {
    let options = VestaOptions(projectID: "before")
    let app = try VestaApp.configure(name: uniqueName(), options: options, libraries: [])
    options.projectID = "after"
    app.options.projectID = "elsewhere"
    #expect(app.options.projectID == "before")
    #expect(app.container.options.projectID == "before")
  }

  @Test func `the user agent names the platform and every library`() throws {
    let app = try VestaApp.configure(name: uniqueName(), options: VestaOptions(), libraries: [PlainLibrary.self])
    #expect(app.userAgent.hasPrefix("vesta-core/\(VestaVersion()) swift/"))
    #expect(app.userAgent.contains(" PlainLibrary/1.2.3"))
  }

  private enum NastyLibrary: Library {
    static let name = "a b/c\r\nX: y"
    static let version = ""
    static func components() -> [Component] { [] }
  }

  @Test func `the user agent cannot be used to smuggle a header`() {
    let agent = UserAgent.string(libraries: [NastyLibrary.self])
    #expect(agent.hasSuffix(" a_b_c__X:_y/_"))
    #expect(agent.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
    // The first and the last character that may stay.
    #expect(UserAgent.string(libraries: [], others: ["!~": "\u{7F}"]).hasSuffix(" !~/_"))
  }

  @Test func `data collection is on unless it was switched off, and the choice outlives the process and no deletion`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let (name, options) = (uniqueName(), VestaOptions(projectID: "p", backend: .embedded(directory: directory)))
      let first = try VestaApp.configure(name: name, options: options, libraries: [])
      #expect(first.isDataCollectionDefaultEnabled)
      first.isDataCollectionDefaultEnabled = false
      // The value that a process reads which starts again.
      #expect(!AppSettings(directory: first.dataDirectory).isDataCollectionDefaultEnabled)
      await first.delete()
      let second = try VestaApp.configure(name: name, options: options, libraries: [])
      #expect(second.isDataCollectionDefaultEnabled)
      #expect(second.dataDirectory == directory.appending(path: "p").appending(path: name))
      #expect(second.dataPath == directory.path + "/p/" + name)
    }
  }

  @Test func `a setting that cannot be saved holds for the process`() async throws {
    try await withTemporaryDirectory { directory in
      let file = directory.appending(path: "file")
      try Data("not a directory".utf8).write(to: file)
      let settings = AppSettings(directory: file)
      settings.isDataCollectionDefaultEnabled = false
      #expect(!settings.isDataCollectionDefaultEnabled)
    }
  }

  @Test func `a damaged settings file does not switch data collection on, and a new choice replaces it`() async throws {
    try await withTemporaryDirectory { directory in
      let file = directory.appending(path: "app.json")
      for damage in ["", "{", "[]", #"{"isDataCollectionDefaultEnabled":"no"}"#] {
        try Data(damage.utf8).write(to: file)
        let settings = AppSettings(directory: directory)
        #expect(!settings.isDataCollectionDefaultEnabled, "\(damage)")
        // The damaged file is kept under another name, and the next process finds the switch off.
        #expect(try Data(contentsOf: directory.appending(path: "app.json.damaged")) == Data(damage.utf8))
        #expect(!AppSettings(directory: directory).isDataCollectionDefaultEnabled, "\(damage)")
        settings.isDataCollectionDefaultEnabled = true
        #expect(AppSettings(directory: directory).isDataCollectionDefaultEnabled, "\(damage)")
        try Data(damage.utf8).write(to: file)
        AppSettings(directory: directory).clear()
        #expect(!FileManager.default.fileExists(atPath: file.path), "\(damage)")
      }
    }
  }

  @Test func `configuring touches no file`() async throws {
    try await withTemporaryDirectory { directory in
      let options = VestaOptions(projectID: "p", backend: .embedded(directory: directory))
      let app = try VestaApp.configure(name: uniqueName(), options: options, libraries: [PlainLibrary.self])
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
      #expect(!FileManager.default.fileExists(atPath: app.dataDirectory.path))
    }
  }
}

/// The default app and the process-wide list: one test at a time.
@Suite(.serialized) struct DefaultAppTests {
  private enum RegisteredLibrary: TestLibrary {
    static func components() -> [Component] {
      [
        Component(Int.self, instantiationTiming: .eagerInDefaultApp) { container, isCacheable in
          isCacheable = true
          return made.withLock {
            $0 += 1; return $0
          }
        }
      ]
    }
    static let made = Locked(0)
  }

  @Test func `a bare configure uses what was registered and creates what is eager in it`() async throws {
    VestaApp.register(RegisteredLibrary.self)
    VestaApp.register(RegisteredLibrary.self)
    let app = try VestaApp.configure()
    #expect(VestaApp.app() === app)
    #expect(app.isDefaultApp && app.name == VestaApp.defaultName)
    #expect(RegisteredLibrary.made.withLock { $0 } == 1)
    #expect(app.dataDirectory.lastPathComponent == "(default)")
    #expect(throws: VestaError.self) { try VestaApp.configure() }
    await app.delete()
    #expect(VestaApp.app() == nil)
  }

  @Test func `an explicit list replaces what was registered`() async throws {
    VestaApp.register(RegisteredLibrary.self)
    let app = try VestaApp.configure(options: VestaOptions(), libraries: [])
    #expect(app.container.resolve(Int.self) == nil)
    await app.delete()
  }
}
