import Dispatch
import Testing
import VestaConcurrency

@testable @_spi(VestaTesting) import VestaCore

private protocol Greeter: Sendable { var greeting: String { get } }
private protocol Plug: Sendable { var order: Int { get } }
private struct Hello: Greeter { let greeting: String }
private struct NumberedPlug: Plug { let order: Int }
private struct Broken: Error {}

/// The promises of a container while its app lives.
@Suite struct ComponentContainerTests {
  private func app(_ libraries: [any Library.Type], name: String = #function) throws -> VestaApp {
    try VestaApp.configure(name: uniqueName(name), options: VestaOptions(), libraries: libraries)
  }

  private enum CountingLibrary: TestLibrary {
    static let created = Locked(0)
    static func components() -> [Component] {
      [
        Component((any Greeter).self) { _, isCacheable in
          isCacheable = true
          return Hello(greeting: "hello \(created.withLock { $0 += 1; return $0 })")
        }
      ]
    }
  }

  @Test func `a cached component is created lazily and once`() throws {
    let app = try app([CountingLibrary.self])
    #expect(CountingLibrary.created.withLock { $0 } == 0)
    #expect(app.container.resolve((any Greeter).self)?.greeting == "hello 1")
    #expect(try app.container.require((any Greeter).self).greeting == "hello 1")
    #expect(CountingLibrary.created.withLock { $0 } == 1)
  }

  private enum UncachedLibrary: TestLibrary {
    static let created = Locked(0)
    static func components() -> [Component] {
      [Component((any Greeter).self) { _, _ in Hello(greeting: "\(created.withLock { $0 += 1; return $0 })") }]
    }
  }

  @Test func `a component that does not ask to be cached is created each time`() throws {
    let app = try app([UncachedLibrary.self])
    #expect(app.container.resolve((any Greeter).self)?.greeting == "1")
    #expect(app.container.resolve((any Greeter).self)?.greeting == "2")
  }

  @Test func `an entry point says which library to put into the list`() throws {
    let app = try VestaApp.configure(name: uniqueName(), options: VestaOptions(), libraries: [])
    let library: StaticString = "GreeterLibrary of VestaGreeter (Packages/Greeter)"
    for ask in [
      { () throws -> Void in _ = try app.container.require((any Greeter).self, providedBy: library) },
      { () throws -> Void in _ = try VestaApp.instance(of: (any Greeter).self, for: app, providedBy: library) },
    ] {
      let error = #expect(throws: VestaError.self) { try ask() }
      #expect(error?.code == .notProvided)
      #expect(error?.message.contains("Name GreeterLibrary of VestaGreeter (Packages/Greeter) in the list") == true)
    }
  }

  @Test func `what nothing provides is nil or an error that says so`() throws {
    let app = try app([])
    #expect(app.container.resolve((any Greeter).self) == nil)
    let error = try #require(throws: VestaError.self) { try app.container.require((any Greeter).self) }
    #expect(error.code == .notProvided)
    #expect(error.message.contains("provides Greeter. Add a package that does"))
  }

  private enum EmptyHandedLibrary: TestLibrary {
    static func components() -> [Component] { [Component((any Greeter).self) { _, _ in nil }] }
  }

  @Test func `a creation block may have nothing to give`() throws {
    let app = try app([EmptyHandedLibrary.self])
    #expect(app.container.resolve((any Greeter).self) == nil)
    let error = try #require(throws: VestaError.self) { try app.container.require((any Greeter).self) }
    #expect(error.code == .notProvided)
    #expect(error.message.contains("EmptyHandedLibrary"))
  }

  private enum WrongLibrary: TestLibrary {
    static func components() -> [Component] {
      [Component((any Greeter).self, untypedCreationBlock: { _, _ in "not a greeter" })]
    }
  }

  @Test func `an instance of the wrong type is refused by name`() throws {
    let app = try app([WrongLibrary.self])
    let error = try #require(throws: VestaError.self) { try app.container.require((any Greeter).self) }
    #expect(error.code == .wrongInstanceType)
    #expect(error.message.contains("Greeter made a String"))
  }

  private enum UntypedLibrary: TestLibrary {
    static func components() -> [Component] {
      [Component((any Greeter).self, untypedCreationBlock: { _, _ in Hello(greeting: "from data") })]
    }
  }

  @Test func `an untyped component of the right type is taken`() throws {
    #expect(try app([UntypedLibrary.self]).container.require((any Greeter).self).greeting == "from data")
  }

  private enum FlakyLibrary: TestLibrary {
    static let attempts = Locked(0)
    static func components() -> [Component] {
      [
        Component((any Greeter).self) { _, isCacheable in
          isCacheable = true
          if attempts.withLock({
            $0 += 1; return $0
          }) == 1 {
            throw Broken()
          }
          return Hello(greeting: "at last")
        }
      ]
    }
  }

