import Foundation
import Testing

@testable import VestaTransport

@Suite struct LimitsPageTests {
  /// The cells of the rows of the table.
  private static let rows: [[String]] = {
    let package = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let page = "/\(package)/Sources/VestaTransport/VestaTransport.docc/Limits.md"
    let text = (try? String(contentsOfFile: page, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").filter { $0.hasPrefix("|") }.map { $0.split(separator: "|").map(String.init) }
  }()

  /// How the page may write a default.
  private static func texts(_ value: Any) -> [String] {
    switch value {
    case let number as Int:
      var digits = "\(number)"
      if number >= 1_000 { digits = "\(number / 1_000)," + String("\(1_000 + number % 1_000)".dropFirst()) }
      if number % (1 << 20) == 0 { return [digits, "\(number >> 20) MiB"] }
      return number % 1_024 == 0 ? [digits, "\(number >> 10) KiB"] : [digits]
    case let duration as Duration:
      let milliseconds = duration / .milliseconds(1)
      return milliseconds < 1_000 ? ["\(Int(milliseconds)) ms"] : ["\(Int(milliseconds / 1_000)) s"]
    default: return []
    }
  }

  @Test(arguments: Mirror(reflecting: TransportTuning()).children.compactMap(\.label))
  func `the page of limits has every field of the tuning with its default`(name: String) throws {
    let children = Mirror(reflecting: TransportTuning()).children
    let value = try #require(children.first { $0.label == name }?.value)
    let row = try #require(Self.rows.first { $0[0].contains("`\(name)`") }, "no row has \(name)")
    // Words, so that 100 is not found in 1,000.
    let defaults = row[1].replacing(", ", with: " ; ").replacing(";", with: " ; ")
    #expect(Self.texts(value).contains { " \(defaults) ".contains(" \($0) ") }, "\(row[1]) is not \(value)")
  }
}
