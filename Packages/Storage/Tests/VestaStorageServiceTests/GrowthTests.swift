import Testing
import VestaBytes
import VestaStorageBackend

@testable import VestaStorageService

/// The memory of the engine for uploads does not grow with their number.
@Suite struct GrowthTests {
  private func upload(_ number: Int) throws -> ActiveUpload {
    let blob = try #require(
      BlobID(rawValue: Hex.encode((0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8)) })))
    return ActiveUpload(
      id: UploadID(rawValue: "u\(number)"), blob: blob, expires: 0, writer: nil, digest: nil, digestLimit: 0,
      progress: ActiveUpload.Progress(size: 0, checksum: CRC32C(), checkpoint: 0))
  }

  @Test func `so many uploads stay open, and the one that was idle for longest is closed`() async throws {
    let uploads = ActiveUploads()
    for number in 0..<1_000 {
      let id = UploadID(rawValue: "u\(number)")
      #expect(try uploads.take(id) == nil)
      let surplus = uploads.put(id, try upload(number), limit: 8)
      #expect(surplus?.id.rawValue == (number < 8 ? nil : "u\(number - 8)"))
      if let surplus {
        // Nobody opens it again before it is closed.
        #expect(throws: StorageServiceError.self) { try uploads.take(surplus.id) }
        #expect(uploads.put(surplus.id, nil, limit: 8) == nil)
      }
      #expect(uploads.count <= 8)
    }
    // One that ends while it is in use leaves nothing.
    for number in 992..<1_000 {
      let id = UploadID(rawValue: "u\(number)")
      #expect(try uploads.take(id) != nil)
      _ = uploads.put(id, nil, limit: 8)
    }
    #expect(uploads.count == 0)
    #expect(await uploads.removeAll().isEmpty)
  }
}
