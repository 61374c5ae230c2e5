import VestaServiceInterop
import VestaStorageBackend
import VestaTesting

extension StorageContracts {
  private static let forged = CallContext(caller: .credential(.idToken("a.b.c")))

  static let callers: [Contract<any StorageBackend>] = [
    Contract("a credential that cannot be verified is refused in every call") { backend in
      let object = name("a")
      let request = UploadRequest(object: object)
      let made = try await backend.putObject(request, content: [1], context: context)
      let id = try await backend.startUpload(request, context: context)
      _ = try await backend.appendToUpload(id, offset: 0, bytes: [1, 2], context: context)
      try await expectRefused("putObject") { try await backend.putObject(request, content: [9], context: forged) }
      try await expectRefused("startUpload") { try await backend.startUpload(request, context: forged) }
      try await expectRefused("appendToUpload") {
        try await backend.appendToUpload(id, offset: 2, bytes: [9], context: forged)
      }
      try await expectRefused("finalizeUpload") {
        try await backend.finalizeUpload(id, expected: ContentDigest(), context: forged)
      }
      try await expectRefused("keepUpload") { try await backend.keepUpload(id, context: forged) }
      try await expectRefused("uploadStatus") { try await backend.uploadStatus(id, context: forged) }
      try await expectRefused("cancelUpload") { try await backend.cancelUpload(id, context: forged) }
      try await expectRefused("openObject") {
        try await backend.openObject(ReadRequest(object: object), context: forged)
      }
      try await expectRefused("getObject") {
        try await backend.getObject(object, preconditions: .none, context: forged)
      }
      try await expectRefused("listObjects") {
        try await backend.listObjects(ListRequest(bucket: bucket), context: forged)
      }
      try await expectRefused("updateObject") {
        try await backend.updateObject(object, change: MetadataChange(), preconditions: .none, context: forged)
      }
      try await expectRefused("deleteObject") {
        try await backend.deleteObject(object, preconditions: .none, context: forged)
      }
      try await expectRefused("changeDownloadTokens") {
        try await backend.changeDownloadTokens(object, .add, context: forged)
      }
      let kept = try await backend.getObject(object, preconditions: .none, context: context)
      try expect(kept, equals: made, "the object after refused calls")
      try expect(try await backend.uploadStatus(id, context: context).received, equals: 2, "the bytes of the upload")
    }
  ]

  private static func expectRefused<Value>(_ call: String, _ operation: () async throws -> Value) async throws {
    try await expectCode(.unauthenticated, "the code of \(call)", operation)
  }
}
