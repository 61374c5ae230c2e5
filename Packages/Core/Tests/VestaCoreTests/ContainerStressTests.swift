import Dispatch
import Foundation
import Testing
import VestaConcurrency

@testable @_spi(VestaTesting) import VestaCore

private protocol A: Sendable { var id: Int { get } }
private protocol B: Sendable { var id: Int { get } }
private protocol C: Sendable { var id: Int { get } }
private protocol Slow: Sendable {}
private final class Node: A, B, C, Slow {
  let id: Int
  init(_ id: Int) { self.id = id }
}

/// The container under many threads; these run under Thread Sanitizer too.
@Suite struct ContainerStressTests {
  private func app(_ libraries: [any Library.Type], name: String = #function) throws -> VestaApp {
    try VestaApp.configure(name: uniqueName(name), options: VestaOptions(), libraries: libraries)
  }

  private enum DiamondLibrary: TestLibrary {
    @TaskLocal static var created = Locked(0)
    static func components() -> [Component] {
      let created = created
      let next: @Sendable () -> Node = {
        Node(
          created.withLock {
            $0 += 1; return $0
          })
      }
      return [
        Component((any A).self) { container, isCacheable in
          isCacheable = true
          _ = try container.require((any B).self)
          _ = try container.require((any C).self)
          return next()
        },
        Component((any B).self) { container, isCacheable in
          isCacheable = true
          _ = try container.require((any C).self)
          return next()
        },
        Component((any C).self) { _, isCacheable in
          isCacheable = true
          return next()
        },
      ]
    }
  }

  @Test func `creation happens once under 64 threads`() async throws {
    for _ in 0..<20 {
      let created = Locked(0)
      let app = try DiamondLibrary.$created.withValue(created) { try self.app([DiamondLibrary.self]) }
      let seen = Locked<Set<Int>>([])
      await onThreads(64) { index in
        let id =
          switch index % 3 {
          case 0: app.container.resolve((any A).self)?.id
          case 1: app.container.resolve((any B).self)?.id
          default: app.container.resolve((any C).self)?.id
          }
        seen.withLock { _ = $0.insert((id ?? -1) * 10 + index % 3) }
      }
      #expect(created.withLock { $0 } == 3)
      #expect(seen.withLock { $0.count } == 3)
      await app.delete()
    }
  }

  private enum SlowLibrary: TestLibrary {
    @TaskLocal static var gate = DispatchSemaphore(value: 0)
    @TaskLocal static var entered = DispatchSemaphore(value: 0)
    static func components() -> [Component] {
      let (gate, entered) = (gate, entered)
      return [
        Component((any Slow).self) { _, isCacheable in
          isCacheable = true
          entered.signal()
          gate.wait()
          return Node(1)
        },
        Component((any C).self) { _, isCacheable in
          isCacheable = true
          return Node(2)
        },
      ]
    }
  }

  @Test func `look-ups do not wait for another component's creation`() async throws {
    let (gate, entered) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let app = try SlowLibrary.$gate.withValue(gate) {
      try SlowLibrary.$entered.withValue(entered) { try self.app([SlowLibrary.self]) }
    }
    let container = app.container
    async let slow = onThread { container.resolve((any Slow).self) != nil }
    await onThread { entered.wait() }
    // The slow creation is under way and stays so until the gate opens: both a creation and cached look-ups continue.
    await onThreads(8) { _ in
      for _ in 0..<1_000 { #expect(container.resolve((any C).self)?.id == 2) }
    }
    gate.signal()
    #expect(await slow)
  }

  private enum CrossedLibrary: TestLibrary {
    static func components() -> [Component] {
      [
        // Undeclared, so that two threads can start from both ends at once.
        Component((any A).self) { container, isCacheable in
          isCacheable = true
          return (try? container.require((any B).self)) == nil ? Node(1) : Node(2)
        },
        Component((any B).self) { container, isCacheable in
          isCacheable = true
          return (try? container.require((any A).self)) == nil ? Node(3) : Node(4)
        },
      ]
    }
  }

  @Test func `two threads that start from both ends of a cycle do not deadlock`() async throws {
    for _ in 0..<200 {
      let app = try app([CrossedLibrary.self])
      await onThreads(2) { index in
        if index == 0 {
          _ = try? app.container.require((any A).self)
        } else {
          _ = try? app.container.require((any B).self)
        }
      }
      // The thread that closed the cycle got an error and went on: both exist now.
      #expect(app.container.resolve((any A).self) != nil)
      #expect(app.container.resolve((any B).self) != nil)
      await app.delete()
    }
  }

  @Test func `resolving while the app is deleted gives an instance or nothing`() async throws {
    for _ in 0..<30 {
      let app = try app([DiamondLibrary.self])
      async let threads: Void = onThreads(16) { _ in
        for _ in 0..<50 { _ = app.container.resolve((any A).self)?.id }
      }
      async let deleted = app.delete()
      _ = await (threads, deleted)
      #expect(app.container.resolve((any A).self) == nil)
    }
  }

  @Test func `overrides may change while others resolve`() async throws {
    let app = try app([DiamondLibrary.self])
    await onThreads(16) { index in
      for round in 0..<100 {
        if index == 0 {
          app.container.override((any C).self, with: round % 2 == 0 ? Node(-1) : nil)
        } else {
          #expect(app.container.resolve((any C).self) != nil)
        }
      }
    }
  }

  @Test func `apps of the same name are configured once`() async {
    let name = uniqueName()
    let configured = Locked(0)
    await onThreads(32) { _ in
      if (try? VestaApp.configure(name: name, options: VestaOptions(), libraries: [])) != nil {
        configured.withLock { $0 += 1 }
      }
    }
    #expect(configured.withLock { $0 } == 1)
  }

  @Test func `a table creates each key once`() async {
    let table = InstanceTable<Int, Node>()
    let created = Locked(0)
    await onThreads(32) { index in
      for key in 0..<50 {
        let node = try? table.instance(for: (key + index) % 50) {
          Node(
            created.withLock {
              $0 += 1; return $0
            })
        }
        #expect(node != nil)
      }
    }
    #expect(created.withLock { $0 } == 50)
    #expect(table.all.count == 50)
  }
}
