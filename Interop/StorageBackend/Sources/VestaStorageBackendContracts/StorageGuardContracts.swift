import VestaBytes
import VestaServiceInterop
public import VestaStorageBackend
import VestaStorageBackendFakes
public import VestaTesting

/// An engine under test that asks a guard.
public struct GuardedStorageSubject: Sendable {
  let make: @Sendable (any StorageGuard) async throws -> any StorageBackend

  /// A subject.
  ///
  /// - Parameter make: Makes an engine with nothing in it that asks a guard.
  public init(_ make: @escaping @Sendable (any StorageGuard) async throws -> any StorageBackend) { self.make = make }
}

/// The promises of an engine to its `StorageGuard`: it is asked for everything that leaves or changes objects.
public enum StorageGuardContracts {
  /// All of them.
  public static let all: [Contract<GuardedStorageSubject>] = reads + uploads + changes

  private static let ada = CallContext(caller: .user(VerifiedUser(uid: "ada", claims: ["role": "keeper"])))
  private static let eve = CallContext(caller: .user(VerifiedUser(uid: "eve")))
  private static let object = StorageContracts.name("guarded/a")

  /// An engine with an object of Ada's, behind a guard that lets Ada do everything by her claims, and others nothing.
  private static func prepared(
    _ subject: GuardedStorageSubject
  ) async throws -> (guardian: ManualStorageGuard, backend: any StorageBackend) {
    let guardian = ManualStorageGuard { $0.uid == "ada" && $0.claims?["role"] == "keeper" }
    let backend = try await subject.make(guardian)
    let metadata = ObjectMetadata(contentType: "text/plain", custom: ["k": "v"])
    _ = try await backend.putObject(
      UploadRequest(object: object, metadata: metadata), content: [1, 2, 3], context: ada)
    return (guardian, backend)
  }

  private static func expectDenied<Value>(
    _ what: String, _ operation: () async throws -> Value
  ) async throws {
    try await StorageContracts.expectCode(.permissionDenied, what, operation)
  }

  private static func last(_ guardian: ManualStorageGuard) throws -> StorageGuardedOperation {
    try expectValue(guardian.asked.entries.last, "the question").operation
  }

