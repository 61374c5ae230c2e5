import Foundation
import Testing
import VestaConcurrency
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaServer

/// Rules of files, read again while a server runs.
@Suite struct ServerRulesTests {
  private static func rules(_ condition: String) -> String {
    "rules_version = '2'; service cloud.firestore { match /{all=**} { allow read: if \(condition); } }"
  }

  /// A host with a file of rules, and what writes the file.
  private func withRules(
    _ text: String, _ body: (ServerHost, (String?) throws -> Void) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { directory in
      let file = directory.appending(path: "firestore.rules")
      var settings = ServerSettings(project: "demo")
      settings.rules = ["firestore": file.path]
      let write: (String?) throws -> Void = { text in
        guard let text else { return try FileManager.default.removeItem(at: file) }
        try Data(text.utf8).write(to: file)
      }
      try write(text)
      let host = ServerHost(settings)
      try host.allRules.readFiles()
      try await body(host, write)
      await host.apps.close()
    }
  }

  private func inForce(_ host: ServerHost, _ project: String) throws -> String? {
    try host.backend((any RulesAdministration).self, project: project).rulesInForce(of: .firestore)
  }

  @Test func `a file that changes is in force in all projects, opened and not`() async throws {
    try await withRules(Self.rules("true")) { host, write in
      #expect(try inForce(host, "demo") == Self.rules("true"))
      try write(Self.rules("false"))
      #expect(try inForce(host, "demo") == Self.rules("true"))
      #expect(await host.allRules.readChangedFiles() == [.firestore])
      #expect(try inForce(host, "demo") == Self.rules("false"))
      #expect(try inForce(host, "other") == Self.rules("false"))
      #expect(await host.allRules.readChangedFiles().isEmpty)
    }
  }

  @Test func `a file that is wrong or absent leaves the rules in force, also for projects that are opened later`()
    async throws
  {
    try await withRules(Self.rules("true")) { host, write in
      for text in ["service {", nil] {
        try write(text)
        #expect(await host.allRules.readChangedFiles().isEmpty)
        #expect(try inForce(host, "demo") == Self.rules("true"))
        #expect(try inForce(host, "later-\(text?.count ?? 0)") == Self.rules("true"))
      }
      try write(Self.rules("1 == 1"))
      #expect(await host.allRules.readChangedFiles() == [.firestore])
      #expect(try inForce(host, "demo") == Self.rules("1 == 1"))
    }
  }

  @Test func `rules that a tool has set stay until the file changes`() async throws {
    try await withRules(Self.rules("true")) { host, write in
      _ = try await host.allRules.replaceRules(with: Self.rules("false"), of: .firestore)
      #expect(await host.allRules.readChangedFiles().isEmpty)
      #expect(try inForce(host, "demo") == Self.rules("false"))
      await #expect(throws: RulesRefusal.self) { _ = try await host.allRules.replaceRules(with: "x", of: .firestore) }
      #expect(try inForce(host, "late") == Self.rules("false"))
    }
  }

  private static func storage(_ condition: String) -> String {
    "rules_version = '2'; service firebase.storage { match /{all=**} { allow read: if \(condition); } }"
  }

  @Test func `rules of buckets that a tool has set count in all projects, until a file of one changes`() async throws {
    try await withTemporaryDirectory { directory in
      let file = directory.appending(path: "a.rules")
      try Data(Self.storage("true").utf8).write(to: file)
      var settings = ServerSettings(project: "demo")
      settings.namedRules = ["storage": ["a": file.path]]
      let host = ServerHost(settings)
      try host.allRules.readFiles()
      func inForce(_ project: String) throws -> [String?] {
        let rules = try host.backend((any RulesAdministration).self, project: project)
        return ["a", "b", "other"].map { rules.rulesInForce(of: .storage, scope: $0) }
      }
      let open = try inForce("demo")[2]
      #expect(try inForce("demo") == [Self.storage("true"), open, open] && open != nil)
      _ = try await host.allRules.replaceRules(ofBuckets: ["b": Self.storage("false")], others: nil)
      for project in ["demo", "late"] { #expect(try inForce(project) == [nil, Self.storage("false"), nil]) }
      await #expect(throws: RulesRefusal.self) {
        _ = try await host.allRules.replaceRules(ofBuckets: ["b": "x"], others: nil)
      }
      try Data(Self.storage("1 == 1").utf8).write(to: file)
      #expect(await host.allRules.readChangedFiles() == [.storage])
      for project in ["demo", "later"] {
        #expect(try inForce(project) == [Self.storage("1 == 1"), Self.storage("false"), nil])
      }
      _ = try await host.allRules.replaceRules(ofBuckets: [:], others: Self.storage("false"))
      for project in ["demo", "last"] {
        #expect(try inForce(project) == Array(repeating: Self.storage("false"), count: 3))
      }
      await host.apps.close()
    }
  }

  @Test func `a server does not start with wrong rules, and says where they are wrong`() async throws {
    try await withTemporaryDirectory { directory in
      let file = directory.appending(path: "firestore.rules")
      try Data("rules_version = '2';\nservice cloud.firestore {\n  match /a { allow read: iff true; }\n}".utf8).write(
        to: file)
      var settings = ServerSettings(project: "demo")
      settings.rules = ["firestore": file.path]
      let error = #expect(throws: ServerError.self) { try ServerRules(settings).readFiles() }
      #expect(error?.description.contains("firestore.rules:3:") == true, "\(error?.description ?? "")")
    }
  }

  @Test func `files are looked at on the clock, until the watch ends`() async throws {
    try await withRules(Self.rules("true")) { host, write in
      let clock = ManualClock()
      let watch = RulesWatch(host.allRules, every: .seconds(1), clock: clock.service)
      watch.start()
      try write(Self.rules("false"))
      await clock.waitForTimers()
      clock.advance(by: .seconds(1))
      // The next interval starts when the files were read.
      await clock.waitForTimers()
      #expect(host.allRules.rulesInForce(of: .firestore) == Self.rules("false"))
      watch.end()
    }
  }
}