  @Test func `a failed creation is reported and tried again`() throws {
    let app = try app([FlakyLibrary.self])
    let error = try #require(throws: VestaError.self) { try app.container.require((any Greeter).self) }
    #expect(error.code == .creationFailed)
    #expect(error.underlying is Broken)
    #expect(try app.container.require((any Greeter).self).greeting == "at last")
  }

  private protocol Ring: Sendable {}
  private enum HiddenCircleLibrary: TestLibrary {
    static func components() -> [Component] {
      [
        // Neither declares what it resolves, so configuring cannot see the cycle.
        Component((any Greeter).self) { container, _ in
          _ = try container.require((any Plug).self)
          return nil
        },
        Component((any Plug).self) { container, _ in
          _ = try container.require((any Greeter).self)
          return nil
        },
      ]
    }
  }

  @Test func `an undeclared cycle is an error and not a deadlock`() throws {
    let app = try app([HiddenCircleLibrary.self])
    let error = try #require(throws: VestaError.self) { try app.container.require((any Greeter).self) }
    #expect(error.code == .dependencyCycle)
    #expect(error.message.contains("Greeter -> Plug -> Greeter"))
  }

  private enum FirstPlugs: TestLibrary {
    static func components() -> [Component] {
      [
        .contribution((any Plug).self) { _, _ in NumberedPlug(order: 1) },
        .contribution((any Plug).self) { _, _ in throw Broken() },
        .contribution((any Plug).self) { _, _ in NumberedPlug(order: 2) },
      ]
    }
  }
  private enum MorePlugs: TestLibrary {
    static func components() -> [Component] { [.contribution((any Plug).self) { _, _ in NumberedPlug(order: 3) }] }
  }

  @Test func `contributions are in the order of the libraries without the failing ones`() throws {
    let app = try app([FirstPlugs.self, MorePlugs.self])
    #expect(app.container.resolveAll((any Plug).self).map(\.order) == [1, 2, 3])
    #expect(app.container.resolve((any Plug).self) == nil)
    #expect(app.container.resolveAll((any Greeter).self).isEmpty)
  }

  private enum GreetingLibrary: TestLibrary {
    static func components() -> [Component] {
      [
        Component((any Greeter).self) { _, isCacheable in
          isCacheable = true
          return Hello(greeting: "real")
        }
      ]
    }
  }

  @Test func `an override replaces a component in one app only`() throws {
    let (one, two) = (try app([GreetingLibrary.self]), try app([UntypedLibrary.self]))
    _ = one.container.resolve((any Greeter).self)
    one.container.override((any Greeter).self, with: Hello(greeting: "fake"))
    one.container.override((any Plug).self, with: NumberedPlug(order: 7))
    #expect(one.container.resolve((any Greeter).self)?.greeting == "fake")
    #expect(one.container.resolve((any Plug).self)?.order == 7)
    #expect(two.container.resolve((any Greeter).self)?.greeting == "from data")
    one.container.override((any Greeter).self, with: nil)
    #expect(one.container.resolve((any Greeter).self)?.greeting == "real")
  }

  // MARK: Timing

  private enum LazyLibrary: TestLibrary {
    static func components() -> [Component] {
      [Component((any Greeter).self, instantiationTiming: .lazy) { _, _ in throw Broken() }]
    }
  }
  private enum EagerLibrary: TestLibrary {
    static func components() -> [Component] {
      [Component((any Greeter).self, instantiationTiming: .alwaysEager) { _, _ in throw Broken() }]
    }
  }
  private enum EagerInDefaultLibrary: TestLibrary {
    static func components() -> [Component] {
      [Component((any Greeter).self, instantiationTiming: .eagerInDefaultApp) { _, _ in throw Broken() }]
    }
  }

  @Test func `only eager components are created while configuring`() throws {
    _ = try app([LazyLibrary.self])
    _ = try app([EagerInDefaultLibrary.self])
    let error = try #require(throws: VestaError.self) { try app([EagerLibrary.self]) }
    #expect(error.code == .creationFailed)
  }

  @Test func `eager in default app depends on the app`() {
    #expect(InstantiationTiming.eagerInDefaultApp.isEager(isDefaultApp: true))
    #expect(!InstantiationTiming.eagerInDefaultApp.isEager(isDefaultApp: false))
    #expect(!InstantiationTiming.lazy.isEager(isDefaultApp: true))
    #expect(InstantiationTiming.alwaysEager.isEager(isDefaultApp: false))
  }

  @Test func `an eager failure leaves the name free`() throws {
    let name = uniqueName()
    #expect(throws: VestaError.self) {
      try VestaApp.configure(name: name, options: VestaOptions(), libraries: [EagerLibrary.self])
    }
    #expect(VestaApp.app(name: name) == nil)
    try VestaApp.configure(name: name, options: VestaOptions(), libraries: [])
  }
}
