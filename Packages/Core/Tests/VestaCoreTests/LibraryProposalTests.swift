import Testing

@testable import VestaCore

private protocol Engine: Sendable {}
private protocol Kept: Sendable {}

/// The lines to copy at the end of an error of `configure`.
@Suite struct LibraryProposalTests {
  private static let engines = """
    EngineServiceLibrary of VestaEngineService (the engine; Packages/Engine), which needs a store too, such as \
    SQLiteLibrary of VestaSQLite (Packages/SQLite), or EngineRemoteLibrary of VestaEngineRemote (a server, emulators \
    or Firebase; Packages/Engine) with TransportLibrary of VestaTransport (Packages/Transport)
    """
  private static let stores = """
    SQLiteLibrary of VestaSQLite (keeps everything in a file; Packages/SQLite) or MemoryStoreLibrary of \
    VestaMemoryStore (keeps nothing after the process; Packages/MemoryStore)
    """

  private enum ClientLibrary: TestLibrary {
    static func components() -> [Component] {
      let needs = [
        Dependency.required((any Engine).self, providedBy: engines), .required((any Kept).self, providedBy: stores),
      ]
      return [Component(String.self, dependencies: needs) { _, _ in nil }]
    }
  }

  private func message(_ backend: VestaOptions.Backend) throws -> String {
    try #require(throws: VestaError.self) {
      try ComponentGraph(libraries: [ClientLibrary.self], backend: backend)
    }.message
  }

  @Test func `a list for the embedded backend has the engine and its store, each once`() throws {
    #expect(
      try message(.embedded()).hasSuffix(
        """

        Write
          libraries: [ClientLibrary.self, EngineServiceLibrary.self, SQLiteLibrary.self]
        with `import VestaEngineService`, `import VestaSQLite`, and among the dependencies of the target
          .product(name: "VestaEngineService", package: "Engine"),
          .product(name: "VestaSQLite", package: "SQLite")
        and, unless they are there, among those of the package, with the path of your clone of Vesta
          .package(path: "../vesta/Packages/Engine"),
          .package(path: "../vesta/Packages/SQLite")
        """))
  }

  @Test func `a list for another backend has the remote backend and its transport`() throws {
    #expect(
      try message(.firebase).contains(
        "[ClientLibrary.self, EngineRemoteLibrary.self, TransportLibrary.self, SQLiteLibrary.self]"))
  }

  @Test func `a package of several missing libraries is named once`() throws {
    let text = "A of VestaA (Packages/P) with B of VestaB (Packages/P)"
    let proposal = try #require(LibraryProposal(named: [], missing: [text], backend: .embedded()))
    #expect(proposal.text.hasSuffix("clone of Vesta\n  .package(path: \"../vesta/Packages/P\")"))
  }

  private struct Settings: Sendable, ComponentInput {
    static let readBy = "ReaderLibrary of VestaReader (Packages/Reader)"
  }

  private enum SettingsLibrary: TestLibrary {
    static func components() -> [Component] { [Component(Settings.self, caching: .shared) { _ in Settings() }] }
  }

  private enum ReaderLibrary: TestLibrary {
    static let backends: Set<VestaOptions.Backend.Kind> = .embedded
    static func components() -> [Component] {
      [Component(String.self, dependencies: [.optional(Settings.self)]) { _, _ in nil }]
    }
  }

  @Test func `a value that no library reads is refused with the library that reads it`() throws {
    let error = try #require(throws: VestaError.self) { try ComponentGraph(libraries: [SettingsLibrary.self]) }
    #expect(error.code == .missingDependency)
    #expect(error.message.hasPrefix("SettingsLibrary provides Settings, which no library in the list reads"))
    #expect(error.message.contains("libraries: [SettingsLibrary.self, ReaderLibrary.self]"))
  }

  @Test func `a value is read where its library is in the list, also one for another backend`() throws {
    _ = try ComponentGraph(libraries: [SettingsLibrary.self, ReaderLibrary.self])
    _ = try ComponentGraph(libraries: [SettingsLibrary.self, ReaderLibrary.self], backend: .firebase)
  }

  @Test func `a text that names no library for the backend has no list`() throws {
    let proposal = LibraryProposal(named: [], missing: [Self.stores, "a plug-in"], backend: .embedded())
    #expect(proposal == nil)
    #expect(LibraryProposal(named: [], missing: [nil], backend: .firebase) == nil)
    let engine = "AServiceLibrary of VestaAService (the engine; Packages/A)"
    #expect(LibraryProposal(named: [], missing: [engine], backend: .firebase) == nil)
  }

  @Test func `alternatives are divided by or and by semicolons outside of parentheses`() {
    let text = "A of VestaA (x or y; Packages/P) and B of VestaB (Packages/Q); C of VestaC (Packages/P)"
    #expect(LibraryProposal.alternatives(in: text).map { $0.map(\.library) } == [["A", "B"], ["C"]])
  }
}
