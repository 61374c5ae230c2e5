internal import Foundation
// Programs that set a coding strategy need no second import, as with the Firebase SDK.
@_exported public import VestaDataCoding

extension Firestore {
  /// Encodes values of a program as the data of a document.
  ///
  /// Dates become timestamps and `Data` becomes bytes; `Timestamp`, `GeoPoint`, `VectorValue`, `FieldValue` and
  /// `DocumentReference` are kept. `nil` properties are left out, see ``ExplicitNull``.
  ///
  /// ```swift
  /// try document.setData(from: city)                       // uses a separate encoder
  /// let fields = try Firestore.Encoder().encode(city)      // ["name": "Berlin", ...]
  /// ```
  ///
  /// An encoder may be used by one thread at a time, and again for as many values as one likes.
  public class Encoder {
    /// How dates are stored; as timestamps unless set otherwise.
    public var dateEncodingStrategy: FirebaseDataEncoder.DateEncodingStrategy = .timestamp
    /// How `Data` is stored; as bytes unless set otherwise.
    public var dataEncodingStrategy: FirebaseDataEncoder.DataEncodingStrategy = .blob
    /// How infinity and NaN are stored; an error unless set otherwise.
    public var nonConformingFloatEncodingStrategy: FirebaseDataEncoder.NonConformingFloatEncodingStrategy = .throw
    /// How the names of properties become names of fields.
    public var keyEncodingStrategy: FirebaseDataEncoder.KeyEncodingStrategy = .useDefaultKeys
    /// The entries of `encoder.userInfo` in `encode(to:)`.
    public var userInfo: [CodingUserInfoKey: Any] = [:]

    /// Creates an encoder with the strategies above.
    public init() {}

    /// The fields of a value.
    ///
    /// - Throws: `EncodingError` if the value is not a map of fields, or holds something that Firestore does not store.
    public func encode<T: Encodable>(_ value: T) throws -> [String: Any] {
      guard let fields = try makeEncoder().encode(value) as? [String: Any] else { throw Self.misplaced(value) }
      return fields
    }

    /// The fields of a value as they are written; no dictionary is made of them first.
    func entries<T: Encodable>(of value: T) throws -> [UserEntry] {
      guard case .map(let entries) = try makeEncoder().encode(value, as: UserValue.self) else {
        throw Self.misplaced(value)
      }
      return entries
    }

    private func makeEncoder() -> FirebaseDataEncoder {
      let encoder = FirebaseDataEncoder()
      encoder.dateEncodingStrategy = dateEncodingStrategy
      encoder.dataEncodingStrategy = dataEncodingStrategy
      encoder.nonConformingFloatEncodingStrategy = nonConformingFloatEncodingStrategy
      encoder.keyEncodingStrategy = keyEncodingStrategy
      encoder.passthroughTypeResolver = FirestoreLeafTypes.self
      encoder.userInfo = userInfo
      return encoder
    }

    private static func misplaced<T: Encodable>(_ value: T) -> EncodingError {
      let context = EncodingError.Context(codingPath: [], debugDescription: "Top-level \(T.self) is not allowed.")
      return EncodingError.invalidValue(value, context)
    }
  }

  /// Decodes documents as values of a program.
  ///
  /// A decoder may be used by one thread at a time, and again for as many documents as one likes.
  public class Decoder {
    /// How dates are read; from timestamps unless set otherwise.
    public var dateDecodingStrategy: FirebaseDataDecoder.DateDecodingStrategy {
      get { decoder.dateDecodingStrategy }
      set { change { $0.dateDecodingStrategy = newValue } }
    }
    /// How `Data` is read; from bytes unless set otherwise.
    public var dataDecodingStrategy: FirebaseDataDecoder.DataDecodingStrategy {
      get { decoder.dataDecodingStrategy }
      set { change { $0.dataDecodingStrategy = newValue } }
    }
    /// How infinity and NaN are read.
    public var nonConformingFloatDecodingStrategy: FirebaseDataDecoder.NonConformingFloatDecodingStrategy {
      get { decoder.nonConformingFloatDecodingStrategy }
      set { change { $0.nonConformingFloatDecodingStrategy = newValue } }
    }
    /// How names of fields become names of properties.
    public var keyDecodingStrategy: FirebaseDataDecoder.KeyDecodingStrategy {
      get { decoder.keyDecodingStrategy }
      set { change { $0.keyDecodingStrategy = newValue } }
    }
    /// The entries of `decoder.userInfo` in `init(from:)`.
    public var userInfo: [CodingUserInfoKey: Any] {
      get { decoder.userInfo }
      set { change { $0.userInfo = newValue } }
    }

    /// The decoder with the strategies that were set; `nil` for none, as of nearly all.
    private var own: FirebaseDataDecoder?

    /// The same, ready for documents.
    private var prepared: PreparedDecoder?

    private var decoder: FirebaseDataDecoder { own ?? Self.standard }

    // Sound as nonisolated(unsafe): it is set up once, here, and only read then; changes go to a decoder of their own.
    nonisolated(unsafe) private static let standard = makeDecoder()
    // Sound as nonisolated(unsafe): a prepared decoder holds the strategies of one time, and nothing changes them.
    nonisolated(unsafe) private static let prepared = standard.prepared(noting: .documentReference)

    /// Creates a decoder with the strategies above.
    public init() {}

    /// Decodes data such as `DocumentSnapshot.data()` returns.
    ///
    /// - Throws: `DecodingError` with the path of the field that does not fit.
    public func decode<T: Decodable>(_ t: T.Type, from data: Any) throws -> T { try decode(t, from: data, in: nil) }

    /// Decodes data of a document, whose reference ``DocumentID`` properties get.
    ///
    /// - Throws: `DecodingError` with the path of the field that does not fit.
    public func decode<T: Decodable>(_ t: T.Type, from data: Any, in reference: DocumentReference?) throws -> T {
      try decode(t, from: .any(data), in: reference)
    }

    func decode<T: Decodable>(_ t: T.Type, from source: DecodedValue, in reference: DocumentReference?) throws -> T {
      try (prepared ?? Self.prepared).decode(t, from: source, noting: reference)
    }

    private func change(_ body: (FirebaseDataDecoder) -> Void) {
      let decoder = own ?? Self.makeDecoder()
      body(decoder)
      own = decoder
      prepared = decoder.prepared(noting: .documentReference)
    }

    private static func makeDecoder() -> FirebaseDataDecoder {
      let decoder = FirebaseDataDecoder()
      decoder.dateDecodingStrategy = .timestamp
      decoder.dataDecodingStrategy = .blob
      decoder.passthroughTypeResolver = FirestoreLeafTypes.self
      return decoder
    }
  }
}

/// The values that documents hold as they are, and coders leave alone.
enum FirestoreLeafTypes: StructureCodingPassthroughTypeResolver {
  static func isPassthroughType<T>(_ value: T) -> Bool {
    value is Timestamp || value is GeoPoint || value is VectorValue || value is FieldValue || value is DocumentReference
  }
}

extension FirebaseDataEncoder.DateEncodingStrategy {
  /// Stores dates as timestamps; the default of ``Firestore/Encoder``.
  public static var timestamp: FirebaseDataEncoder.DateEncodingStrategy {
    .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(Timestamp(date: date))
    }
  }
}

extension FirebaseDataDecoder.DateDecodingStrategy {
  /// Reads dates from timestamps; the default of ``Firestore/Decoder``.
  public static var timestamp: FirebaseDataDecoder.DateDecodingStrategy {
    .custom { decoder in try decoder.singleValueContainer().decode(Timestamp.self).dateValue() }
  }
}
