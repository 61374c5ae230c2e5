import VestaServiceInterop
import VestaStorageBackend
import VestaTesting

extension StorageContracts {
  /// Suffixes, tokens of uploads, and objects that are made of others.
  static let compositions: [Contract<any StorageBackend>] = [
    Contract("a suffix has the last bytes, and a range outside of the object names its size") { backend in
      let bytes = content(300_000, seed: 5)
      _ = try await upload(bytes, to: name("large"), in: backend)
      _ = try await backend.putObject(
        UploadRequest(object: name("small")), content: Array(bytes.prefix(900)), context: context)
      for (object, size) in [("large", 300_000), ("small", 900)] {
        for suffix in [1, 10, size, size + 1] {
          let request = ReadRequest(object: name(object), suffix: Int64(suffix))
          let part = try await drain(backend.openObject(request, context: context))
          try expect(part == Array(bytes[..<size].suffix(suffix)), "the last \(suffix) bytes of \(object)")
        }
        let error = try await expectThrows(StorageServiceError.self, "a range after the end") {
          try await backend.openObject(ReadRequest(object: name(object), offset: 999_999), context: context)
        }
        try expect(error.reason, equals: .outOfRange(size: Int64(size)), "the reason")
      }
    },
    Contract("an object has the download tokens that its upload says") { backend in
      var request = UploadRequest(object: name("a"), downloadTokens: .none)
      let none = try await backend.putObject(request, content: [1], context: context)
      try expect(none.downloadTokens, equals: [], "the tokens of an upload without any")
      let read = try await backend.getObject(name("a"), preconditions: .none, context: context)
      try expect(read, equals: none, "the object after a read")
      let ensured = try await backend.changeDownloadTokens(name("a"), .ensure, context: context)
      try expect(ensured.downloadTokens.count, equals: 1, "the number of tokens that were ensured")
      let again = try await backend.changeDownloadTokens(name("a"), .ensure, context: context)
      try expect(again, equals: ensured, "the object whose token is ensured again")
      request.downloadTokens = .these(["one", "two"])
      let id = try await backend.startUpload(request, context: context)
      let object = try await backend.finalizeUpload(id, expected: ContentDigest(), context: context)
      try expect(object.downloadTokens, equals: ["one", "two"], "the tokens of an upload with two")
    },
    Contract("the status of an upload says what it was started with") { backend in
      var request = UploadRequest(object: name("a"), metadata: ObjectMetadata(contentType: "a/b"), size: 2)
      request.downloadTokens = .these(["one"])
      let id = try await backend.startUpload(request, context: .owner)
      for _ in 0..<2 {
        let status = try await backend.uploadStatus(id, context: context)
        try expect(status.request, equals: request, "the request")
        try expect(status.starter?.isOwner, equals: true, "the caller who started it")
        if status.received == 0 {
          _ = try await backend.appendToUpload(id, offset: 0, bytes: [1, 2], context: context)
          _ = try await backend.finalizeUpload(id, expected: ContentDigest(), context: context)
        }
      }
    },
    Contract("an object that is made of others has their contents in order, and metadata of its own") { backend in
      let large = content(300_000, seed: 6)
      _ = try await upload(large, to: name("a"), in: backend)
      let small = try await backend.putObject(
        UploadRequest(object: name("b"), metadata: ObjectMetadata(contentType: "x/y")), content: [1, 2],
        context: context)
      let request = UploadRequest(object: name("c"), metadata: ObjectMetadata(contentType: "a/b"))
      let sources = [ReadRequest(object: name("b")), ReadRequest(object: name("a")), ReadRequest(object: name("b"))]
      let made = try await backend.composeObject(request, of: sources, context: context)
      try expect(made.size, equals: 300_004, "the size")
      try expect(made.metadata.contentType, equals: "a/b", "the type")
      try expect(made.downloadTokens != small.downloadTokens, "a token of a source")
      try expect(try await bytes(of: name("c"), in: backend) == [1, 2] + large + [1, 2], "the content")
      try await expectCode(.notFound, "a source that is not there") {
        try await backend.composeObject(
          request, of: [ReadRequest(object: name("b")), ReadRequest(object: name("z"))], context: context)
      }
      try await expectCode(.failedPrecondition, "a precondition of a source") {
        let other = Preconditions(ifGenerationNotMatch: small.generation)
        return try await backend.composeObject(
          request, of: [ReadRequest(object: name("b"), preconditions: other)], context: context)
      }
      try expect(try await bytes(of: name("c"), in: backend).count, equals: 300_004, "the size after refused calls")
    },
    Contract("an object is made of at most 32 others") { backend in
      _ = try await backend.putObject(UploadRequest(object: name("a")), content: [1], context: context)
      func compose(_ count: Int) async throws -> StorageObject {
        let sources = Array(repeating: ReadRequest(object: name("a")), count: count)
        return try await backend.composeObject(UploadRequest(object: name("b")), of: sources, context: context)
      }
      for count in [0, UploadLimits.sources + 1] {
        try await expectCode(.invalidArgument, "\(count) sources") { try await compose(count) }
      }
      try await expectCode(.notFound, "the object of refused calls") {
        try await backend.getObject(name("b"), preconditions: .none, context: context)
      }
      try expect(try await compose(UploadLimits.sources).size, equals: 32, "the size")
    },
    Contract("sources are deleted with the object that is made of them, and stay when it is refused") { backend in
      for count in 1...2 {
        let names = ["a", "b"].prefix(count).map { name($0) }
        for (index, source) in names.enumerated() {
          _ = try await upload(content(100_000, seed: UInt64(index)), to: source, in: backend)
        }
        func compose(_ preconditions: Preconditions) async throws -> StorageObject {
          let request = UploadRequest(object: name("c"), preconditions: preconditions)
          return try await backend.composeObject(
            request, of: names.map { ReadRequest(object: $0) }, deletesSources: true, context: context)
        }
        try await expectCode(.failedPrecondition, "a precondition of the object") {
          try await compose(Preconditions(ifGenerationMatch: 1))
        }
        for source in names { try expect(try await bytes(of: source, in: backend).count, equals: 100_000, "a source") }
        try expect(try await compose(.none).size, equals: Int64(count) * 100_000, "the size")
        let expected = (0..<count).flatMap { content(100_000, seed: UInt64($0)) }
        try expect(try await bytes(of: name("c"), in: backend) == expected, "the content")
        for source in names {
          try await expectCode(.notFound, "a source afterwards") {
            try await backend.getObject(source, preconditions: .none, context: context)
          }
        }
      }
    },
    Contract("a source that the new object replaces is not deleted") { backend in
      for count in 1...2 {
        for source in ["a", "b"] {
          _ = try await backend.putObject(UploadRequest(object: name(source)), content: [1, 2], context: context)
        }
        let sources = ["a", "b"].prefix(count).map { ReadRequest(object: name($0)) }
        let made = try await backend.composeObject(
          UploadRequest(object: name("a")), of: sources, deletesSources: true, context: context)
        let read = try await backend.getObject(name("a"), preconditions: .none, context: context)
        try expect(read, equals: made, "the object")
        try expect(try await bytes(of: name("a"), in: backend).count, equals: 2 * count, "the number of bytes")
      }
    },
  ]
}
