import VestaServiceInterop
public import VestaStorageBackend
public import VestaTesting

/// A backend with its administration, with nothing in it.
public struct StorageAdminSubject: Sendable {
  let backend: any StorageBackend
  let admin: any StorageAdminBackend

  /// A subject.
  ///
  /// - Parameters:
  ///   - backend: The backend; it serves owners.
  ///   - admin: The administration of the same buckets.
  public init(_ backend: any StorageBackend, admin: any StorageAdminBackend) {
    (self.backend, self.admin) = (backend, admin)
  }
}

/// The promises of `StorageAdminBackend`, for any implementation.
public enum StorageAdminContracts {
  /// All of them; each is checked on a fresh backend.
  public static let all: [Contract<StorageAdminSubject>] = [
    Contract("buckets are the owner's") { subject in
      let user = CallContext(caller: .user(VerifiedUser(uid: "ada")))
      let denied = ServiceCode.permissionDenied
      try await StorageContracts.expectCode(denied, "list") { try await subject.admin.listBuckets(context: user) }
      try await StorageContracts.expectCode(denied, "create") {
        try await subject.admin.createBucket("aaa", context: user)
      }
      try await StorageContracts.expectCode(denied, "delete") {
        try await subject.admin.deleteBucket("aaa", context: user)
      }
      try expect(try await subject.admin.listBuckets(context: .owner), equals: [], "the buckets")
    },
    Contract("a bucket is made once, and listed among those that have objects") { subject in
      let object = ObjectName(bucket: "b-used", name: "x")
      _ = try await subject.backend.putObject(UploadRequest(object: object), content: [1], context: .owner)
      for name in ["ccc", "aaa", "b-used"] { try await subject.admin.createBucket(name, context: .owner) }
      try await StorageContracts.expectCode(.alreadyExists, "a bucket that is there") {
        try await subject.admin.createBucket("aaa", context: .owner)
      }
      for name in ["", "AAA", "aaa/b", "ééé"] {
        try await StorageContracts.expectCode(.invalidArgument, "the name \(name)") {
          try await subject.admin.createBucket(name, context: .owner)
        }
      }
      try expect(try await subject.admin.listBuckets(context: .owner), equals: ["aaa", "b-used", "ccc"], "the buckets")
    },
    Contract("a bucket is deleted when it has no objects, and not before") { subject in
      let object = ObjectName(bucket: "aaa", name: "x")
      try await subject.admin.createBucket("aaa", context: .owner)
      _ = try await subject.backend.putObject(UploadRequest(object: object), content: [1], context: .owner)
      try await StorageContracts.expectCode(.failedPrecondition, "a bucket with objects") {
        try await subject.admin.deleteBucket("aaa", context: .owner)
      }
      _ = try await subject.backend.getObject(object, preconditions: .none, context: .owner)
      try await subject.backend.deleteObject(object, preconditions: .none, context: .owner)
      try expect(try await subject.admin.listBuckets(context: .owner), equals: ["aaa"], "the buckets")
      try await subject.admin.deleteBucket("aaa", context: .owner)
      try await StorageContracts.expectCode(.notFound, "a bucket that is not there") {
        try await subject.admin.deleteBucket("aaa", context: .owner)
      }
      try expect(try await subject.admin.listBuckets(context: .owner), equals: [], "the buckets")
    },
  ]
}
