import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaTesting

extension StorageContracts {
  static let reading: [Contract<any StorageBackend>] = [
    Contract("an open object is read to the end although it is replaced and deleted meanwhile") { backend in
      let old = content(600_000, seed: 2)
      _ = try await upload(old, to: name("a"), in: backend)
      let download = try await backend.openObject(ReadRequest(object: name("a")), context: context)
      var bytes = try await download.content.read(maximumLength: 1000)
      _ = try await upload(content(500_000, seed: 3), to: name("a"), in: backend)
      try await backend.deleteObject(name("a"), preconditions: .none, context: context)
      bytes += try await drain(download)
      try expect(bytes == old, "the content of the opened generation")
    },
    Contract("a range has its bytes and no others") { backend in
      let bytes = content(300_000, seed: 4)
      _ = try await upload(bytes, to: name("large"), in: backend)
      _ = try await backend.putObject(
        UploadRequest(object: name("small")), content: Array(bytes.prefix(900)), context: context)
      for (object, size) in [("large", 300_000), ("small", 900)] {
        for (offset, length) in [(0, 1), (899, 5), (10, 0), (0, nil), (100, nil), (size, nil), (size - 1, 1)]
          as [(Int, Int?)]
        {
          let request = ReadRequest(object: name(object), offset: Int64(offset), length: length.map(Int64.init))
          let part = try await drain(backend.openObject(request, context: context))
          let end = length.map { min(size, offset + $0) } ?? size
          try expect(part == Array(bytes[offset..<end]), "\(object) from \(offset), \(length ?? -1) bytes")
        }
        try await expectCode(.outOfRange, "a range after the end") {
          try await backend.openObject(
            ReadRequest(object: name(object), offset: Int64(size) + 1), context: context)
        }
      }
    },
    Contract("a section of a file has the bytes that are left of a range") { backend in
      let bytes = content(300_000, seed: 5)
      _ = try await upload(bytes, to: name("large"), in: backend)
      let request = ReadRequest(object: name("large"), offset: 1_000, length: 200_000)
      let opened = try await backend.openObject(request, context: context).content
      var expected = bytes[1_000..<201_000]
      for _ in 0..<3 {
        // Content that is no file has no section.
        guard let section = opened.section() else { return opened.close() }
        try expect(section.count, equals: expected.count, "the length of the section")
        try expect(section.file.read(at: section.offset, count: section.count) == Array(expected), "its bytes")
        expected = expected.dropFirst(try await opened.read(maximumLength: 10_000).count)
      }
      let last = opened.section()
      opened.close()
      try await backend.deleteObject(name("large"), preconditions: .none, context: context)
      let read = last.flatMap { $0.file.read(at: $0.offset, count: $0.count) }
      try expect(read == Array(expected), "the bytes of a section after the content is closed and deleted")
    },
    Contract("an object that is not there is not found") { backend in
      try await expectCode(.notFound, "open") {
        try await backend.openObject(ReadRequest(object: name("a")), context: context)
      }
      try await expectCode(.notFound, "get") {
        try await backend.getObject(name("a"), preconditions: .none, context: context)
      }
      try await expectCode(.notFound, "delete") {
        try await backend.deleteObject(name("a"), preconditions: .none, context: context)
      }
      try await expectCode(.notFound, "update") {
        try await backend.updateObject(name("a"), change: MetadataChange(), preconditions: .none, context: context)
      }
    },
  ]

