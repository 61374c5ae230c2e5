import Foundation
import Testing
import VestaConcurrency
import VestaTesting

/// Rules while a server runs, and the commands next to `serve`, as programs.
@Suite(.serialized) struct ServerCommandTests {
  @Test(.timeLimit(.minutes(5))) func `rules are set, read again and reported as test kits know it`() async throws {
    try await withTemporaryDirectory { directory in
      let file = directory.appending(path: "firestore.rules")
      let open = "rules_version = '2'; service cloud.firestore { match /{all=**} { allow read: if true; } }"
      try Data(open.utf8).write(to: file)
      try Data(#"{"firestore":{"rules":"firestore.rules"}}"#.utf8).write(to: directory.appending(path: "firebase.json"))
      let server = try await ServerProcess(in: directory, "--memory", "--project", "demo")
      let result = try await server.python("rules_calls", [], ["RULES_FILE": file.path])
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } == 6)
      #expect(await server.end() == 0)
    }
  }

  @Test(.timeLimit(.minutes(5))) func `the indexes of firebase.json are declared at the start`() async throws {
    try await withTemporaryDirectory { directory in
      func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: directory.appending(path: name))
      }
      let fields = #"[{"fieldPath":"a","order":"ASCENDING"},{"fieldPath":"b","order":"DESCENDING"}]"#
      let list = #""firestore":[{"indexes":"i.json"},{"database":"notes","indexes":"none.json"}]"#
      try write("firebase.json", "{\(list)}")
      let index = #"{"collectionGroup":"c","fields":\#(fields)}"#
      try write("i.json", "{\"indexes\":[\(index)] // More are added by hand.\n}")
      for start in 1...2 {
        let server = try await ServerProcess(in: directory, "--data=data", "--project", "demo")
        let result = try await server.python("firestore_admin", ["declared_\(start)"])
        #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
        #expect(result.lines.count { $0.hasPrefix("passed") } == 1)
        #expect(await server.end() == 0)
      }
    }
  }

  @Test(.timeLimit(.minutes(5)), arguments: ["--memory", "--data=data"])
  func `each database and bucket has the rules that firebase.json names for it`(store: String) async throws {
    try await withTemporaryDirectory { directory in
      func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: directory.appending(path: name))
      }
      for (name, condition) in [("shut", "false"), ("open", "true")] {
        try write(
          "\(name).firestore",
          "rules_version = '2'; service cloud.firestore { match /{all=**} { allow read, write: if \(condition); } }")
        try write(
          "\(name).storage",
          "rules_version = '2'; service firebase.storage { match /{all=**} { allow read, write: if \(condition); } }")
        try write("\(name).json", #"{"rules":{".read":\#(condition),".write":\#(condition)}}"#)
      }
      try write(
        "firebase.json",
        """
        {"firestore":[{"database":"(default)","rules":"shut.firestore"},{"database":"open","rules":"open.firestore"}],
         "storage":[{"bucket":"shut","rules":"shut.storage"},{"target":"public","rules":"open.storage"}],
         "database":[{"instance":"demo-default-rtdb","rules":"shut.json"},{"target":"notes","rules":"open.json"}]}
        """)
      try write(
        ".firebaserc",
        #"{"targets":{"demo":{"storage":{"public":["wide","wider"]},"database":{"notes":["notes","more-notes"]}}}}"#)
      let server = try await ServerProcess(in: directory, store, "--project", "demo")
      let result = try await server.python(
        "named_rules", [], ["OPEN_STORAGE": directory.appending(path: "open.storage").path])
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } == 6)
      #expect(await server.end() == 0)
    }
  }

  @Test(.timeLimit(.minutes(5)), arguments: ["--memory", "--data=data"])
  func `what was exported is imported as it was, by the hub and at the end`(store: String) async throws {
    try await withTemporaryDirectory { directory in
      let path = directory.appending(path: "export").path
      let first = try await ServerProcess(in: directory, "--memory", "--project", "demo")
      let filled = try await first.python("export", ["fill"])
      let token = filled.lines.first { $0.hasPrefix("token ") }?.dropFirst("token ".count)
      #expect(filled.status == 0 && token != nil, "\(filled.lines.joined(separator: "\n"))")
      let exported = try await first.python("export", ["export", path])
      #expect(exported.status == 0, "\(exported.lines.joined(separator: "\n"))")
      let other = try await run(["export", "other", "--project", "demo"], directory)
      #expect(other.status == 0, "\(other.lines)")
      // A server that runs has the data.
      #expect(try await run(["import", "other", "--project", "demo"], directory).status == 1)
      await first.end()
      let atEnd = directory.appending(path: "at-end").path
      let second = try await ServerProcess(
        in: directory, store, "--project", "demo", "--import", path, "--export-on-exit", atEnd)
      let checked = try await second.python("export", ["check", String(token ?? "")])
      #expect(checked.status == 0, "\(checked.lines.joined(separator: "\n"))")
      #expect(await second.end() == 0)
      let third = try await ServerProcess(in: directory, "--memory", "--project", "demo", "--import", atEnd)
      let again = try await third.python("export", ["check", String(token ?? "")])
      #expect(again.status == 0, "\(again.lines.joined(separator: "\n"))")
      await third.end()
      let imported = try await run(["import", "other", "--project", "demo", "--data", "fresh"], directory)
      #expect(imported.status == 0, "\(imported.lines)")
      #expect(try await run(["import", "none", "--project", "demo", "--data", "fresh"], directory).status == 1)
      #expect(try await run(["export", "x", "--project", "demo"], directory).status == 1)
      let last = try await ServerProcess(in: directory, "--data=fresh", "--project", "demo")
      let kept = try await last.python("export", ["check", String(token ?? "")])
      #expect(kept.status == 0, "\(kept.lines.joined(separator: "\n"))")
      await last.end()
    }
  }

  /// Runs a command to its end.
  private func run(_ arguments: [String], _ directory: URL) async throws -> (status: Int32, lines: [String]) {
    let (process, lines) = try ServerProcess.command(arguments, directory)
    await lines.wait { $0.contains(ServerProcess.ended) }
    await TestThreads.run { process.waitUntilExit() }
    return (process.terminationStatus, lines.entries)
  }

  @Test(
    .timeLimit(.minutes(5)),
    arguments: [
      ("test -n \"$FIRESTORE_EMULATOR_HOST\" && test \"$GCLOUD_PROJECT\" = demo && exit 5", 5), ("kill -KILL $$", 137),
    ])
  func `a command ends as it would without a server`(script: String, status: Int32) async throws {
    try await withTemporaryDirectory { directory in
      let arguments = ["exec"] + ServerProcess.freePorts + ["--project", "demo", "--", script]
      let (process, lines) = try ServerProcess.command(arguments, directory)
      await lines.wait { $0.contains(ServerProcess.ended) }
      await TestThreads.run { process.waitUntilExit() }
      #expect(process.terminationStatus == status, "\(lines.entries.joined(separator: "\n"))")
    }
  }
}
