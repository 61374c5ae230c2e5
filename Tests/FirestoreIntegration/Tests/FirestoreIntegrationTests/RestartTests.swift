import Foundation
import Testing
import VestaCore
import VestaCrypto
import VestaCryptoInterop
import VestaFirestoreBackend
import VestaFirestoreService
import VestaSQLite
import VestaStoreInterop

@testable import FirestoreCrashWorker

@Suite struct RestartTests {
  private func withDirectory<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
    let directory = FileManager.default.temporaryDirectory.appending(path: "vesta-firestore-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    return try await body(directory)
  }

  @Test func `a token resumes after a restart`() async throws {
    try await withDirectory { directory in
      var memories = [
        Memory(StructuredQuery(from: [.init(collectionID: "rooms")])),
        Memory(StructuredQuery(from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: "n")], limit: 3)),
      ]
      for round in 0..<3 {
        let engine = try await Worker.engine(in: directory.path)
        if round > 0 {
          try await engine.commit([
            .delete("\(root)/rooms/\(round)"),
            .update(Document(name: "\(root)/rooms/9", fields: ["n": .integer(Int64(-round))])),
          ])
        } else {
          try await engine.commit(
            (0..<10).map {
              .update(Document(name: "\(root)/rooms/\($0)", fields: ["n": .integer(Int64($0))]))
            })
        }
        for index in memories.indices {
          try await memories[index].catchUp(with: engine)
          #expect(!memories[index].wasReset)
          let found = try await engine.documents(memories[index].query)
          #expect(Set(memories[index].documents.values) == Set(found))
        }
        try await engine.close()
      }
    }
  }

  /// The app is put together from the libraries; the engine finds the digest for its filters by itself.
  @Test func `an app with cryptography sends names, and one without sends the count`() async throws {
    for libraries: [any Library.Type] in [
      [FirestoreServiceLibrary.self, SQLiteLibrary.self, CryptoLibrary.self],
      [FirestoreServiceLibrary.self, SQLiteLibrary.self],
    ] {
      try await withDirectory { directory in
        let options = VestaOptions(projectID: "demo", backend: .embedded(directory: directory))
        let app = try VestaApp.configure(name: directory.lastPathComponent, options: options, libraries: libraries)
        let engine = try app.container.require((any FirestoreBackend).self)
        try await engine.commit(
          (0..<20).map { .update(Document(name: "\(root)/rooms/\($0)", fields: ["n": .integer(Int64($0))])) })
        var memory = Memory(StructuredQuery(from: [.init(collectionID: "rooms")]))
        try await memory.catchUp(with: engine)
        try await memory.catchUp(with: engine, believing: 25)
        #expect(memory.filter?.count == 20)
        let names = memory.filter?.unchangedNames
        #expect((names != nil) == (libraries.count == 3))
        if let names { try check(names) }
        await app.delete()
      }
    }
  }

  /// Looks names up as a client does, with its own arithmetic.
  private func check(_ filter: BloomFilterMessage) throws {
    let crypto = OpenSSLCrypto()
    let bitCount = UInt64(filter.bitmap.count * 8) - UInt64(filter.padding)
    func mayContain(_ name: String) throws -> Bool {
      let digest = try crypto.digest(.md5, of: Array(name.utf8).span.bytes)
      let (first, second) = (littleEndian(digest[..<8]), littleEndian(digest[8...]))
      return (0..<UInt64(filter.hashCount)).allSatisfy { index in
        let bit = Int((first &+ index &* second) % bitCount)
        return filter.bitmap[bit / 8] & 1 << UInt8(bit % 8) != 0
      }
    }
    for number in 0..<20 { #expect(try mayContain("\(root)/rooms/\(number)")) }
    #expect(try (20..<1020).count { try mayContain("\(root)/rooms/\($0)") } < 5)
  }

  private func littleEndian(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
