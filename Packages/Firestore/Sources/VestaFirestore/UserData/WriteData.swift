internal import VestaFirestoreBackend
internal import VestaFirestoreModel

/// The data of one write, checked and taken apart.
struct WriteData: Sendable, Hashable {
  /// The values, without the fields that the database computes.
  var fields: MapValue
  /// The fields that change; `nil` when the write replaces the whole document.
  ///
  /// Transforms are not in it.
  var mask: [ModelFieldPath]?
  /// The transforms that the database computes, in the order of the data.
  var transforms: [FieldTransform]
}

/// The kind of write of a call, and its name in errors.
enum WriteKind: Sendable, Hashable {
  /// Replaces the document.
  case set
  /// Changes the fields that the data names.
  case merge
  /// Changes the named fields only.
  case mergeFields([FieldPath])
  /// Changes the fields of an existing document; keys are paths.
  case update
}
