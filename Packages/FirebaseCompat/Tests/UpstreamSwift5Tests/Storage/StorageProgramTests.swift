import FirebaseCore
import FirebaseStorage
import Foundation
import Testing

@Suite(.serialized) struct StorageProgramTests {
  @Test func `a program with Storage runs as it is`() async throws {
    try await withApp("storage") { app in
      let model = AlbumModel(storage: Storage.storage(app: app))
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("river-\(UUID().uuidString).jpg")
      try Data(repeating: 7, count: 700_000).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }

      let (size, url) = await answer { done in
        model.upload(Data("water".utf8), to: "images/rivers.jpg") { done(($0, $1)) }
      }
      #expect(size == 5)
      #expect(url?.absoluteString.contains("rivers.jpg") == true)
      #expect(await answer { model.uploadFile(file, to: "images/big.jpg", $0) } == "image/jpeg")
      let absent = file.appendingPathExtension("absent")
      #expect(await answer { model.uploadFile(absent, to: "images/none.jpg", $0) } == "unknown")
      let (data, _) = await answer { done in model.download("images/rivers.jpg") { done(($0, $1)) } }
      #expect(data == Data("water".utf8))
      let (_, code) = await answer { done in model.download("images/sea.jpg") { done(($0, $1)) } }
      #expect(code == .objectNotFound)
      let copy = file.appendingPathExtension("copy")
      defer { try? FileManager.default.removeItem(at: copy) }
      #expect(await answer { model.downloadToFile("images/big.jpg", copy, $0) } == copy)
      #expect(try Data(contentsOf: copy).count == 700_000)
      #expect(await answer { model.list("images", $0) } == ["big.jpg", "rivers.jpg"])
      #expect(await answer { model.list("", $0) } == ["images/"])
      let (count, hasMore) = await answer { done in model.page("images") { done(($0, $1)) } }
      #expect(count == 1 && hasMore)
      #expect(await answer { model.describe("images/big.jpg", $0) } == "public,max-age=300")
      let outcome1 = try await model.modern("notes/a.txt")
      #expect(outcome1 == ["a.txt", "notes/a.txt", "notes/a.txt"])
    }
  }
}
