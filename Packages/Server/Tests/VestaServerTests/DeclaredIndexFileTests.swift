import Foundation
import Testing
import VestaFirestoreBackend
import VestaServiceInterop
import VestaTesting

@testable import VestaServer

/// The indexes of a file, next to the indexes that the administration has made.
@Suite struct DeclaredIndexFileTests {
  private static func file(_ groups: String...) -> String {
    let indexes = groups.map { group in
      #"{"collectionGroup":"\#(group)","queryScope":"COLLECTION","fields":[{"fieldPath":"a","order":"ASCENDING"},"#
        + #"{"fieldPath":"b","order":"ASCENDING"}]}"#
    }
    return #"{"indexes":[\#(indexes.joined(separator: ","))]}"#
  }

  @Test func `a start adds the indexes of its file, and keeps the indexes that were made by the administration`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let file = directory.appending(path: "firestore.indexes.json")
      try Data(Self.file("a").utf8).write(to: file)
      var settings = ServerSettings(project: "demo", isDevelopment: true)
      settings.indexes = ["(default)": file.path]
      let host = ServerHost(settings)
      await DeclaredIndexFiles(settings).declare(in: host)
      let database = "projects/demo/databases/(default)"
      let admin = try host.backend((any FirestoreAdminBackend).self, project: "demo")
      #expect(try await admin.indexes(of: database, context: .owner) == Self.file("a"))

      try await admin.setIndexes(Self.file("a", "made"), of: database, context: .owner)
      try Data(Self.file("a", "b").utf8).write(to: file)
      await DeclaredIndexFiles(settings).declare(in: host)
      #expect(try await admin.indexes(of: database, context: .owner) == Self.file("a", "made", "b"))
      await host.apps.close()
    }
  }
}
