import Foundation
import Testing
import VestaRemoteConfigBackendFakes
import VestaTesting

@testable import VestaRemoteConfig

@Suite struct ValueTests {
  private func value(_ text: String) -> RemoteConfigValue { RemoteConfigValue(Data(text.utf8), source: .remote) }

  @Test(arguments: [
    ("12", 12), ("12ab", 12), (" -3.5x", -3.5), ("", 0), ("x", 0), ("1e3", 1000), ("1e", 1), ("+7", 7), (".5", 0.5),
    ("5.", 5), ("-", 0), ("0x10", 0), ("9876543210", 9_876_543_210), ("\t\n\u{B}\u{C}\r 7", 7), ("\u{8}7", 0),
    ("\u{E}7", 0), ("/7", 0), (":7", 0),
  ])
  func `a number is read from the beginning of the string`(text: String, expected: Double) {
    #expect(value(text).numberValue.doubleValue == expected)
  }

  @Test(arguments: [
    ("true", true), ("YES", true), ("1", true), ("  +005", true), ("t", true), ("-9", true), ("false", false),
    ("0", false), ("", false), ("no", false), ("000", false), ("x1", false), ("\t\n\u{B}\u{C}\r y", true),
    ("\u{8}1", false), ("\u{E}1", false), ("-+1", false),
  ])
  func `a boolean follows the rules of NSString`(text: String, expected: Bool) {
    #expect(value(text).boolValue == expected)
  }

  @Test func `JSON is an array or a dictionary and nothing else`() {
    #expect((value("[1,2]").jsonValue as? [Int]) == [1, 2])
    #expect((value("{\"a\":1}").jsonValue as? [String: Int]) == ["a": 1])
    for text in ["5", "\"a\"", "", "{"] { #expect(value(text).jsonValue == nil) }
  }

  @Test func `values decode as scalars, structures and arrays`() throws {
    struct Point: Codable, Equatable { var x: Int, name: String? }
    #expect(try value("12").decoded(asType: Int.self) == 12)
    #expect(try value("yes").decoded(asType: Bool.self))
    #expect(try value("text").decoded(asType: String.self) == "text")
    #expect(try value("1.5").decoded(asType: Double.self) == 1.5)
    #expect(try value("{\"x\":3}").decoded(asType: Point.self) == Point(x: 3, name: nil))
    #expect(try value("[{\"x\":3}]").decoded(asType: [Point].self) == [Point(x: 3, name: nil)])
    #expect(throws: RemoteConfigValueCodableError.self) { try value("1").decoded(asType: Date.self) }
    #expect(throws: DecodingError.self) { try value("1").decoded(asType: Point.self) }
  }

  @Test func `the whole configuration decodes, active values before defaults`() async throws {
    struct Config: Codable, Equatable { var limit: Int, title: String, isOn: Bool, colors: [String] }
    let bench = try Bench()
    try bench.config.setDefaults(from: Config(limit: 1, title: "default", isOn: true, colors: ["red"]))
    bench.backend.publish(["limit": "2"])
    try await bench.config.fetchAndActivate()
    #expect(
      try bench.config.decoded(asType: Config.self) == Config(limit: 2, title: "default", isOn: true, colors: ["red"]))
    #expect(bench.config[decodedValue: "limit"] == 2)
    #expect(bench.config[decodedValue: "colors"] == ["red"])
    #expect(bench.config[jsonValue: "title"] == nil)
    bench.config.setDefaults(["map": "{\"a\":{\"b\":[1,null]}}"])
    #expect(bench.config[jsonValue: "map"] == ["a": ["b": [1, NSNull()] as [AnyHashable]] as [String: AnyHashable]])
    try bench.config.setDefaults(from: Config(limit: 1, title: "default", isOn: true, colors: ["red"]))
    #expect(throws: RemoteConfigCodableError.self) { try bench.config.setDefaults(from: 5) }
    #expect(bench.config.defaultValue(forKey: "limit")?.stringValue == "1")
    await bench.end()
  }

  @Test func `defaults of every type are kept as upstream keeps them`() async throws {
    let bench = try Bench()
    bench.config.setDefaults([
      "data": Data([1, 2]), "text": "t", "yes": true, "int": 5, "double": 2.5, "whole": 3.0, "list": [1, "a"] as [Any],
      "map": ["b": 1, "a": NSNull()] as [String: Any], "odd": URL(filePath: "/"),
    ])
    let text = { (key: String) in bench.config[key].stringValue }
    #expect(bench.config["data"].dataValue == Data([1, 2]))
    #expect(
      ["text", "yes", "int", "double", "whole", "list", "map"].map(text) == [
        "t", "1", "5", "2.5", "3", "[1,\"a\"]", "{\"a\":null,\"b\":1}",
      ])
    #expect(bench.config.defaultValue(forKey: "odd") == nil)
    #expect(bench.config.allKeys(from: .default).count == 8)
    bench.config.setDefaults(nil)
    #expect(bench.config.allKeys(from: .default).isEmpty)
    await bench.end()
  }

  @Test func `defaults are read from a property list`() async throws {
    let bench = try Bench()
    let file = URL(filePath: bench.directory.path(of: "defaults.plist"))
    let list = try PropertyListSerialization.data(fromPropertyList: ["a": "1", "b": true], format: .xml, options: 0)
    try list.write(to: file)
    bench.config.setDefaults(fromPlistAt: file)
    #expect(bench.config["a"].numberValue == 1 && bench.config["b"].boolValue)
    bench.config.setDefaults(fromPlist: "there is no such file")
    #expect(bench.config["a"].numberValue == 1)
    await bench.end()
  }

  @Test func `keys are listed by source and prefix`() async throws {
    let bench = try Bench()
    bench.config.setDefaults(["d": 1])
    bench.backend.publish(["ab": "1", "ac": "2", "b": "3"])
    try await bench.config.fetchAndActivate()
    #expect(bench.config.keys(withPrefix: "a") == ["ab", "ac"])
    #expect(bench.config.keys(withPrefix: nil).count == 3)
    #expect(Set(bench.config) == ["ab", "ac", "b"])
    #expect(bench.config.allKeys(from: .static).isEmpty)
    #expect(bench.config.configValue(forKey: "d", source: .remote).source == .static)
    #expect(bench.config.configValue(forKey: nil).source == .static)
    await bench.end()
  }
}
