package import VestaFirestoreBackend

/// A write of one document as a client keeps it: its change, and its precondition.
///
/// It is applied twice: locally, so that listeners see it at once, and again with the service's answer. A set replaces
/// the fields, a patch changes the paths of its mask, a delete removes the document, a verification only checks.
/// Transforms are computed on the fields from before the mutation, and put over its own.
package struct Mutation: Sendable, Hashable {
  /// The change of the fields.
  package enum Change: Sendable, Hashable {
    /// Replaces all fields.
    case set(MapValue)
    /// Sets the paths of the mask to the values, and removes the paths without one.
    case patch(MapValue, mask: FieldMask)
    /// Removes the document.
    case delete
    /// Changes nothing; the service checks the precondition.
    case verify
  }

  /// A transform of one field.
  package struct Transform: Sendable, Hashable {
    /// The field.
    package let path: FieldPath
    /// The operation on the field.
    package let operation: FieldTransform.Operation

    /// A transform of a field.
    package init(_ path: FieldPath, _ operation: FieldTransform.Operation) {
      self.path = path
      self.operation = operation
    }
  }

  /// The document.
  package let path: ResourcePath
  /// The change of its fields.
  package let change: Change
  /// The transforms of its fields.
  package let transforms: [Transform]
  /// The precondition; `nil` for none.
  package let precondition: Precondition?

  /// A write of a document.
  package init(
    _ path: ResourcePath, _ change: Change, transforms: [Transform] = [], precondition: Precondition? = nil
  ) {
    self.path = path
    self.change = change
    self.transforms = transforms
    self.precondition = precondition
  }

  /// Whether the precondition holds for a document.
  package func isAllowed(on document: CachedDocument) -> Bool {
    switch precondition {
    case nil: true
    case .exists(let exists)?: document.isFound == exists
    case .updateTime(let time)?: document.isFound && document.version == time
    }
  }

  /// The write as the service takes it.
  package func write(in database: DatabaseName) -> Write {
    let name = ResourceName(database: database, path: path).description
    let transforms = transforms.map { FieldTransform(fieldPath: $0.path.description, $0.operation) }
    return switch change {
    case .set(let fields):
      .update(Document(name: name, fields: fields), transforms: transforms, precondition: precondition)
    case .patch(let fields, let mask):
      .update(
        Document(name: name, fields: fields), mask: mask.message, transforms: transforms, precondition: precondition)
    case .delete: .delete(name, precondition: precondition)
    case .verify: Write(.verify(name: name), precondition: precondition)
    }
  }
}

/// Paths of fields, such as the ones that a patch changes.
package struct FieldMask: Sendable, Hashable {
  /// The paths, in order.
  package let paths: [FieldPath]

  /// A mask of paths; each counts once.
  package init(_ paths: some Sequence<FieldPath>) { self.paths = Set(paths).sorted() }

  /// Whether a path is in the mask or within a path of it.
  package func covers(_ path: FieldPath) -> Bool { paths.contains { path.hasPrefix($0) } }

  /// The mask as the service takes it.
  package var message: DocumentMask { DocumentMask(fieldPaths: paths.map(\.description)) }
}

/// The fields of a document that pending mutations have changed.
package enum MutatedFields: Sendable, Hashable {
  /// These paths.
  case paths(Set<FieldPath>)
  /// Every field: the document was replaced or removed.
  case all

  /// No field.
  package static let none = MutatedFields.paths([])

  /// The fields with more paths.
  func adding(_ added: [FieldPath]) -> MutatedFields {
    switch self {
    case .all: .all
    case .paths(let paths): .paths(paths.union(added))
    }
  }
}
