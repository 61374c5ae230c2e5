import VestaConcurrency
public import VestaTesting

/// The engines of many projects in one process, as a place where single things are added and found.
///
/// A thing is whatever the engine keeps: a registration, a secret, a function. It is known by a number, and the same
/// number means the same name in every project.
public struct ProjectsSubject: Sendable {
  /// Adds a thing to a project, which is opened when it is first named.
  public let add: @Sendable (_ project: Int, _ thing: Int) async throws -> Void
  /// Whether a project has a thing.
  public let has: @Sendable (_ project: Int, _ thing: Int) async throws -> Bool
  /// Removes a thing from a project.
  public let remove: @Sendable (_ project: Int, _ thing: Int) async throws -> Void
  /// Closes a project, so that the next call opens it again.
  public let close: @Sendable (_ project: Int) async throws -> Void
  /// Whether a project that was closed has its things when it is opened again.
  public let isDurable: Bool

  /// A subject.
  public init(
    isDurable: Bool = true,
    add: @escaping @Sendable (_ project: Int, _ thing: Int) async throws -> Void,
    has: @escaping @Sendable (_ project: Int, _ thing: Int) async throws -> Bool,
    remove: @escaping @Sendable (_ project: Int, _ thing: Int) async throws -> Void,
    close: @escaping @Sendable (_ project: Int) async throws -> Void
  ) {
    self.isDurable = isDurable
    self.add = add
    self.has = has
    self.remove = remove
    self.close = close
  }

  /// Does something in all projects at once.
  fileprivate func atOnce(_ body: @escaping @Sendable (Int) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for project in 0..<ProjectContracts.count { group.addTask { try await body(project) } }
      try await group.waitForAll()
    }
  }

  /// Checks that a project has its own thing, and none of some others.
  fileprivate func expectOwn(_ project: Int, _ when: String) async throws {
    try expect(try await has(project, project), "project \(project) has lost its own \(when)")
    let count = ProjectContracts.count
    for other in Set([1, count / 2, count - 1].map { (project + $0) % count }) where other != project {
      try expect(!(try await has(project, other)), "project \(project) has what is project \(other)'s \(when)")
    }
  }
}

/// The promises of engines that serve many projects in one process.
public enum ProjectContracts {
  /// The number of projects.
  public static let count = 100

  /// All of them; each is checked on a separate subject.
  public static let all: [Contract<ProjectsSubject>] = [
    Contract("a hundred projects at once have their own, and nothing of one another") { subject in
      try await subject.atOnce { try await subject.add($0, $0) }
      try await subject.atOnce { try await subject.expectOwn($0, "after all have added theirs") }
    },
    Contract("what one project removes stays in all others") { subject in
      try await subject.atOnce { try await subject.add($0, 7) }
      try await subject.atOnce { if $0.isMultiple(of: 2) { try await subject.remove($0, 7) } }
      try await subject.atOnce { project in
        let isThere = try await subject.has(project, 7)
        try expect(isThere == !project.isMultiple(of: 2), "project \(project) has \(isThere ? "kept" : "lost") it")
      }
    },
    Contract("a project that is closed leaves the others open, and is opened again with its own alone") { subject in
      try await subject.atOnce { try await subject.add($0, $0) }
      try await subject.atOnce { if $0.isMultiple(of: 3) { try await subject.close($0) } }
      try await subject.atOnce { project in
        if subject.isDurable || !project.isMultiple(of: 3) {
          try await subject.expectOwn(project, "after some were closed")
        } else {
          try expect(!(try await subject.has(project, project)), "project \(project) has kept what is not durable")
        }
      }
    },
  ]
}
