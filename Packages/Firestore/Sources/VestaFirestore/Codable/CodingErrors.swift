/// Why a value could not be decoded.
public enum FirestoreDecodingError: Error, Sendable, Hashable {
  /// The type can only be decoded by ``Firestore/Decoder`` from a document: the message says which type.
  case decodingIsNotSupported(String)
  /// A field has the name of a property that is not stored. Never thrown; kept for programs that name it.
  case fieldNameConflict(String)
}

/// Why a value could not be encoded.
public enum FirestoreEncodingError: Error, Sendable, Hashable {
  /// The type can only be encoded by ``Firestore/Encoder``: the message says which type.
  case encodingIsNotSupported(String)
}
