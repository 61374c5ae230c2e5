import Foundation
import Testing
import VestaFirestoreBackend
import VestaTesting

@testable import VestaFirestore
@testable import VestaFirestoreModel

/// A document decodes as its data does.
@Suite struct ReadObjectTests {
  private let reference = testDatabase.document("rooms/r")

  private func snapshot(_ fields: MapValue) -> DocumentSnapshot {
    let name = ResourceName(database: testDatabase.database, path: reference.resourcePath)
    return DocumentSnapshot(
      reference: reference, document: CachedDocument(name, .found(fields)),
      metadata: SnapshotMetadata(hasPendingWrites: false, isFromCache: false))
  }

  private func value(_ random: inout SplitMix, depth: Int) -> Value {
    switch random.below(depth == 0 ? 12 : 15) {
    case 0: return .null
    case 1, 2: return .boolean(random.oneIn(2))
    case 3, 4: return .integer(random.pick([0, 1, -1, 5, 127, 128, 255, 300, -32_769, 1 << 53 + 1, .max, .min]))
    case 5, 6:
      return .double(
        random.pick([
          0, -0.0, 1, 5, 5.5, -1, 300, 0.1, 1e300, 0x1p63, -0x1p63, 9_007_199_254_740_992, .nan, .infinity, 0x1p-1000,
        ]))
    case 7:
      return .timestamp(WireTimestamp(seconds: random.pick([0, 1_000_000_000, -62_135_596_800]), nanos: 500_000_000))
    case 8:
      return .string(
        random.pick(["", "1", "true", "+", "?", "AQ==", "http://a/b", "2001-02-03T04:05:06Z", "2001", "é"]))
    case 9: return .bytes([1, 255])
    case 10:
      return .reference(
        random.pick(["projects/demo/databases/(default)/documents/a/b", reference.resource.description]))
    case 11:
      return random.oneIn(2)
        ? .vector([1, 0.5])
        : .pendingServerTimestamp(
          writeTime: WireTimestamp(seconds: 9, nanos: 0),
          previous: random.pick([
            nil, .integer(3), .boolean(true), .double(2.5), .array([.integer(1), .vector([2])]), .map(["a": .null]),
            .vector([1]), .timestamp(WireTimestamp(seconds: 7, nanos: 0)),
          ]))
    case 12: return .array((0..<random.below(5)).map { _ in value(&random, depth: depth - 1) })
    default: return .map(map(&random, depth: depth - 1))
    }
  }

  private func map(_ random: inout SplitMix, depth: Int) -> MapValue {
    let names = ["a", "one_two", "oneTwo", "1", "2", "array", "seconds", "nanoseconds", "latitude", "longitude", "é"]
    let pairs = (0..<random.below(5)).map { _ in (random.pick(names), value(&random, depth: depth)) }
    return MapValue(Dictionary(pairs) { $1 }.map { ($0.key, $0.value) })
  }

  private struct RenamedKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  private func decoder(_ random: inout SplitMix) -> Firestore.Decoder {
    let decoder = Firestore.Decoder()
    decoder.dateDecodingStrategy = random.pick([
      .timestamp, .timestamp, .deferredToDate, .secondsSince1970, .millisecondsSince1970, .iso8601,
      .custom { Date(timeIntervalSince1970: try $0.singleValueContainer().decode(Bool.self) ? 1 : 0) },
    ])
    decoder.dataDecodingStrategy = random.pick([
      .blob, .base64, .deferredToData, .custom { Data([try $0.singleValueContainer().decode(UInt8.self)]) },
    ])
    if random.oneIn(2) {
      decoder.nonConformingFloatDecodingStrategy = .convertFromString(
        positiveInfinity: "+", negativeInfinity: "-", nan: "?")
    }
    decoder.keyDecodingStrategy = random.pick([
      .useDefaultKeys, .useDefaultKeys, .convertFromSnakeCase,
      .custom { path in
        let name = path.last?.stringValue ?? ""
        return RenamedKey(stringValue: name.count == 1 ? "a" : path.count > 1 ? name : name.uppercased())
      },
    ])
    return decoder
  }

