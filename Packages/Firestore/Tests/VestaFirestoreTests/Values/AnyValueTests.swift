import Foundation
import Testing
import VestaFirestoreBackend

@testable import VestaFirestore
@testable import VestaFirestoreModel

/// The kind of value that an `Any` is, whatever it is wrapped in.
@Suite struct AnyValueTests {
  /// Values with what they are written as.
  private let known: [(Any, UserValue)] = [
    ("a", .value(.string("a"))), ("" as NSString, .value(.string(""))),
    (NSMutableString(string: "m"), .value(.string("m"))),
    (0, .value(.integer(0))), (1, .value(.integer(1))), (Int.max, .value(.integer(.max))),
    (Int8(1), .value(.integer(1))), (UInt8(0), .value(.integer(0))), (Int16(2), .value(.integer(2))),
    (UInt16(2), .value(.integer(2))), (Int32(3), .value(.integer(3))), (UInt32.max, .value(.integer(4_294_967_295))),
    (Int64.min, .value(.integer(.min))), (UInt(5), .value(.integer(5))),
    (UInt64.max, .refused("NSNumber (18446744073709551615) is too large")),
    (0.0, .value(.double(0))), (1.0, .value(.double(1))), (Float(0.5), .value(.double(0.5))),
    (true, .value(.boolean(true))), (false, .value(.boolean(false))),
    (NSNumber(value: true), .value(.boolean(true))), (NSNumber(value: false), .value(.boolean(false))),
    (NSNumber(value: 0), .value(.integer(0))), (NSNumber(value: 1), .value(.integer(1))),
    (NSNumber(value: 1.0), .value(.double(1))), (NSNumber(value: Float(0.5)), .value(.double(0.5))),
    (NSNumber(value: Int16(1)), .value(.integer(1))),
    (NSNumber(value: Int32(1)), .value(.integer(1))), (NSNumber(value: UInt32(1)), .value(.integer(1))),
    (NSNumber(value: UInt64(7)), .value(.integer(7))),
    (NSNumber(value: UInt64.max), .refused("NSNumber (18446744073709551615) is too large")),
    (NSDecimalNumber(string: "2.5"), .value(.double(2.5))),
    (NSNull(), .value(.null)), (Int?.none as Any, .value(.null)), (String??.some(.none) as Any, .value(.null)),
    ([String: Any](), .map([])), ([String: Int](), .map([])), ([Any](), .array([])), ([Int](), .array([])),
    ([1, 2], .array([.value(.integer(1)), .value(.integer(2))])),
    ([true], .array([.value(.boolean(true))])),
    (
      [1, true, "a"] as [Any],
      .array([
        .value(.integer(1)), .value(.boolean(true)), .value(.string("a")),
      ])
    ),
    (
      ["b": 1, "a": 2],
      .map([UserEntry(name: "a", value: .value(.integer(2))), UserEntry(name: "b", value: .value(.integer(1)))])
    ),
    (["a": true] as [String: Any], .map([UserEntry(name: "a", value: .value(.boolean(true)))])),
    (["a": 1.0] as [String: Double?], .map([UserEntry(name: "a", value: .value(.double(1)))])),
    (["a": nil] as [String: Bool?], .map([UserEntry(name: "a", value: .value(.null))])),
    (
      ["a": ["b": ["c": 1]]] as [String: [String: [String: Int8]]],
      .map([
        UserEntry(
          name: "a",
          value: .map([
            UserEntry(name: "b", value: .map([UserEntry(name: "c", value: .value(.integer(1)))]))
          ]))
      ])
    ),
    (NSArray(array: [1, "a"]), .array([.value(.integer(1)), .value(.string("a"))])),
    (NSDictionary(dictionary: ["a": "b"]), .map([UserEntry(name: "a", value: .value(.string("b")))])),
    (NSMutableArray(), .array([])), (NSMutableDictionary(), .map([])),
    (Data([1]), .value(.bytes([1]))),
    (Date(timeIntervalSince1970: 1), .value(.timestamp(WireTimestamp(seconds: 1, nanos: 0)))),
    (Timestamp(seconds: 1, nanoseconds: 0), .value(.timestamp(WireTimestamp(seconds: 1, nanos: 0)))),
    (FieldValue.serverTimestamp(), .sentinel(.serverTimestamp())),
  ]

  @Test func `each value is what it is alone, in optionals and in containers`() {
    for (any, expected) in known {
      let name = "\(type(of: any)) \(any)"
      #expect(UserValue(any: any) == expected, "\(name)")
      let wrapped = Optional(any)
      #expect(UserValue(any: wrapped as Any) == expected, "\(name) in an optional")
      #expect(UserValue(any: Optional(wrapped) as Any) == expected, "\(name) in two optionals")
      #expect(UserValue(any: [any]) == .array([expected]), "\(name) in an array")
      #expect(UserValue(any: [wrapped, wrapped]) == .array([expected, expected]), "\(name) in an array of optionals")
      let entry = UserValue.map([UserEntry(name: "k", value: expected)])
      #expect(UserValue(any: ["k": any]) == entry, "\(name) in a dictionary")
      #expect(UserValue(any: ["k": wrapped]) == entry, "\(name) in a dictionary of optionals")
      #expect(UserValue.entries(of: ["k": wrapped as Any]) == [UserEntry(name: "k", value: expected)], "\(name)")
    }
  }

  /// Values in an `Any` of their own type, in one of an optional, and as an object of Foundation.
  private func isSame<T>(_ value: T) -> Bool {
    UserValue(any: value) == UserValue(any: T?.some(value) as Any)
      && UserValue(any: value) == UserValue(any: T??.some(.some(value)) as Any)
      && UserValue(any: [value]) == .array([UserValue(any: value)])
      && UserValue(any: ["k": value]) == .map([UserEntry(name: "k", value: UserValue(any: value))])
  }

  @Test func `a typed optional or container makes no difference`() {
    let numbers = isSame(1) && isSame(0) && isSame(Int64(-1)) && isSame(1.0) && isSame(0.5) && isSame(Float(0.5))
    #expect(numbers && isSame(UInt64.max) && isSame(UInt8(1)) && isSame(Int8(1)) && isSame(Int16(1)))
    #expect(isSame(true) && isSame(false) && isSame("a") && isSame("") && isSame("e\u{301}"))
    #expect(isSame(["a": 1]) && isSame([1.5]) && isSame([[1]]) && isSame(["a": true] as [String: Any]))
    #expect(isSame(NSNumber(value: 1)) && isSame(NSNumber(value: true)) && isSame(NSNumber(value: 0.5)))
    #expect(isSame(NSNull()) && isSame("a" as NSString) && isSame(Date(timeIntervalSince1970: 1)) && isSame(Data([1])))
  }

  @Test func `what is no value is refused`() {
    struct Plain {}
    for any: Any in [Plain(), Set([1]), "a"["a".startIndex], [1: 2], (1, 2), Plain.self, Plain?.some(Plain()) as Any] {
      guard case .refused(let message, _) = UserValue(any: any) else {
        Issue.record("\(any) is taken for a value")
        continue
      }
      #expect(message.hasPrefix("Unsupported type"))
    }
  }
}
