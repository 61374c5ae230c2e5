import Foundation
import VestaConcurrency
import VestaCore

/// The libraries and protocols that the benchmarks look up.
protocol Service: Sendable {
  var number: Int { get }
}

final class ServiceImplementation: Service {
  let number = 1
}

private enum ServiceLibrary: Library {
  static let name = "bench-service"
  static let version = "1.0.0"

  static func components() -> [Component] {
    [
      Component((any Service).self) { container, isCacheable in
        isCacheable = true
        return container.resolve(ServiceImplementation.self)
      },
      Component(ServiceImplementation.self) { _, isCacheable in
        isCacheable = true
        return ServiceImplementation()
      },
    ]
  }
}

/// An app with one service and nineteen other libraries, the service already created.
func makeApp() -> VestaApp {
  do {
    let libraries = manyLibraries(19) + [ServiceLibrary.self]
    let app = try VestaApp.configure(
      name: UUID().uuidString, options: VestaOptions(), libraries: libraries)
    _ = try app.container.require((any Service).self)
    return app
  } catch {
    preconditionFailure("the benchmark's own app could not be configured: \(error)")
  }
}

/// As many libraries as asked for, each a separate type with a separate component.
func manyLibraries(_ count: Int) -> [any Library.Type] {
  var libraries: [any Numbered.Type] = [First.self]
  while libraries.count < count, let last = libraries.last { libraries.append(successor(of: last)) }
  return libraries
}

private protocol Numbered: Library {
  static var number: Int { get }
}

extension Numbered {
  static var name: String { "bench-\(number)" }
  static var version: String { "1.0.0" }

  static func components() -> [Component] {
    [Component(Token<Self>.self) { _, _ in nil }]
  }
}

private final class Token<Owner: Numbered>: Sendable {}

private enum First: Numbered {
  static let number = 1
}

private enum Next<Previous: Numbered>: Numbered {
  static var number: Int { Previous.number + 1 }
}

private func successor<Previous: Numbered>(of previous: Previous.Type) -> any Numbered.Type { Next<Previous>.self }

/// The simplest thing that could be a container: what the fast path is compared with.
final class MutexTable: Sendable {
  private let table = Locked<[ObjectIdentifier: any Service]>([
    ObjectIdentifier((any Service).self): ServiceImplementation()
  ])

  var service: (any Service)? { table.withLock { $0[ObjectIdentifier((any Service).self)] } }
}