  static let reads: [Contract<GuardedStorageSubject>] = [
    Contract("reading an object is asked about with the object, and its metadata too") { subject in
      let (guardian, backend) = try await prepared(subject)
      try await expectDenied("the content") { try await backend.openObject(ReadRequest(object: object), context: eve) }
      guard case .get(object, let existing?) = try last(guardian) else { throw ContractViolation("no get was asked") }
      try expect(existing.size, equals: 3, "the size")
      try await expectDenied("the metadata") {
        try await backend.getObject(object, preconditions: .none, context: eve)
      }
      let bytes = try await StorageContracts.drain(
        try await backend.openObject(ReadRequest(object: object), context: ada))
      try expect(bytes, equals: [1, 2, 3], "the content")
      try expect(guardian.asked.entries.allSatisfy { $0.time > 0 }, "a question has no time")
    },
    Contract("whether an object is there is told to those who may read it") { subject in
      let (guardian, backend) = try await prepared(subject)
      let missing = StorageContracts.name("guarded/missing")
      try await expectDenied("a missing object") {
        try await backend.getObject(missing, preconditions: .none, context: eve)
      }
      try expect(try last(guardian), equals: .get(missing, existing: nil), "the question")
      try await StorageContracts.expectCode(.notFound, "a missing object") {
        try await backend.getObject(missing, preconditions: .none, context: ada)
      }
      let wrong = Preconditions(ifGenerationMatch: 1)
      try await expectDenied("a precondition") {
        try await backend.getObject(object, preconditions: wrong, context: eve)
      }
      try await expectDenied("a precondition of a read") {
        try await backend.openObject(ReadRequest(object: object, preconditions: wrong), context: eve)
      }
    },
    Contract("a download token of the object opens it for every caller, until it is revoked") { subject in
      let (_, backend) = try await prepared(subject)
      let made = try await backend.changeDownloadTokens(object, .add, context: ada)
      let token = try expectValue(made.downloadTokens.last, "the token")
      let bytes = try await StorageContracts.drain(
        try await backend.openObject(ReadRequest(object: object, downloadToken: token), context: eve))
      try expect(bytes, equals: [1, 2, 3], "the content")
      _ = try await backend.changeDownloadTokens(object, .revoke(token), context: ada)
      for wrong in [token, "", "x", made.downloadTokens.joined(separator: ",")] {
        try await expectDenied("a token that is not the object's") {
          try await backend.openObject(ReadRequest(object: object, downloadToken: wrong), context: eve)
        }
      }
    },
    Contract("a download token of a deleted object opens no later object of the name") { subject in
      let (_, backend) = try await prepared(subject)
      let made = try await backend.changeDownloadTokens(object, .ensure, context: ada)
      let request = ReadRequest(object: object, downloadToken: try expectValue(made.downloadTokens.last, "the token"))
      _ = try await StorageContracts.drain(try await backend.openObject(request, context: eve))
      try await backend.deleteObject(object, preconditions: .none, context: ada)
      try await expectDenied("the deleted object") { try await backend.openObject(request, context: eve) }
      _ = try await backend.putObject(UploadRequest(object: object), content: [4], context: ada)
      try await expectDenied("the next object") { try await backend.openObject(request, context: eve) }
    },
    Contract("ensuring a download token is asked about as reading") { subject in
      let (guardian, backend) = try await prepared(subject)
      try await expectDenied("the change") { try await backend.changeDownloadTokens(object, .ensure, context: eve) }
      guard case .get(object, existing: _?) = try last(guardian) else { throw ContractViolation("no get was asked") }
    },
    Contract("an object that is made of others is asked about with each source, and as an upload") { subject in
      let guardian = ManualStorageGuard { question in
        if case .get = question.operation { question.uid != "bob" } else { question.uid != "eve" }
      }
      let backend = try await subject.make(guardian)
      _ = try await backend.putObject(UploadRequest(object: object), content: [1, 2, 3], context: ada)
      let request = UploadRequest(object: StorageContracts.name("guarded/copy"))
      for uid in ["bob", "eve"] {
        let caller = CallContext(caller: .user(VerifiedUser(uid: uid)))
        try await expectDenied("the copy of \(uid)") {
          try await backend.composeObject(request, of: [ReadRequest(object: object)], context: caller)
        }
      }
      let made = try await backend.composeObject(request, of: [ReadRequest(object: object)], context: ada)
      try expect(made.size, equals: 3, "the size")
    },
    Contract("sources that an object is made of are asked about as deletions; one refusal changes nothing") { subject in
      let (first, second) = (object, StorageContracts.name("guarded/b"))
      let guardian = ManualStorageGuard { $0.operation.deletes != second || $0.uid == "ada" }
      let backend = try await subject.make(guardian)
      let request = UploadRequest(object: StorageContracts.name("guarded/whole"))
      for sources in [[second], [first, second]] {
        for source in sources {
          _ = try await backend.putObject(UploadRequest(object: source), content: [1, 2, 3], context: ada)
        }
        func compose(_ caller: CallContext) async throws -> StorageObject {
          try await backend.composeObject(
            request, of: sources.map { ReadRequest(object: $0) }, deletesSources: true, context: caller)
        }
        try await expectDenied("the composition") { try await compose(eve) }
        try await StorageContracts.expectCode(.notFound, "the object of a denied call") {
          try await backend.getObject(request.object, preconditions: .none, context: ada)
        }
        for source in sources {
          let bytes = try await StorageContracts.bytes(of: source, in: backend, context: ada)
          try expect(bytes, equals: [1, 2, 3], "a source after a denied call")
        }
        let before = guardian.asked.entries.count
        _ = try await compose(ada)
        let deleted = guardian.asked.entries.dropFirst(before).compactMap(\.operation.deletes)
        try expect(Set(deleted), equals: Set(sources), "the deletions that are asked about")
        try await backend.deleteObject(request.object, preconditions: .none, context: ada)
      }
    },
    Contract("listing is asked about with the prefix") { subject in
      let (guardian, backend) = try await prepared(subject)
      try await expectDenied("the list") {
        try await backend.listObjects(ListRequest(bucket: StorageContracts.bucket, prefix: "guarded/"), context: eve)
      }
      try expect(
        try last(guardian), equals: .list(bucket: StorageContracts.bucket, prefix: "guarded/"), "the question")
      let page = try await backend.listObjects(ListRequest(bucket: StorageContracts.bucket), context: ada)
      try expect(page.items.count, equals: 1, "the number of objects")
    },
  ]

