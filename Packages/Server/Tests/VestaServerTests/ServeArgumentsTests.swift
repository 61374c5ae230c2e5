import Foundation
import Testing
import VestaTesting

@testable import VestaServer

/// Arguments and `firebase.json`.
@Suite struct ServeArgumentsTests {
  private func settings(_ arguments: String...) throws -> ServerSettings {
    try ServeArguments(arguments, in: "/no/such/directory").settings
  }

  @Test func `without arguments everything is the suite's, on this machine alone`() throws {
    let settings = try settings()
    #expect(settings.project == "demo-no-project" && settings.isDevelopment)
    #expect(settings.hosts == ["127.0.0.1", "::1"])
    #expect(settings.data == "/no/such/directory/.vesta")
    #expect(settings.port(of: "firestore") == 8_080 && settings.port(of: "hub") == 4_400)
    #expect(settings.port(of: "remoteConfig") == nil)
  }

  @Test func `arguments are read in both forms`() throws {
    let settings = try settings(
      "--project=p", "--data", "/d", "--port-firestore", "0", "--port=1", "--host", "0.0.0.0", "--production")
    #expect(settings.project == "p" && settings.data == "/d" && !settings.isDevelopment)
    #expect(settings.ports == ["firestore": 0, "all": 1] && settings.hosts == ["0.0.0.0"])
    #expect(try self.settings("--memory").data == nil)
    #expect(try self.settings("--host", "localhost").hosts == ServerSettings.loopback)
  }

  @Test func `the contact for push services is a mail address or a page of https`() throws {
    #expect(try settings().pushContact == nil)
    for contact in ["mailto:push@example.com", "https://example.com/contact"] {
      #expect(try settings("--push-contact", contact).pushContact == contact)
    }
    for wrong in ["push@example.com", "http://example.com/", "mailto:", "mailto:a", "mailto:a@", "mailto:a@b c", "x"] {
      #expect(throws: ServerError.self) { try settings("--push-contact", wrong) }
    }
  }

  @Test(arguments: [
    ["--project"], ["--port", "x"], ["--port", "65536"], ["--port-none", "1"], ["--what"], ["--memory=1"], ["a"],
    ["--config", "/no/such/file"], ["--push-contact"],
  ])
  func `what is wrong in arguments is said`(arguments: [String]) {
    #expect(throws: ServerError.self) { try ServeArguments(arguments, in: "/no/such/directory") }
  }

  @Test func `rules are found next to the file that names them`() async throws {
    try await withTemporaryDirectory { directory in
      let json = #"{"firestore":{"rules":"rules/f.rules"},"storage":{"rules":"/absolute/s.rules"}}"#
      try Data(json.utf8).write(to: directory.appending(path: "firebase.json"))
      let folder = directory.standardizedFileURL.path(percentEncoded: false)
      let path = folder.hasSuffix("/") ? String(folder.dropLast()) : folder
      for arguments in [[], ["--config", "\(path)/firebase.json"]] {
        let settings = try ServeArguments(arguments, in: path).settings
        #expect(settings.rules == ["firestore": "\(path)/rules/f.rules", "storage": "/absolute/s.rules"])
      }
    }
  }

  @Test func `ports and hosts are read from firebase json`() throws {
    let json = #"{"emulators":{"firestore":{"host":"h","port":1},"hub":{"port":2},"ui":{"enabled":false},"x":1}}"#
    let configuration = try FirebaseFile(json: Array(json.utf8))
    #expect(configuration.ports == ["firestore": 1, "hub": 2] && configuration.hosts == ["firestore": "h"])
    for wrong in ["", "[]", #"{"emulators":{"hub":{"port":"x"}}}"#, #"{"emulators":{"hub":{"port":70000}}}"#] {
      #expect(throws: ServerError.self) { try FirebaseFile(json: Array(wrong.utf8)) }
    }
    let rules = #"{"firestore":{"rules":"f.rules"},"storage":[{"bucket":"b","rules":"s.rules"}],"database":{}}"#
    #expect(try FirebaseFile(json: Array(rules.utf8)).rules == ["firestore": "f.rules", "storage": "s.rules"])
    #expect(FirebaseFile.defaultProject(json: Array(#"{"projects":{"default":"p"}}"#.utf8)) == "p")
  }
}
