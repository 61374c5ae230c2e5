import Foundation
import Testing
import VestaBytes
import VestaConcurrency
import VestaTesting

@testable import VestaServer

/// The commands next to `serve`.
@Suite struct CommandTests {
  private let ports = [
    VestaServer.Port(name: "firestore", hosts: ["127.0.0.1", "::1"], number: 8080),
    VestaServer.Port(name: "storage", hosts: ["::1"], number: 9199),
    VestaServer.Port(name: "hub", hosts: ["0.0.0.0"], number: 4400),
  ]

  @Test func `a command has the variables of the suite`() throws {
    let variables = SuiteEnvironment.variables(ports, project: "p", scheme: "http", existing: [:])
    #expect(variables["FIRESTORE_EMULATOR_HOST"] == "127.0.0.1:8080")
    #expect(variables["FIREBASE_STORAGE_EMULATOR_HOST"] == "[::1]:9199")
    #expect(variables["STORAGE_EMULATOR_HOST"] == "http://[::1]:9199")
    #expect(variables["FIREBASE_EMULATOR_HUB"] == "127.0.0.1:4400")
    #expect(variables["GCLOUD_PROJECT"] == "p" && variables["GOOGLE_CLOUD_PROJECT"] == "p")
    #expect(variables["FIREBASE_AUTH_EMULATOR_HOST"] == nil)
    let config = try JSONObject(json: Array((variables["FIREBASE_CONFIG"] ?? "").utf8))
    #expect(config["projectId"] == "p" && config["storageBucket"] == "p.appspot.com")
    #expect(
      SuiteEnvironment.variables(ports, project: "p", scheme: "http", existing: ["FIREBASE_CONFIG": "x"])[
        "FIREBASE_CONFIG"] == nil)
  }

  @Test(arguments: [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("test \"$ANSWER\" = 42", 0)])
  func `the end of a command is its status or its signal`(script: String, status: Int32) async throws {
    let variables = ["PATH": "/bin:/usr/bin", "ANSWER": "42"]
    let child = try ChildProcess(["/bin/sh", "-c", script], variables: variables)
    #expect(await child.end.status == status)
    child.signal(SIGTERM)
  }

  @Test func `a command that is not there is an error, and a signal reaches one that is`() async throws {
    #expect(throws: ServerError.self) { try ChildProcess(["/no/such/program"], variables: [:]) }
    let child = try ChildProcess(["/bin/sh", "-c", "exec sleep 600"], variables: ["PATH": "/bin:/usr/bin"])
    child.signal(SIGINT)
    #expect(await child.end == .killed(SIGINT))
  }

  @Test func `tokens have the form of the suite's`() async throws {
    let result = await TokenCommand.run(["--uid", "ada", "--claims", #"{"admin":true}"#, "--project", "p"], in: "/no")
    #expect(result.status == 0 && result.text.hasSuffix("."))
    let parts = result.text.split(separator: ".").map(String.init)
    let payload = try JSONObject(json: try Base64.url.decode(parts[1]))
    #expect(payload["sub"] == "ada" && payload["user_id"] == "ada" && payload["aud"] == "p" && payload["admin"] == true)
    let custom = await TokenCommand.run(["--custom", "--uid=eve"], in: "/no")
    let second = try Base64.url.decode(String(custom.text.split(separator: ".")[1]))
    #expect(try JSONObject(json: second)["uid"] == "eve")
    for wrong in [["--claims", "["], ["--uid", ""], ["x"], ["--what"], ["--uid"]] {
      #expect(await TokenCommand.run(wrong, in: "/no").status == 1)
    }
  }

  @Test func `rules are checked with their places`() async throws {
    try await withTemporaryDirectory { directory in
      let folder = directory.path
      func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: directory.appending(path: name))
        return "\(folder)/\(name)"
      }
      let good = try write("f.rules", "rules_version = '2';\nservice cloud.firestore { }")
      let wrong = try write("s.rules", "rules_version = '2';\nservice firebase.storage { match }")
      let tree = try write("d.json", #"{"rules":{".read":true}}"#)
      #expect(await RulesCommand.run(["check", good, tree], in: folder).status == 0)
      let result = await RulesCommand.run(["check", good, wrong], in: folder)
      #expect(result.status == 1 && result.text.contains("s.rules:2:"), "\(result.text)")
      #expect(await RulesCommand.run(["check"], in: folder).status == 1)
      _ = try write("firebase.json", #"{"storage":{"rules":"s.rules"}}"#)
      #expect(await RulesCommand.run(["check"], in: folder).text.contains("s.rules:2:"))
      let doctor = await DoctorCommand.run(Self.freePorts, in: folder)
      #expect(doctor.status == 1 && doctor.text.contains("s.rules:2:"))
    }
  }

  private static let freePorts = ["", "-auth", "-database", "-firestore", "-functions", "-hub", "-storage"]
    .flatMap { ["--port\($0)", "0"] }

  @Test func `cases of rules are checked, and one that does not hold shows the decision`() async throws {
    try await withTemporaryDirectory { directory in
      func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: directory.appending(path: name))
        return directory.appending(path: name).path
      }
      _ = try write(
        "f.rules",
        """
        rules_version = '2';
        service cloud.firestore { match /databases/{d}/documents/notes/{id} {
          allow get: if resource.data.owner == request.auth.uid || request.auth.token.admin;
          allow write: if request.resource.data.n > 1;
        } }
        """)
      let start = #"{"rules":"f.rules","documents":{"notes/a":{"owner":"ada","n":1}},"cases":["#
      let good = [
        #"{"allows":"get","path":"notes/a","as":{"uid":"ada"}}"#, #"{"denies":"get","path":"notes/a"}"#,
        #"{"allows":"get","path":"notes/a","as":{"uid":"eve","claims":{"admin":true}}}"#,
        #"{"allows":"update","path":"notes/a","to":{"n":2}}"#, #"{"denies":"set","path":"notes/b","to":{"n":1}}"#,
        #"{"denies":"delete","path":"notes/a"}"#,
      ]
      let lcov = directory.appending(path: "lcov").path
      let file = try write("good.json", start + good.joined(separator: ",") + "]}")
      let passed = await RulesCommand.run(["test", file, "--coverage", lcov], in: "/no")
      #expect(passed.status == 0 && passed.text.hasSuffix("6 passed, 0 failed"), "\(passed.text)")
      #expect(try String(contentsOfFile: lcov, encoding: .utf8).contains("DA:3,"))
      let wrong = try write("wrong.json", start + #"{"denies":"get","path":"notes/a","as":{"uid":"ada"}}]}"#)
      let failed = await RulesCommand.run(["test", wrong], in: "/no")
      #expect(failed.status == 1 && failed.text.contains("allow at line 3"), "\(failed.text)")
      for text in ["", "{}", start + "{}]}", start + #"{"allows":"get","path":"notes"}]}"#] {
        #expect(await RulesCommand.run(["test", try write("x.json", text)], in: "/no").status == 1)
      }
    }
  }

  @Test func `the line of a request has neither query nor control characters`() {
    let line = RequestLog.line("auth", "POST", "/v1/a\u{1B}[31m?key=secret", "200", 1_250)
    #expect(line == "auth POST /v1/a[31m 200 1.3 ms")
  }

  @Test func `options of running are read`() throws {
    let parsed = try ServeArguments(
      ["--import=a", "--export-on-exit", "--verbose", "--log-format", "json"], in: "/no", keepsData: false)
    #expect(parsed.importPath == "a" && parsed.exportPath == "a" && parsed.logsJSON && parsed.settings.isVerbose)
    #expect(parsed.settings.data == nil && parsed.settings.products == nil)
    #expect(try ServeArguments(["--import", "a"], in: "/no").settings.data == nil)
    #expect(try ServeArguments(["--import", "a", "--data", "d"], in: "/no").settings.data == "d")
    #expect(try ServeArguments(["--only", "auth,storage:x"], in: "/no").settings.products == ["auth", "storage"])
    #expect(try ServeArguments(["--export-on-exit", "b"], in: "/no").exportPath == "b")
    #expect(try ServeArguments(["--store", "postgres://u@h/d"], in: "/no").settings.postgres == "postgres://u@h/d")
    for wrong in [
      ["--export-on-exit"], ["--log-format", "xml"], ["--store", "x"], ["--memory", "--store=postgres://h"],
    ] {
      #expect(throws: ServerError.self) { try ServeArguments(wrong, in: "/no") }
    }
  }
}
