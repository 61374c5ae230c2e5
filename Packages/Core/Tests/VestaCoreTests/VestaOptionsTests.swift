import Dispatch
import Foundation
import Testing
import VestaTesting

@testable import VestaCore

@Suite struct VestaOptionsTests {
  private func error(_ body: () throws -> Void) throws -> VestaError {
    try #require(throws: VestaError.self) { try body() }
  }

  private static let propertyList = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0"><dict>
      <key>API_KEY</key><string>key-1</string>
      <key>GCM_SENDER_ID</key><string>42</string>
      <key>BUNDLE_ID</key><string>com.example.shop</string>
      <key>PROJECT_ID</key><string>shop</string>
      <key>STORAGE_BUCKET</key><string>shop.example.com</string>
      <key>IS_ADS_ENABLED</key><false></false>
      <key>GOOGLE_APP_ID</key><string>1:42:ios:abc</string>
      <key>DATABASE_URL</key><string>https://shop.example.com</string>
      <key>CLIENT_ID</key><string>client-1</string>
    </dict></plist>
    """

  private static let json = """
    {"project_info": {"project_number": "42", "project_id": "shop", "storage_bucket": "b", "firebase_url": "u"},
     "client": [
       {"client_info": {"mobilesdk_app_id": "1:42:android:1", "android_client_info": {"package_name": "com.one"}},
        "oauth_client": [{"client_id": "c1", "client_type": 3}], "api_key": [{"current_key": "k1"}]},
       {"client_info": {"mobilesdk_app_id": "1:42:android:2", "android_client_info": {"package_name": "com.two"}},
        "oauth_client": [], "api_key": [{"current_key": "k2"}]}],
     "configuration_version": "1"}
    """

  private func withFile(_ name: String, _ text: String, _ body: (String) throws -> Void) async throws {
    try await withTemporaryDirectory { directory in
      let file = directory.appending(path: name)
      try Data(text.utf8).write(to: file)
      try body(file.path)
    }
  }

  @Test func `a property list is read in full`() async throws {
    try await withFile("GoogleService-Info.plist", Self.propertyList) { path in
      let options = try VestaOptions(file: path)
      #expect(options.googleAppID == "1:42:ios:abc")
      #expect(options.gcmSenderID == "42")
      #expect(options.projectID == "shop")
      #expect(options.apiKey == "key-1")
      #expect(options.clientID == "client-1")
      #expect(options.bundleID == "com.example.shop")
      #expect(options.storageBucket == "shop.example.com")
      #expect(options.databaseURL == "https://shop.example.com")
      #expect(VestaOptions(contentsOfFile: path) == options)
    }
  }

  @Test func `a services file gives the first app or the one that is named`() async throws {
    try await withFile("google-services.json", Self.json) { path in
      let first = try VestaOptions(file: path)
      #expect(first.googleAppID == "1:42:android:1" && first.apiKey == "k1" && first.clientID == "c1")
      #expect(first.projectID == "shop" && first.gcmSenderID == "42" && first.bundleID == "com.one")
      #expect(first.databaseURL == "u" && first.storageBucket == "b")
      #expect(try VestaOptions(file: path, packageName: "com.two").googleAppID == "1:42:android:2")
      #expect(try error { _ = try VestaOptions(file: path, packageName: "com.none") }.code == .invalidOption)
    }
  }

  @Test func `a file that is not there is named`() throws {
    let error = try error { _ = try VestaOptions(file: "/nowhere/GoogleService-Info.plist") }
    #expect(error.code == .optionsFileUnreadable)
    #expect(error.message.contains("/nowhere/GoogleService-Info.plist"))
    #expect(VestaOptions(contentsOfFile: "/nowhere/GoogleService-Info.plist") == nil)
  }

  @Test(arguments: ["", "{", "[]", "<plist>", "\u{0}\u{1}\u{2}", #"{"client": 3}"#])
  func `a malformed file is an error`(text: String) async throws {
    for name in ["a.json", "a.plist"] {
      try await withFile(name, text) { path in
        let error = try error { _ = try VestaOptions(file: path) }
        #expect([.optionsFileMalformed, .invalidOption].contains(error.code))
        #expect(error.message.contains(path))
      }
    }
  }

  @Test(arguments: ["GOOGLE_APP_ID", "GCM_SENDER_ID"])
  func `a property list that lacks a field names it`(field: String) async throws {
    let text = Self.propertyList.replacingOccurrences(of: field, with: "OTHER")
    try await withFile("a.plist", text) { path in
      let error = try error { _ = try VestaOptions(file: path) }
      #expect(error.code == .invalidOption)
      #expect(error.message.contains(field))
    }
  }

  @Test(arguments: ["project_id", "project_number", "mobilesdk_app_id"])
  func `a services file that lacks a field names it`(field: String) async throws {
    try await withFile("a.json", Self.json.replacingOccurrences(of: field, with: "other")) { path in
      let error = try error { _ = try VestaOptions(file: path) }
      #expect(error.code == .invalidOption)
      #expect(error.message.contains(field))
    }
  }

  @Test func `an empty environment is an embedded app without a project`() throws {
    let options = try VestaOptions.fromEnvironment([:])
    #expect(options == VestaOptions())
    #expect(options.backend == .embedded())
    #expect(options.projectID == VestaOptions.programProject)
    #expect(VestaOptions.programProject.wholeMatch(of: /demo-[a-z0-9-]+/) != nil)
  }

  @Test func `the environment takes precedence over the file that it names`() async throws {
    try await withFile("google-services.json", Self.json) { path in
      let options = try VestaOptions.fromEnvironment([
        "VESTA_OPTIONS_FILE": path, "VESTA_PROJECT_ID": "other", "VESTA_BACKEND": "emulator:localhost:8080",
      ])
      #expect(options.projectID == "other" && options.apiKey == "k1")
      #expect(options.backend == .emulator(host: "localhost", port: 8080))
    }
  }

  @Test func `every variable is read`() throws {
    let options = try VestaOptions.fromEnvironment([
      "VESTA_API_KEY": "k", "VESTA_APP_ID": "a", "VESTA_SENDER_ID": "s", "VESTA_DATABASE_URL": "d",
      "VESTA_STORAGE_BUCKET": "b", "VESTA_DIRECTORY": "/data", "VESTA_BACKEND": "embedded",
    ])
    #expect(options.apiKey == "k" && options.googleAppID == "a" && options.gcmSenderID == "s")
    #expect(options.databaseURL == "d" && options.storageBucket == "b")
    #expect(options.backend == .embedded(directory: URL(filePath: "/data")))
  }

  @Test(arguments: [
    "cloud", "emulator", "emulator:", "emulator::1", "emulator:h:0", "emulator:h:65536", "emulator:h:x",
  ])
  func `an unknown backend is refused`(text: String) throws {
    let error = try error { _ = try VestaOptions.fromEnvironment(["VESTA_BACKEND": text]) }
    #expect(error.code == .invalidOption)
    #expect(error.message.contains(text))
  }

  @Test func `an emulator may have an address with colons`() throws {
    let options = try VestaOptions.fromEnvironment(["VESTA_BACKEND": "emulator:[::1]:9099"])
    #expect(options.backend == .emulator(host: "[::1]", port: 9099))
    #expect(options.backend.description == "emulator:[::1]:9099")
  }

  @Test func `options without a project have one id for resource names, and others their own`() {
    let options = VestaOptions(googleAppID: "a", gcmSenderID: "b")
    #expect(options.projectID == nil && options.resourceProjectID == "no-project")
    options.projectID = "shop"
    #expect(options.resourceProjectID == "shop")
    #expect(VestaOptions().resourceProjectID == VestaOptions.programProject)
  }

  @Test func `a copy is equal and independent`() {
    let options = VestaOptions(googleAppID: "a", gcmSenderID: "b")
    options.callbackQueue = DispatchQueue(label: "q")
    let copy = options.copy()
    #expect(copy == options && copy.hashValue == options.hashValue && copy !== options)
    copy.apiKey = "k"
    #expect(copy != options && options.apiKey == nil)
  }

  @Test func `the description holds no key`() {
    let options = VestaOptions(projectID: "p")
    options.apiKey = "very-secret"
    #expect(!options.description.contains("very-secret"))
  }

  private func layout(
    _ options: VestaOptions, _ name: String = "x", _ environment: [String: String] = [:]
  ) -> DataLayout {
    DataLayout(options: options, appName: name, environment: environment)
  }

  @Test func `data lives in the given directory or below the user's own, by project and app`() {
    let given = VestaOptions(projectID: "p", backend: .embedded(directory: URL(filePath: "/data")))
    #expect(layout(given).appDirectory.path == "/data/p/x")
    #expect(layout(given, VestaApp.defaultName).appDirectory.path == "/data/p/(default)")
    #expect(layout(given).enginesPath == "/data/p/(engines)")
    #expect(layout(given, "y").enginesPath == layout(given).enginesPath)
    let own = VestaOptions(projectID: "p")
    #expect(layout(own, "x", ["XDG_DATA_HOME": "/xdg", "HOME": "/h"]).appDirectory.path == "/xdg/vesta/p/x")
    #expect(layout(own, "x", ["HOME": "/h"]).appDirectory.path == "/h/.local/share/vesta/p/x")
    #expect(layout(own, "x", ["HOME": "/h"]).enginesPath == "/h/.local/share/vesta/p/(engines)")
    let named = ["VESTA_DIRECTORY": "/named", "XDG_DATA_HOME": "/xdg"]
    #expect(layout(own, "x", named).appDirectory.path == "/named/p/x")
    #expect(layout(given, "x", named).appDirectory.path == "/data/p/x")
    for environment in [[:], ["HOME": ""], ["XDG_DATA_HOME": "relative", "HOME": "relative"]] {
      let path = layout(own, "x", environment).appDirectory.path
      #expect(path.hasPrefix("/") && path.hasSuffix("/.local/share/vesta/p/x"), "\(environment)")
    }
  }

  @Test func `no project's folder is above or next to its own`() {
    let base = URL(filePath: "/data")
    func folder(_ project: String?) -> String {
      let options = VestaOptions(projectID: "p", backend: .embedded(directory: base))
      options.projectID = project
      return layout(options).project
    }
    #expect(folder("my-shop_1.x") == "my-shop_1.x")
    #expect(folder("..") == "%..")
    #expect(folder("") == "%")
    #expect(folder("a/b") == "a%2Fb" && folder("(default)") == "%28default%29")
    #expect(folder(nil) == "(none)-\(VestaOptions.programProject)")
    #expect(Set(["..", "", "a/b", "a%2Fb", "(default)", ".", "%", "%."].map(folder)).count == 8)
  }

  @Test func `the options file of a program is found next to it`() async throws {
    try await withTemporaryDirectory { directory in
      let (first, second) = (directory.appending(path: "first"), directory.appending(path: "second"))
      for folder in [first, second] {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      }
      #expect(try VestaOptions.found([:], in: [first, second]) == VestaOptions())
      try Data(Self.json.utf8).write(to: second.appending(path: "google-services.json"))
      let found = try VestaOptions.found(["VESTA_API_KEY": "mine"], in: [first, second])
      #expect(found.projectID == "shop" && found.apiKey == "mine" && found.backend == .embedded())
      // A file that is there and cannot be used is an error, and not another project.
      try Data("{".utf8).write(to: first.appending(path: "GoogleService-Info.plist"))
      let error = #expect(throws: VestaError.self) { try VestaOptions.found([:], in: [first, second]) }
      #expect(error?.code == .optionsFileMalformed && error?.message.contains("first/GoogleService-Info.plist") == true)
      let named = ["VESTA_OPTIONS_FILE": second.appending(path: "google-services.json").path]
      #expect(try VestaOptions.found(named, in: [first, second]).projectID == "shop")
    }
  }
}
