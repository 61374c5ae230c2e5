import VestaBytes
public import VestaFirestoreBackend

/// A document as the files of an export have it: an `EntityProto` of Datastore's third version.
///
/// It has no times and no version. Numbers of fields, with groups where the format has them:
///
/// | message | fields |
/// | --- | --- |
/// | entity | 13 key, 14 property, 15 raw property, 16 root of the path |
/// | property | 1 meaning, 3 name, 4 multiple, 5 value |
/// | value | 1 integer, 2 boolean, 3 string, 4 double, 5 point, 12 reference |
///
/// An array is as many properties of one name; an empty one is a property with the meaning 24. A map is an entity
/// without a key.
public struct ExportEntity: Sendable, Hashable {
  /// Collections and documents, from the root to the document.
  public var path: [String]

  /// The fields.
  public var fields: MapValue

  /// A document.
  public init(path: [String], fields: MapValue) {
    self.path = path
    self.fields = fields
  }

  /// The meaning of a property beyond its value.
  enum Meaning {
    static let timestamp: UInt64 = 7
    static let point: UInt64 = 9
    static let blob: UInt64 = 14
    static let byteString: UInt64 = 16
    static let entity: UInt64 = 19
    static let emptyList: UInt64 = 24
    static let vector: UInt64 = 31
  }

  /// The maximum nesting of maps in either direction; a document has 20.
  static let depthLimit = 100
}

// MARK: Writing

extension ExportEntity {
  /// The record of a document.
  ///
  /// - Parameter project: The project that the export is of.
  public func record(project: String) -> [UInt8] {
    var writer = ProtobufWriter()
    writer.entity(path, fields, app: "dev~\(project)")
    return writer.finish()
  }
}

extension ProtobufWriter {
  fileprivate mutating func message(_ number: UInt32, _ content: (inout ProtobufWriter) -> Void) {
    write(tag: number, .delimited)
    let start = begin()
    content(&self)
    close(start)
  }

  fileprivate mutating func group(_ number: UInt32, _ content: (inout ProtobufWriter) -> Void) {
    write(varint: UInt64(number) << 3 | 3)
    content(&self)
    write(varint: UInt64(number) << 3 | 4)
  }

  fileprivate mutating func text(_ number: UInt32, _ string: String) {
    write(tag: number, .delimited)
    write(string: string)
  }

  fileprivate mutating func number(_ number: UInt32, _ value: UInt64) {
    write(tag: number, .varint)
    write(varint: value)
  }

  fileprivate mutating func double(_ number: UInt32, _ value: Double) {
    write(tag: number, .fixed64)
    write(fixed64: value.isNaN ? 0x7FF8_0000_0000_0000 : value.bitPattern)
  }

  /// Elements of a path, as keys have them.
  private mutating func elements(_ path: ArraySlice<String>) {
    for index in stride(from: path.startIndex, to: path.endIndex - 1, by: 2) {
      group(1) {
        $0.text(2, path[index])
        $0.text(4, path[index + 1])
      }
    }
  }

  fileprivate mutating func entity(_ path: [String], _ fields: MapValue, app: String) {
    message(13) {
      $0.text(13, app)
      $0.message(14) { $0.elements(path[...]) }
    }
    // By the numbers of fields, as every export has them: empty arrays first.
    for (name, value) in fields where value == .array([]) {
      property(14, name, meaning: ExportEntity.Meaning.emptyList, isMultiple: false) { _ in }
    }
    for (name, value) in fields {
      guard case .array(let elements) = value else {
        property(name, value, isMultiple: false, app)
        continue
      }
      for element in elements { property(name, element, isMultiple: true, app) }
    }
    message(16) { $0.elements(path.prefix(2)) }
  }

  private mutating func property(
    _ number: UInt32, _ name: String, meaning: UInt64?, isMultiple: Bool, _ value: (inout ProtobufWriter) -> Void
  ) {
    message(number) {
      if let meaning { $0.number(1, meaning) }
      $0.text(3, name)
      $0.number(4, isMultiple ? 1 : 0)
      $0.message(5, value)
    }
  }

  private mutating func property(_ name: String, _ value: Value, isMultiple: Bool, _ app: String) {
    let meaning: UInt64? =
      switch value {
      case .timestamp: ExportEntity.Meaning.timestamp
      case .geoPoint: ExportEntity.Meaning.point
      case .bytes: ExportEntity.Meaning.blob
      case .map: ExportEntity.Meaning.entity
      default: nil
      }
    property(15, name, meaning: meaning, isMultiple: isMultiple) { $0.content(of: value, app) }
  }

  private mutating func content(of value: Value, _ app: String) {
    switch value {
    // An array in an array is no value of a document.
    case .null, .array: break
    case .boolean(let bool): number(2, bool ? 1 : 0)
    case .integer(let integer): number(1, UInt64(bitPattern: integer))
    case .double(let value): double(4, value)
    case .timestamp(let time): number(1, UInt64(bitPattern: time.microseconds ?? 0))
    case .string(let string): text(3, string)
    case .bytes(let bytes):
      write(tag: 3, .delimited)
      write(blob: bytes)
    case .reference(let name): reference(name, app)
    case .geoPoint(let point):
      group(5) {
        $0.double(6, point.latitude)
        $0.double(7, point.longitude)
      }
    case .map(let fields):
      write(tag: 3, .delimited)
      let start = begin()
      entity([], fields, app: "")
      close(start)
    }
  }

  /// The name of a document, `projects/p/databases/d/documents/…`.
  private mutating func reference(_ name: String, _ app: String) {
    let parts = name.parts(at: "/").map(String.init)
    let path = parts.dropFirst(5)
    group(12) {
      $0.text(13, parts.count > 1 ? "dev~\(parts[1])" : app)
      for index in stride(from: path.startIndex, to: path.endIndex - 1, by: 2) {
        $0.group(14) {
          $0.text(15, path[index])
          $0.text(17, path[index + 1])
        }
      }
      if parts.count > 3, parts[3] != "(default)" { $0.text(23, parts[3]) }
    }
  }
}
