import FirebaseCore
import FirebaseStorage
import Foundation
import Testing

@Suite(.serialized) struct StorageTaskProgramTests {
  @Test func `a program that observes, pauses and cancels tasks runs as it is`() async throws {
    try await withApp("tasks") { app in
      let model = TaskModel(storage: Storage.storage(app: app))
      let found1 = try model.walk()
      #expect(found1 == ["images/earth.jpg", "space.jpg", "true", "true", "true", "true"])
      let data = Data(repeating: 7, count: 900_000)
      #expect(await answer { model.pauseAndResume(data, to: "big.bin", $0) } == ["true", "900000", "big.bin"])
      #expect(await answer { model.cancel(data, to: "cancelled.bin", $0) } == .cancelled)
      #expect(await answer { model.results("small.bin", $0) } == "4 4")
      #expect(await answer { model.tooLarge("small.bin", $0) } == "too large")
      #expect(await model.missing() == ["missing", "not found"])
    }
  }

  @Test func `the asynchronous forms store, change, list and fetch files`() async throws {
    try await withApp("files") { app in
      let model = TaskModel(storage: Storage.storage(app: app))
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("file-\(UUID().uuidString).bin")
      let copy = file.appendingPathExtension("copy")
      try Data(repeating: 1, count: 300_000).write(to: file)
      defer { for url in [file, copy] { try? FileManager.default.removeItem(at: url) } }
      let found2 = try await model.modern(file, copy)
      #expect(
        found2 == [
          "application/octet-stream", "300000", "true", "bob", "2", "en", "a.bin b c", "true", "true",
        ])
      let found3 = try Data(contentsOf: copy).count
      #expect(found3 == 300_000)
    }
  }
}
