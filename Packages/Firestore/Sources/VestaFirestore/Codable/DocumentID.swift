public import VestaDataCoding

/// A type that ``DocumentID`` can hold.
public protocol DocumentIDWrappable {
  /// The value for the reference of the document that is decoded.
  static func wrap(_ documentReference: DocumentReference) throws -> Self
}

extension String: DocumentIDWrappable {
  /// The id of the document.
  public static func wrap(_ documentReference: DocumentReference) throws -> String { documentReference.documentID }
}

extension DocumentReference: DocumentIDWrappable {
  /// The reference itself.
  public static func wrap(_ documentReference: DocumentReference) throws -> Self {
    guard let result = documentReference as? Self else {
      throw FirestoreDecodingError.decodingIsNotSupported("DocumentReference has no subclass \(Self.self)")
    }
    return result
  }
}

/// The id of a document in a property: read from the document's reference, never stored among its fields.
///
/// ```swift
/// struct City: Codable {
///   @DocumentID var id: String?
///   var name: String
/// }
/// ```
@propertyWrapper
public struct DocumentID<Value: DocumentIDWrappable & Codable>: StructureCodingUncodedUnkeyed {
  private var value: Value?

  /// Wraps an id.
  ///
  /// An initial value has no effect on where the document is stored.
  public init(wrappedValue value: Value?) { self.value = value }

  /// The id; `nil` for a value that was not read from a document.
  public var wrappedValue: Value? {
    get { value }
    set { value = newValue }
  }
}

extension DocumentID: Codable {
  /// Takes the id from the reference of the document that is decoded.
  ///
  /// - Throws: ``FirestoreDecodingError/decodingIsNotSupported(_:)`` without a reference, as in a decoder of another
  ///   kind.
  public init(from decoder: any Decoder) throws {
    guard let key = CodingUserInfoKey.documentReference, let reference = decoder.userInfo[key] as? DocumentReference
    else {
      throw FirestoreDecodingError.decodingIsNotSupported(
        "Could not find DocumentReference for user info key: \(CodingUserInfoKey.documentReferenceName). "
          + "DocumentID values can only be decoded with Firestore.Decoder from a document.")
    }
    value = try Value.wrap(reference)
  }

  /// Refuses to encode: a ``Firestore/Encoder`` leaves the property out.
  public func encode(to encoder: any Encoder) throws {
    throw FirestoreEncodingError.encodingIsNotSupported("DocumentID values can only be encoded with Firestore.Encoder")
  }
}

extension DocumentID: Equatable where Value: Equatable {}
extension DocumentID: Hashable where Value: Hashable {}
extension DocumentID: Sendable where Value: Sendable {}

extension CodingUserInfoKey {
  static let documentReferenceName = "DocumentRefUserInfoKey"
  /// Where a decoder has the reference of the document that it decodes.
  static let documentReference = CodingUserInfoKey(rawValue: documentReferenceName)
}