  static let uploads: [Contract<GuardedStorageSubject>] = [
    Contract("an upload in one call is asked about with the object before and after") { subject in
      let (guardian, backend) = try await prepared(subject)
      let request = UploadRequest(object: object, metadata: ObjectMetadata(contentType: "image/png"))
      try await expectDenied("the upload") { try await backend.putObject(request, content: [9], context: eve) }
      guard case .upload(let new, let existing?) = try last(guardian) else {
        throw ContractViolation("no upload over an object was asked")
      }
      try expect(new.size, equals: 1, "the new size")
      try expect(new.metadata.contentType, equals: "image/png", "the new type")
      try expect(new.crc32c != 0, "the checksum is missing")
      try expect(existing.size, equals: 3, "the size before")
      try expect(
        try await StorageContracts.bytes(of: object, in: backend, context: ada), equals: [1, 2, 3], "the object")
      let wrong = UploadRequest(object: object, preconditions: Preconditions(ifGenerationMatch: 0))
      try await expectDenied("an upload with a precondition") {
        try await backend.putObject(wrong, content: [9], context: eve)
      }
    },
    Contract("a large upload in one call is asked about as a small one") { subject in
      let (guardian, backend) = try await prepared(subject)
      let content = StorageContracts.content(UploadLimits.singleCallLength)
      try await expectDenied("the upload") {
        try await backend.putObject(UploadRequest(object: object), content: content, context: eve)
      }
      guard case .upload(let new, _) = try last(guardian) else { throw ContractViolation("no upload was asked") }
      try expect(new.size, equals: Int64(content.count), "the new size")
      try expect(
        try await StorageContracts.bytes(of: object, in: backend, context: ada), equals: [1, 2, 3], "the object")
    },
    Contract("a resumable upload is asked about when it begins and at its end, with the caller who started it") {
      subject in
      let guardian = ManualStorageGuard { question in
        guard case .upload(let new, _) = question.operation else { return true }
        return question.uid == "ada" || new.size == 0
      }
      let backend = try await subject.make(guardian)
      for (starter, finisher, isAllowed) in [(eve, ada, false), (ada, eve, true)] {
        let before = guardian.asked.entries.count
        let target = StorageContracts.name("guarded/\(starter.user?.uid ?? "")")
        let id = try await backend.startUpload(UploadRequest(object: target), context: starter)
        _ = try await backend.appendToUpload(id, offset: 0, bytes: [1, 2], context: finisher)
        _ = try await backend.uploadStatus(id, context: finisher)
        _ = try await backend.keepUpload(id, context: finisher)
        if isAllowed {
          _ = try await backend.finalizeUpload(id, expected: ContentDigest(), context: finisher)
          _ = try await backend.finalizeUpload(id, expected: ContentDigest(), context: finisher)
        } else {
          try await expectDenied("the upload") {
            try await backend.finalizeUpload(id, expected: ContentDigest(), context: finisher)
          }
        }
        let questions = guardian.asked.entries.dropFirst(before)
        let uid = starter.user?.uid
        try expect(questions.map(\.uid), equals: [uid, uid], "the users who are asked about")
        let sizes = questions.map { question -> Int64? in
          if case .upload(let new, nil) = question.operation, new.name == target { new.size } else { nil }
        }
        try expect(sizes, equals: [0, 2], "the sizes of the new object")
      }
      // Nothing is taken of an upload that is too large as it is stated.
      try await expectDenied("the beginning") {
        try await backend.startUpload(UploadRequest(object: object, size: 2), context: eve)
      }
      for name in ["guarded/eve", "guarded/a"] {
        try await StorageContracts.expectCode(.notFound, "the object of a denied upload") {
          try await backend.getObject(StorageContracts.name(name), preconditions: .none, context: ada)
        }
      }
    },
  ]

