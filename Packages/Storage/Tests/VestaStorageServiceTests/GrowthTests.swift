import Testing
import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaTesting

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

  @Test func `a bounded number of uploads stay open, and the one that was idle for longest is closed`() async throws {
    let uploads = ActiveUploads()
    for number in 0..<1_000 {
      let id = UploadID(rawValue: "u\(number)")
      #expect(try await uploads.take(id, waiting: 0) == nil)
      let surplus = uploads.put(id, try upload(number), limit: 8)
      #expect(surplus?.id.rawValue == (number < 8 ? nil : "u\(number - 8)"))
      if let surplus {
        // It is not opened again before it is closed.
        await #expect(throws: StorageServiceError.self) { try await uploads.take(surplus.id, waiting: 0) }
        #expect(uploads.put(surplus.id, nil, limit: 8) == nil)
      }
      #expect(uploads.count <= 8)
    }
    // One that ends while it is in use leaves nothing.
    for number in 992..<1_000 {
      let id = UploadID(rawValue: "u\(number)")
      #expect(try await uploads.take(id, waiting: 0) != nil)
      _ = uploads.put(id, nil, limit: 8)
    }
    #expect(uploads.count == 0)
    #expect(await uploads.removeAll().isEmpty)
  }

  @Test func `calls on one upload take turns, leaving ones lose theirs, and too many are refused`() async throws {
    let (uploads, id, order) = (ActiveUploads(), UploadID(rawValue: "u"), Log<Int>())
    #expect(try await uploads.take(id, waiting: 2) == nil)
    var calls: [Task<Void, any Error>] = []
    for number in 0..<2 {
      calls.append(
        Task {
          _ = try await uploads.take(id, waiting: 2)
          order.add(number)
        })
      while uploads.waitingCount <= number { await Task.yield() }
    }
    await #expect { _ = try await uploads.take(id, waiting: 2) } throws: {
      ($0 as? StorageServiceError)?.code == .aborted
    }
    calls[0].cancel()
    _ = await calls[0].result
    #expect(uploads.waitingCount == 1)
    #expect(uploads.put(id, try upload(1), limit: 8) == nil)
    try await calls[1].value
    #expect(order.entries == [1])
    _ = uploads.put(id, nil, limit: 8)
    #expect(uploads.count == 0 && uploads.waitingCount == 0)
  }
}
