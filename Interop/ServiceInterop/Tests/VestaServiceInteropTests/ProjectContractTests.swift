import Testing
import VestaConcurrency
import VestaServiceInteropContracts
import VestaTesting

/// The contract of many projects in one process, held against right and wrong engines.
@Suite struct ProjectContractTests {
  enum Mistake: CaseIterable {
    case none, sharesAll, sharesByHash, removesEverywhere, closesOthers, forgets, opensAnother
  }

  private func subject(_ mistake: Mistake, isDurable: Bool = true) -> ProjectsSubject {
    let state = Locked<[Int: Set<Int>]>([:])
    // Projects whose names begin alike have one directory.
    let place: @Sendable (Int) -> Int = { project in
      switch mistake {
      case .sharesAll: 0
      case .sharesByHash: project % 50
      default: project
      }
    }
    return ProjectsSubject(isDurable: isDurable) { project, thing in
      state.withLock { _ = $0[place(project), default: []].insert(thing) }
    } has: { project, thing in
      state.withLock { $0[place(project)]?.contains(thing) ?? false }
    } remove: { project, thing in
      state.withLock { state in
        let places = mistake == .removesEverywhere ? Array(state.keys) : [place(project)]
        for place in places { state[place]?.remove(thing) }
      }
    } close: { project in
      state.withLock { state in
        switch mistake {
        case .closesOthers: state[project + 1] = nil
        case .forgets: state[project] = nil
        case .opensAnother: state[project, default: []].formUnion(state[project + 1] ?? [])
        default: if !isDurable { state[project] = nil }
        }
      }
    }
  }

  @Test(arguments: ProjectContracts.all)
  func `a right engine keeps every promise`(_ contract: Contract<ProjectsSubject>) async throws {
    for isDurable in [true, false] { try await contract.verify(subject(.none, isDurable: isDurable)) }
  }

  @Test(arguments: [
    (Mistake.sharesAll, 0), (.sharesByHash, 0), (.removesEverywhere, 1), (.closesOthers, 2), (.forgets, 2),
    (.opensAnother, 2),
  ])
  func `a wrong engine is found by the promise that it breaks`(_ mistake: Mistake, _ index: Int) async {
    await #expect(throws: (any Error).self) { try await ProjectContracts.all[index].verify(subject(mistake)) }
  }
}
