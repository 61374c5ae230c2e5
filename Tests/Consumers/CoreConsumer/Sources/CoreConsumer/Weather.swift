import VestaCore

// A program with two "products" that know each other by a protocol alone, as a user of VestaCore would write it.

/// The seam.
protocol Thermometer: Sendable {
  func celsius() -> Int
}

/// One product: a thermometer.
enum ThermometerLibrary: Library {
  static let name = "thermometer"
  static let version = "1.0.0"

  private struct Steady: Thermometer {
    func celsius() -> Int { 21 }
  }

  static func components() -> [Component] {
    [
      Component((any Thermometer).self) { _, isCacheable in
        isCacheable = true
        return Steady()
      }
    ]
  }
}

/// The other: a report that names the temperature where it is measured.
final class Report: Sendable {
  private let thermometer: (any Thermometer)?

  init(thermometer: (any Thermometer)?) { self.thermometer = thermometer }

  var text: String { thermometer.map { "It is \($0.celsius()) degrees." } ?? "Nobody measures the temperature." }
}

enum ReportLibrary: Library {
  static let name = "report"
  static let version = "1.0.0"

  static func components() -> [Component] {
    [
      Component(Report.self, dependencies: [.optional((any Thermometer).self)]) { container, isCacheable in
        isCacheable = true
        return Report(thermometer: container.resolve((any Thermometer).self))
      }
    ]
  }
}
