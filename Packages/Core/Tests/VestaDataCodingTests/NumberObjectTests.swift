import Foundation
import Testing
import VestaDataCoding

/// Numbers and booleans decode alike as Swift's own values, as objects of Foundation, and in optionals.
@Suite struct NumberObjectTests {
  private enum Outcome: Equatable {
    case value(String)
    case mismatch([String])
    case corrupt([String])
    case null([String])
    case other
  }

  private struct Holder<T: Decodable>: Decodable { var list: [T] }

  private func outcome<T: Decodable>(_ value: Any, _ type: T.Type) -> Outcome {
    func path(_ context: DecodingError.Context) -> [String] { context.codingPath.map(\.stringValue) }
    do {
      let holder = try FirebaseDataDecoder().decode(Holder<T>.self, from: ["list": [value]] as [String: Any])
      return .value("\(holder.list)")
    } catch DecodingError.typeMismatch(_, let context) {
      return .mismatch(path(context))
    } catch DecodingError.dataCorrupted(let context) {
      return .corrupt(path(context))
    } catch DecodingError.valueNotFound(_, let context) {
      return .null(path(context))
    } catch {
      return .other
    }
  }

  /// Every form of one number.
  private static var forms: [[Any]] {
    [
      [true, NSNumber(value: true), parsedTrue, true as AnyHashable, Bool??.some(true) as Any],
      [false, NSNumber(value: false), NSNumber(booleanLiteral: false), Bool?.some(false) as Any],
      [0, Int64(0), Int8(0), UInt64(0), NSNumber(value: 0), NSNumber(value: Int8(0)), NSDecimalNumber.zero],
      [
        1, Int64(1), UInt8(1), NSNumber(value: 1), NSNumber(value: Int8(1)), NSNumber(value: UInt8(1)),
        Int?.some(1) as Any,
      ],
      [300, Int16(300), UInt32(300), NSNumber(value: 300), NSNumber(value: Int16(300)), NSDecimalNumber(value: 300)],
      [-1, Int8(-1), NSNumber(value: -1), NSNumber(value: Int64(-1)), Int64?.some(-1) as Any],
      [Int.max, Int64.max, UInt64(Int64.max), NSNumber(value: Int64.max), NSNumber(value: UInt64(Int64.max))],
      [UInt64.max, UInt.max, NSNumber(value: UInt64.max), NSDecimalNumber(string: "18446744073709551615")],
      [5.0, Float(5), NSNumber(value: 5.0), NSNumber(value: Float(5)), Double?.some(5) as Any],
      [5.5, Float(5.5), NSNumber(value: 5.5), NSNumber(value: Float(5.5)), NSDecimalNumber(string: "5.5")],
      [1e300, NSNumber(value: 1e300)],
      [Int?.none as Any, NSNull(), NSNumber?.none as Any, Bool??.some(.none) as Any],
    ]
  }

  private static var parsedTrue: Any {
    (try? JSONSerialization.jsonObject(with: Data("[true]".utf8)) as? [Any])?.first ?? true
  }

  @Test(arguments: forms.indices) func `the form of a number makes no difference`(index: Int) {
    for form in Self.forms[index].dropFirst() {
      func checkOne<T: Decodable>(_ type: T.Type) {
        let (found, expected) = (outcome(form, type), outcome(Self.forms[index][0], type))
        #expect(found == expected, "\(Swift.type(of: form)) \(form) as \(type)")
      }
      func check<each T: Decodable>(_ types: repeat (each T).Type) { repeat checkOne(each types) }
      check(Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self)
      check(UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, Float.self, Double.self, String.self)
      check(Int?.self, Bool?.self, Double?.self, [Int].self, [String: Int].self)
    }
  }

  @Test func `the kind of each number is known`() throws {
    #expect(Numeric(true) == .boolean(true) && Numeric(NSNumber(value: false)) == .boolean(false))
    #expect(Numeric(NSNumber(value: true) as Any) == .boolean(true) && Numeric(1) == .integer(1))
    #expect(Numeric(NSNumber(value: 1)) == .integer(1) && Numeric(NSNumber(value: Int8(1))) == .integer(1))
    #expect(Numeric(NSNumber(value: 1.0)) == .double(1) && Numeric(NSNumber(value: UInt64.max)) == .unsigned(.max))
    #expect(Numeric("1") == nil && Numeric(NSNull()) == nil && Numeric([1]) == nil && Numeric(["a": true]) == nil)
    let parsed = try #require(JSONSerialization.jsonObject(with: Data("[true,1,1.0,false,0]".utf8)) as? [Any])
    #expect(parsed.compactMap { Numeric($0) }.prefix(2) == [.boolean(true), .integer(1)])
    #expect(Numeric(parsed[3]) == .boolean(false) && Numeric(parsed[4]) == .integer(0))
    #expect(
      outcome(300, Int8.self) == .corrupt(["list", "Index 0"])
        && outcome(true, Int.self) == .mismatch(["list", "Index 0"]))
    #expect(outcome(5.0, Int.self) == .value("[5]") && outcome(5.5, Int.self) == .corrupt(["list", "Index 0"]))
    #expect(outcome(1, Bool.self) == .mismatch(["list", "Index 0"]))
  }
}