  private struct Typed<T: Decodable>: Decodable {
    var a: T?
    var é: [T]?
  }

  @Test(arguments: UInt64(1)...4) func `random documents decode as their data does`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    for round in 0..<30 {
      let (fields, decoder) = (map(&random, depth: 3), decoder(&random))
      let behavior = random.pick([ServerTimestampBehavior.none, .estimate, .previous])
      let snapshot = snapshot(fields)
      func check<T: Decodable>(_ type: T.Type) {
        let direct = ReadProbe.outcome { try snapshot.data(as: type, with: behavior, decoder: decoder) }
        let data = snapshot.data(with: behavior)
        let expected = ReadProbe.outcome { try decoder.decode(type, from: data ?? [:], in: reference) }
        if direct == expected { return }
        let different = zip(direct.split(separator: ";"), expected.split(separator: ";")).first { $0 != $1 }
        let first = different.map { "\($0)" } ?? ""
        #expect(Bool(false), "seed \(seed), round \(round): \(first) in \(fields) as \(type)")
      }
      check(ReadProbe.self)
      check(Typed<Bool>.self)
      check(Typed<Int>.self)
      check(Typed<Double>.self)
      check(Typed<ReadProbe>.self)
    }
  }

  // MARK: Numbers by their rules

  private func integer<I: FixedWidthInteger & Decodable>(_ value: Value, _ type: I.Type) -> String {
    let result: I?
    switch value {
    case .integer(let value): result = I(exactly: value)
    case .double(let value): result = I(exactly: value)
    case .null: return "null"
    default: return "mismatch"
    }
    return result.map { "\($0)" } ?? "corrupt"
  }

  private struct Holder<T: Decodable>: Decodable { var n: T }

  private func found<T: Decodable>(_ value: Value, _ type: T.Type) -> String {
    do {
      return "\(try snapshot(["n": value]).data(as: Holder<T>.self).n)"
    } catch DecodingError.typeMismatch(_, let context) {
      return context.codingPath.map(\.stringValue) == ["n"] ? "mismatch" : "misplaced"
    } catch DecodingError.dataCorrupted(let context) {
      return context.codingPath.map(\.stringValue) == ["n"] ? "corrupt" : "misplaced"
    } catch DecodingError.valueNotFound(_, let context) {
      return context.codingPath.map(\.stringValue) == ["n"] ? "null" : "misplaced"
    } catch {
      return "\(error)"
    }
  }

  @Test func `a number decodes where nothing of it is lost, and a boolean is none`() {
    let integers: [Int64] = [0, 1, -1, 127, 128, -129, 255, 256, 300, 65_536, 1 << 31, 1 << 32, .max, .min]
    let doubles = [0, -0.0, 1, 5, 5.5, -1, 127, 128, 300, 1e10, 0x1p63, -0x1p63, 0x1p64, .nan, .infinity, 1e300]
    let others: [Value] = [.null, .boolean(true), .boolean(false), .string("1"), .array([.integer(1)]), .map([:])]
    for value in integers.map(Value.integer) + doubles.map(Value.double) + others {
      func checkOne<I: FixedWidthInteger & Decodable>(_ type: I.Type) {
        #expect(found(value, type) == integer(value, type), "\(value) as \(type)")
      }
      func check<each I: FixedWidthInteger & Decodable>(_ types: repeat (each I).Type) { repeat checkOne(each types) }
      check(Int.self, Int8.self, Int16.self, Int32.self, Int64.self)
      check(UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self)
      let double =
        switch value {
        case .integer(let value): "\(Double(value))"
        case .double(let value): "\(value)"
        case .null: "null"
        default: "mismatch"
        }
      #expect(found(value, Double.self) == double)
      let boolean =
        switch value {
        case .boolean(let value): "\(value)"
        case .null: "null"
        default: "mismatch"
        }
      #expect(found(value, Bool.self) == boolean)
    }
  }
}