  static let changes: [Contract<any StorageBackend>] = [
    Contract("generations only grow, also over a deletion") { backend in
      var last: Int64 = 0
      for round in 0..<6 {
        let object = try await backend.putObject(UploadRequest(object: name("a")), content: [1], context: context)
        try expect(object.generation > last, "generation \(object.generation) after \(last)")
        try expect(object.metageneration, equals: 1, "metageneration of a new generation")
        last = object.generation
        if round % 2 == 1 { try await backend.deleteObject(name("a"), preconditions: .none, context: context) }
      }
    },
    Contract("a change of metadata sets, keeps and removes fields") { backend in
      let metadata = ObjectMetadata(contentType: "text/plain", cacheControl: "no-store", custom: ["a": "1", "b": "2"])
      let object = try await backend.putObject(
        UploadRequest(object: name("a"), metadata: metadata), content: [1], context: context)
      var change = MetadataChange()
      change.cacheControl = .remove
      change.contentLanguage = .set("de")
      change.custom = .set(["a": nil, "c": "3"])
      let changed = try await backend.updateObject(name("a"), change: change, preconditions: .none, context: context)
      try expect(changed.metadata.contentType, equals: "text/plain", "kept field")
      try expect(changed.metadata.cacheControl, equals: nil, "removed field")
      try expect(changed.metadata.contentLanguage, equals: "de", "set field")
      try expect(changed.metadata.custom, equals: ["b": "2", "c": "3"], "custom metadata")
      try expect(changed.generation, equals: object.generation, "generation")
      try expect(changed.metageneration, equals: 2, "metageneration")
      let read = try await backend.getObject(name("a"), preconditions: .none, context: context)
      try expect(read, equals: changed, "the object as it is read afterwards")
    },
    Contract("a custom time is kept, and goes forward alone") { backend in
      var change = MetadataChange()
      func changed() async throws -> Int64? {
        let object = try await backend.updateObject(name("a"), change: change, preconditions: .none, context: context)
        return object.metadata.customTime
      }
      _ = try await backend.putObject(UploadRequest(object: name("a")), content: [1], context: context)
      change.customTime = .set(5_000_000)
      try expect(try await changed(), equals: 5_000_000, "the custom time")
      change.contentType = .set("text/plain")
      change.customTime = .keep
      try expect(try await changed(), equals: 5_000_000, "the custom time after another change")
      for wrong: FieldChange<Int64> in [.remove, .set(4_999_999), .set(.max)] {
        change.customTime = wrong
        try await expectCode(.invalidArgument, "the change \(wrong)") { try await changed() }
      }
      change.customTime = .set(5_000_001)
      _ = try await changed()
      let read = try await backend.getObject(name("a"), preconditions: .none, context: context)
      try expect(read.metadata.customTime, equals: 5_000_001, "the custom time")
      let metadata = ObjectMetadata(customTime: 7)
      let new = UploadRequest(object: name("a"), metadata: metadata)
      let made = try await backend.putObject(new, content: [2], context: context)
      try expect(made.metadata.customTime, equals: 7, "the custom time of a new generation")
    },
    Contract("preconditions hold back what does not meet them") { backend in
      let absent = Preconditions(ifGenerationMatch: 0)
      let object = try await backend.putObject(
        UploadRequest(object: name("a"), preconditions: absent), content: [1], context: context)
      let wrong = Preconditions(ifGenerationMatch: object.generation - 1)
      let same = Preconditions(ifGenerationNotMatch: object.generation)
      let meta = Preconditions(ifMetagenerationMatch: 2)
      try await expectCode(.failedPrecondition, "put") {
        try await backend.putObject(
          UploadRequest(object: name("a"), preconditions: absent), content: [2], context: context)
      }
      for precondition in [wrong, same, meta] {
        try await expectCode(.failedPrecondition, "open") {
          try await backend.openObject(ReadRequest(object: name("a"), preconditions: precondition), context: context)
        }
        try await expectCode(.failedPrecondition, "delete") {
          try await backend.deleteObject(name("a"), preconditions: precondition, context: context)
        }
        try await expectCode(.failedPrecondition, "update") {
          try await backend.updateObject(
            name("a"), change: MetadataChange(), preconditions: precondition, context: context)
        }
      }
      try expect(try await bytes(of: name("a"), in: backend), equals: [1], "content")
    },
    Contract("a precondition of an upload is checked when it ends") { backend in
      let id = try await backend.startUpload(
        UploadRequest(object: name("a"), preconditions: Preconditions(ifGenerationMatch: 0)), context: context)
      _ = try await backend.appendToUpload(id, offset: 0, bytes: [9], context: context)
      _ = try await backend.putObject(UploadRequest(object: name("a")), content: [1], context: context)
      try await expectCode(.failedPrecondition, "finalize") {
        try await backend.finalizeUpload(id, expected: ContentDigest(), context: context)
      }
      try expect(try await bytes(of: name("a"), in: backend), equals: [1], "content")
    },
    Contract("of several writers with one precondition exactly one wins") { backend in
      var generation: Int64 = 0
      for round in 0..<4 {
        let condition = Preconditions(ifGenerationMatch: generation)
        let winners = try await withThrowingTaskGroup(of: Int?.self) { group in
          for writer in 0..<6 {
            group.addTask { try await write(content(of: writer, round), condition, in: backend) ? writer : nil }
          }
          return try await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
        }
        try expect(winners.count, equals: 1, "writers who replaced generation \(generation)")
        let found = try await bytes(of: name("a"), in: backend)
        try expect(found == content(of: winners[0], round), "the content of the one who won")
        generation = try await backend.getObject(name("a"), preconditions: .none, context: context).generation
      }
    },
    Contract("every object has a download token, and the last one is replaced when it is revoked") { backend in
      let object = try await backend.putObject(UploadRequest(object: name("a")), content: [1], context: context)
      let token = try expectValue(object.downloadTokens.first, "token")
      let two = try await backend.changeDownloadTokens(name("a"), .add, context: context)
      try expect(two.downloadTokens.count, equals: 2, "tokens after adding")
      let one = try await backend.changeDownloadTokens(name("a"), .revoke(token), context: context)
      try expect(one.downloadTokens, equals: Array(two.downloadTokens.dropFirst()), "tokens after revoking")
      let fresh = try await backend.changeDownloadTokens(name("a"), .revoke(one.downloadTokens[0]), context: context)
      try expect(fresh.downloadTokens.count, equals: 1, "tokens after revoking the last")
      try expect(fresh.downloadTokens != one.downloadTokens, "the new token differs")
    },
    Contract("a deleted object is gone") { backend in
      _ = try await upload(content(300_000), to: name("a"), in: backend)
      try await backend.deleteObject(name("a"), preconditions: .none, context: context)
      try await expectCode(.notFound, "open") {
        try await backend.openObject(ReadRequest(object: name("a")), context: context)
      }
    },
  ]

