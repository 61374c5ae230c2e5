import FirebaseCore
import Foundation
import Testing

@Suite(.serialized) struct CoreProgramTests {
  @Test func `a program with several apps runs as it is`() async throws {
    let name = "second-\(UUID().uuidString)"
    let app = try #require(AppSetup.secondary(name))
    #expect(app.name == name)
    #expect(app.options.projectID == "projectid-12345" && app.options.gcmSenderID == "27992087142")
    #expect(FirebaseApp.allApps?[name] === app)
    app.isDataCollectionDefaultEnabled = false
    #expect(!app.isDataCollectionDefaultEnabled)
    #expect(AppSetup.quiet())
    #expect(!FirebaseVersion().isEmpty)
    #expect(await answer { AppSetup.remove(app, $0) })
  }

  @Test func `options are read from a file, and none from an absent file`() async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("Info-\(UUID().uuidString).plist")
    defer { try? FileManager.default.removeItem(at: file) }
    let content: [String: Any] = [
      "GOOGLE_APP_ID": "1:1234:ios:abc", "GCM_SENDER_ID": "1234", "PROJECT_ID": "from-file", "API_KEY": "key",
      "BUNDLE_ID": "com.example.file", "STORAGE_BUCKET": "bucket",
    ]
    try PropertyListSerialization.data(fromPropertyList: content, format: .xml, options: 0).write(to: file)
    let app = try #require(AppSetup.fromFile(file.path, "file-\(UUID().uuidString)"))
    #expect(app.options.projectID == "from-file" && app.options.storageBucket == "bucket")
    #expect(AppSetup.fromFile(file.path + ".absent", "absent-\(UUID().uuidString)") == nil)
    _ = await app.delete()
  }
}
