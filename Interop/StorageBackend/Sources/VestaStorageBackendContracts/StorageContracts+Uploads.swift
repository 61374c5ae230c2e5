import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaTesting

extension StorageContracts {
  static let uploads: [Contract<any StorageBackend>] = [
    Contract("an object has the bytes, the size and the checksum of a single-call upload") { backend in
      for length in [0, 1, 5000, UploadLimits.singleCallLength] {
        let bytes = content(length)
        let object = try await backend.putObject(UploadRequest(object: name("a")), content: bytes, context: context)
        var checksum = CRC32C()
        checksum.update(bytes)
        try expect(object.size, equals: Int64(length), "size")
        try expect(object.crc32c, equals: checksum.value, "checksum of \(length) bytes")
        try expect(try await Self.bytes(of: name("a"), in: backend) == bytes, "content of \(length) bytes")
      }
    },
    Contract("an object has the bytes of a resumable upload, whatever its chunks") { backend in
      let bytes = content(700_001)
      for chunk in [1 << 18, 65_537, 700_001] {
        let object = try await upload(bytes, to: name("a/b"), chunk: chunk, in: backend)
        try expect(object.size, equals: 700_001, "size")
        try expect(try await Self.bytes(of: name("a/b"), in: backend) == bytes, "content")
      }
    },
    Contract("an empty resumable upload makes an empty object") { backend in
      _ = try await upload([], to: name("empty"), in: backend)
      try expect(try await bytes(of: name("empty"), in: backend), equals: [], "content")
    },
    Contract("an upload that is not finished changes no object") { backend in
      _ = try await backend.putObject(UploadRequest(object: name("a")), content: [1], context: context)
      let id = try await backend.startUpload(UploadRequest(object: name("a")), context: context)
      _ = try await backend.appendToUpload(id, offset: 0, bytes: content(300_000), context: context)
      try expect(try await bytes(of: name("a"), in: backend), equals: [1], "content")
      _ = try await backend.startUpload(UploadRequest(object: name("b")), context: context)
      try await expectCode(.notFound, "an object that is being uploaded") {
        try await backend.getObject(name("b"), preconditions: .none, context: context)
      }
    },
    Contract("a chunk at another offset is refused and changes nothing") { backend in
      let id = try await backend.startUpload(UploadRequest(object: name("a")), context: context)
      _ = try await backend.appendToUpload(id, offset: 0, bytes: [1, 2, 3], context: context)
      for offset: Int64 in [0, 2, 4, -1] {
        try await expectCode(.outOfRange, "offset \(offset)") {
          try await backend.appendToUpload(id, offset: offset, bytes: [9], context: context)
        }
      }
      _ = try await backend.appendToUpload(id, offset: 3, bytes: [4], context: context)
      _ = try await backend.finalizeUpload(id, expected: ContentDigest(), context: context)
      try expect(try await bytes(of: name("a"), in: backend), equals: [1, 2, 3, 4], "content")
    },
    Contract("the status has the number of bytes that have arrived, and their checksum") { backend in
      let bytes = content(150_000)
      let id = try await backend.startUpload(UploadRequest(object: name("a")), context: context)
      _ = try await backend.appendToUpload(id, offset: 0, bytes: bytes, context: context)
      let kept = try await backend.keepUpload(id, context: context)
      let status = try await backend.uploadStatus(id, context: context)
      try expect(kept, equals: status, "the state of an upload that is kept")
      var checksum = CRC32C()
      checksum.update(bytes)
      try expect(status.state, equals: .active, "the state")
      try expect(status.received, equals: 150_000, "the number of bytes")
      try expect(status.crc32c, equals: checksum.value, "the checksum")
    },
    Contract("finalizing again returns the same object, and the status is final") { backend in
      let id = try await backend.startUpload(UploadRequest(object: name("a")), context: context)
      _ = try await backend.appendToUpload(id, offset: 0, bytes: [1, 2], context: context)
      let first = try await backend.finalizeUpload(id, expected: ContentDigest(), context: context)
      let second = try await backend.finalizeUpload(id, expected: ContentDigest(), context: context)
      try expect(second.generation, equals: first.generation, "generation")
      try expect(try await backend.uploadStatus(id, context: context).state, equals: .final, "state")
    },
    Contract("content that is not the expected one makes no object") { backend in
      for expected in [ContentDigest(size: 3), ContentDigest(crc32c: 7)] {
        let id = try await backend.startUpload(UploadRequest(object: name("a")), context: context)
        _ = try await backend.appendToUpload(id, offset: 0, bytes: [1, 2], context: context)
        try await expectCode(.dataLoss, "finalize") {
          try await backend.finalizeUpload(id, expected: expected, context: context)
        }
        try await expectCode(.dataLoss, "put") {
          try await backend.putObject(
            UploadRequest(object: name("a"), expected: expected), content: [1, 2], context: context)
        }
      }
      try await expectCode(.notFound, "the object") {
        try await backend.getObject(name("a"), preconditions: .none, context: context)
      }
    },
    Contract("a cancelled upload takes nothing more") { backend in
      let id = try await backend.startUpload(UploadRequest(object: name("a")), context: context)
      _ = try await backend.appendToUpload(id, offset: 0, bytes: [1], context: context)
      try await backend.cancelUpload(id, context: context)
      try await backend.cancelUpload(id, context: context)
      try await expectCode(.notFound, "append") {
        try await backend.appendToUpload(id, offset: 1, bytes: [1], context: context)
      }
      try await expectCode(.notFound, "finalize") {
        try await backend.finalizeUpload(id, expected: ContentDigest(), context: context)
      }
    },
    Contract("a finished upload cannot be cancelled") { backend in
      let id = try await backend.startUpload(UploadRequest(object: name("a")), context: context)
      _ = try await backend.finalizeUpload(id, expected: ContentDigest(), context: context)
      try await expectCode(.failedPrecondition, "cancel") { try await backend.cancelUpload(id, context: context) }
      try expect(try await bytes(of: name("a"), in: backend), equals: [], "content")
    },
    Contract("calls on one upload at the same time take turns") { backend in
      for round in 0..<8 {
        let object = name("turns\(round)")
        let id = try await backend.startUpload(UploadRequest(object: object), context: context)
        // One of two parts for the same place is in it, and the other one gets the offset at which to continue.
        async let first = code { try await backend.appendToUpload(id, offset: 0, bytes: [1], context: context) }
        async let second = code { try await backend.appendToUpload(id, offset: 0, bytes: [1], context: context) }
        async let asking = code { try await backend.uploadStatus(id, context: context) }
        let (parts, status) = (await [first, second], await asking)
        try expect(parts.filter { $0 == nil }.count, equals: 1, "parts that were taken")
        try expect(parts.contains(.outOfRange), "the other part has \(parts)")
        try expect(status, equals: nil, "the status")
        async let end = code { try await backend.finalizeUpload(id, expected: ContentDigest(), context: context) }
        async let cancellation = code { try await backend.cancelUpload(id, context: context) }
        let (ended, cancelled) = (await end, await cancellation)
        let there = await code { try await backend.getObject(object, preconditions: .none, context: context) }
        try expect(
          there == ended, "the upload ended with \(String(describing: ended)), the object: \(String(describing: there))"
        )
        try expect(
          cancelled, equals: ended == nil ? ServiceCode.failedPrecondition : nil, "the cancellation of an upload")
      }
    },
    Contract("an unknown upload is not found") { backend in
      try await expectCode(.notFound, "status") {
        try await backend.uploadStatus(UploadID(rawValue: "nobody-made-this"), context: context)
      }
    },
    Contract("names that cannot be are refused") { backend in
      for bad in ["", ".", "..", "a\nb", "a\rb", String(repeating: "x", count: 1025)] {
        try await expectCode(.invalidArgument, "the name \(bad.prefix(10))") {
          try await backend.putObject(UploadRequest(object: name(bad)), content: [], context: context)
        }
      }
      for good in ["a//b", "ä/ö ü.txt", "%2F", "a/../b", String(repeating: "x", count: 1024)] {
        _ = try await backend.putObject(UploadRequest(object: name(good)), content: [1], context: context)
        try expect(try await bytes(of: name(good), in: backend), equals: [1], "content of \(good.prefix(10))")
      }
    },
  ]
}
