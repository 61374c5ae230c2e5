public import VestaStorageBackend
public import VestaTesting

/// The promises of `BlobStore`, for any implementation.
public enum BlobContracts {
  /// All of them.
  public static let all: [Contract<any BlobStore>] = [
    Contract("a sealed blob has the bytes that were appended") { store in
      let writer = try await store.write(try id("a1"), keeping: 0)
      try await writer.append([1, 2, 3])
      try await writer.append([])
      try await writer.append([4])
      try expect(writer.size, equals: 4, "size")
      try await writer.seal()
      let reader = try await store.read(try id("a1"))
      try expect(reader.size, equals: 4, "size")
      try expect(try await reader.read(at: 1, length: 100), equals: [2, 3, 4], "content from 1 on")
      try expect(try await reader.read(at: 4, length: 1), equals: [], "content at the end")
      reader.close()
    },
    Contract("a blob that is not sealed cannot be read, and is there to go on") { store in
      let writer = try await store.write(try id("a1"), keeping: 0)
      try await writer.append([1, 2, 3])
      try await writer.sync()
      try await expectCode(.notFound, "read") { try await store.read(try id("a1")) }
      writer.close()
      let unsealed = try await store.readUnsealed(try id("a1"))
      try expect(try await unsealed.read(at: 0, length: 9), equals: [1, 2, 3], "unsealed content")
      unsealed.close()
      let next = try await store.write(try id("a1"), keeping: 2)
      try await next.append([9])
      try await next.seal()
      let reader = try await store.read(try id("a1"))
      try expect(try await reader.read(at: 0, length: 9), equals: [1, 2, 9], "content")
      reader.close()
    },
    Contract("a blob with fewer bytes than were to be kept is not found") { store in
      let writer = try await store.write(try id("a1"), keeping: 0)
      try await writer.append([1])
      writer.close()
      try await expectCode(.notFound, "too few bytes") { try await store.write(try id("a1"), keeping: 2) }
      try await expectCode(.notFound, "no blob") { try await store.write(try id("a2"), keeping: 1) }
    },
    Contract("a sealed blob cannot be written") { store in
      try await store.write(try id("a1"), keeping: 0).seal()
      try await expectCode(.sealed, "write") { try await store.write(try id("a1"), keeping: 0) }
    },
    Contract("an open reader reads on after the blob was removed") { store in
      let writer = try await store.write(try id("a1"), keeping: 0)
      try await writer.append([1, 2, 3])
      try await writer.seal()
      let reader = try await store.read(try id("a1"))
      try await store.remove(try id("a1"))
      try expect(try await reader.read(at: 0, length: 3), equals: [1, 2, 3], "content")
      reader.close()
      try await expectCode(.notFound, "a removed blob") { try await store.read(try id("a1")) }
    },
    Contract("removing works for sealed, unsealed and absent blobs, and the list knows") { store in
      try await store.write(try id("a1"), keeping: 0).seal()
      let open = try await store.write(try id("b2"), keeping: 0)
      open.close()
      let names = try await store.list().map(\.rawValue).sorted()
      try expect(names, equals: ["a1", "b2"], "list")
      for blob in ["a1", "b2", "c3"] { try await store.remove(try id(blob)) }
      try expect(try await store.list().count, equals: 0, "blobs after removing")
    },
  ]

  private static func id(_ text: String) throws -> BlobID { try expectValue(BlobID(rawValue: text), "blob id") }

  private static func expectCode<Value>(
    _ code: BlobError.Code, _ what: String, file: String = #fileID, line: Int = #line,
    _ operation: () async throws -> Value
  ) async throws {
    let error = try await expectThrows(BlobError.self, what, file: file, line: line, operation)
    try expect(error.code, equals: code, what, file: file, line: line)
  }
}
