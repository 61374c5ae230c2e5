import Testing

@testable import VestaCore

private protocol One: Sendable {}
private protocol Two: Sendable {}
private protocol Three: Sendable {}
private protocol Four: Sendable {}
private struct Everything: One, Two, Three {}

private func component<P: Sendable>(_ type: P.Type, needs dependencies: [Dependency] = []) -> Component {
  Component(type, dependencies: dependencies) { _, _ in nil }
}

/// The reasons for which a list of libraries is refused, and the text of the error.
@Suite struct ComponentGraphTests {
  private func error(_ libraries: [any Library.Type]) throws -> VestaError {
    try #require(throws: VestaError.self) { try ComponentGraph(libraries: libraries) }
  }

  private enum NeedsTwo: TestLibrary {
    static func components() -> [Component] {
      [component((any One).self, needs: [.required((any Two).self, providedBy: "VestaTwo (keeps everything)")])]
    }
  }

  @Test func `a missing requirement names who needs what and which package provides it`() throws {
    let error = try error([NeedsTwo.self])
    #expect(error.code == .missingDependency)
    #expect(error.message.contains("NeedsTwo needs Two, which nothing provides"))
    #expect(error.message.contains("VestaTwo (keeps everything)"))
  }

  private enum NeedsThreeUnnamed: TestLibrary {
    static func components() -> [Component] { [component((any One).self, needs: [.required((any Three).self)])] }
  }

  @Test func `a missing requirement without a hint still says what to do`() throws {
    let error = try error([NeedsThreeUnnamed.self])
    #expect(error.message.contains("Add a package that provides Three"))
  }

  private enum ContributesTwo: TestLibrary {
    static func components() -> [Component] { [.contribution((any Two).self) { _, _ in Everything() }] }
  }

  @Test func `a contribution does not meet a requirement`() throws {
    #expect(try error([NeedsTwo.self, ContributesTwo.self]).code == .contributionNotProvider)
  }

  private enum ProvidesOne: TestLibrary {
    static func components() -> [Component] { [component((any One).self)] }
  }
  private enum AlsoProvidesOne: TestLibrary {
    static func components() -> [Component] { [component((any One).self)] }
  }

  @Test func `two providers of one protocol are refused by name`() throws {
    let error = try error([ProvidesOne.self, AlsoProvidesOne.self])
    #expect(error.code == .duplicateProvider)
    #expect(error.message.contains("One is provided by ProvidesOne and by AlsoProvidesOne"))
  }

  @Test func `a library that is in the list twice is refused`() throws {
    let error = try error([ProvidesOne.self, ProvidesOne.self])
    #expect(error.code == .duplicateLibrary)
    #expect(error.message.contains("twice"))
  }

  private enum Imposter: Library {
    static let name = "ProvidesOne"
    static let version = "9.9.9"
    static func components() -> [Component] { [] }
  }

  @Test func `two libraries of one name are refused`() throws {
    let error = try error([ProvidesOne.self, Imposter.self])
    #expect(error.code == .duplicateLibrary)
    #expect(error.message.contains("ProvidesOne and Imposter both call themselves"))
  }

  private enum Cycle: TestLibrary {
    static func components() -> [Component] {
      [
        component((any One).self, needs: [.required((any Two).self)]),
        component((any Two).self, needs: [.optional((any Three).self)]),
        component((any Three).self, needs: [.required((any One).self)]),
      ]
    }
  }

  @Test func `a cycle is spelled out`() throws {
    let error = try error([Cycle.self])
    #expect(error.code == .dependencyCycle)
    #expect(error.message.contains("One -> Two -> Three -> One"))
  }

  private enum SelfNeed: TestLibrary {
    static func components() -> [Component] { [component((any One).self, needs: [.required((any One).self)])] }
  }

  @Test func `a component that needs itself is a cycle too`() throws {
    #expect(try error([SelfNeed.self]).message.contains("One -> One"))
  }

  private enum Diamond: TestLibrary {
    static func components() -> [Component] {
      [
        component((any One).self, needs: [.required((any Two).self), .required((any Three).self)]),
        component((any Two).self, needs: [.required((any Three).self)]),
        component((any Three).self),
      ]
    }
  }

  @Test func `two ways to one component are not a cycle`() throws {
    #expect(try ComponentGraph(libraries: [Diamond.self]).nodes.count == 3)
  }

  @Test func `an app without libraries is sound`() throws {
    #expect(try ComponentGraph(libraries: []).nodes.isEmpty)
  }

  private enum NeedsTwoToo: TestLibrary {
    static func components() -> [Component] {
      [component((any Three).self, needs: [.required((any Two).self), .required((any Four).self)])]
    }
  }

  @Test func `everything that is missing is reported at once, and each protocol once`() throws {
    let message = try error([NeedsTwo.self, NeedsTwoToo.self]).message
    let lines = message.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.first?.hasPrefix("NeedsTwo, NeedsTwoToo needs Two") == true)
    #expect(lines.first?.contains("VestaTwo (keeps everything)") == true)
    #expect(lines.last?.contains("Add a package that provides Four") == true)
  }

  private enum MayUseTwo: TestLibrary {
    static func components() -> [Component] { [component((any One).self, needs: [.optional((any Two).self)])] }
  }

  @Test func `a contribution to a protocol that is asked for as a dependency is refused`() throws {
    for libraries in [[NeedsTwo.self, ContributesTwo.self], [MayUseTwo.self, ContributesTwo.self]]
      as [[any Library.Type]]
    {
      let error = try error(libraries)
      #expect(error.code == .contributionNotProvider)
      #expect(error.message.contains("ContributesTwo contributes to Two"))
      #expect(error.message.contains("Component(...)"))
    }
  }

  private enum Deferring: TestLibrary {
    static func components() -> [Component] {
      [
        component((any One).self, needs: [.optional((any Two).self).deferred]),
        component((any Two).self, needs: [.optional((any One).self).deferred]),
        component((any Three).self, needs: [.required((any Four).self).deferred]),
      ]
    }
  }

  @Test func `deferred dependencies form no cycle, and a required one must still be there`() throws {
    let error = try error([Deferring.self])
    #expect(error.code == .missingDependency)
    #expect(error.message.contains("Four"))
    #expect(!error.message.contains("One"))
  }
}
