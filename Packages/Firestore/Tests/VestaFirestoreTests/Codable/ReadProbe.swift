import Foundation
import VestaFirestore

/// A type that decodes a value in every way that a program may, and notes what comes of each.
struct ReadProbe: Decodable, Equatable {
  private(set) var notes: [String] = []

  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    notes.append("at \(decoder.codingPath.map(\.stringValue))")
    noteScalars(decoder)
    noteMap(decoder)
    noteList(decoder)
  }

  /// A value with the members of dictionaries in order; dates of any size have no text in Foundation.
  private static func text(_ value: Any) -> String {
    if let date = value as? Date { return "\(date.timeIntervalSinceReferenceDate)" }
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional { return mirror.children.first.map { text($0.value) } ?? "nil" }
    return mirror.displayStyle == .dictionary ? "\(mirror.children.map { "\($0.value)" }.sorted())" : "\(value)"
  }

  /// The result of a closure as text, or the kind of its error and the place.
  static func outcome<T>(_ body: () throws -> T) -> String {
    func place(_ context: DecodingError.Context) -> String { "\(context.codingPath.map(\.stringValue))" }
    do {
      return text(try body())
    } catch DecodingError.typeMismatch(let type, let context) {
      // The message names the type that was found, which may be Swift's or Foundation's.
      return "no \(type) at \(place(context))"
    } catch DecodingError.valueNotFound(let type, let context) {
      return "null for \(type) at \(place(context)): \(context.debugDescription)"
    } catch DecodingError.keyNotFound(let key, let context) {
      return "no key \(key.stringValue) at \(place(context))"
    } catch DecodingError.dataCorrupted(let context) {
      return "corrupt at \(place(context)): \(context.debugDescription)"
    } catch {
      return "\(error)"
    }
  }

  private mutating func note<T: Decodable>(_ type: T.Type, _ decoder: any Decoder) {
    notes.append("\(type): " + Self.outcome { try decoder.singleValueContainer().decode(type) })
  }

  private mutating func noteScalars(_ decoder: any Decoder) {
    notes.append("nil: " + Self.outcome { try decoder.singleValueContainer().decodeNil() })
    func all<each T: Decodable>(_ types: repeat (each T).Type) { repeat note(each types, decoder) }
    func decodes<each T: Decodable>(_ types: repeat (each T).Type) {
      repeat notes.append("\((each types)): " + Self.text((try? (each types).init(from: decoder)) as Any))
    }
    all(Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self)
    all(UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self)
    all(Float.self, Double.self, Decimal.self, String.self, URL.self, UUID.self, Date.self, Data.self)
    all(Timestamp.self, GeoPoint.self, VectorValue.self, DocumentReference.self)
    all(Int?.self, Bool?.self, Double?.self, [Int].self, [Double?].self, [Bool].self)
    all(ServerTimestamp<Date>.self, ServerTimestamp<Timestamp>.self)
    // Which member of several fails first is not known.
    decodes([String: Int].self, [String: Bool?].self, [Int: Double].self, [String: Decimal].self)
    all(ExplicitNull<Int>.self, ExplicitNull<Bool>.self, DocumentID<String>.self, Timestamp?.self)
  }

  private mutating func noteMap(_ decoder: any Decoder) {
    guard let map = try? decoder.container(keyedBy: Key.self) else {
      notes.append("map: " + Self.outcome { _ = try decoder.container(keyedBy: Key.self) })
      return
    }
    for key in map.allKeys.sorted(by: {
      Array($0.stringValue.utf8).lexicographicallyPrecedes(Array($1.stringValue.utf8))
    }) {
      notes.append("\(key.stringValue) " + Self.outcome { try map.decodeIfPresent(Bool.self, forKey: key) as Any })
      notes.append("\(key.stringValue) " + Self.outcome { try map.decodeIfPresent(Int8.self, forKey: key) as Any })
      notes.append("\(key.stringValue) " + Self.outcome { try map.decodeIfPresent(Float.self, forKey: key) as Any })
      notes.append("\(key.stringValue) " + Self.outcome { try map.decode(UInt64.self, forKey: key) })
      notes.append("\(key.stringValue) " + Self.outcome { try map.decode(Decimal.self, forKey: key) })
      notes += (try? map.decode(ReadProbe.self, forKey: key))?.notes ?? ["null"]
      notes += (try? ReadProbe(from: map.superDecoder(forKey: key)))?.notes ?? ["no probe"]
    }
    notes.append(Self.outcome { try map.decode(Int.self, forKey: Key(stringValue: "none")) })
  }

  private mutating func noteList(_ decoder: any Decoder) {
    guard var list = try? decoder.unkeyedContainer() else { return }
    while !list.isAtEnd {
      // What does not decode is not passed over.
      notes.append(Self.outcome { try list.decode(Bool.self) })
      if list.isAtEnd { break }
      notes.append(Self.outcome { try list.decode(Int16.self) })
      if list.isAtEnd { break }
      notes.append(Self.outcome { try list.decodeNil() })
      if list.isAtEnd { break }
      notes += (try? list.decode(ReadProbe.self))?.notes ?? ["null \(Self.outcome { _ = try list.superDecoder() })"]
    }
    notes.append(Self.outcome { try list.decode(Int.self) })
  }
}

extension ReadProbe: CustomStringConvertible {
  var description: String { notes.joined(separator: "; ") }
}
