import VestaBytes
public import VestaStorageBackend
public import VestaTesting

/// The promises of `BlobStore`, for any implementation.
public enum BlobContracts {
  /// All of them.
  public static let all: [Contract<any BlobStore>] = content + lifetime

  /// Writing, sealing, reading and listing.
  private static let content: [Contract<any BlobStore>] = [
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
    Contract("a blob that is a file has the same bytes there, also after its reader and itself are gone") { store in
      let writer = try await store.write(try id("a1"), keeping: 0)
      try await writer.append([1, 2, 3, 4])
      try await writer.seal()
      let reader = try await store.read(try id("a1"))
      guard let file = try reader.openFile() else { return }
      try expect(file.read(at: 1, count: 2), equals: [2, 3], "a part")
      reader.close()
      try await store.remove(try id("a1"))
      try expect(file.read(at: 0, count: 9), equals: [1, 2, 3, 4], "all bytes")
      try expect(file.descriptor >= 0, "the file is not open")
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
    Contract("a blob that begins anew has none of its old bytes") { store in
      let old = try await store.write(try id("a1"), keeping: 0)
      try await old.append([1, 2, 3])
      old.close()
      let new = try await store.write(try id("a1"), keeping: 0)
      try expect(new.size, equals: 0, "size at the beginning")
      try await new.append([9])
      try await new.seal()
      try expect(try await bytes(of: store.read(try id("a1"))), equals: [9], "content")
    },
    Contract("an empty blob can be sealed and read") { store in
      try await store.write(try id("a1"), keeping: 0).seal()
      let reader = try await store.read(try id("a1"))
      try expect(reader.size, equals: 0, "size")
      try expect(try await reader.read(at: 0, length: 9), equals: [], "content")
      reader.close()
    },
    Contract("a read has as many bytes as were asked for at most, and none after the end") { store in
      let all = (0..<1_000).map { UInt8($0 % 251) }
      let writer = try await store.write(try id("a1"), keeping: 0)
      for start in stride(from: 0, to: all.count, by: 130) { try await writer.append(Array(all[start...].prefix(130))) }
      try await writer.seal()
      let reader = try await store.read(try id("a1"))
      for (offset, length) in [(0, 1), (0, 1_000), (129, 2), (500, 130), (999, 1), (999, 5)] {
        let found = try await reader.read(at: Int64(offset), length: length)
        try expect(!found.isEmpty && found.count <= length, "\(found.count) bytes of \(length) from \(offset) on")
        try expect(found, equals: Array(all[offset...].prefix(found.count)), "content from \(offset) on")
      }
      for offset in [1_000, 1_001, 1 << 40] as [Int64] {
        try expect(try await reader.read(at: offset, length: 3), equals: [], "content from \(offset) on")
      }
      reader.close()
      try expect(try await bytes(of: store.read(try id("a1"))), equals: all, "content in pieces")
    },
    Contract("blobs do not touch one another, however alike their ids are") { store in
      let names = ["a", "aa", "ab", "b", "a0", String(repeating: "a", count: 64)]
      var writers: [any BlobWriter] = []
      for name in names { writers.append(try await store.write(try id(name), keeping: 0)) }
      for (number, writer) in writers.enumerated() { try await writer.append([UInt8(number)]) }
      for writer in writers { try await writer.seal() }
      try await store.remove(try id("aa"))
      for (number, name) in names.enumerated() where name != "aa" {
        try expect(try await bytes(of: store.read(try id(name))), equals: [UInt8(number)], "content of \(name)")
      }
      let left = try await store.list().map(\.rawValue).sorted()
      try expect(left, equals: names.filter { $0 != "aa" }.sorted(), "blobs, each once")
    },
    Contract("what is sealed is no unsealed blob, and what is not there neither") { store in
      try await store.write(try id("a1"), keeping: 0).seal()
      try await expectCode(.notFound, "a sealed blob") { try await store.readUnsealed(try id("a1")) }
      try await expectCode(.notFound, "no blob") { try await store.readUnsealed(try id("b2")) }
      try await expectCode(.notFound, "no blob") { try await store.read(try id("b2")) }
    },
  ]

  /// Writers and readers, from their beginning to their end.
  private static let lifetime: [Contract<any BlobStore>] = [
    Contract("a blob has one writer at a time, and the next one when that has ended") { store in
      let first = try await store.write(try id("a1"), keeping: 0)
      try await first.append([1])
      try await expectCode(.busy, "a second writer") { try await store.write(try id("a1"), keeping: 0) }
      try await first.append([2])
      first.close()
      let second = try await store.write(try id("a1"), keeping: 2)
      try await second.seal()
      try expect(try await bytes(of: store.read(try id("a1"))), equals: [1, 2], "content")
    },
    Contract("a writer that has ended writes nothing more, and can be ended again") { store in
      let closed = try await store.write(try id("a1"), keeping: 0)
      try await closed.append([1])
      for _ in 0..<2 { closed.close() }
      try await expectFailure("append after the end") { try await closed.append([2]) }
      try await expectFailure("seal after the end") { try await closed.seal() }
      let sealed = try await store.write(try id("b2"), keeping: 0)
      try await sealed.append([1])
      try await sealed.seal()
      try await expectFailure("append to a sealed blob") { try await sealed.append([2]) }
      sealed.close()
      try expect(try await bytes(of: store.read(try id("b2"))), equals: [1], "sealed content")
      try expect(try await bytes(of: store.readUnsealed(try id("a1"))), equals: [1], "unsealed content")
    },
    Contract("a reader that has ended reads nothing more, and can be ended again") { store in
      let writer = try await store.write(try id("a1"), keeping: 0)
      try await writer.append([1, 2, 3])
      try await writer.seal()
      let (reader, other) = (try await store.read(try id("a1")), try await store.read(try id("a1")))
      for _ in 0..<2 { reader.close() }
      try await expectFailure("read after the end") { try await reader.read(at: 0, length: 1) }
      try expect(try await bytes(of: other), equals: [1, 2, 3], "content that another one reads")
    },
    Contract("a reader stays with its blob when another one takes its id") { store in
      let old = try await store.write(try id("a1"), keeping: 0)
      try await old.append([1, 1])
      try await old.seal()
      let reader = try await store.read(try id("a1"))
      try await store.remove(try id("a1"))
      let new = try await store.write(try id("a1"), keeping: 0)
      try await new.append([2, 2, 2])
      try await new.seal()
      try expect(reader.size, equals: 2, "size of the old one")
      try expect(try await bytes(of: reader), equals: [1, 1], "content of the old one")
      try expect(try await bytes(of: store.read(try id("a1"))), equals: [2, 2, 2], "content of the new one")
    },
  ]

  /// All bytes of a reader, which is closed.
  private static func bytes(of reader: any BlobReader) async throws -> [UInt8] {
    defer { reader.close() }
    var bytes: [UInt8] = []
    while true {
      let next = try await reader.read(at: Int64(bytes.count), length: 100)
      if next.isEmpty { return bytes }
      bytes += next
    }
  }

  private static func expectFailure<Value>(
    _ what: String, file: String = #fileID, line: Int = #line, _ operation: () async throws -> Value
  ) async throws {
    _ = try await expectThrows(BlobError.self, what, file: file, line: line, operation)
  }

  private static func id(_ text: String) throws -> BlobID { try expectValue(BlobID(rawValue: text), "blob id") }

  private static func expectCode<Value>(
    _ code: BlobError.Code, _ what: String, file: String = #fileID, line: Int = #line,
    _ operation: () async throws -> Value
  ) async throws {
    let error = try await expectThrows(BlobError.self, what, file: file, line: line, operation)
    try expect(error.code, equals: code, what, file: file, line: line)
  }
}