  static let changes: [Contract<GuardedStorageSubject>] = [
    Contract("a change of metadata is asked about with the object before and after") { subject in
      let (guardian, backend) = try await prepared(subject)
      var change = MetadataChange()
      change.contentType = .set("image/gif")
      let final = change
      try await expectDenied("the change") {
        try await backend.updateObject(object, change: final, preconditions: .none, context: eve)
      }
      guard case .update(object, let existing?, let new?) = try last(guardian) else {
        throw ContractViolation("no update was asked")
      }
      try expect(existing.metadata.contentType, equals: "text/plain", "the type before")
      try expect(new.metadata.contentType, equals: "image/gif", "the type after")
      try expect(new.metadata.custom, equals: ["k": "v"], "what is kept")
      try expect(new.metageneration, equals: existing.metageneration + 1, "the metageneration after")
      let now = try await backend.getObject(object, preconditions: .none, context: ada)
      try expect(now.metadata.contentType, equals: "text/plain", "the type")
      let missing = StorageContracts.name("guarded/missing")
      try await expectDenied("a change of a missing object") {
        try await backend.updateObject(missing, change: final, preconditions: .none, context: eve)
      }
    },
    Contract("a change of download tokens is asked about") { subject in
      let (guardian, backend) = try await prepared(subject)
      try await expectDenied("the change") { try await backend.changeDownloadTokens(object, .add, context: eve) }
      guard case .update(object, _?, _?) = try last(guardian) else { throw ContractViolation("no update was asked") }
    },
    Contract("a deletion is asked about before the existence of the object counts") { subject in
      let (guardian, backend) = try await prepared(subject)
      for name in [object, StorageContracts.name("guarded/missing")] {
        try await expectDenied("the deletion") {
          try await backend.deleteObject(name, preconditions: Preconditions(ifGenerationMatch: 1), context: eve)
        }
        guard case .delete(name, let existing) = try last(guardian) else {
          throw ContractViolation("no deletion was asked")
        }
        try expect(existing != nil, equals: name == object, "the object before the deletion")
      }
      _ = try await backend.getObject(object, preconditions: .none, context: ada)
      try await backend.deleteObject(object, preconditions: .none, context: ada)
    },
    Contract("a guard that cannot decide ends the call, and nothing has changed") { subject in
      let guardian = ManualStorageGuard { question in
        if case .delete = question.operation { throw StorageServiceError(.unavailable, "No answer.") }
        return true
      }
      let backend = try await subject.make(guardian)
      _ = try await backend.putObject(UploadRequest(object: object), content: [1], context: ada)
      try await StorageContracts.expectCode(.unavailable, "the deletion") {
        try await backend.deleteObject(object, preconditions: .none, context: ada)
      }
      try expect(try await StorageContracts.bytes(of: object, in: backend, context: ada), equals: [1], "the object")
    },
  ]
}

extension StorageGuardedOperation {
  /// The object that is deleted; `nil` for another operation.
  fileprivate var deletes: ObjectName? {
    if case .delete(let name, _) = self { name } else { nil }
  }
}
