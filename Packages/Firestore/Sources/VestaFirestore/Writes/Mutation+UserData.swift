internal import VestaFirestoreBackend
internal import VestaFirestoreModel
internal import VestaStoreInterop

extension Mutation {
  /// The write of `setData`.
  static func set(_ reference: DocumentReference, _ entries: [UserEntry], as kind: WriteKind) throws -> Mutation {
    let data = try UserDataReader(database: reference.firestore.database).read(entries, as: kind)
    return make(reference, data, precondition: nil)
  }

  /// The write of `updateData`.
  static func update(_ reference: DocumentReference, _ fields: [AnyHashable: Any]) throws -> Mutation {
    var update: [(path: FieldPath, value: UserValue)] = []
    for (key, value) in fields { update.append((try FieldPath.reading(key.base), UserValue(any: value))) }
    update.sort { $0.path.model < $1.path.model }
    try checkForConflicts(update.map(\.path.model))
    let data = try UserDataReader(database: reference.firestore.database).read(update: update)
    return make(reference, data, precondition: .exists(true))
  }

  /// Refuses an update that names a field and one within it.
  private static func checkForConflicts(_ paths: [ModelFieldPath]) throws {
    for (path, next) in zip(paths, paths.dropFirst()) where next.hasPrefix(path) {
      throw FirestoreErrorCode.invalid("The field '\(next)' is within the field '\(path)': update one of them.")
    }
  }

  private static func make(
    _ reference: DocumentReference, _ data: WriteData, precondition: Precondition?
  ) -> Mutation {
    let transforms = data.transforms.compactMap { transform in
      (try? ModelFieldPath(parsing: transform.fieldPath)).map { Mutation.Transform($0, transform.operation) }
    }
    let change: Change = data.mask.map { .patch(data.fields, mask: FieldMask($0)) } ?? .set(data.fields)
    return Mutation(reference.resourcePath, change, transforms: transforms, precondition: precondition)
  }
}

extension FieldPath {
  /// A path that an application passed as a string or as a `FieldPath`.
  ///
  /// - Throws: `invalidArgument` for anything else.
  static func reading(_ any: Any) throws -> FieldPath {
    switch any {
    case let path as FieldPath: path
    case let string as String: try parsing(string)
    default:
      throw FirestoreErrorCode.invalid("Field paths must be strings or FieldPath objects, but one is \(type(of: any)).")
    }
  }

  /// A path that an application wrote as a string or as a `FieldPath`; stops the program for anything else.
  static func required(_ any: Any) -> FieldPath {
    do {
      return try reading(any)
    } catch {
      preconditionFailure("\(error)")
    }
  }
}

extension FirestoreErrorCode {
  /// An error as the public API throws it; cancellation stays `CancellationError`.
  static func publicError(_ error: any Error) -> any Error {
    switch error {
    case let error as FirestoreServiceError: FirestoreErrorCode(error)
    case let error as StoreError: FirestoreErrorCode(error)
    default: error
    }
  }

  /// An error of the store of pending writes and of the cache, with its sentence.
  private init(_ error: StoreError) {
    let code: Code =
      switch error.code {
      case .diskFull: .resourceExhausted
      case .corrupt, .notADatabase, .malformedKey: .dataLoss
      case .closed, .locked, .alreadyOpen, .newerSchema, .readOnly, .invalidName: .failedPrecondition
      case .conflict: .aborted
      case .inputOutput, .unknownOutcome: .unavailable
      default: .internal
      }
    self.init(code, error.description)
  }
}