  static let listing: [Contract<any StorageBackend>] = [
    Contract("a listing has the names in order, cut at the delimiter, page after page") { backend in
      let names = ["a", "a/1", "a/2/x", "a/2/y", "a/2z", "a/3", "a/é", "a/z/1/2", "b/1", "ab"]
      for name in names {
        _ = try await backend.putObject(UploadRequest(object: Self.name(name)), content: [1], context: context)
      }
      for size in [1, 2, 3, 1000] {
        let (items, prefixes) = try await all("a/", "/", size, backend)
        try expect(items, equals: ["a/1", "a/2z", "a/3", "a/é"], "items, \(size) a page")
        try expect(prefixes, equals: ["a/2/", "a/z/"], "prefixes, \(size) a page")
        let (root, folders) = try await all("", "/", size, backend)
        try expect(root, equals: ["a", "ab"], "items of the root, \(size) a page")
        try expect(folders, equals: ["a/", "b/"], "prefixes of the root, \(size) a page")
        let (every, none) = try await all("", nil, size, backend)
        try expect(every, equals: ["a", "a/1", "a/2/x", "a/2/y", "a/2z", "a/3", "a/z/1/2", "a/é", "ab", "b/1"], "all")
        try expect(none, equals: [], "prefixes without a delimiter")
      }
    },
    Contract("bounds of a listing leave out the names before the first and from the second on") { backend in
      for name in ["a", "b/1", "b/2", "b/3", "c", "d/1", "é"] {
        _ = try await backend.putObject(UploadRequest(object: Self.name(name)), content: [1], context: context)
      }
      let cases: [(start: String?, end: String?, names: [String], items: [String], prefixes: [String])] = [
        ("b/2", nil, ["b/2", "b/3", "c", "d/1", "é"], ["c", "é"], ["b/", "d/"]),
        (nil, "b/2", ["a", "b/1"], ["a"], ["b/"]),
        ("b/11", "d", ["b/2", "b/3", "c"], ["c"], ["b/"]),
        ("c", "c", [], [], []), ("d", "b", [], [], []), ("é", nil, ["é"], ["é"], []), ("z", "é", [], [], []),
      ]
      for (start, end, names, items, prefixes) in cases {
        for size in [1, 2, 1000] {
          let bounds = "from \(start ?? "") to \(end ?? ""), \(size) a page"
          var request = ListRequest(bucket: bucket, startOffset: start, endOffset: end, maximumResults: size)
          try expect(try await all(request, backend).items, equals: names, bounds)
          request.delimiter = "/"
          let (found, common) = try await all(request, backend)
          try expect(found, equals: items, "items \(bounds)")
          try expect(common, equals: prefixes, "prefixes \(bounds)")
        }
      }
      let below = ListRequest(bucket: bucket, prefix: "b/", startOffset: "a", endOffset: "b/3")
      try expect(try await all(below, backend).items, equals: ["b/1", "b/2"], "bounds with a prefix")
    },
    Contract("a listing holds objects of its bucket only") { backend in
      _ = try await backend.putObject(UploadRequest(object: name("a")), content: [1], context: context)
      let other = try await backend.listObjects(ListRequest(bucket: "contract-bucket-2"), context: context)
      try expect(other, equals: ListPage(), "another bucket")
    },
    Contract("page sizes and page tokens that cannot be are refused") { backend in
      for size in [0, -1, 1001] {
        try await expectCode(.invalidArgument, "a page of \(size)") {
          try await backend.listObjects(ListRequest(bucket: bucket, maximumResults: size), context: context)
        }
      }
      try await expectCode(.invalidArgument, "a token of nobody") {
        try await backend.listObjects(ListRequest(bucket: bucket, pageToken: "%%%"), context: context)
      }
    },
  ]

  private static func all(
    _ prefix: String, _ delimiter: String?, _ size: Int, _ backend: any StorageBackend
  ) async throws -> (items: [String], prefixes: [String]) {
    try await all(
      ListRequest(bucket: bucket, prefix: prefix, delimiter: delimiter, maximumResults: size), backend)
  }

  private static func all(
    _ first: ListRequest, _ backend: any StorageBackend
  ) async throws -> (items: [String], prefixes: [String]) {
    var request = first
    let size = request.maximumResults
    var items: [String] = []
    var prefixes: [String] = []
    repeat {
      let page = try await backend.listObjects(request, context: context)
      try expect(page.items.count + page.prefixes.count <= size, "a page has \(size) results at most")
      items += page.items.map(\.name.name)
      prefixes += page.prefixes
      request.pageToken = page.nextPageToken
    } while request.pageToken != nil
    return (items, prefixes)
  }

  /// The content of a writer: half of the writers write it in one call.
  private static func content(of writer: Int, _ round: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(10 * round + writer), count: writer.isMultiple(of: 2) ? 10 : 100_000)
  }

  /// Writes an object; `false` when a precondition holds that back.
  private static func write(
    _ bytes: [UInt8], _ preconditions: Preconditions, in backend: any StorageBackend
  ) async throws -> Bool {
    let request = UploadRequest(object: name("a"), preconditions: preconditions)
    do {
      if bytes.count < 100 {
        _ = try await backend.putObject(request, content: bytes, context: context)
      } else {
        let id = try await backend.startUpload(request, context: context)
        _ = try await backend.appendToUpload(id, offset: 0, bytes: bytes, context: context)
        _ = try await backend.finalizeUpload(id, expected: ContentDigest(), context: context)
      }
      return true
    } catch let error as StorageServiceError where error.code == .failedPrecondition {
      return false
    }
  }
}
